/// A small vector of doubles: the components of a moving value. A single component needs no allocation.
public struct Components: Hashable, Sendable {
    public var first: Double
    /// The second and later components.
    public var rest: [Double]

    @inlinable
    public init(_ scalar: Double) {
        first = scalar
        rest = []
    }

    /// - Precondition: at least one element.
    public init(_ elements: some Collection<Double>) {
        guard let head = elements.first else { preconditionFailure("a moving value has at least one component") }
        first = head
        rest = Array(elements.dropFirst())
    }

    public static func zero(count: Int) -> Components {
        var result = Components(0)
        if count > 1 { result.rest = [Double](repeating: 0, count: count - 1) }
        return result
    }

    @inlinable public var count: Int { 1 + rest.count }

    @inlinable
    public subscript(index: Int) -> Double {
        get { index == 0 ? first : rest[index - 1] }
        set { if index == 0 { first = newValue } else { rest[index - 1] = newValue } }
    }

    /// All components in order; allocates.
    public var elements: [Double] { [first] + rest }

    public var isFinite: Bool { first.isFinite && rest.allSatisfy(\.isFinite) }

    public var isZero: Bool { first == 0 && rest.allSatisfy { $0 == 0 } }

    /// Applies `transform` to each pair of components. Both vectors must have the same number of components.
    func map(_ other: Components, _ transform: (Double, Double) -> Double) -> Components {
        precondition(rest.count == other.rest.count, "vectors of different lengths")
        var result = Components(transform(first, other.first))
        if !rest.isEmpty {
            result.rest = [Double](unsafeUninitializedCapacity: rest.count) { buffer, count in
                for i in rest.indices { buffer.initializeElement(at: i, to: transform(rest[i], other.rest[i])) }
                count = rest.count
            }
        }
        return result
    }
}

extension Components: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral, ExpressibleByArrayLiteral {
    public init(integerLiteral value: Int) { self.init(Double(value)) }
    public init(floatLiteral value: Double) { self.init(value) }
    public init(arrayLiteral elements: Double...) { self.init(elements) }
}
