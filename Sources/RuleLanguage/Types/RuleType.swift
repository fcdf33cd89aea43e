import AttributeValues

/// A type for the checker: `ValueType` and the types that inference needs in addition.
///
/// Equality is structural. `variable` occurs only while a rule is checked; results never contain one.
public enum RuleType: Hashable, Sendable, ScalarTypes {
    /// Any type. Checked when the rule runs.
    case dyn
    /// The type of a part with a reported fault. It agrees with every type, so that one fault is reported once.
    case error
    case scalar(ScalarType)
    indirect case list(RuleType)
    indirect case map(RuleType, RuleType)
    /// The type of a type value: `type(1)` is `type(int)`.
    indirect case type(RuleType)
    /// A named type with parameters: `optional_type(int)`, `net.IP`, an object type, a type of the host.
    indirect case abstract(String, [RuleType])
    /// A value of this type or null.
    indirect case wrapper(RuleType)
    /// A type parameter in a declaration.
    indirect case parameter(String)
    /// A type parameter being inferred.
    indirect case variable(Int)

    public static func optional(_ wrapped: RuleType) -> RuleType { .abstract("optional_type", [wrapped]) }
    static let ip = RuleType.abstract("net.IP", [])
    static let cidr = RuleType.abstract("net.CIDR", [])

    /// T of `optional_type(T)`.
    public var optionalElement: RuleType? {
        if case .abstract("optional_type", let parameters) = self { parameters.first } else { nil }
    }

    var isDynOrError: Bool {
        switch self {
        case .dyn, .error: true
        default: false
        }
    }

    /// No two different basic types agree.
    var isBasic: Bool {
        if case .scalar(let type) = self { type != .null } else { false }
    }

    /// True if a condition holds for the type, or for a type in it.
    func contains(_ holds: (RuleType) -> Bool) -> Bool {
        if holds(self) { return true }
        return switch self {
        case .list(let inner), .type(let inner), .wrapper(let inner): inner.contains(holds)
        case .map(let key, let value): key.contains(holds) || value.contains(holds)
        case .abstract(_, let parameters): parameters.contains { $0.contains(holds) }
        default: false
        }
    }

    /// The type with changed types in it.
    func mapParts(_ change: (RuleType) -> RuleType) -> RuleType {
        switch self {
        case .list(let element): .list(change(element))
        case .map(let key, let value): .map(change(key), change(value))
        case .type(let inner): .type(change(inner))
        case .wrapper(let inner): .wrapper(change(inner))
        case .abstract(let name, let parameters): parameters.isEmpty ? self : .abstract(name, parameters.map(change))
        default: self
        }
    }

    /// The type parameters that occur in a declared type.
    var parameterNames: Set<String> {
        var names: Set<String> = []
        _ = contains { type in
            if case .parameter(let name) = type { names.insert(name) }
            return false
        }
        return names
    }

    /// True if values of this type have no parts.
    var isScalar: Bool {
        if case .scalar = self { true } else { false }
    }

    /// The type with unbound variables replaced by `dyn`, for results.
    var resolved: RuleType {
        switch self {
        case .variable, .parameter, .error: .dyn
        default: mapParts(\.resolved)
        }
    }
}

extension RuleType: CustomStringConvertible {
    public var description: String {
        switch self {
        case .dyn: "dyn"
        case .error: "unknown"
        case .scalar(let type): type.rawValue
        case .list(let element): "list(\(element))"
        case .map(let key, let value): "map(\(key), \(value))"
        case .type(let type): "type(\(type))"
        case .wrapper(let type): "\(type)?"
        case .abstract(let name, let parameters):
            parameters.isEmpty ? name : "\(name)(\(parameters.map(\.description).joined(separator: ", ")))"
        case .parameter(let name): name
        case .variable: "dyn"
        }
    }
}

extension RuleType {
    /// The checker's view of an attribute's type.
    public init(_ type: ValueType) {
        switch type {
        case .dyn: self = .dyn
        case .scalar(let type): self = .scalar(type)
        case .type: self = .type(.dyn)
        case .list(let element): self = .list(RuleType(element))
        case .map(let key, let value): self = .map(RuleType(key), RuleType(value))
        case .optional(let wrapped): self = .optional(RuleType(wrapped))
        case .nullable(let wrapped): self = .wrapper(RuleType(wrapped))
        case .color: self = .abstract("color", [])
        case .angle: self = .abstract("angle", [])
        case .vector: self = .abstract("vector", [])
        case .object(let name): self = .abstract(name, [])
        }
    }

    /// The attribute type for the results of a rule of this type.
    public var valueType: ValueType {
        switch self {
        case .dyn, .error, .parameter, .variable: .dyn
        case .scalar(let type): .scalar(type)
        case .type: .type
        case .list(let element): .list(element.valueType)
        case .map(let key, let value): .map(key: key.valueType, value: value.valueType)
        case .wrapper(let type): .nullable(type.valueType)
        case .abstract("optional_type", let parameters): .optional(parameters.first?.valueType ?? .dyn)
        case .abstract("color", _): .color
        case .abstract("angle", _): .angle
        case .abstract("vector", _): .vector(nil)
        case .abstract(let name, _): name.hasPrefix("net.") ? .dyn : .object(name)
        }
    }
}

extension RuleType {
    var isVector: Bool { self == .abstract("vector", []) }

    /// The type for iterating: a vector is the list of its numbers.
    var listed: RuleType { isVector ? .list(.double) : self }
}
