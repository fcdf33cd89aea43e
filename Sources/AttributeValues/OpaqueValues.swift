/// An opaque value whose type can be written in definitions.
public protocol TypedOpaqueValue: OpaqueValue {
    var valueType: ValueType { get }
}

/// A `color`: stored in linear form, written as CSS.
public final class ColorValue: OpaqueValue, TypedOpaqueValue {
    public let color: Color
    public init(_ color: Color) { self.color = color }
    public var valueType: ValueType { .color }
    public override var typeName: String { "color" }
    public override var json: Value { .string(color.css) }
    public override func isEqual(to other: OpaqueValue) -> Bool { (other as? ColorValue)?.color == color }
    public override func hash(into hasher: inout Hasher) { hasher.combine(color) }
}

/// An `angle` in degrees. It is not wrapped around.
public final class AngleValue: OpaqueValue, TypedOpaqueValue {
    public let degrees: Double
    public init(degrees: Double) { self.degrees = degrees }
    public var valueType: ValueType { .angle }
    public override var typeName: String { "angle" }
    public override var json: Value { .double(degrees) }
    public override func isEqual(to other: OpaqueValue) -> Bool {
        (other as? AngleValue)?.degrees.contentBits == degrees.contentBits
    }
    public override func hash(into hasher: inout Hasher) { hasher.combine(degrees.contentBits) }
}

/// A `vector`: a list of doubles whose length does not change.
public final class VectorValue: OpaqueValue, TypedOpaqueValue {
    public let components: [Double]
    public init(_ components: [Double]) { self.components = components }
    public var valueType: ValueType { .vector(components.count) }
    public override var typeName: String { "vector" }
    public override var json: Value { .list(components.map { .double($0) }) }
    public override func isEqual(to other: OpaqueValue) -> Bool {
        guard let other = other as? VectorValue else { return false }
        return other.components.elementsEqual(components) { $0.contentBits == $1.contentBits }
    }
    public override func hash(into hasher: inout Hasher) { hasher.combine(components.map(\.contentBits)) }
}
