/// The value of an attribute: CEL's value model, closed under JSON.
///
/// 17 bytes wide (stride 24). Scalars, durations and strings of up to 15 UTF-8 bytes need no allocation. `==` is
/// *identity of content*: types must agree (`1` is not `1.0`), NaN equals NaN, and `0.0` differs from `-0.0`. It
/// decides whether a write changes anything. CEL's own `==` is in RuleLanguage.
@frozen
public enum Value {
    case null
    case bool(Bool)
    case int(Int64)
    case uint(UInt64)
    case double(Double)
    /// A sequence of Unicode scalars. Compared by its UTF-8 bytes, never normalised.
    case string(String)
    case bytes([UInt8])
    case list(ValueList)
    case map(ValueMap)
    case timestamp(Timestamp)
    case duration(TimeSpan)
    /// The runtime type of a value, by its CEL name (`int`, `google.protobuf.Timestamp`).
    case type(String)
    /// CEL's `optional_type`: `nil` is `optional.none()`, which differs from `null`.
    indirect case optional(Value?)
    /// A value with a type of its own (colour, angle, vector, network address).
    case opaque(OpaqueValue)
}

extension Value: Equatable {
    public static func == (a: Value, b: Value) -> Bool {
        switch (a, b) {
        case (.null, .null): true
        case (.bool(let x), .bool(let y)): x == y
        case (.int(let x), .int(let y)): x == y
        case (.uint(let x), .uint(let y)): x == y
        case (.double(let x), .double(let y)): x.contentBits == y.contentBits
        case (.string(let x), .string(let y)): x.hasSameBytes(as: y)
        case (.bytes(let x), .bytes(let y)): x == y
        case (.list(let x), .list(let y)): x == y
        case (.map(let x), .map(let y)): x == y
        case (.timestamp(let x), .timestamp(let y)): x == y
        case (.duration(let x), .duration(let y)): x == y
        case (.type(let x), .type(let y)): x == y
        case (.optional(let x), .optional(let y)): x == y
        case (.opaque(let x), .opaque(let y)): x === y || x.isEqual(to: y)
        default: false
        }
    }
}

extension Double {
    /// Equal for numbers with the same content: all NaNs are equal, and `0.0` differs from `-0.0`.
    var contentBits: UInt64 { isNaN ? Double.nan.bitPattern : bitPattern }
}

extension Value {
    /// The name of the value's runtime type, in the form of definitions and messages.
    public var shortTypeName: String {
        if case .optional = self { "optional" } else { ScalarType(of: self)?.rawValue ?? typeName }
    }

    /// The CEL name of the value's runtime type, as `type(x)` returns it.
    public var typeName: String {
        if let type = ScalarType(of: self) { return type.typeName }
        return switch self {
        case .map: "map"
        case .type: "type"
        case .optional: "optional_type"
        case .opaque(let value): value.typeName
        default: "list"
        }
    }

    /// True if the value may be a key of maps, as in rules.
    public var isKey: Bool {
        switch self {
        case .bool, .int, .uint, .string: true
        default: false
        }
    }

    /// The value as a double, if it is an int, uint or double.
    public var number: Double? {
        switch self {
        case .int(let x): Double(x)
        case .uint(let x): Double(x)
        case .double(let x): x
        default: nil
        }
    }

    public var string: String? {
        if case .string(let text) = self { text } else { nil }
    }

    public var list: ValueList? {
        if case .list(let elements) = self { elements } else { nil }
    }

    public var map: ValueMap? {
        if case .map(let map) = self { map } else { nil }
    }
}

extension Value: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByStringLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    // There is no `nil` literal: in `found ? value : nil` of type `Value?`, the compiler would read `nil` as `.null`.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .int(value) }
    public init(floatLiteral value: Double) { self = .double(value) }
    public init(stringLiteral value: String) { self = .string(value) }
    public init(arrayLiteral elements: Value...) { self = .list(elements) }
    public init(dictionaryLiteral elements: (String, Value)...) {
        self = .map(ValueMap(elements.map { (.string($0), $1) }))
    }
}

/// A value of a type that is not part of CEL's core. Subclasses are immutable.
open class OpaqueValue {
    public init() {}

    /// The name that `type(x)` prints. It is also the type's name in definitions.
    open var typeName: String { preconditionFailure("an opaque value names its type") }

    /// Identity of content, as for `Value.==`. May be called with any other opaque value.
    open func isEqual(to other: OpaqueValue) -> Bool { self === other }

    /// Consistent with `isEqual`.
    open func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    open var json: Value { .string(typeName) }

    /// The value in typed JSON, below its type name. The type's own initializer reads it.
    open var typedJSON: Value { json }
}
