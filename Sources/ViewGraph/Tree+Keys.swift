import AttributeValues
import SceneModel

// The key of a node in a store: its path, with the choices and branches that other paths skip.

extension Tree<NodeRecord> {
    /// O(depth).
    func key(of row: NodeRow) -> String {
        var key = ""
        withKey(of: row) { key = String(decoding: $0, as: UTF8.self) }
        return key
    }

    /// The ids of which a node's key consists. O(depth).
    func keyIDs(of row: NodeRow) -> [Name] {
        var ids: [Name] = []
        var at = row
        while at != .root {
            ids.append(self[at].id)
            at = self[at].parent
        }
        return ids.reversed()
    }

    /// The node with a key, by the ids of which the key consists.
    func node(withKey ids: [Name]) -> NodeRow? {
        var at = NodeRow.root
        for id in ids {
            guard let child = child(id, of: at) else { return nil }
            at = child
        }
        return at
    }

    /// The node of a key; nil if there is none. O(depth).
    func row(ofKey key: String) -> NodeRow? {
        node(withKey: key.utf8.split(separator: UInt8(ascii: "/")).map { Name(StoredKey.id(of: String($0) ?? "")) })
    }

    /// True if clients name a node by its key: no node on the way is left out of paths, and no id has quotes. O(depth).
    func hasKeyAsPath(_ row: NodeRow) -> Bool {
        var at = row
        while at != .root {
            let node = self[at]
            guard !node.isTransparent, AttributePath.isBare(node.id.text) else { return false }
            at = node.parent
        }
        return row != .root
    }

    /// The node that an attribute's rows belong to, and the attribute's name there: a property of an object is named
    /// behind the state that contains the object.
    func storePlace(of name: String, at row: NodeRow) -> (row: NodeRow, name: String) {
        var (row, name) = (row, name)
        while self[row].isObject {
            name = self[row].id.text + "." + name
            row = self[row].parent
        }
        return (row, name)
    }

    /// The same without the name.
    func storeRow(of row: NodeRow) -> NodeRow {
        var row = row
        while self[row].isObject { row = self[row].parent }
        return row
    }

    /// The order key of a child among its siblings; nil for a node that the edits make and that has no key yet.
    func order(of child: NodeRow) -> String? {
        let node = self[child]
        if let order = node.part?.order { return order }
        return node.part?.isMade == true ? nil : OrderKey.implied(Int(node.basePlace))
    }

    func hasKey(_ key: String, _ row: NodeRow) -> Bool {
        var (key, isSame) = (key, false)
        withKey(of: row) { bytes in isSame = key.withUTF8 { $0.hasSameBytes(as: bytes) } }
        return isSame
    }

    /// Passes the bytes of a node's key to `body`. They are valid only inside it. O(depth).
    func withKey(of row: NodeRow, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: plainKey) { bytes in
            // From its end on: a node knows its parent.
            var key = BackwardText(bytes)
            var at = row
            while at != .root {
                let node = self[at]
                key.put(plain: node.id.text)
                key.put(UInt8(ascii: "/"))
                at = node.parent
            }
            if key.isWhole { return body(key.bytes) }
            var text = StoredKey.key(of: keyIDs(of: row))
            text.withUTF8 { body($0) }
        }
    }
}

/// Bytes of a key that is put together from ids.
private let plainKey = 512

/// A text that is written from its end on.
private struct BackwardText {
    private let memory: UnsafeMutableBufferPointer<UInt8>
    private var start: Int
    /// False if something did not fit, or was not plain.
    private(set) var isWhole = true

    init(_ memory: UnsafeMutableBufferPointer<UInt8>) { (self.memory, start) = (memory, memory.count) }

    var bytes: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(rebasing: memory[start...]) }

    mutating func put(_ byte: UInt8) {
        guard start > 0 else { return isWhole = false }
        start -= 1
        memory.initializeElement(at: start, to: byte)
    }

    /// Puts an id that need not be escaped.
    mutating func put(plain id: String) {
        var id = id
        id.withUTF8 { id in
            guard id.count <= start else { return isWhole = false }
            start -= id.count
            _ = memory[start...].initialize(fromContentsOf: id)
            if !id.allSatisfy(StoredKey.isPlain) { isWhole = false }
        }
    }
}
