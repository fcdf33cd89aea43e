import AttributeValues

/// Selection, indexing and presence.
enum Access {
    static func select(_ operand: Value, _ name: String, isOptional: Bool) throws(Fault) -> Value {
        switch operand {
        case .map(let map): return try result(map[name], isOptional, else: .noSuchKey(.string(name)))
        case .optional(let wrapped):
            guard let wrapped else { return operand }
            return try optionalResult(of: wrapped) { (value) throws(Fault) in try select(value, name, isOptional: true)
            }
        default:
            throw Fault(
                "no such key: \(CELText.brief(.string(name))); type '\(operand.shortTypeName)' does not support field selection"
            )
        }
    }

    /// The part that was found, in the form that the access asks for.
    private static func result(_ part: Value?, _ isOptional: Bool, else fault: @autoclosure () -> Fault) throws(Fault)
        -> Value
    {
        if isOptional { return .optional(part) }
        guard let part else { throw fault() }
        return part
    }

    /// A selection on the content of an optional gives an optional, but not a nested one.
    private static func optionalResult(
        of wrapped: Value, _ access: (Value) throws(Fault) -> Value
    ) throws(Fault) -> Value {
        let result = try access(wrapped)
        if case .optional(let inner?) = result, case .optional = inner { return inner }
        return result
    }

    static func isPresent(_ operand: Value, _ name: String) throws(Fault) -> Bool {
        switch operand {
        case .map(let map): return map[name] != nil
        case .optional(let wrapped):
            return try wrapped.map { (value) throws(Fault) in try isPresent(value, name) } ?? false
        default: throw Fault("type '\(operand.shortTypeName)' does not support field selection")
        }
    }

    static func index(_ operand: Value, _ key: Value, isOptional: Bool) throws(Fault) -> Value {
        switch operand {
        case .list(let elements):
            guard let position = position(key) else { throw .noSuchOverload("[]", operand, key) }
            let element = position >= 0 && position < elements.count ? elements[Int(position)] : nil
            return try result(element, isOptional, else: .outOfBounds(position))
        case .map(let map):
            switch key {
            case .string, .int, .uint, .bool, .double: break
            default: throw .noSuchOverload("[]", operand, key)
            }
            return try result(map[key], isOptional, else: .noSuchKey(key))
        case .optional(let wrapped):
            guard let wrapped else { return operand }
            return try optionalResult(of: wrapped) { (value) throws(Fault) in try index(value, key, isOptional: true) }
        case .opaque(let opaque):
            guard let vector = opaque as? VectorValue, let position = position(key) else { break }
            let isInside = position >= 0 && position < vector.components.count
            let component: Value? = isInside ? .double(vector.components[Int(position)]) : nil
            return try result(component, isOptional, else: .outOfBounds(position))
        default: break
        }
        throw .noSuchOverload("[]", operand, key)
    }

    /// The index into a list that a number stands for; nil if the number is not whole.
    private static func position(_ key: Value) -> Int64? {
        switch key {
        case .int(let number): number
        case .uint(let number): Int64(exactly: number) ?? .max
        case .double(let number): Int64(exactly: number)
        default: nil
        }
    }

    /// The step `[field=wanted]` of a path.
    static func findElement(_ operand: Value, _ field: String, _ wanted: Value) throws(Fault) -> Value {
        guard case .list(let elements) = operand else { throw .noSuchOverload("[]", operand, wanted) }
        if let position = elements.position(of: wanted, by: field) { return elements[position] }
        throw Fault("no element whose \(field) is \(CELText.brief(wanted))")
    }
}
