/// Typed JSON names the type of every value, so it loses nothing: `{"int":"5"}`, `{"double":"1.5"}`, `{"list":[…]}`,
/// `{"map":[[key,value],…]}`, `{"timestamp":{"seconds":"1","nanos":0}}`.
extension Value {
    /// This value in typed JSON, as a plain JSON value.
    public var typedJSON: Value {
        switch self {
        case .null: ["null": .null]
        case .bool: ["bool": self]
        case .int(let x): ["int": .string(String(x))]
        case .uint(let x): ["uint": .string(String(x))]
        case .double(let x): ["double": .string(Value.describe(x))]
        case .string: ["string": self]
        case .bytes(let x): ["bytes": .string(Base64.encode(x))]
        case .list(let x): ["list": .list(x.map(\.typedJSON))]
        case .map(let x): ["map": .list(x.map { .list([$0.key.typedJSON, $0.value.typedJSON]) })]
        case .type(let x): ["type": .string(x)]
        case .timestamp(let x):
            ["timestamp": ["seconds": .string(String(x.seconds)), "nanos": .int(Int64(x.nanoseconds))]]
        case .duration(let x):
            [
                "duration": [
                    "seconds": .string(String(x.nanoseconds / 1_000_000_000)),
                    "nanos": .int(x.nanoseconds % 1_000_000_000),
                ]
            ]
        case .optional(let x): ["optional": x.map(\.typedJSON) ?? .null]
        case .opaque(let x): .map(ValueMap([(.string(x.typeName), x.typedJSON)]))
        }
    }

    static func describe(_ number: Double) -> String {
        number.isNaN ? "NaN" : number.isInfinite ? (number < 0 ? "-Infinity" : "Infinity") : number.description
    }

    /// Reads typed JSON. The depth limit of admitted JSON bounds the recursion.
    /// - Throws: `invalid`, which names the expected form.
    public init(typedJSON json: Value) throws(Failure) {
        guard case .map(let map) = json, map.count == 1, case (.string(let name), let content) = map.entry(at: 0)
        else { throw Value.untyped }
        self = try Value.made(of: content, as: name)
    }

    private static var untyped: Failure {
        Failure(.invalid, "typed JSON is an object with one member that names the type, as {\"int\":\"5\"}")
    }

    private static func mistyped(_ content: Value, _ name: String) -> Failure {
        Failure(.invalid, "\(content) is not the typed JSON of \(name)")
    }

    private func asKey() throws(Failure) -> Value {
        guard isKey else {
            throw Failure(
                .invalid, "a key of a map is a bool, int, uint or string, not a value of type \(shortTypeName)")
        }
        return self
    }

    private static func made(of content: Value, as name: String) throws(Failure) -> Value {
        guard let value = try read(typed: content, as: name) else { throw mistyped(content, name) }
        return value
    }

    private static func read(typed content: Value, as name: String) throws(Failure) -> Value? {
        switch (name, content) {
        case ("null", _): return .null
        case ("bool", .bool), ("string", .string): return content
        case ("int", .string(let text)): return Int64(text).map { .int($0) }
        case ("int", .int): return content
        case ("uint", .string(let text)): return UInt64(text).map { .uint($0) }
        case ("uint", .int(let number)): return UInt64(exactly: number).map { .uint($0) }
        case ("double", _): return number(content).map { .double($0) }
        case ("bytes", .string(let text)): return Base64.decode(text).map { .bytes($0) }
        case ("type", .string(let text)): return .type(text)
        case ("list", .list(let elements)):
            var list: [Value] = []
            for element in elements { list.append(try Value(typedJSON: element)) }
            return .list(list)
        case ("map", .list(let entries)):
            var map = ValueMap(minimumCapacity: entries.count)
            for entry in entries {
                guard case .list(let pair) = entry, pair.count == 2 else { return nil }
                let key = try Value(typedJSON: pair[0]).asKey()
                map[key] = try Value(typedJSON: pair[1])
            }
            return .map(map)
        case ("timestamp", .map(let parts)):
            guard let (seconds, nanos) = secondsAndNanos(parts) else { return nil }
            return Timestamp(seconds: seconds, nanoseconds: nanos).map { .timestamp($0) }
        case ("duration", .map(let parts)):
            guard let (seconds, nanos) = secondsAndNanos(parts) else { return nil }
            return TimeSpan(seconds: seconds, nanoseconds: nanos).map { .duration($0) }
        case ("optional", .null): return .optional(nil)
        case ("optional", _): return .optional(try Value(typedJSON: content))
        case ("color", _): return ValueType.color.accept(content)
        case ("angle", _): return number(content).map { .opaque(AngleValue(degrees: $0)) }
        case ("vector", .list(let elements)):
            let components = elements.compactMap(number)
            return components.count == elements.count ? .opaque(VectorValue(components)) : nil
        default: return nil
        }
    }

    /// A double as a number or as text. NaN and the infinities are always text.
    private static func number(_ content: Value) -> Double? {
        switch content {
        case .string("NaN"): .nan
        case .string("Infinity"): .infinity
        case .string("-Infinity"): -.infinity
        case .string(let text): Double(text)
        default: content.number
        }
    }

    private static func secondsAndNanos(_ parts: ValueMap) -> (Int64, Int64)? {
        let seconds: Int64? =
            switch parts["seconds"] {
            case .string(let text)?: Int64(text)
            case .int(let number)?: number
            case nil: 0
            default: nil
            }
        guard let seconds else { return nil }
        guard case .int(let nanos) = parts["nanos"] ?? 0 else { return nil }
        return (seconds, nanos)
    }
}

extension ByteBuffer {
    /// Appends the text of a value's `typedJSON` without making that tree, which would take many times the memory of
    /// the value. The depth limit of admitted values bounds the recursion.
    public func appendTypedJSON(_ value: Value) {
        switch value {
        case .null: append("{\"null\":null}")
        case .bool(let flag): append(flag ? "{\"bool\":true}" : "{\"bool\":false}")
        case .int(let number):
            append("{\"int\":\"")
            append(number)
            append("\"}")
        case .uint(let number):
            append("{\"uint\":\"")
            append(number)
            append("\"}")
        case .double(let number):
            append("{\"double\":\"")
            number.isFinite ? appendJSON(number) : append(text: Value.describe(number))
            append("\"}")
        case .string(let text):
            append("{\"string\":")
            appendJSONString(text)
            append("}")
        case .list(let elements):
            append("{\"list\":[")
            var isFirst = true
            for element in elements {
                if !isFirst { append(UInt8(ascii: ",")) }
                isFirst = false
                appendTypedJSON(element)
            }
            append("]}")
        case .map(let map):
            append("{\"map\":[")
            for position in 0..<map.count {
                let (key, value) = map.entry(at: position)
                append(position > 0 ? ",[" : "[")
                appendTypedJSON(key)
                append(UInt8(ascii: ","))
                appendTypedJSON(value)
                append(UInt8(ascii: "]"))
            }
            append("]}")
        case .optional(let wrapped?):
            append("{\"optional\":")
            appendTypedJSON(wrapped)
            append(UInt8(ascii: "}"))
        case .bytes, .timestamp, .duration, .type, .optional(nil), .opaque: appendJSON(value.typedJSON)
        }
    }
}
