import SceneModel

// The keys of nodes in a store. A key follows from where its node was made, and stays the same wherever the node moves.

extension Tree<NodeRecord> {
    func kept(_ row: UInt32) -> KeptNode {
        if let kept = self[Int(row)].kept { return kept }
        let kept = KeptNode()
        self[Int(row)].kept = kept
        return kept
    }

    func setKey(_ key: String, of row: UInt32) {
        setKey(OwnKey(key, id: self[Int(row)].id.text, last: &lastFront), of: row)
    }

    func setKey(_ key: OwnKey?, of row: UInt32) {
        keyChanges &+= 1
        kept(row).key = key
    }

    /// The node's own key; nil: it follows from the parent's key.
    func ownKey(of row: UInt32) -> String? {
        let node = self[Int(row)]
        return node.kept?.key?.text(id: node.id.text)
    }

    /// The definition that a node was made from.
    func baseDefinition(of row: UInt32) -> NodeDefinition { self[Int(row)].kept?.base ?? self[Int(row)].definition }

    func isOwn(_ row: UInt32) -> Bool { self[Int(row)].kept?.isOwn == true }

    /// O(depth).
    func key(of row: UInt32) -> String {
        var length = 0
        var at = row
        while at != NodeID.root.row, self[Int(at)].kept?.key == nil {
            length += 1 + StoredKey.escape(self[Int(at)].id.text).utf8.count
            at = self[Int(at)].parent
        }
        let top = at
        var start = at == NodeID.root.row ? "" : ownKey(of: at) ?? ""
        if top == row { return start }
        return start.withUTF8 { start in
            String(unsafeUninitializedCapacity: start.count + length) { key in
                _ = key.initialize(fromContentsOf: start)
                var end = start.count + length
                var at = row
                while at != top {
                    var part = StoredKey.escape(self[Int(at)].id.text)
                    part.withUTF8 { bytes in
                        end -= bytes.count
                        _ = key[end...].initialize(fromContentsOf: bytes)
                    }
                    end -= 1
                    key.initializeElement(at: end, to: UInt8(ascii: "/"))
                    at = self[Int(at)].parent
                }
                return start.count + length
            }
        }
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

    /// The instance of a `forEach`, or the client's node, that a node is a part of; nil: a scene
    /// makes it. O(depth).
    func maker(of row: UInt32) -> NodeID? {
        var at = row
        while at != NodeID.root.row {
            let kept = self[Int(at)].kept
            if kept?.isOwn == true { return nodeID(at) }
            if kept?.home != nil { return kept?.maker }
            let parent = self[Int(at)].parent
            if self[Int(parent)].kind.isMadeFromData { return nodeID(at) }
            at = parent
        }
        return nil
    }

    /// The innermost instance of a `forEach` that a node is or is in. O(depth).
    func enclosingInstance(of node: NodeID) -> NodeID? {
        var at = node.row
        while at != NodeID.root.row {
            let parent = self[Int(at)].parent
            if self[Int(parent)].kind.isMadeFromData { return nodeID(at) }
            at = parent
        }
        return nil
    }

    /// True if a node that was made elsewhere can be put below a parent again whenever it is made: the parent exists
    /// then, and is removed with the node's maker.
    func isWithinReach(_ row: UInt32, _ parent: UInt32) -> Bool {
        let instance = enclosingInstance(of: nodeID(parent))
        guard let maker = maker(of: row) else { return instance == nil }
        if isOwn(maker.row) { return isInside(parent, of: maker.row) && instance == enclosingInstance(of: maker) }
        return instance == maker
    }

    /// The order key of a child among its siblings; nil for a node that was moved or made by a client and has no key
    /// yet.
    func order(of child: UInt32) -> String? {
        let node = self[Int(child)]
        if let order = node.kept?.order { return order }
        if node.kept?.isOwn == true || node.kept?.home != nil { return nil }
        return OrderKey.implied(Int(node.basePlace))
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
                if let own = node.kept?.key {
                    own.write(id: node.id.text, to: &key)
                    break
                }
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
