public import AttributeValues

/// A Swift type that represents attribute values.
public protocol ValueRepresentable {
    /// nil if the value has another type. An int is accepted as a double, but not the reverse.
    init?(_ value: Value)
    var value: Value { get }
}

extension Value: ValueRepresentable {
    public init?(_ value: Value) { self = value }
    public var value: Value { self }
}

extension Bool: ValueRepresentable {
    public init?(_ value: Value) {
        guard case .bool(let flag) = value else { return nil }
        self = flag
    }
    public var value: Value { .bool(self) }
}

extension Int: ValueRepresentable {
    public init?(_ value: Value) {
        switch value {
        case .int(let number): self.init(exactly: number)
        case .uint(let number): self.init(exactly: number)
        default: return nil
        }
    }
    public var value: Value { .int(Int64(self)) }
}

extension UInt64: ValueRepresentable {
    public init?(_ value: Value) {
        switch value {
        case .int(let number): self.init(exactly: number)
        case .uint(let number): self = number
        default: return nil
        }
    }
    public var value: Value { .uint(self) }
}

extension Double: ValueRepresentable {
    public init?(_ value: Value) {
        guard let number = value.number else { return nil }
        self = number
    }
    public var value: Value { .double(self) }
}

extension String: ValueRepresentable {
    public init?(_ value: Value) {
        guard let text = value.string else { return nil }
        self = text
    }
    public var value: Value { .string(self) }
}

extension Array: ValueRepresentable where Element: ValueRepresentable {
    public init?(_ value: Value) {
        guard let list = value.list else { return nil }
        self.init()
        for element in list {
            guard let element = Element(element) else { return nil }
            append(element)
        }
    }
    public var value: Value { .list(map(\.value)) }
}

extension Dictionary: ValueRepresentable where Key == String, Value: ValueRepresentable {
    public init?(_ value: AttributeValues.Value) {
        guard let map = value.map else { return nil }
        self.init()
        for (key, value) in map {
            guard let key = key.string, let value = Value(value) else { return nil }
            self[key] = value
        }
    }
    public var value: AttributeValues.Value { .map(ValueMap(map { (.string($0.key), $0.value.value) })) }
}

/// nil is null.
extension Optional: ValueRepresentable where Wrapped: ValueRepresentable {
    public init?(_ value: Value) {
        if case .null = value {
            self = .none
        } else if let wrapped = Wrapped(value) {
            self = .some(wrapped)
        } else {
            return nil
        }
    }
    public var value: Value { self?.value ?? .null }
}
