import AttributeValues

/// The text of an argument in the help.
package struct ArgumentHelp: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
    let text: String
    /// Stands for the value; nil: the name of the argument does.
    let valueName: String?

    package init(_ text: String, valueName: String? = nil) { (self.text, self.valueName) = (text, valueName) }

    package init(stringLiteral text: String) { self.init(text) }
}

/// A property of `Arguments` that the command line gives: one argument, or a group of them.
package class Declaration {
    fileprivate init() {}
}

/// One argument, option or flag: how it is written. `Slot` adds the value.
package class ArgumentSlot: Declaration {
    package enum Form { case operand, option, flag }

    package let form: Form
    /// With dashes, the short one first. Operands have none.
    package fileprivate(set) var names: [String]
    package fileprivate(set) var valueName: String
    let help: String
    let completion: Offer
    /// True if it may be left out.
    package fileprivate(set) var isOptional = false
    fileprivate(set) var isRepeated = false
    /// True for operands that stand behind `--`.
    fileprivate(set) var isBehindTerminator = false
    fileprivate(set) var choices: [String] = []
    /// Describes a valid value, for messages.
    fileprivate(set) var expected: String?
    /// The value if it is left out, for the help.
    fileprivate(set) var standard: String?
    private(set) var isGiven = false

    fileprivate init(_ form: Form, _ names: [String?], _ help: ArgumentHelp, _ completion: Offer) {
        self.form = form
        self.names = names.compactMap(\.self)
        valueName = help.valueName ?? ""
        self.help = help.text
        self.completion = completion
        super.init()
    }

    /// Completes the names by that of the property: `maxRate` is `--max-rate`.
    func name(after property: String) {
        let words = property.reduce(into: "") { text, character in
            text += character.isUppercase ? "-" + character.lowercased() : String(character)
        }
        if form != .operand, !names.contains(where: { $0.hasPrefix("--") }) { names.append("--" + words) }
        if valueName.isEmpty { valueName = words }
    }

    /// The meanings of the flags that it is, if it is several.
    fileprivate var meanings: [String] = []

    /// The flags that it is, or the one argument, as the help shows them, each with its meaning.
    var shown: [(spelling: String, meaning: String)] {
        meanings.isEmpty ? [(names.joined(separator: ", "), help)] : Array(zip(names, meanings))
    }

    /// As messages show it: `--count <n>`, `<path>`.
    func spelled(_ name: String? = nil) -> String {
        let name = name ?? names.last ?? ""
        return switch form {
        case .operand: "<\(valueName)>" + (isRepeated ? " ..." : "")
        case .option: "\(name) <\(valueName)>"
        case .flag: name
        }
    }

    /// - Returns: false if the text is no value of it.
    final func take(_ text: String, as name: String?) -> Bool {
        isGiven = true
        return store(text, as: name)
    }

    fileprivate func store(_ text: String, as name: String?) -> Bool { preconditionFailure("a slot stores its values") }
}

/// An argument with its value.
package class Slot<Value>: ArgumentSlot {
    private var value: Value?
    private let parse: (_ text: String, _ name: String?, _ value: Value?) -> Value?

    fileprivate init(
        _ form: Form, _ names: [String?], _ help: ArgumentHelp, standard: Value?,
        parse: @escaping (_ text: String, _ name: String?, _ value: Value?) -> Value?
    ) {
        value = standard
        self.parse = parse
        super.init(form, names, help, .nothing)
        isOptional = standard != nil
    }

    fileprivate init(
        _ form: Form, _ names: [String?], _ help: ArgumentHelp, _ completion: Offer, standard: Value?
    ) where Value: ArgumentContent {
        value = standard ?? Value.absent
        parse = { text, _, value in Value.read(text, after: value) }
        super.init(form, names, help, completion)
        isOptional = value != nil
        isRepeated = Value.isRepeated
        choices = Value.choices
        expected = choices.isEmpty ? Value.expected : "one of \(choices.joined(separator: ", "))"
        self.standard = standard?.written
    }

    override fileprivate func store(_ text: String, as name: String?) -> Bool {
        guard let parsed = parse(text, name, value) else { return false }
        value = parsed
        return true
    }

    fileprivate(set) final var content: Value {
        get {
            guard let value else { preconditionFailure("an argument is used before it was read") }
            return value
        }
        set { value = newValue }
    }
}

/// An argument without a name. The first word goes to the first one that is declared. A list has at least one element,
/// unless it has a standard.
@propertyWrapper
package final class Argument<Value>: Slot<Value> {
    package var wrappedValue: Value { content }

    package init(help: ArgumentHelp, completion: Offer = .nothing) where Value: ArgumentContent {
        super.init(.operand, [], help, completion, standard: nil)
    }

    package init(
        wrappedValue: Value, help: ArgumentHelp, completion: Offer = .nothing, isBehindTerminator: Bool = false
    ) where Value: ArgumentContent {
        super.init(.operand, [], help, completion, standard: wrappedValue)
        self.isBehindTerminator = isBehindTerminator
    }
}

/// An argument with a name and a value. If it is given again, the last value counts, or all do for a list.
@propertyWrapper
package final class Option<Value>: Slot<Value> {
    package var wrappedValue: Value {
        get { content }
        set { content = newValue }
    }

    package init(_ name: String? = nil, short: String? = nil, help: ArgumentHelp, completion: Offer = .nothing)
    where Value: ArgumentContent {
        super.init(.option, [short, name], help, completion, standard: nil)
    }

    package init(
        wrappedValue: Value, _ name: String? = nil, short: String? = nil, help: ArgumentHelp,
        completion: Offer = .nothing
    ) where Value: ArgumentContent {
        super.init(.option, [short, name], help, completion, standard: wrappedValue)
    }
}

/// An argument with a name alone.
@propertyWrapper
package final class Flag<Value>: Slot<Value> {
    package var wrappedValue: Value { content }

    package init(wrappedValue: Bool, _ name: String? = nil, help: ArgumentHelp) where Value == Bool {
        super.init(.flag, [name], help, standard: wrappedValue) { _, _, _ in true }
    }

    /// A flag for each value.
    package init(wrappedValue: Value) where Value: FlagChoice {
        super.init(.flag, Value.allCases.map { "--\($0.rawValue)" }, "", standard: wrappedValue) { _, name, _ in
            name.flatMap { Value(rawValue: String($0.dropFirst(2))) }
        }
        meanings = Value.allCases.map(\.help)
    }
}

/// Arguments that several verbs have.
package class ArgumentGroup: Declaration {
    fileprivate(set) final var arguments: any Arguments

    fileprivate init(_ arguments: any Arguments) {
        self.arguments = arguments
        super.init()
    }
}

@propertyWrapper
package final class OptionGroup<Group>: ArgumentGroup {
    package let wrappedValue: Group

    package init() where Group: Arguments {
        wrappedValue = Group()
        super.init(wrappedValue)
    }
}
