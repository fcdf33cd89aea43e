import AttributeValues

/// The form of a literal that names its type, in typed JSON: `{ $typed: { uint: "5" } }`. It says what plain literals cannot: a uint
/// or a timestamp where no type asks for one, bytes, numbers that are none, maps whose keys are no texts.
enum TypedLiteral {
    static let key = "$typed"

    static func isForm(_ map: ValueMap) -> Bool { map.count == 1 && map[key] != nil }

    /// What the form says.
    /// - Returns: nil for a map that is not the form.
    /// - Throws: `invalid`, when what stands there is no typed JSON.
    static func value(of map: ValueMap) throws(Failure) -> Value? {
        guard isForm(map), let content = map[key] else { return nil }
        return try Value(typedJSON: content)
    }
}

extension Value {
    /// The value as a literal that is read back as it is where that type is asked for: dates, lengths of time, colours and the like
    /// as texts, if the type reads them again, and what no plain literal says in the form that names its type.
    ///
    /// The literal is what JSON can carry. Recursion is bounded by the depth values are admitted with.
    public func written(as type: ValueType = .dyn) -> Value {
        if case .nullable(let wrapped) = type { return written(as: wrapped) }
        switch self {
        case .null: return self
        case .list(let list):
            let element: ValueType = if case .list(let element) = type { element } else { .dyn }
            return .list(list.map { $0.written(as: element) })
        case .map(let map) where map.keys.allSatisfy({ $0.string != nil }) && !TypedLiteral.isForm(map):
            let entry: ValueType = if case .map(_, let entry) = type { entry } else { .dyn }
            return .map(ValueMap(map.map { ($0.key, $0.value.written(as: entry)) }))
        default:
            if let plain = plainLiteral, let read = type.accept(plain) {
                if read == self { return plain }
                // A colour's text may be a little off; its typed form is the same.
                if ValueType(of: read) == ValueType(of: self), (try? Value(typedJSON: typedJSON)) != self { return plain }
            }
            return [TypedLiteral.key: typedJSON]
        }
    }

    /// As a plain literal would be read; nil for what there is none for.
    private var plainLiteral: Value? {
        switch self {
        case .bool, .int, .string: self
        case .uint(let number): Int64(exactly: number).map { .int($0) } ?? self
        case .double(let number): number.isFinite ? self : nil
        case .timestamp, .duration, .opaque: try? JSONParser.parseOnce(jsonText.utf8)
        case .null, .list, .map, .bytes, .type, .optional: nil
        }
    }
}
