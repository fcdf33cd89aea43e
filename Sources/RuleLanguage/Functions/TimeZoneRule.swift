import AttributeValues

/// A zone's rule for the future in POSIX's form, as `CET-1CEST,M3.5.0,M10.5.0/3`.
package struct TimeZoneRule {
    /// Seconds east of Greenwich.
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
            rest = rest.drop { $0 != UInt8(ascii: ">") }
            guard rest.popFirst() != nil else { return false }
            return before - rest.count >= 5
        }
        rest = rest.drop(while: \.isLetter)
        return before - rest.count >= 3
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

    /// The name of the zone of a POSIX text, as `TZ` may have it: the same text, or an offset if that is all that the
    /// text says. As in glibc, a zone with daylight saving and without dates has those of the United States.
    package static func zoneName(posix text: String) -> String? {
        let hasDates = text.contains(",")
        if let rule = TimeZoneRule(Array(text.utf8)) {
            if rule.daylight != nil { return text }
            let minutes = rule.standard.magnitude / 60
            guard rule.standard % 60 == 0, minutes < 24 * 60 else { return nil }
            func two(_ number: UInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
            return "\(rule.standard < 0 ? "-" : "+")\(two(minutes / 60)):\(two(minutes % 60))"
        }
        let dated = text + ",M3.2.0,M11.1.0"
        return !hasDates && TimeZoneRule(Array(dated.utf8)) != nil ? dated : nil
    }

    /// The rule for the future at the end of a TZif file.
    package static func posixText(ofFile bytes: [UInt8]) -> String? {
        guard bytes.starts(with: "TZif".utf8), bytes.last == 10 else { return nil }
        let text = bytes.dropLast().reversed().prefix { $0 != 10 }.reversed()
        return String(validating: Array(text), as: UTF8.self)
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
