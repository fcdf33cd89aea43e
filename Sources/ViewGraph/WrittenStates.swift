import AttributeGraph
import AttributeValues

// The rows of states that clients write, which are most changes for the store.

extension Wiring {
    /// Notes that the value of a state has to be stored.
    /// - Returns: false if the store does not need it.
    public func noteWritten(_ state: AttributeID) -> Bool {
        guard let node = attributes.node(state), isDurable(state), contentForWatcher(of: state).failure == nil else {
            return false
        }
        let row = nodes.storeRow(of: node)
        if !nodes.isLinked(row) { return false }
        nodes[row].hasValues = true
        return true
    }

    /// The present row of a state that was noted; nil if it has none any more.
    public func writtenRow(of state: AttributeID) -> StoreChange? {
        guard let (row, name, value) = written(state) else { return nil }
        return StoreChange(key: nodes.key(of: row), name: name, value: value)
    }

    /// The same, without making texts.
    /// - Parameter body: gets the bytes of the key, the name and the value.
    public func withWrittenRow(of state: AttributeID, _ body: (UnsafeBufferPointer<UInt8>, String, Value) -> Void) {
        guard let (row, name, value) = written(state) else { return }
        nodes.withKey(of: row) { body($0, name, value) }
    }

    private func written(_ state: AttributeID) -> (row: NodeRow, name: String, value: Value)? {
        guard engine.isAlive(state), isDurable(state),
            case .value(let value) = content(ofStored: state)
        else { return nil }
        let (row, name) = storePlace(of: state)
        if !nodes.isLinked(row) { return nil }
        return (row, name, value)
    }

    /// The node that a state belongs to, and the state's name there.
    func storePlace(of state: AttributeID) -> (row: NodeRow, name: String) {
        let record = record(state)
        return nodes.storePlace(of: record.name, at: record.node)
    }
}
