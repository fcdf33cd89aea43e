import AttributeValues

/// `optional.of`, `hasValue`, `first` and similar functions. (`or` and `orValue` are compiled to jumps; they are here
/// for completeness.)
enum OptionalLibrary {
    static func call(_ function: Function, _ a: Arguments) throws(Fault) -> Value? {
        switch function {
        case .optionalNone: return .optional(nil)
        case .optionalOf: return .optional(a[0])
        case .optionalOfNonZeroValue: return .optional(isZero(a[0]) ? nil : a[0])
        case .optionalUnwrap, .unwrapOpt: return unwrap(a[0])
        case .first: return a.elements(0).map { .optional($0.first) }
        case .last: return a.elements(0).map { .optional($0.last) }
        default: break
        }
        guard case .optional(let wrapped) = a[0] else { return nil }
        switch function {
        case .hasValue: return .bool(wrapped != nil)
        case .value:
            guard let wrapped else { throw Fault("optional.none() dereference") }
            return wrapped
        case .or: return wrapped != nil ? a[0] : a[1]
        case .orValue: return wrapped ?? a[1]
        default: return nil
        }
    }

    private static func isZero(_ value: Value) -> Bool {
        switch value {
        case .null: true
        case .bool(let x): !x
        case .int(let x): x == 0
        case .uint(let x): x == 0
        case .double(let x): x == 0
        case .string(let x): x.isEmpty
        case .bytes(let x): x.isEmpty
        case .list(let x): x.isEmpty
        case .map(let x): x.isEmpty
        case .duration(let x): x.nanoseconds == 0
        case .timestamp, .type, .optional, .opaque: false
        }
    }

    private static func unwrap(_ value: Value) -> Value? {
        guard case .list(let elements) = value else { return nil }
        var found: [Value] = []
        for element in elements {
            guard case .optional(let wrapped) = element else { return nil }
            if let wrapped { found.append(wrapped) }
        }
        return .list(found)
    }
}
