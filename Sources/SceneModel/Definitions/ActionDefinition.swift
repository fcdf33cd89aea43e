import AttributeValues
import RuleLanguage

/// Writes that are done together when somebody calls the action, or when the daemon does so by itself. Its rules and
/// references use the names of its node, and its parameters.
public final class ActionDefinition: Equatable {
    public struct Parameter {
        public var name: String
        public var type: ValueType
        /// nil: each call has to give it.
        public var standard: Value?
    }

    public struct Step {
        public var operation: Operation
        public var target: Target
        /// The step is left out while one of these is false.
        public var conditions: [Expression] = []
        /// The arguments of a call, by the names of the parameters; empty for other steps.
        public var arguments: [(name: String, value: Expression)] = []
        /// The operand; nil for operations without one.
        public var value: Expression?
        /// The animation of the write, as text; nil: that of the call.
        public var animation: String?
    }

    /// The mutations of the protocol that an action may do, by the same names, and the call of another action.
    public enum Operation: String, CaseIterable, Sendable {
        case set, toggle, add, append, insert, merge, remove, test
        case call = "do"

        public var takesValue: Bool { self != .toggle && self != .remove && self != .call }
    }

    public enum Target {
        case reference(Reference)
        /// The reference that a rule chooses.
        case selection(Selection)
        /// All states that match when the action is called. A pattern without wildcards has to match one.
        case pattern(PathPattern)
    }

    /// When the daemon calls the action by itself.
    public enum Trigger {
        /// A value became another one. The action has the parameters `oldValue` and `newValue`.
        /// - `initial`: it is also called when its node appears, with the same value twice.
        case change(of: Expression, initial: Bool)
        case appear
        case disappear
    }

    public let parameters: [Parameter]
    /// In the order in which they are written.
    public let steps: [Step]
    /// nil: only clients call it.
    public let trigger: Trigger?
    /// As it is written under `actions`.
    public let document: Value
    /// True if its rules read who calls it.
    public let readsCaller: Bool
    /// As for `KeyedExpression`.
    public internal(set) var isAtUse = false

    public init(
        parameters: [Parameter], steps: [Step], trigger: Trigger? = nil, document: Value, readsCaller: Bool = false
    ) {
        self.readsCaller = readsCaller
        self.parameters = parameters
        self.steps = steps
        self.trigger = trigger
        self.document = document
    }

    public static func == (a: ActionDefinition, b: ActionDefinition) -> Bool {
        a.document == b.document && a.isAtUse == b.isAtUse
    }

    public static let oldValue = "oldValue"
    public static let newValue = "newValue"
    /// A map that says who calls the action.
    public static let caller = "caller"

    /// The values of its steps, and the value whose change calls it.
    public var expressions: [Expression] {
        let values = steps.flatMap { step in
            let target: [Expression] = if case .selection(let chosen) = step.target { [.selection(chosen)] } else { [] }
            return target + step.conditions + step.arguments.map(\.value) + (step.value.map { [$0] } ?? [])
        }
        if case .change(let value, _)? = trigger { return values + [value] }
        return values
    }

    /// The names that its expressions read, without those that a call gives.
    public var names: [String] {
        let given = Set(texts: parameters.map(\.name) + (readsCaller ? [ActionDefinition.caller] : []))
        return expressions.flatMap { expression -> [String] in
            switch expression {
            case .literal: []
            case .reference(let reference): reference.name.pathFromRoot == nil ? [reference.name.text] : []
            case .rule(let program): program.inputs.filter { $0.name.pathFromRoot == nil }.map(\.variable)
            case .selection(let selection): selection.program.inputs.map(\.variable)
            }
        }.filter { !given.contains(Name($0)) }
    }

    /// The value of the attribute: the parameters, for people and pages that show a form, and when the daemon calls the
    /// action (`of`, `on`).
    public var summary: Value {
        let parameters = parameters.map { parameter -> (Value, Value) in
            var fields = ValueMap([(.string("type"), .string(parameter.type.description))])
            if let standard = parameter.standard { fields["default"] = standard }
            return (.string(parameter.name), .map(fields))
        }
        var summary = ValueMap([("parameters", .map(ValueMap(parameters)))])
        for key in trigger == nil ? [] : ["of", "on"] { summary[key] = document.map?[key] }
        return .map(summary)
    }
}
