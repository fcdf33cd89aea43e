/// The types whose values have no parts, with the names that documents and rules use.
public enum ScalarType: String, CaseIterable, Sendable {
    case null, bool, int, uint, double, string, bytes, timestamp, duration

    /// nil for values of other types.
    public init?(of value: Value) {
        switch value {
        case .null: self = .null
        case .bool: self = .bool
        case .int: self = .int
        case .uint: self = .uint
        case .double: self = .double
        case .string: self = .string
        case .bytes: self = .bytes
        case .timestamp: self = .timestamp
        case .duration: self = .duration
        case .list, .map, .type, .optional, .opaque: return nil
        }
    }

    /// By the name that `type(x)` gives.
    public init?(typeName: String) {
        switch typeName {
        case "null_type": self = .null
        case "google.protobuf.Timestamp": self = .timestamp
        case "google.protobuf.Duration": self = .duration
        case "null", "timestamp", "duration": return nil
        default: self.init(rawValue: typeName)
        }
    }

    /// The name that `type(x)` gives.
    public var typeName: String {
        switch self {
        case .null: "null_type"
        case .timestamp: "google.protobuf.Timestamp"
        case .duration: "google.protobuf.Duration"
        default: rawValue
        }
    }

    /// The value converted to this type, or nil if it does not fit.
    func accept(_ value: Value) -> Value? {
        if ScalarType(of: value) == self { return value }
        return switch (self, value) {
        case (.double, .int(let number)): .double(Double(number))
        case (.double, .uint(let number)): .double(Double(number))
        case (.uint, .int(let number)): UInt64(exactly: number).map { .uint($0) }
        case (.int, .uint(let number)): Int64(exactly: number).map { .int($0) }
        case (.timestamp, .string(let text)): Timestamp(text).map { .timestamp($0) }
        case (.duration, .string(let text)): TimeSpan(text).map { .duration($0) }
        default: nil
        }
    }
}

/// Types that contain the scalar ones: `.int` is short for `.scalar(.int)`. Patterns need the long form.
public protocol ScalarTypes {
    static func scalar(_ type: ScalarType) -> Self
}

extension ScalarTypes {
    @inlinable public static var null: Self { scalar(.null) }
    @inlinable public static var bool: Self { scalar(.bool) }
    @inlinable public static var int: Self { scalar(.int) }
    @inlinable public static var uint: Self { scalar(.uint) }
    @inlinable public static var double: Self { scalar(.double) }
    @inlinable public static var string: Self { scalar(.string) }
    @inlinable public static var bytes: Self { scalar(.bytes) }
    @inlinable public static var timestamp: Self { scalar(.timestamp) }
    @inlinable public static var duration: Self { scalar(.duration) }
}
