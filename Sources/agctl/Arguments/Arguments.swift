/// Arguments of a verb: properties that are declared with `@Argument`, `@Option`, `@Flag` and `@OptionGroup`.
protocol Arguments {
    init()

    /// - Throws: `Complaint` for arguments that do not fit together. Each is right by itself.
    func validate() throws
}

extension Arguments {
    func validate() throws {}
}

/// A verb of agctl.
protocol Verb: Arguments, SendableMetatype {
    static var help: VerbHelp { get }
    static var helpText: String { get }

    func run() throws
}

/// The description of a verb.
struct VerbHelp {
    var name: String
    /// One sentence.
    var summary: String
    /// Paragraphs, one a line. Lines that begin with spaces are examples.
    var discussion: String
    var aliases: [String] = []
}

extension Verb {
    static var helpText: String { HelpText.of(Self.self) }

    /// True for the name of the verb, and for its short names.
    static func isCalled(_ name: String) -> Bool { help.name == name || help.aliases.contains(name) }

    /// - Parameter words: those behind the verb.
    /// - Throws: `Complaint`; `RequestedText`.
    static func read(_ words: [String]) throws -> Self {
        let verb = Self()
        let (slots, groups) = verb.declared
        var reader = ArgumentReader(slots)
        do {
            try reader.read(words)
            for group in groups { try group.validate() }
            try verb.validate()
        } catch is HelpRequest { throw RequestedText(helpText) } catch let complaint as Complaint {
            let command = Self.self == Agctl.self ? "agctl help" : "agctl help \(help.name)"
            throw complaint.hint == nil ? complaint.hinted("see '\(command)'") : complaint
        }
        return verb
    }
}

extension Arguments {
    /// Everything that can be given, in the order of its declaration.
    var slots: [ArgumentSlot] { declared.slots }

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

/// A value that the command line can give.
protocol ArgumentValue {
    init?(argument: String)

    /// All values, if there are few.
    static var choices: [String] { get }
    /// The value as it is typed.
    var argument: String { get }
}

extension ArgumentValue {
    static var choices: [String] { [] }
    var argument: String { "\(self)" }
}

extension ArgumentValue where Self: LosslessStringConvertible {
    init?(argument: String) { self.init(argument) }
}

extension ArgumentValue where Self: RawRepresentable & CaseIterable, RawValue == String {
    init?(argument: String) { self.init(rawValue: argument) }
    static var choices: [String] { allCases.map(\.rawValue) }
    var argument: String { rawValue }
}

extension String: ArgumentValue {}
extension Int: ArgumentValue {}
extension UInt64: ArgumentValue {}
extension Double: ArgumentValue {}

/// Values each of which has a flag of its own.
protocol FlagChoice: RawRepresentable, CaseIterable where RawValue == String {
    var help: String { get }
}
