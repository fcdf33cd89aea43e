/// Names one attribute of one graph for as long as that attribute lives.
///
/// The index is a row of the graph's tables. It is reused after the attribute is destroyed, but never with the same
/// generation. So an id that outlives its attribute is recognised as dead and never reaches the next attribute in the
/// row. Ids of different graphs must not be mixed: the engine cannot tell them apart.
@frozen
public struct AttributeID: Hashable, Sendable, CustomStringConvertible {
    /// The row. Rows are dense and small, so that a host can index its own tables with them. Row 0 is never used.
    public let index: UInt32
    public let generation: UInt32

    @inlinable
    public init(index: UInt32, generation: UInt32) {
        self.index = index
        self.generation = generation
    }

    public var description: String { "#\(index).\(generation)" }

    /// Rows are dense and no client chooses them: one multiplication spreads them as well as the standard hash does, in
    /// a tenth of the time.
    @inlinable
    public func _rawHashValue(seed: Int) -> Int {
        let bits = UInt64(index) | UInt64(generation) &<< 32
        let mixed = (bits ^ UInt64(bitPattern: Int64(seed))) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed ^ mixed &>> 32)
    }
}

/// The graph's logical clock: it advances by one with every settled change from outside, and never goes back.
///
/// A revision is a point in the order of changes, not a time. 0 means "never".
public typealias Revision = UInt64
