import AttributeValues

/// The parts of times that functions give, by their names.
enum TimePart: Int32, CaseIterable {
    case getFullYear, getMonth, getDate, getDayOfMonth, getDayOfWeek, getDayOfYear
    case getHours, getMinutes, getSeconds, getMilliseconds

    init?(_ name: String) {
        guard let part = TimePart.allCases.first(where: { "\($0)" == name }) else { return nil }
        self = part
    }

    var isOfDuration: Bool { rawValue >= TimePart.getHours.rawValue }
}

extension FunctionList {
    mutating func defineTime() {
        for part in TimePart.allCases {
            let ofTime = "timestamp::\(part)([string]) -> int"
            let signatures = part.isOfDuration ? [ofTime, "duration::\(part)() -> int"] : [ofTime]
            define(signatures, work: Work(base: 10, bytesPerStep: 5)) { (a, meter) throws(Fault) in
                switch (a[0], a.count) {
                case (.timestamp(let time), 1): return .int(TimeLibrary.readPart(part, time, offset: 0))
                case (.timestamp(let time), _):
                    guard let zone = a.text(1) else { return nil }
                    let offset = try TimeLibrary.offset(zone, at: time, &meter)
                    return .int(TimeLibrary.readPart(part, time, offset: offset))
                case (.duration(let span), 1): return TimeLibrary.readPart(part, span).map { .int($0) }
                default: return nil
                }
            }
        }
    }
}

/// `getHours` and similar functions of timestamps and durations.
enum TimeLibrary {
    /// A part of a value in memory, in UTC.
    @inline(never)
    static func readPart(_ part: TimePart, of value: UnsafePointer<Value>) throws(Fault) -> Int64 {
        switch value.pointee {
        case .timestamp(let time): return readPart(part, time, offset: 0)
        case .duration(let span): if let number = readPart(part, span) { return number }
        default: break
        }
        throw .noSuchOverload("\(part)", value.pointee)
    }

    @inline(__always)
    fileprivate static func readPart(_ part: TimePart, _ time: Timestamp, offset: Int) -> Int64 {
        let local = time.seconds &+ Int64(offset)
        let days = Int((local >= 0 ? local : local &- 86_399) / 86_400)
        let second = Int(local) &- days &* 86_400
        let number =
            switch part {
            case .getFullYear: CalendarDate(days: days).year
            case .getMonth: CalendarDate(days: days).month - 1
            case .getDate: CalendarDate(days: days).day
            case .getDayOfMonth: CalendarDate(days: days).day - 1
            case .getDayOfWeek: ((days + 4) % 7 + 7) % 7
            case .getDayOfYear: CivilTime(time, offset: offset).dayOfYear
            case .getHours: second / 3600
            case .getMinutes: second / 60 % 60
            case .getSeconds: second % 60
            case .getMilliseconds: Int(time.nanoseconds / 1_000_000)
            }
        return Int64(number)
    }

    /// The whole span in a unit, rounded towards zero. Milliseconds are only the part below a second.
    fileprivate static func readPart(_ part: TimePart, _ span: TimeSpan) -> Int64? {
        switch part {
        case .getHours: span.nanoseconds / 3_600_000_000_000
        case .getMinutes: span.nanoseconds / 60_000_000_000
        case .getSeconds: span.nanoseconds / 1_000_000_000
        case .getMilliseconds: span.nanoseconds % 1_000_000_000 / 1_000_000
        default: nil
        }
    }

    /// Seconds east of Greenwich: an IANA name, `UTC`, or `[+-]HH:MM`.
    static func offset(_ zone: String, at time: Timestamp, _ meter: inout Meter) throws(Fault) -> Int {
        if let fixed = fixedZone(zone) { return fixed }
        guard let found = try meter.zones.zone(zone, &meter) else {
            throw Fault("unknown time zone \(CELText.brief(.string(zone)))")
        }
        return found.offset(at: time.seconds)
    }

    /// The offset of a zone that is one.
    static func fixedZone(_ zone: String) -> Int? { zone == "UTC" || zone == "Z" ? 0 : fixedOffset(zone) }

    private static func fixedOffset(_ text: String) -> Int? {
        guard text.utf8.count <= 6 else { return nil }
        var digits = text.utf8[...]
        let isWest = digits.first == UInt8(ascii: "-")
        if isWest || digits.first == UInt8(ascii: "+") { digits.removeFirst() }
        let bytes = Array(digits)
        guard bytes.count == 5, bytes[2] == UInt8(ascii: ":"), [0, 1, 3, 4].allSatisfy({ bytes[$0].isDigit })
        else { return nil }
        func number(_ at: Int) -> Int { Int(bytes[at] - 48) * 10 + Int(bytes[at + 1] - 48) }
        guard number(0) < 24, number(3) < 60 else { return nil }
        return (number(0) * 3600 + number(3) * 60) * (isWest ? -1 : 1)
    }
}
