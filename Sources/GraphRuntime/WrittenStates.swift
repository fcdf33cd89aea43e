import AttributeGraph

/// The states that a turn has written since the last change of the tree, each with the revision of its last write.
public struct WrittenStates {
    public private(set) var states: [(state: AttributeID, revision: UInt64)] = []
    /// By row of the engine: where its state may be in `states`.
    private var positions: [UInt32] = []

    public var isEmpty: Bool { states.isEmpty }

    mutating func insert(_ state: AttributeID, at revision: UInt64) {
        let row = Int(state.index)
        if row >= positions.count { positions += repeatElement(0, count: row + 1 - positions.count) }
        let position = Int(positions[row])
        if position < states.count, states[position].state == state {
            states[position].revision = revision
        } else {
            positions[row] = UInt32(states.count)
            states.append((state, revision))
        }
    }

    mutating func removeAll() { if !states.isEmpty { states.removeAll(keepingCapacity: true) } }

    mutating func giveBack() { self = WrittenStates() }
}
