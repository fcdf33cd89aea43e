import AttributeValues

/// Gives the words of a command line to the arguments of a verb.
package struct ArgumentReader {
    private let slots: [ArgumentSlot]
    /// The operands that have no value yet. A repeated operand stays, and takes all further values.
    private var operands: ArraySlice<ArgumentSlot>
    private let verb: any Verb.Type

    init(_ slots: [ArgumentSlot], of verb: any Verb.Type) {
        self.slots = slots
        self.verb = verb
        operands = slots.filter { $0.form == .operand && !$0.isBehindTerminator }[...]
    }

    /// True if a word is an option. Negative numbers and durations are not, and `-` is standard input.
    package static func isOption(_ word: String) -> Bool {
        guard word.hasPrefix("-"), word != "-" else { return false }
        let digits = word.dropFirst().drop { $0 == "." }
        // Other numbers: -inf, -nan.
        return !(digits.first?.isASCIIDigit == true || Double(word) != nil)
    }

    /// - Throws: `UsageError`; `TextRequest`.
    mutating func read(_ words: [String]) throws {
        var words = words[...]
        while let word = words.popFirst() {
            if word == "--" {
                let last = slots.first { $0.isBehindTerminator }
                for word in words { if let last { try give(word, to: last) } else { try readOperand(word) } }
                break
            }
            if ArgumentReader.isOption(word) { try readOption(word, &words) } else { try readOperand(word) }
        }
        guard let missing = slots.first(where: { !$0.isOptional && !$0.isGiven }) else { return }
        throw UsageError("\(missing.spelled()) is missing")
    }

    private mutating func readOperand(_ word: String) throws {
        guard let slot = operands.first else { throw UsageError("unexpected argument '\(word)'") }
        if !slot.isRepeated { operands.removeFirst() }
        try give(word, to: slot)
    }

    private func readOption(_ word: String, _ words: inout ArraySlice<String>) throws {
        let (name, value) = ArgumentReader.parts(of: word)
        if name == "-h" || name == "--help" { throw TextRequest.help(verb) }
        if name == "--version" { throw TextRequest.version }
        if name == "--dump-help" { throw TextRequest.data }
        guard let slot = slots.first(where: { $0.names.contains(name) }) else {
            throw UsageError(
                "unknown option '\(name)'", hint: NearestName.hint(name, among: slots.flatMap(\.names)))
        }
        if slot.form == .flag {
            if value != nil { throw UsageError("\(name) takes no value") }
            if slot.isGiven, slot.names.count > 1 {
                throw UsageError("only one of \(slot.names.joined(separator: ", ")) may be given")
            }
            return try give("", to: slot, as: name)
        }
        if let value { return try give(value, to: slot, as: name) }
        guard let next = words.first, !ArgumentReader.isOption(next) else {
            throw UsageError("\(slot.spelled(name)) needs a value")
        }
        words.removeFirst()
        try give(next, to: slot, as: name)
    }

    private func give(_ text: String, to slot: ArgumentSlot, as name: String? = nil) throws {
        guard !slot.take(text, as: name) else { return }
        let expected = slot.expected.map { "; it is \($0)" } ?? ""
        throw UsageError("'\(text)' is no value of \(slot.spelled(name))\(expected)")
    }

    /// The name and value of `--name=value`. A short name has no value in its word.
    package static func parts(of word: String) -> (name: String, value: String?) {
        guard word.hasPrefix("--"), let equals = word.firstIndex(of: "=") else { return (word, nil) }
        return (String(word[..<equals]), String(word[word.index(after: equals)...]))
    }

    /// The position of the first word that is neither an option nor its value.
    package static func firstOperand(in words: [String], _ slots: [ArgumentSlot]) -> Int? {
        var position = 0
        while position < words.count {
            let word = words[position]
            if word == "--" { return nil }
            if !isOption(word) { return position }
            let takesNext = slots.contains { $0.form == .option && $0.names.contains(word) }
            position += takesNext ? 2 : 1
        }
        return nil
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}
