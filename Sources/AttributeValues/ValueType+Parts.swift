// The parts of types, and relations between types.

extension ValueType {
    /// The type of the part at a step of a value of this type; nil if there can be no such part. Only declarations know
    /// the parts of objects.
    public func typeOfPart(at step: AttributePath.Step) -> ValueType? {
        switch (self, step) {
        case (.nullable(let wrapped), _): wrapped.typeOfPart(at: step)
        case (.dyn, _): .dyn
        case (.list(let element), .index), (.list(let element), .element): element
        case (.map(_, let value), .key), (.map(_, let value), .index): value
        case (.vector, .index): .double
        default: nil
        }
    }

    /// True if every value of the other type is a value of this type without conversion.
    public func includes(_ other: ValueType) -> Bool {
        switch (self, other) {
        case (.dyn, _), (.nullable, .scalar(.null)), (.vector(nil), .vector): true
        case (.nullable(let own), .nullable(let others)): own.includes(others)
        case (.nullable(let own), _): own.includes(other)
        case (.list(let own), .list(let others)), (.optional(let own), .optional(let others)): own.includes(others)
        case (.map(let key, let value), .map(let otherKey, let otherValue)):
            key.includes(otherKey) && value.includes(otherValue)
        default: self == other
        }
    }

    /// The name of the object type, for values of this type that may also be null.
    public var objectName: String? {
        switch self {
        case .object(let name): name
        case .nullable(let wrapped): wrapped.objectName
        default: nil
        }
    }

    /// The object types that occur in this type.
    public var objectNames: [String] {
        switch self {
        case .object(let name): [name]
        case .list(let element), .optional(let element), .nullable(let element): element.objectNames
        case .map(let key, let value): key.objectNames + value.objectNames
        default: []
        }
    }
}
