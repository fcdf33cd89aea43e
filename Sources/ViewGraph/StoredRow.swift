import AttributeValues

// A store holds what differs from the scenes, by lasting keys.
//
// A node's key is where its scene, template or component defines it: the key of the parent there and its id. A client's node has a
// number in its key. Under a key there is one row for the node itself, if clients changed it, and one for each durable state that was
// written.

/// A row as it is found in a store.
public struct StoredRow {
    public var key: String
    /// The state's name behind its node; empty for the row of the node itself.
    public var name: String
    public var revision: UInt64
    public var value: Value

    public init(key: String, name: String, revision: UInt64, value: Value) {
        self.key = key
        self.name = name
        self.revision = revision
        self.value = value
    }
}

/// A change of one row, or of all rows of a key.
public struct StoreChange: Equatable {
    public var key: String
    /// nil: all rows of the key.
    public var name: String?
    /// nil: the row goes.
    public var value: Value?
    /// Rows of the key that were written after this revision stay. nil: the revision of the change.
    public var revision: UInt64?

    public init(key: String, name: String?, value: Value?, revision: UInt64? = nil) {
        self.key = key
        self.name = name
        self.value = value
        self.revision = revision
    }
}

extension StoreChange {
    /// Whether it leaves the tree and its rules as they are.
    public var isValue: Bool {
        key == StoreChange.onceKey
            || value != nil && name?.isEmpty == false && !key.hasPrefix(StoredKey.declarations)
    }

    /// Rows under this key are the runtime's: requests that are performed once.
    public static let onceKey = "@once"
}

enum StoredKey {
    /// A part of a key: the id of a node without the signs that have a meaning in keys.
    static func part(_ id: String) -> String {
        if isPlain(id) { return id }
        return id.reduce(into: "") { text, sign in
            switch sign {
            case "/": text += "%2F"
            case "#": text += "%23"
            case "%": text += "%25"
            default: text.append(sign)
            }
        }
    }

    /// Whether an id has none of these signs.
    static func isPlain(_ id: String) -> Bool {
        id.utf8.allSatisfy { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "#") && $0 != UInt8(ascii: "%") }
    }

    /// The key of the parent where the node was made; nil for the root.
    static func parent(of key: String) -> String? { key.lastIndex(of: "/").map { String(key[..<$0]) } }

    /// What stands behind the parent's key.
    static func lastPart(of key: String) -> Substring {
        key.lastIndex(of: "/").map { key[key.index(after: $0)...] } ?? key[...]
    }

    /// The number in a client's key.
    static func number(in key: String) -> UInt64? {
        key.lastIndex(of: "#").flatMap { UInt64(key[key.index(after: $0)...]) }
    }

    /// Declarations stand under keys that no node has.
    static let declarations = "@"

    static func isDeclaration(_ key: String) -> Bool { key.hasPrefix(declarations) && key != unlinked }

    /// Rows under this key name subtrees that are not in the tree: see `UnlinkedTrees`.
    static let unlinked = "@unlinked"
}

/// Rows whose nodes are not there: those of instances that data has yet to make, and those of nodes that a scene no longer makes. A
/// node that is made takes its rows from here.
struct AbsentRows {
    private(set) var rows: [String: [String: StoredRow]] = [:]
    /// Keys of the nodes that clients put below a node, by the key of that.
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
        guard let gone = rows[key]?.removeValue(forKey: name) else { return }
        if name.isEmpty { removeChild(key, gone) }
        if rows[key]?.isEmpty == true { rows[key] = nil }
    }

    private mutating func removeChild(_ key: String, _ row: StoredRow?) {
        guard let parent = row?.value.map?["parent"]?.string else { return }
        children[parent]?.remove(key)
        if children[parent]?.isEmpty == true { children[parent] = nil }
    }

    /// The key of the node around another one: where a client put it, or else where it was made.
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

    /// How many nodes there are around that of a key. O(depth).
    func depth(of key: String) -> Int { sequence(first: key) { around($0) }.reduce(-1) { depth, _ in depth + 1 } }

    /// - Returns: what the store has to know.
    mutating func remove(below tops: Set<String>) -> [StoreChange] {
        keys(below: tops).sorted { $0.precedesByBytes($1) }.map { key in
            remove(key)
            return StoreChange(key: key, name: nil, value: nil)
        }
    }

    /// The ids from a node down to where a row belongs; nil where it is not below the node.
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
