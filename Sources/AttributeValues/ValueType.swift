/// The type of an attribute, written (`type: double`) or inferred from its initial value.
///
/// Text form: `int`, `list(double)`, `map(string, int)`, `vector(3)`, `int?`. Every other name is an object type.
public enum ValueType: Hashable, ScalarTypes {
    /// Accepts every value.
    case dyn
    case scalar(ScalarType)
    /// The type of type values.
    case type
    indirect case list(ValueType)
    indirect case map(key: ValueType, value: ValueType)
    /// CEL's `optional_type(T)`.
    indirect case optional(ValueType)
    /// `T?`: T or null.
    indirect case nullable(ValueType)
    case color, angle
    /// A list of this number of doubles; any fixed number if nil.
    case vector(Int?)
    /// An instance of the observable-object type with this name.
    case object(String)
}

extension ValueType: CustomStringConvertible {
    public var description: String {
        switch self {
        case .dyn: "dyn"
        case .scalar(let type): type.rawValue
        case .type: "type"
        case .list(let element): element == .dyn ? "list" : "list(\(element))"
        case .map(let key, let value): key == .dyn && value == .dyn ? "map" : "map(\(key), \(value))"
        case .optional(let wrapped): "optional(\(wrapped))"
        case .nullable(let wrapped): "\(wrapped)?"
        case .color: "color"
        case .angle: "angle"
        case .vector(let length): length.map { "vector(\($0))" } ?? "vector"
        case .object(let name): name
        }
    }

    /// Maximum nesting of a written type.
    static let maximumDepth = 16

    /// nil if the text is not a type.
    public init?(_ text: String) {
        var rest = Substring(text)
        guard let type = ValueType.read(&rest, depth: 0), rest.allSatisfy({ $0 == " " }) else { return nil }
        self = type
    }

    private static func read(_ rest: inout Substring, depth: Int) -> ValueType? {
        guard depth < maximumDepth else { return nil }
        rest = rest.drop { $0 == " " }
        let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
        guard let first = name.first, first.isLetter || first == "_" else { return nil }
        rest = rest.dropFirst(name.count)
        var arguments: [ValueType] = []
        var length: Int?
        if let open = rest.first, open == "(" || open == "<" {
            rest.removeFirst()
            let close: Character = open == "(" ? ")" : ">"
            if name == "vector" {
                let digits = rest.prefix { $0.isNumber }
                guard let number = Int(digits), number > 0 else { return nil }
                length = number
                rest = rest.dropFirst(digits.count)
            } else {
                repeat {
                    if rest.first == "," { rest.removeFirst() }
                    guard let argument = read(&rest, depth: depth + 1) else { return nil }
                    arguments.append(argument)
                    rest = rest.drop { $0 == " " }
                } while rest.first == ","
            }
            guard rest.first == close else { return nil }
            rest.removeFirst()
        }
        guard var type = named(String(name), arguments, length) else { return nil }
        while rest.first == "?" {
            rest.removeFirst()
            type = .nullable(type)
        }
        return type
    }

    private static func named(_ name: String, _ arguments: [ValueType], _ length: Int?) -> ValueType? {
        switch (name, arguments.count) {
        case ("list", 0): return .list(.dyn)
        case ("list", 1): return .list(arguments[0])
        case ("map", 0): return .map(key: .dyn, value: .dyn)
        case ("map", 2): return .map(key: arguments[0], value: arguments[1])
        case ("optional", 1): return .optional(arguments[0])
        case ("vector", 0): return .vector(length)
        case (_, 1...): return nil
        case ("dyn", _): return .dyn
        case ("null_type", _): return .null
        case ("type", _): return .type
        case ("color", _): return .color
        case ("angle", _): return .angle
        default: return ScalarType(rawValue: name).map { .scalar($0) } ?? .object(name)
        }
    }
}

extension ValueType {
    /// The type that an attribute without a written type gets from its initial value. The elements of containers are
    /// not examined (they are `dyn`), and null gives `dyn`.
    public init(of value: Value) {
        switch value {
        case .null: self = .dyn
        case .list: self = .list(.dyn)
        case .map: self = .map(key: .dyn, value: .dyn)
        case .type: self = .type
        case .optional: self = .optional(.dyn)
        case .opaque(let value): self = (value as? TypedOpaqueValue)?.valueType ?? .dyn
        default: self = ScalarType(of: value).map { .scalar($0) } ?? .dyn
        }
    }

    /// The value converted to this type, or nil if it does not fit. Widens int to double, reads the text forms of
    /// timestamp, duration and colour, and accepts a list of numbers for a vector and a number for an angle. Cost:
    /// O(elements) for a container whose element type is not `dyn`.
    /// - Parameter object: makes the value of an object type from a map of properties. Only declarations know how.
    public func accept(_ value: Value, object: (String, ValueMap) -> Value? = { _, _ in nil }) -> Value? {
        switch (self, value) {
        case (.scalar(let type), _): return type.accept(value)
        case (.dyn, _), (.type, .type), (.nullable, .null): return value
        case (.nullable(let wrapped), _): return wrapped.accept(value, object: object)
        case (.list(.dyn), .list), (.map(key: .dyn, value: .dyn), .map): return value
        case (.list(let type), .list(let elements)):
            var accepted: [Value] = []
            accepted.reserveCapacity(elements.count)
            for element in elements {
                guard let element = type.accept(element, object: object) else { return nil }
                accepted.append(element)
            }
            return .list(accepted)
        case (.map(let keyType, let valueType), .map(let map)):
            var accepted = ValueMap(minimumCapacity: map.count)
            for (key, value) in map {
                guard let key = keyType.accept(key), let value = valueType.accept(value, object: object) else {
                    return nil
                }
                accepted[key] = value
            }
            return .map(accepted)
        case (.optional(let type), .optional(let wrapped)):
            guard let wrapped else { return value }
            return type.accept(wrapped, object: object).map { .optional($0) }
        case (.color, .opaque(let opaque)): return opaque is ColorValue ? value : nil
        case (.color, .string(let text)): return Color(css: text).map { .opaque(ColorValue($0)) }
        case (.angle, .opaque(let opaque)): return opaque is AngleValue ? value : nil
        case (.angle, _): return value.number.map { .opaque(AngleValue(degrees: $0)) }
        case (.vector(let length), .opaque(let opaque)):
            guard let vector = opaque as? VectorValue, length == nil || vector.components.count == length else {
                return nil
            }
            return value
        case (.vector(let length), .list(let elements)):
            let components = elements.compactMap(\.number)
            guard components.count == elements.count, length == nil || length == elements.count else { return nil }
            return .opaque(VectorValue(components))
        case (.object(let name), .map(let map)): return object(name, map)
        default: return nil
        }
    }
}
