import AttributeValues
import RuleLanguage

/// The value of an input: a literal, a rule (`=…`), a reference (`$name.path`), or one that a rule chooses.
public enum Expression: Equatable {
    case literal(Value)
    case rule(Program)
    case reference(Reference)
    case selection(Selection)

    public var program: Program? {
        switch self {
        case .rule(let program): program
        case .selection(let selection): selection.program
        case .literal, .reference: nil
        }
    }
}

/// `$name.key[0]`: an attribute of the nearest enclosing node that declares `name`, and a path into its value.
public struct Reference: Hashable {
    public var name: Name
    public var steps: [AttributePath.Step]

    public init(name: Name, steps: [AttributePath.Step] = []) {
        self.name = name
        self.steps = steps
    }
}
