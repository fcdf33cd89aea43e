// What stands inside values of a type, and which types hold each other's values.

extension ValueType {
    /// The type of what stands at a step inside a value of this type; nil where no such place can be. What an object has inside
    /// only declarations know.
    public func part(at step: AttributePath.Step) -> ValueType? {
        switch (self, step) {
        case (.nullable(let wrapped), _): wrapped.part(at: step)
        case (.dyn, _): .dyn
        case (.list(let element), .index), (.list(let element), .element): element
        case (.map(_, let value), .key), (.map(_, let value), .index): value
        case (.vector, .index): .double
        default: nil
        }
    }

    /// Whether every value of the other type is one of this type, as it stands.
    public func includes(_ other: ValueType) -> Bool {
        switch (self, other) {
        case (.dyn, _), (.nullable, .scalar(.null)), (.vector(nil), .vector): true
        case (.nullable(let own), .nullable(let others)): own.includes(others)
        case (.nullable(let own), _): own.includes(other)
        case (.list(let own), .list(let others)), (.optional(let own), .optional(let others)): own.includes(others)
        case (.map(let key, let value), .map(let otherKey, let otherValue)): key.includes(otherKey) && value.includes(otherValue)
        default: self == other
        }
    }

    /// The object type that a value of this type is or may be.
    public var objectName: String? {
        switch self {
        case .object(let name): name
        case .nullable(let wrapped): wrapped.objectName
        default: nil
        }
    }

    /// The object types that are named in this one.
    public var objectNames: [String] {
        switch self {
        case .object(let name): [name]
        case .list(let element), .optional(let element), .nullable(let element): element.objectNames
        case .map(let key, let value): key.objectNames + value.objectNames
        default: []
        }
    }
}
