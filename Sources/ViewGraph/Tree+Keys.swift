import AttributeValues
import SceneModel

// The key of a node in a store: its path, with the choices and branches that other paths skip.

extension Tree<NodeRecord> {
    /// O(depth).
    func key(of row: UInt32) -> String {
        var length = 0
        var at = row
        while at != NodeID.root.row {
            length += 1 + StoredKey.escape(self[Int(at)].id.text).utf8.count
            at = self[Int(at)].parent
        }
        return String(unsafeUninitializedCapacity: length) { key in
            var end = length
            var at = row
            while at != NodeID.root.row {
                var part = StoredKey.escape(self[Int(at)].id.text)
                part.withUTF8 { bytes in
                    end -= bytes.count
                    _ = key[end...].initialize(fromContentsOf: bytes)
                }
                end -= 1
                key.initializeElement(at: end, to: UInt8(ascii: "/"))
                at = self[Int(at)].parent
            }
            return length
        }
    }

    /// The ids of which a node's key consists. O(depth).
    func keyIDs(of row: UInt32) -> [Name] {
        var ids: [Name] = []
        var at = row
        while at != NodeID.root.row {
            ids.append(self[Int(at)].id)
            at = self[Int(at)].parent
        }
        return ids.reversed()
    }

    /// The node with a key, by the ids of which the key consists.
    func node(withKey ids: [Name]) -> UInt32? {
        var at = NodeID.root.row
        for id in ids {
            guard let child = child(id, of: at) else { return nil }
            at = child
        }
        return at
    }

    /// The node of a key; nil if there is none. O(depth).
    func row(ofKey key: String) -> UInt32? {
        node(withKey: key.utf8.split(separator: UInt8(ascii: "/")).map { Name(StoredKey.id(of: String($0) ?? "")) })
    }

    /// True if clients name a node by its key: no node on the way is left out of paths, and no id has quotes. O(depth).
    func hasKeyAsPath(_ row: UInt32) -> Bool {
        var at = row
        while at != NodeID.root.row {
            let node = self[Int(at)]
            guard !node.isTransparent, AttributePath.isBare(node.id.text) else { return false }
            at = node.parent
        }
        return row != NodeID.root.row
    }

    /// The node that an attribute's rows belong to, and the attribute's name there: a property of an object is named
    /// behind the state that contains the object.
    func storePlace(of name: String, at row: UInt32) -> (row: UInt32, name: String) {
        var (row, name) = (row, name)
        while self[Int(row)].isObject {
            name = self[Int(row)].id.text + "." + name
            row = self[Int(row)].parent
        }
        return (row, name)
    }

    /// The order key of a child among its siblings; nil for a node that the edits make and that has no key yet.
    func order(of child: UInt32) -> String? {
        let node = self[Int(child)]
        if let order = node.part?.order { return order }
        return node.part?.isMade == true ? nil : OrderKey.implied(Int(node.basePlace))
    }

    func hasKey(_ key: String, _ row: UInt32) -> Bool {
        var (key, isSame) = (key, false)
        withKey(of: row) { bytes in isSame = key.withUTF8 { $0.hasSameBytes(as: bytes) } }
        return isSame
    }

    /// Passes the bytes of a node's key to `body`. They are valid only inside it. O(depth).
    func withKey(of row: UInt32, _ body: (UnsafeBufferPointer<UInt8>) -> Void) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: plainKey) { bytes in
            // From its end on: a node knows its parent.
            var key = BackwardText(bytes)
            var at = row
            while at != NodeID.root.row {
                let node = self[Int(at)]
                key.put(plain: node.id.text)
                key.put(UInt8(ascii: "/"))
                at = node.parent
            }
            if key.isWhole { return body(key.bytes) }
            var text = self.key(of: row)
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
