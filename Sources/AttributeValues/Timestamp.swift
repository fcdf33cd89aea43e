/// A point in time, to the nanosecond, from 0001-01-01T00:00:00Z to 9999-12-31T23:59:59.999999999Z.
@frozen
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Whole seconds since 1970-01-01T00:00:00Z, rounded down.
    public var seconds: Int64
    /// 0 ..< 1,000,000,000. Always counts forward.
    public var nanoseconds: Int32

    public static let secondsRange: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    /// 1970-01-01T00:00:00Z
    public static let epoch = Timestamp(checkedSeconds: 0)

    private init(checkedSeconds: Int64) {
        seconds = checkedSeconds
        nanoseconds = 0
    }

    /// nil outside the years 1 to 9999. `nanoseconds` may be any number and is carried.
    public init?(seconds: Int64, nanoseconds: Int64 = 0) {
        let rest = nanoseconds % 1_000_000_000
        let carry = nanoseconds / 1_000_000_000 - (rest < 0 ? 1 : 0)
        let (whole, overflow) = seconds.addingReportingOverflow(carry)
        guard !overflow, Timestamp.secondsRange.contains(whole) else { return nil }
        self.seconds = whole
        self.nanoseconds = Int32(rest < 0 ? rest + 1_000_000_000 : rest)
    }

    public static func < (a: Timestamp, b: Timestamp) -> Bool {
        (a.seconds, a.nanoseconds) < (b.seconds, b.nanoseconds)
    }

    /// nil if the sum is out of range.
    public func advanced(by span: TimeSpan) -> Timestamp? {
        let whole = span.nanoseconds / 1_000_000_000
        return Timestamp(seconds: seconds + whole, nanoseconds: Int64(nanoseconds) + span.nanoseconds % 1_000_000_000)
    }

    /// The span from `earlier` to this time; nil if it exceeds the range of `TimeSpan`.
    public func since(_ earlier: Timestamp) -> TimeSpan? {
        TimeSpan(seconds: seconds - earlier.seconds, nanoseconds: Int64(nanoseconds) - Int64(earlier.nanoseconds))
    }
}

/// A date and time of day in the proleptic Gregorian calendar.
public struct CivilTime: Hashable {
    public var year: Int
    /// 1...12
    public var month: Int
    /// 1...31
    public var day: Int
    public var hour: Int
    public var minute: Int
    public var second: Int

    /// The civil time of an instant at `offset` seconds east of Greenwich.
    public init(_ timestamp: Timestamp, offset: Int = 0) {
        let local = timestamp.seconds + Int64(offset)
        let days = (local >= 0 ? local : local - 86_399) / 86_400
        let rest = Int(local - days * 86_400)
        let date = CalendarDate(days: Int(days))
        (year, month, day) = (date.year, date.month, date.day)
        hour = rest / 3600
        minute = rest / 60 % 60
        second = rest % 60
    }

    /// Days since 1970-01-01 of a date (Hinnant, "chrono-compatible low-level date algorithms").
    public static func days(year: Int, month: Int, day: Int) -> Int {
        let y = month <= 2 ? year - 1 : year
        let era = (y >= 0 ? y : y - 399) / 400
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    /// 0 is the first of January.
    public var dayOfYear: Int {
        CivilTime.days(year: year, month: month, day: day) - CivilTime.days(year: year, month: 1, day: 1)
    }

    static func daysInMonth(_ month: Int, of year: Int) -> Int {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        default: 31
        }
    }
}

extension Timestamp: CustomStringConvertible {
    /// RFC 3339 in UTC, with as many fraction digits as needed.
    public var description: String {
        let civil = CivilTime(self)
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let year = String(civil.year)
        let padded = String(repeating: "0", count: 4 - year.utf8.count) + year
        return
            "\(padded)-\(two(civil.month))-\(two(civil.day))T\(two(civil.hour)):\(two(civil.minute)):\(two(civil.second))"
            + fractionDigits(UInt32(nanoseconds)) + "Z"
    }

    /// Reads RFC 3339: upper-case `T`, seconds, and `Z` or an offset are required; no leap second.
    public init?(_ text: some StringProtocol) {
        let bytes = Array(text.utf8)
        var at = 0
        func digits(_ count: Int) -> Int? {
            guard at + count <= bytes.count else { return nil }
            var number = 0
            for byte in bytes[at..<at + count] {
                guard byte >= 48, byte <= 57 else { return nil }
                number = number * 10 + Int(byte - 48)
            }
            at += count
            return number
        }
        func expect(_ character: UInt8) -> Bool {
            guard at < bytes.count, bytes[at] == character else { return false }
            at += 1
            return true
        }
        let dash = UInt8(ascii: "-"), colon = UInt8(ascii: ":")
        guard let year = digits(4), expect(dash), let month = digits(2), expect(dash), let day = digits(2),
            expect(UInt8(ascii: "T")), let hour = digits(2), expect(colon), let minute = digits(2), expect(colon),
            let second = digits(2), year >= 1, (1...12).contains(month),
            day >= 1, day <= CivilTime.daysInMonth(month, of: year), hour < 24, minute < 60, second < 60
        else { return nil }
        var nanoseconds = 0
        if expect(UInt8(ascii: ".")) {
            let start = at
            var scale = 100_000_000
            while at < bytes.count, bytes[at] >= 48, bytes[at] <= 57 {
                nanoseconds += Int(bytes[at] - 48) * scale
                scale /= 10
                at += 1
            }
            if at == start { return nil }
        }
        var offset = 0
        if !expect(UInt8(ascii: "Z")) {
            let east = expect(UInt8(ascii: "+"))
            guard east || expect(dash), let hours = digits(2), expect(colon), let minutes = digits(2),
                hours < 24, minutes < 60
            else { return nil }
            offset = (hours * 3600 + minutes * 60) * (east ? 1 : -1)
        }
        guard at == bytes.count else { return nil }
        let days = CivilTime.days(year: year, month: month, day: day)
        self.init(
            seconds: Int64(days * 86_400 + hour * 3600 + minute * 60 + second - offset), nanoseconds: Int64(nanoseconds)
        )
    }
}
