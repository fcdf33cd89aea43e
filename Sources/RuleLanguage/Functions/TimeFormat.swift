import AttributeValues

/// `t.format("HH:mm", timeZone)`: the letters that Unicode gives to the parts of dates (UTS 35), with English names.
enum TimeFormat {
    /// Steps for a part of the pattern.
    private static let partCost = 10
    private static let months = [
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December",
    ]
    private static let days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    /// The letters, each with the greatest number of repetitions.
    private static let letters: KeyValuePairs<Character, Int> = [
        "y": 4, "M": 4, "d": 2, "H": 2, "h": 2, "m": 2, "s": 2, "S": 9, "a": 1, "E": 4, "X": 3,
    ]

    static func text(
        _ time: Timestamp, _ pattern: String, offset: Int, _ meter: inout Meter
    ) throws(Fault) -> String {
        let civil = CivilTime(time, offset: offset)
        var text = ""
        var rest = pattern[...]
        while let letter = rest.first {
            if letter == "'" {
                rest.removeFirst()
                text += literal(&rest)
                continue
            }
            let run = rest.prefix { $0 == letter }
            rest = rest.dropFirst(run.count)
            guard letter.isASCII, letter.isLetter else {
                text += run
                continue
            }
            try meter.charge(partCost)
            guard let most = letters.first(where: { $0.key == letter })?.value, run.count <= most else {
                throw Fault(
                    "'\(CELText.brief(.string(String(run))))' is no part of a time",
                    hint: "the parts are yyyy, MM, dd, HH, mm, ss, SSS, hh, a, EEE, MMM, XXX; text is put in ''")
            }
            text += part(letter, run.count, civil, time, offset: offset)
        }
        try meter.chargeText(text.utf8.count)
        return text
    }

    /// The text up to the next quote; `''` is a quote.
    private static func literal(_ rest: inout Substring) -> String {
        if rest.first == "'" {
            rest.removeFirst()
            return "'"
        }
        var text = ""
        while let next = rest.popFirst() {
            if next == "'" {
                guard rest.first == "'" else { break }
                rest.removeFirst()
            }
            text.append(next)
        }
        return text
    }

    private static func part(_ letter: Character, _ count: Int, _ civil: CivilTime, _ time: Timestamp, offset: Int)
        -> String
    {
        func padded(_ number: Int, _ width: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
        }
        func name(_ names: [String], _ number: Int) -> String {
            count == 4 ? names[number] : String(names[number].prefix(3))
        }
        switch letter {
        case "y": return count == 2 ? padded(civil.year % 100, 2) : padded(civil.year, count)
        case "M": return count < 3 ? padded(civil.month, count) : name(months, civil.month - 1)
        case "d": return padded(civil.day, count)
        case "H": return padded(civil.hour, count)
        case "h": return padded((civil.hour + 11) % 12 + 1, count)
        case "m": return padded(civil.minute, count)
        case "s": return padded(civil.second, count)
        case "S": return String(padded(Int(time.nanoseconds), 9).prefix(count))
        case "a": return civil.hour < 12 ? "AM" : "PM"
        case "E":
            let day = CivilTime.days(year: civil.year, month: civil.month, day: civil.day)
            return name(TimeFormat.days, ((day + 4) % 7 + 7) % 7)
        default:
            if offset == 0 { return "Z" }
            let minutes = abs(offset) / 60
            let colon = count == 3 ? ":" : ""
            return (offset < 0 ? "-" : "+") + padded(minutes / 60, 2) + colon
                + (count == 1 && minutes % 60 == 0 ? "" : padded(minutes % 60, 2))
        }
    }
}
