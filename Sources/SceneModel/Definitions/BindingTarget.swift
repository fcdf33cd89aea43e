import AttributeValues
import RuleLanguage

public enum BindingTarget: Equatable {
    case reference(Reference)
    case selection(Selection)
    /// Reading gives the value of a rule. A write gives each target the value of an expression over `newValue`.
    case rules(get: Program, set: [Write])
    /// A constant binding: reading gives the value, writes are refused (`readOnly`).
    case constant(Value)

    public struct Write: Equatable {
        public var target: Reference
        public var value: Expression
    }

    public static let newValue = "newValue"

    /// The expressions that it reads, and those that compute what it writes.
    public var expressions: [Expression] {
        switch self {
        case .reference(let reference): [.reference(reference)]
        case .selection(let selection): [.selection(selection)]
        case .rules(let get, let set): [.rule(get)] + set.map(\.value) + set.map { .reference($0.target) }
        case .constant: []
        }
    }
}
