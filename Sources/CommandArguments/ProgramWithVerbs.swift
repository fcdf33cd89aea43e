import AttributeValues

/// A program whose first word is a verb. The program itself reads lines without a verb.
package protocol ProgramWithVerbs: Verb {
    static var verbs: [any Verb.Type] { get }
    /// By verb: what other programs call it.
    static var otherNames: [String: [String]] { get }
}

extension ProgramWithVerbs {
    /// The verb with its arguments. The options of the program may precede the verb, which reads them.
    /// - Throws: `UsageError`; `TextRequest`; what `validate` throws.
    package static func readCommand(_ words: [String]) throws -> any Verb {
        // Most lines begin with their verb.
        let isVerbFirst = words.first.map(ArgumentReader.isOption) == false
        guard let position = isVerbFirst ? 0 : ArgumentReader.firstOperand(in: words, Self().slots) else {
            if words.isEmpty { throw TextRequest.help(Self.self) }
            return try read(Self.self, words)
        }
        let (name, rest) = (words[position], Array(words[..<position] + words[(position + 1)...]))
        if name == "help" {
            let topic = rest.first { !ArgumentReader.isOption($0) && $0 != "help" }
            throw TextRequest.help(try topic.map(verb) ?? Self.self)
        }
        return try read(try verb(name), rest)
    }

    private static func read(_ verb: any Verb.Type, _ words: [String]) throws -> any Verb {
        do { return try verb.read(words) } catch var error as UsageError {
            let command = verb == Self.self ? "help" : "help \(verb.help.name)"
            error.hint = error.hint ?? "see '\(help.name) \(command)'"
            throw error
        }
    }

    private static func verb(_ name: String) throws(UsageError) -> any Verb.Type {
        if let verb = verbs.first(where: { $0.isCalled(name) }) { return verb }
        let names = verbs.map { $0.help.name }
        let hint =
            otherNames.first { $0.value.contains(name.lowercased()) }.map { NearestName.question($0.key) }
            ?? NearestName.hint(name, among: names)
            ?? "'\(help.name) help' lists them: \(names.joined(separator: ", "))"
        throw UsageError("there is no verb '\(name)'", hint: hint)
    }
}
