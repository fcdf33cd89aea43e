/// Identifies one node for as long as it lives. A row is reused, its generation is not.
public struct NodeID: Hashable, Sendable {
    let row: NodeRow
    let generation: UInt32

    /// Both in one number.
    var number: Int64 { Int64(generation) << 32 | Int64(row.index) }

    /// The node `/`, which is always there.
    public static let root = NodeID(row: .root, generation: 1)
}

/// The part of a section that a node is in. Nodes outside sections have `content`.
enum Slot: String {
    case content, header, footer

    /// Parts of a section stand in this order.
    var order: Int {
        switch self {
        case .header: 0
        case .content: 1
        case .footer: 2
        }
    }
}
