import AttributeValues

/// The meaning of a timeline's components.
///
/// Whole numbers and times move as distances from an origin, their target: a double cannot represent nanoseconds since
/// 1970, but it can represent the remaining distance. Their target component is therefore 0.
public enum Space: Equatable {
    case scalar
    /// Rounded to a whole number for display.
    case integer(origin: Int64)
    /// Rounded, and never below 0.
    case unsigned(origin: UInt64)
    case vector
    /// Degrees.
    case angle
    /// L, a and b of Oklab, premultiplied with alpha, and alpha.
    case oklab(target: Value)
    /// Nanoseconds.
    case duration(origin: TimeSpan)
    /// Nanoseconds.
    case timestamp(origin: Timestamp)
    /// One component per entry, in the target's order.
    case map(target: ValueMap)

    /// The name in events.
    public var name: String {
        switch self {
        case .scalar, .integer, .unsigned: "scalar"
        case .vector: "vector"
        case .angle: "angle"
        case .oklab: "oklab"
        case .duration, .timestamp: "ns"
        case .map: "map"
        }
    }
}

extension Space {
    /// The space in which a value moves to `target`; nil if the target is discrete.
    init?(target: Value) {
        switch target {
        case .double(let number) where Space.canMove(number): self = .scalar
        case .int(let number): self = .integer(origin: number)
        case .uint(let number): self = .unsigned(origin: number)
        case .duration(let span): self = .duration(origin: span)
        case .timestamp(let timestamp): self = .timestamp(origin: timestamp)
        case .map(let map):
            guard !map.isEmpty, map.count <= Space.maximumComponents,
                map.values.allSatisfy({ $0.number.map(Space.canMove) ?? false })
            else { return nil }
            self = .map(target: map)
        case .opaque(let value):
            switch value {
            case is ColorValue: self = .oklab(target: target)
            case let angle as AngleValue where Space.canMove(angle.degrees): self = .angle
            case let vector as VectorValue:
                guard 1...Space.maximumComponents ~= vector.components.count,
                    vector.components.allSatisfy(Space.canMove)
                else { return nil }
                self = .vector
            default: return nil
            }
        default: return nil
        }
    }

    /// Larger maps and vectors jump instead of moving.
    public static let maximumComponents = 4096
    /// Larger numbers jump instead of moving: their differences and velocities might be too large for a double.
    public static let maximumMagnitude = 1e200

    private static func canMove(_ number: Double) -> Bool { number.magnitude <= maximumMagnitude }

    /// The components of a value in this space; nil if it is of another kind.
    func components(of value: Value) -> Components? {
        switch (self, value) {
        case (.scalar, _): return value.number.flatMap { Space.canMove($0) ? Components($0) : nil }
        case (.integer(let origin), .int(let number)): return Components(Space.distance(number, origin))
        case (.integer(let origin), .double(let number)) where Space.canMove(number):
            return Components(number - Double(origin))
        case (.unsigned(let origin), .uint(let number)):
            return Components(number >= origin ? Double(number - origin) : -Double(origin - number))
        case (.duration(let origin), .duration(let span)):
            return Components(Space.distance(span.nanoseconds, origin.nanoseconds))
        case (.timestamp(let origin), .timestamp(let timestamp)): return Components(Space.distance(timestamp, origin))
        case (.map(let target), .map(let map)):
            guard map.count == target.count else { return nil }
            var result: [Double] = []
            result.reserveCapacity(target.count)
            for key in target.keys {
                guard let number = map[key]?.number, Space.canMove(number) else { return nil }
                result.append(number)
            }
            return Components(result)
        case (.oklab, .opaque(let value as ColorValue)): return value.color.oklabComponents
        case (.angle, .opaque(let value as AngleValue)) where Space.canMove(value.degrees):
            return Components(value.degrees)
        case (.vector, .opaque(let value as VectorValue)):
            return value.components.isEmpty || !value.components.allSatisfy(Space.canMove)
                ? nil : Components(value.components)
        default: return nil
        }
    }

    /// True if the components are those of Oklab.
    var isColor: Bool { if case .oklab = self { true } else { false } }

    /// The exact target value for the target components. A way through Oklab or doubles would lose some digits of
    /// colours and large whole numbers.
    func target(_ components: Components) -> Value {
        switch self {
        case .oklab(let target): target
        case .map(let target): .map(target)
        default: value(of: components)
        }
    }

    /// The value for displayed components.
    func value(of components: Components) -> Value {
        switch self {
        case .scalar: .double(components.first)
        case .integer(let origin): .int(Space.sum(origin, components.first))
        case .unsigned(let origin): .uint(Space.sum(origin, components.first))
        case .duration(let origin): .duration(TimeSpan(nanoseconds: Space.sum(origin.nanoseconds, components.first)))
        case .timestamp(let origin): .timestamp(Space.sum(origin, components.first))
        case .oklab: .opaque(ColorValue(Color(oklab: components)))
        case .angle: .opaque(AngleValue(degrees: components.first))
        case .vector: .opaque(VectorValue(components.elements))
        case .map(let target):
            .map(
                ValueMap(
                    target.values.indices.lazy.map { i in
                        let (key, value) = target.entry(at: i)
                        return switch value {
                        case .int: (key, .int(Space.sum(0, components[i].rounded())))
                        case .uint: (key, .uint(Space.sum(UInt64(0), components[i].rounded())))
                        default: (key, .double(components[i]))
                        }
                    }))
        }
    }

    /// The difference between a component of the same value in the old space and in this one; nil if the spaces are of
    /// different kinds.
    func shift(from old: Space) -> Double? {
        switch (self, old) {
        case (.scalar, .scalar), (.vector, .vector), (.angle, .angle), (.oklab, .oklab): 0
        case (.integer(let new), .integer(let old)): Space.distance(old, new)
        case (.unsigned(let new), .unsigned(let old)): old >= new ? Double(old - new) : -Double(new - old)
        case (.duration(let new), .duration(let old)): Space.distance(old.nanoseconds, new.nanoseconds)
        case (.timestamp(let new), .timestamp(let old)): Space.distance(old, new)
        case (.map(let new), .map(let old)): new.keys == old.keys ? 0 : nil
        default: nil
        }
    }

    private static func distance(_ a: Int64, _ b: Int64) -> Double {
        let (difference, overflow) = a.subtractingReportingOverflow(b)
        return overflow ? Double(a) - Double(b) : Double(difference)
    }

    private static func distance(_ a: Timestamp, _ b: Timestamp) -> Double {
        if let span = a.since(b) { return Double(span.nanoseconds) }
        return Double(a.seconds - b.seconds) * 1e9 + Double(a.nanoseconds - b.nanoseconds)
    }

    /// The nearest whole number. The middle between two is rounded towards the target, so that progress is rounded up.
    private static func whole(_ distance: Double) -> Double {
        let whole = distance.rounded(.towardZero)
        return (distance - whole).magnitude > 0.5 ? distance.rounded() : whole
    }

    private static func sum<Number: FixedWidthInteger>(_ origin: Number, _ distance: Double) -> Number {
        let rounded = whole(distance)
        let step = Number.Magnitude(exactly: rounded.magnitude) ?? .max
        if rounded < 0 {
            return step <= Number.Magnitude(truncatingIfNeeded: origin &- .min)
                ? origin &- Number(truncatingIfNeeded: step) : .min
        }
        return step <= Number.Magnitude(truncatingIfNeeded: Number.max &- origin)
            ? origin &+ Number(truncatingIfNeeded: step) : .max
    }

    private static func sum(_ origin: Timestamp, _ distance: Double) -> Timestamp {
        let distance = whole(distance)
        let seconds = (distance / 1e9).rounded(.down)
        let rest = Int64(distance - seconds * 1e9)
        let limit = distance < 0 ? Timestamp.secondsRange.lowerBound : Timestamp.secondsRange.upperBound
        guard let whole = Int64(exactly: seconds),
            let result = Timestamp(seconds: origin.seconds &+ whole, nanoseconds: Int64(origin.nanoseconds) + rest)
        else { return Timestamp(seconds: limit) ?? origin }
        return result
    }
}
