import AttributeValues

/// A zone's rule for the future in POSIX's form, as `CET-1CEST,M3.5.0,M10.5.0/3`.
struct TimeZoneRule {
    private var standard: Int
    private var daylight: (offset: Int, from: Change, to: Change)?

    private struct Change {
        enum Day {
            /// 1...365, never counting 29 February.
            case julian(Int)
            /// 0...365
            case zeroBased(Int)
            /// Month, week (5: the last), day of the week.
            case weekday(Int, Int, Int)
        }
        var day: Day
        /// Seconds after midnight, local time.
        var time = 7200

        /// Seconds since 1970 on the local clock.
        func localSeconds(in year: Int) -> Int64 {
            let days: Int
            switch day {
            case .julian(let number):
                let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
                days = CivilTime.days(year: year, month: 1, day: 1) + number - 1 + (isLeap && number >= 60 ? 1 : 0)
            case .zeroBased(let number): days = CivilTime.days(year: year, month: 1, day: 1) + number
            case .weekday(let month, let week, let weekday):
                let first = CivilTime.days(year: year, month: month, day: 1)
                let firstWeekday = ((first + 4) % 7 + 7) % 7
                var day = first + (weekday - firstWeekday + 7) % 7 + (week - 1) * 7
                let next =
                    month == 12
                    ? CivilTime.days(year: year + 1, month: 1, day: 1)
                    : CivilTime.days(year: year, month: month + 1, day: 1)
                if day >= next { day -= 7 }
                days = day
            }
            return Int64(days) * 86_400 + Int64(time)
        }
    }

    func offset(at seconds: Int64) -> Int {
        guard let daylight, let time = Timestamp(seconds: seconds) else { return standard }
        let year = CivilTime(time, offset: standard).year
        let from = daylight.from.localSeconds(in: year) - Int64(standard)
        let to = daylight.to.localSeconds(in: year) - Int64(daylight.offset)
        let isDaylight = from < to ? seconds >= from && seconds < to : seconds >= from || seconds < to
        return isDaylight ? daylight.offset : standard
    }

    /// nil for a text in another form.
    init?(_ text: [UInt8]) {
        var rest = text[...]
        guard TimeZoneRule.skipName(&rest), let standard = TimeZoneRule.time(&rest) else { return nil }
        self.standard = -standard
        if rest.isEmpty { return }
        guard TimeZoneRule.skipName(&rest) else { return nil }
        var offset = self.standard + 3600
        if let first = rest.first, first != UInt8(ascii: ",") {
            guard let written = TimeZoneRule.time(&rest) else { return nil }
            offset = -written
        }
        guard let from = TimeZoneRule.change(&rest), let to = TimeZoneRule.change(&rest), rest.isEmpty else {
            return nil
        }
        daylight = (offset, from, to)
    }

    private static func skipName(_ rest: inout ArraySlice<UInt8>) -> Bool {
        let before = rest.count
        if rest.first == UInt8(ascii: "<") {
            rest = rest.drop { $0 != UInt8(ascii: ">") }.dropFirst()
        } else {
            rest = rest.drop(while: \.beginsName)
        }
        return rest.count < before
    }

    private static func number(_ rest: inout ArraySlice<UInt8>) -> Int? {
        var value = 0
        let digits = rest.prefix(while: \.isDigit)
        guard !digits.isEmpty, digits.count < 6 else { return nil }
        for digit in digits { value = value * 10 + Int(digit - 48) }
        rest = rest.dropFirst(digits.count)
        return value
    }

    /// `[+-]hh[:mm[:ss]]` in seconds.
    private static func time(_ rest: inout ArraySlice<UInt8>) -> Int? {
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative || rest.first == UInt8(ascii: "+") { rest.removeFirst() }
        guard var seconds = number(&rest).map({ $0 * 3600 }) else { return nil }
        var unit = 60
        while rest.first == UInt8(ascii: ":"), unit > 0 {
            rest.removeFirst()
            guard let part = number(&rest) else { return nil }
            seconds += part * unit
            unit /= 60
        }
        return isNegative ? -seconds : seconds
    }

    private static func change(_ rest: inout ArraySlice<UInt8>) -> Change? {
        guard rest.popFirst() == UInt8(ascii: ",") else { return nil }
        var made: Change
        switch rest.first {
        case UInt8(ascii: "J"):
            rest.removeFirst()
            guard let day = number(&rest), (1...365).contains(day) else { return nil }
            made = Change(day: .julian(day))
        case UInt8(ascii: "M"):
            rest.removeFirst()
            guard let month = number(&rest), rest.popFirst() == UInt8(ascii: "."), let week = number(&rest),
                rest.popFirst() == UInt8(ascii: "."), let day = number(&rest), (1...12).contains(month),
                (1...5).contains(week), day < 7
            else { return nil }
            made = Change(day: .weekday(month, week, day))
        default:
            guard let day = number(&rest), day <= 365 else { return nil }
            made = Change(day: .zeroBased(day))
        }
        if rest.first == UInt8(ascii: "/") {
            rest.removeFirst()
            guard let time = time(&rest) else { return nil }
            made.time = time
        }
        return made
    }
}
