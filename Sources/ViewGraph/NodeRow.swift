import AttributeValues

/// A row of a `Tree`. It names one node as long as this lives; `NodeID` names it for good.
struct NodeRow: Hashable, Comparable {
    let index: UInt32

    /// The row of `/`.
    static let root = NodeRow(index: 0)

    init(index: UInt32) { self.index = index }

    /// - Parameter element: the `NodeID.number` of a node, as lists of subviews have it; nil for other values.
    init?(_ element: Value) {
        guard case .int(let number) = element else { return nil }
        index = UInt32(truncatingIfNeeded: number)
    }

    static func < (a: NodeRow, b: NodeRow) -> Bool { a.index < b.index }
}
