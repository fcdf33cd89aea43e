import AttributeGraph

/// The states that a turn has written since the last change of the tree, each with the revision of its last write.
public struct WrittenStates {
    public private(set) var states: [(state: AttributeID, revision: UInt64)] = []
    /// By row of the engine: where its state may be in `states`.
    private var places: [UInt32] = []

    public var isEmpty: Bool { states.isEmpty }

    mutating func insert(_ state: AttributeID, at revision: UInt64) {
        let row = Int(state.index)
        if row >= places.count { places += repeatElement(0, count: row + 1 - places.count) }
        let place = Int(places[row])
        if place < states.count, states[place].state == state {
            states[place].revision = revision
        } else {
            places[row] = UInt32(states.count)
            states.append((state, revision))
        }
    }

    mutating func removeAll() { if !states.isEmpty { states.removeAll(keepingCapacity: true) } }

    mutating func giveBack() { self = WrittenStates() }
}
