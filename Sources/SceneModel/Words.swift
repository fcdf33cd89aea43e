/// Names in a form for people.
public enum Words {
    /// These stand in capitals inside a sentence, too.
    private static let abbreviations: Set<String> = [
        "cpu", "dns", "gpu", "http", "id", "io", "ip", "ok", "ram", "tcp", "udp", "url",
    ]

    /// An id in words: `busiestCore` becomes "Busiest core", `cpu0` becomes "CPU0". An id does not change if it does
    /// not begin with a letter, or contains anything but ASCII letters, digits, `-` and `_`.
    public static func of(_ id: String) -> String {
        func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) }
        func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }
        guard let first = id.utf8.first, isLetter(first),
            id.utf8.allSatisfy({
                isLetter($0) || isDigit($0) || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_")
            })
        else { return id }
        var words: [String] = [""]
        var before: Character = " "
        for character in id {
            let isBorder = character == "-" || character == "_"
            if isBorder || character.isUppercase && (before.isLowercase || before.isNumber) { words.append("") }
            if !isBorder { words[words.count - 1] += character.lowercased() }
            before = character
        }
        let shown = words.map { word -> String in
            let stem = word.prefix { !$0.isNumber }
            let isShort = abbreviations.contains(String(stem)) && word.dropFirst(stem.count).allSatisfy(\.isNumber)
            return isShort ? word.uppercased() : word
        }
        let text = shown.joined(separator: " ")
        return text.prefix(1).uppercased() + text.dropFirst()
    }

    /// The name inside a sentence.
    public static func inside(_ id: String) -> String {
        let text = of(id)
        let first = text.prefix { $0 != " " }
        return first.dropFirst().contains(where: \.isUppercase)
            ? text : first.lowercased() + text.dropFirst(first.count)
    }
}
