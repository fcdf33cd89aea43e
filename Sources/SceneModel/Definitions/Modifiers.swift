import AttributeValues
import RuleLanguage

// The modifiers of a node.

/// `key.path: expression` in the modifiers environment, containerValues and preferences.
public struct KeyedExpression: Equatable {
    public let key: String
    /// The steps into a grouped key; empty for the whole.
    public let steps: [AttributePath.Step]
    /// The type of the part that is written. The value is converted to it.
    public let type: ValueType
    public let expression: Expression
    public let position: SourcePosition
    /// True if it is written at the use of a component: see `NodeDefinition.isHiddenAtUse`.
    public var isAtUse = false

    public init(
        key: String, steps: [AttributePath.Step], type: ValueType, expression: Expression, position: SourcePosition
    ) {
        self.key = key
        self.steps = steps
        self.type = type
        self.expression = expression
        self.position = position
    }

    /// The position in the document does not count.
    public static func == (a: KeyedExpression, b: KeyedExpression) -> Bool {
        a.key == b.key && a.steps == b.steps && a.type == b.type && a.expression == b.expression
            && a.isAtUse == b.isAtUse
    }
}

/// `transformEnvironment: {key.path: rule over value}`: in the program, `value` is the inherited value of that part.
public struct EnvironmentTransform: Equatable {
    public let key: String
    /// The steps into a grouped key; empty for the whole.
    public let steps: [AttributePath.Step]
    /// The type of the part that is transformed. The result is converted to it.
    public let type: ValueType
    public let program: Program
    /// The number of the node's overrides that are outside the transform. Overrides written beside it or further out,
    /// as at the use of a component, are before it; those of the component's own root follow it.
    public var place: Int
    /// As for `KeyedExpression`.
    public var isAtUse = false
}

public enum EnvironmentModifier {
    case override(KeyedExpression)
    case transform(EnvironmentTransform)
}

/// `animation: {curve, value}`: when `value` changes in a transaction, this animation applies to the node and all nodes
/// below it.
public struct AnimationModifier: Equatable {
    /// The text form; nil if the change is not animated.
    public let animation: String?
    public let value: Expression
    /// As for `KeyedExpression`.
    public var isAtUse = false
}
