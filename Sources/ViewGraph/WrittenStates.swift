import AttributeGraph
import AttributeValues

// The rows of states that clients write: most of what the store is told.

extension ViewGraph {
    /// Notes that the value of a state has to be stored.
    /// - Returns: false if the store does not need it.
    public func noteWritten(_ state: AttributeID) -> Bool {
        guard isDurable(state), content(of: state).failure == nil else { return false }
        let row = storePlace(of: state).row
        if !unlinked.isEmpty, !nodes.isLinked(row) { return false }
        nodes[Int(row)].hasValues = true
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
        withKey(of: row) { body($0, name, value) }
    }

    private func written(_ state: AttributeID) -> (row: UInt32, name: String, value: Value)? {
        guard engine.isAlive(state), isDurable(state), case .value(let value) = content(of: state) else { return nil }
        let (row, name) = storePlace(of: state)
        if !unlinked.isEmpty, !nodes.isLinked(row) { return nil }
        return (row, name, value)
    }

    /// Passes the bytes of a node's key to `body`. They are valid only inside it. O(depth).
    private func withKey(of row: UInt32, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        var length = 0
        var at = row
        while at != NodeID.root.row {
            let node = nodes[Int(at)]
            guard node.kept?.key == nil, StoredKey.isPlain(node.id) else {
                var key = nodes.key(of: row)
                return key.withUTF8 { body($0) }
            }
            length += 1 + node.id.utf8.count
            at = node.parent
        }
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: length) { key in
            var end = length
            var at = row
            while at != NodeID.root.row {
                let node = nodes[Int(at)]
                var id = node.id
                id.withUTF8 { bytes in
                    end -= bytes.count
                    _ = key[end...].initialize(fromContentsOf: bytes)
                }
                end -= 1
                key.initializeElement(at: end, to: UInt8(ascii: "/"))
                at = node.parent
            }
            body(UnsafeBufferPointer(key))
        }
    }
}
