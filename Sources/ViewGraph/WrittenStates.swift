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
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: ViewGraph.plainKey) { key in
            // From its end on: a node knows its parent.
            var start = key.count
            var at = row
            while at != NodeID.root.row {
                let node = nodes[Int(at)]
                var id = node.id
                var isPlain = node.kept?.key == nil && id.utf8.count < start
                id.withUTF8 { bytes in
                    guard isPlain else { return }
                    start -= bytes.count
                    for (place, byte) in bytes.enumerated() {
                        if !StoredKey.isPlain(byte) { isPlain = false }
                        key.initializeElement(at: start + place, to: byte)
                    }
                }
                guard isPlain else {
                    var key = nodes.key(of: row)
                    return key.withUTF8 { body($0) }
                }
                start -= 1
                key.initializeElement(at: start, to: UInt8(ascii: "/"))
                at = node.parent
            }
            body(UnsafeBufferPointer(rebasing: key[start...]))
        }
    }

    /// Bytes of a key that is put together from ids.
    private static let plainKey = 512
}
