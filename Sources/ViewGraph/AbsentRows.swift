import AttributeValues

/// Rows of the store whose nodes do not exist: instances that a list has not made yet, and nodes that no scene makes
/// any more. A new node takes its rows from here.
struct AbsentRows {
    private(set) var rows: [String: [String: StoredRow]] = [:]
    /// Keys of the nodes that clients put below a node, by that node's key.
    private(set) var children: [String: Set<String>] = [:]

    var isEmpty: Bool { rows.isEmpty }
    var count: Int { rows.values.reduce(0) { $0 + $1.count } }

    func node(_ key: String) -> ValueMap? { rows[key]?[""]?.value.map }

    mutating func insert(_ row: StoredRow) {
        rows[row.key, default: [:]][row.name] = row
        if row.name.isEmpty, let parent = row.value.map?["parent"]?.string {
            children[parent, default: []].insert(row.key)
        }
    }

    mutating func remove(_ key: String) {
        guard let gone = rows.removeValue(forKey: key) else { return }
        removeChild(key, gone[""])
    }

    mutating func remove(_ key: String, _ name: String) {
        guard let place = rows.index(forKey: key), let gone = rows.values[place].removeValue(forKey: name) else {
            return
        }
        if name.isEmpty { removeChild(key, gone) }
        if rows.values[place].isEmpty { rows.remove(at: place) }
    }

    private mutating func removeChild(_ key: String, _ row: StoredRow?) {
        guard let parent = row?.value.map?["parent"]?.string else { return }
        children[parent]?.remove(key)
        if children[parent]?.isEmpty == true { children[parent] = nil }
    }

    /// The key of a node's parent: the one that a client chose, or else the one that the key implies.
    func around(_ key: String) -> String? { node(key)?["parent"]?.string ?? StoredKey.parent(of: key) }

    /// Keys of rows at and below some nodes. O(rows · depth).
    func keys(below tops: Set<String>) -> [String] { keys { tops.contains($0) } }

    func keys(below isTop: (String) -> Bool) -> [String] {
        rows.keys.filter { key in
            var at: String? = key
            while let next = at {
                if isTop(next) { return true }
                at = around(next)
            }
            return false
        }
    }

    /// Number of ancestors of a key's node. O(depth).
    func depth(of key: String) -> Int { sequence(first: key) { around($0) }.reduce(-1) { depth, _ in depth + 1 } }

    /// - Returns: the deletions that the store has to make.
    mutating func remove(below tops: Set<String>) -> [StoreChange] {
        keys(below: tops).sorted { $0.precedesByBytes($1) }.map { key in
            remove(key)
            return StoreChange(key: key, name: nil, value: nil)
        }
    }

    /// The ids from below `top` down to the node of a key; nil if the node is not below `top`.
    func ids(of key: String, below top: String) -> [String]? {
        var ids: [String] = []
        var at: String? = key
        while let next = at {
            if next == top { return ids.reversed() }
            ids.append(node(next)?["id"]?.string ?? String(StoredKey.lastPart(of: next)))
            at = around(next)
        }
        return nil
    }

    mutating func giveBack() {
        rows.giveBack()
        children.giveBack()
    }
}
