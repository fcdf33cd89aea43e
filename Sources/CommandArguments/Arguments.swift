/// Arguments of a verb: properties that are declared with `@Argument`, `@Option`, `@Flag` and `@OptionGroup`.
package protocol Arguments {
    init()

    /// - Throws: for arguments that do not fit together. Each is right by itself.
    func validate() throws(UsageError)
}

extension Arguments {
    package func validate() throws(UsageError) {}
}

/// A verb of a program.
package protocol Verb: Arguments, SendableMetatype {
    static var help: VerbHelp { get }

    func run() throws
}

/// The description of a verb.
package struct VerbHelp: Sendable {
    package let name: String
    /// One sentence.
    package let summary: String
    /// Paragraphs, one a line. Lines that begin with spaces are examples.
    package let discussion: String
    /// Short names.
    package let aliases: [String]

    package init(name: String, summary: String, discussion: String, aliases: [String] = []) {
        self.name = name
        self.summary = summary
        self.discussion = discussion
        self.aliases = aliases
    }
}

extension Verb {
    package static func isCalled(_ name: String) -> Bool { help.name == name || help.aliases.contains(name) }

    /// - Parameter words: those behind the verb.
    /// - Throws: `UsageError`; `TextRequest`.
    package static func read(_ words: [String]) throws -> Self {
        let verb = Self()
        let (slots, groups) = verb.declared
        var reader = ArgumentReader(slots, of: Self.self)
        try reader.read(words)
        for group in groups { try group.validate() }
        try verb.validate()
        return verb
    }
}

/// Wrong usage of a program.
package struct UsageError: Error {
    package var message: String
    package var hint: String?

    package init(_ message: String, hint: String? = nil) { (self.message, self.hint) = (message, hint) }
}

/// A request for a text instead of a run.
package enum TextRequest: Error {
    case help(any Verb.Type)
    case version
    /// The help of the whole program as JSON, for `Scripts/manual` and `Scripts/site`.
    case data
}

extension Arguments {
    /// Everything that can be given, in the order of its declaration.
    package var slots: [ArgumentSlot] { declared.slots }

    /// The slots, and the groups in which they are, each behind those inside it.
    fileprivate var declared: (slots: [ArgumentSlot], groups: [any Arguments]) {
        var (slots, groups): ([ArgumentSlot], [any Arguments]) = ([], [])
        for (property, value) in Mirror(reflecting: self).children {
            switch value as? Declaration {
            case let slot as ArgumentSlot:
                // The property behind `@Option var label` is `_label`.
                slot.name(after: String((property ?? "").dropFirst()))
                slots.append(slot)
            case let group as ArgumentGroup:
                let inner = group.arguments.declared
                slots += inner.slots
                groups += inner.groups + [group.arguments]
            default: continue
            }
        }
        return (slots, groups)
    }
}

/// The type of an argument reads its words: as one value, as an optional one, or as a list.
package protocol ArgumentContent {
    /// The value of an argument without a word; nil if the argument needs one.
    static var absent: Self? { get }
    static var isRepeated: Bool { get }
    /// All values, if there are few.
    static var choices: [String] { get }
    /// Describes a valid value, for messages; nil if every text is one, or if `choices` lists them.
    static var expected: String? { get }
    /// As it is typed, for the help.
    var written: String? { get }

    /// - Parameter value: what the words before have made.
    /// - Returns: nil if the text is no value.
    static func read(_ text: String, after value: Self?) -> Self?
}

/// A value that one word gives.
package protocol ArgumentValue: ArgumentContent {
    init?(argument: String)
}

extension ArgumentValue {
    package static var absent: Self? { nil }
    package static var isRepeated: Bool { false }
    package static var choices: [String] { [] }
    package static var expected: String? { nil }
    package var written: String? { "\(self)" }
    package static func read(_ text: String, after value: Self?) -> Self? { Self(argument: text) }
}

extension Optional: ArgumentContent where Wrapped: ArgumentValue {
    package static var absent: Wrapped?? { .some(nil) }
    package static var isRepeated: Bool { false }
    package static var choices: [String] { Wrapped.choices }
    package static var expected: String? { Wrapped.expected }
    package var written: String? { nil }
    package static func read(_ text: String, after value: Wrapped??) -> Wrapped?? {
        Wrapped(argument: text).map { .some($0) }
    }
}

extension Array: ArgumentContent where Element: ArgumentValue {
    package static var absent: [Element]? { nil }
    package static var isRepeated: Bool { true }
    package static var choices: [String] { Element.choices }
    package static var expected: String? { Element.expected }
    package var written: String? { nil }
    package static func read(_ text: String, after value: [Element]?) -> [Element]? {
        Element(argument: text).map { (value ?? []) + [$0] }
    }
}

extension ArgumentValue where Self: LosslessStringConvertible {
    package init?(argument: String) { self.init(argument) }
}

extension ArgumentValue where Self: RawRepresentable & CaseIterable, RawValue == String {
    package init?(argument: String) { self.init(rawValue: argument) }
    package static var choices: [String] { allCases.map(\.rawValue) }
    package var written: String? { rawValue }
}

extension String: ArgumentValue {}
extension Int: ArgumentValue { package static var expected: String? { "a whole number" } }
extension UInt64: ArgumentValue { package static var expected: String? { "a whole number from 0" } }
extension Double: ArgumentValue { package static var expected: String? { "a number" } }

/// Values each of which has a flag of its own.
package protocol FlagChoice: RawRepresentable, CaseIterable where RawValue == String {
    var help: String { get }
}
