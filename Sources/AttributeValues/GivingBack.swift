// Collections retain memory for the most elements that they have had. These functions free it if most of it is unused.

private let smallCapacity = 64

extension Array {
    public mutating func giveBack() {
        guard capacity > smallCapacity, count <= capacity / 4 else { return }
        var packed: [Element] = []
        packed.reserveCapacity(count)
        packed += self
        self = packed
    }
}

extension Dictionary {
    public mutating func giveBack() {
        guard capacity > smallCapacity, count <= capacity / 4 else { return }
        var packed = Dictionary(minimumCapacity: count)
        for (key, value) in self { packed[key] = value }
        self = packed
    }
}

extension Set {
    public mutating func giveBack() {
        guard capacity > smallCapacity, count <= capacity / 4 else { return }
        var packed = Set(minimumCapacity: count)
        for element in self { packed.insert(element) }
        self = packed
    }
}

extension Array {
    /// Removes all elements one by one, and retains the memory. For few elements this is cheaper than
    /// `removeAll(keepingCapacity:)`.
    @inlinable @inline(__always)
    public mutating func removeEach() { while popLast() != nil {} }
}

extension Array {
    /// True if the other array is this one, or a copy of it that has not been changed. O(1).
    @inlinable
    public func isCopy(of other: [Element]) -> Bool {
        withUnsafeBufferPointer { some in
            other.withUnsafeBufferPointer { some.baseAddress == $0.baseAddress && some.count == $0.count }
        }
    }
}
