import AttributeValues

/// A literal with an explicit type, in typed JSON: `{ $typed: { uint: "5" } }`. It expresses values that plain literals
/// cannot: a uint or a timestamp where no type is required, bytes, NaN and the infinities, maps with keys that are not
/// texts.
enum TypedLiteral {
    static let key = "$typed"

    /// The form of a text that could be mistaken for something else.
    static func example(_ text: String) -> String { "{ \(key): { string: \(Value.string(text).jsonText) } }" }

    static func isForm(_ map: ValueMap) -> Bool { map.count == 1 && map[key] != nil }

    /// The value of the form.
    /// - Returns: nil for a map that does not have the form.
    /// - Throws: `invalid` if its content is not typed JSON.
    static func value(of map: ValueMap) throws(Failure) -> Value? {
        guard isForm(map), let content = map[key] else { return nil }
        return try Value(typedJSON: content)
    }
}

extension Value {
    /// The value as a literal that gives the same value where the type is required. Dates, durations, colours and the
    /// like are texts if the type reads them from texts. Values that no plain literal can express have an explicit
    /// type.
    ///
    /// The literal contains only what JSON can represent. The depth limit of admitted values bounds the recursion.
    public func literal(as type: ValueType = .dyn) -> Value {
        if case .nullable(let wrapped) = type { return literal(as: wrapped) }
        switch self {
        case .null: return self
        case .list(let list):
            let element: ValueType = if case .list(let element) = type { element } else { .dyn }
            return .list(list.map { $0.literal(as: element) })
        case .map(let map) where map.keys.allSatisfy({ $0.string != nil }) && !TypedLiteral.isForm(map):
            let entry: ValueType = if case .map(_, let entry) = type { entry } else { .dyn }
            return .map(ValueMap(map.map { ($0.key, $0.value.literal(as: entry)) }))
        default:
            if let plain = plainLiteral, let read = type.accept(plain) {
                if read == self { return plain }
                // A colour's text may be slightly inexact; its typed form is exact.
                if ValueType(of: read) == ValueType(of: self), (try? Value(typedJSON: typedJSON)) != self {
                    return plain
                }
            }
            return [TypedLiteral.key: typedJSON]
        }
    }

    /// The plain literal that gives this value; nil if there is none.
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
