import AttributeValues

// A store contains what the edits say of nodes, and the values of durable states, under the keys of the nodes: their
// paths, with choices and branches.

/// A row as it is found in a store.
public struct StoredRow {
    public var key: String
    /// The name of the state at its node; empty for the row of the node itself.
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

extension [StoredRow] {
    /// The rows that are neither of nodes nor of their states.
    public var ofNoNode: [StoredRow] {
        // Copying each row for a look at its key takes three times as long.
        indices.filter { !StoredKey.isOfNode(self[$0].key) }.map { self[$0] }
    }
}

/// A change of one row, or of all rows of a key.
public struct StoreChange: Equatable {
    public var key: String
    /// nil: all rows of the key.
    public var name: String?
    /// nil: the row is deleted.
    public var value: Value?
    /// Rows of the key that were written after this revision stay. nil: the revision of the change.
    public var revision: UInt64?
    public var receiver: Receiver

    /// Who keeps the row.
    public enum Receiver {
        case all
        /// The state is left out of the past, or the row follows from what the archive has: the past of an operator.
        case store
        /// The state is transient.
        case archive
    }

    public init(
        key: String, name: String?, value: Value?, revision: UInt64? = nil, for receiver: Receiver = .all
    ) {
        self.receiver = receiver
        self.key = key
        self.name = name
        self.value = value
        self.revision = revision
    }
}

extension StoreChange {
    /// True if it changes neither the tree nor its declarations.
    public var isValue: Bool {
        StoreChange.runtimeKeys.contains { $0.hasSameBytes(as: key) } || key == StoreChange.timeKey
            || value != nil && name?.isEmpty == false && !key.hasPrefix(StoredKey.declarations)
    }

    /// Rows under this key are the runtime's: requests that are performed once.
    public static let onceKey = "@once"
    /// Rows under this key are the runtime's: nodes whose writes a client performs.
    public static let delegationKey = "@delegated"
    /// Rows under this key are the runtime's: who has defined parts of the tree.
    public static let authorKey = "@author"
    /// Rows under this key are the runtime's: what connected clients leave for their disconnect.
    public static let willKey = "@disconnect"
    /// The keys of rows that have nothing to do with the tree.
    static let runtimeKeys = [onceKey, delegationKey, authorKey, willKey]
    /// The row under this key has the time of operators over time: see `OperatorTime`.
    public static let timeKey = "@time"
    static let timeName = "operators"

    /// True for rows that say nothing of the tree and its declarations: what the runtime keeps for itself.
    public static func isOfRuntime(_ key: String) -> Bool {
        (runtimeKeys + [StoredKey.unlinked, timeKey]).contains { $0.hasSameBytes(as: key) }
    }
}

enum StoredKey {
    /// A part of a key: the id of a node, with the characters escaped that have a meaning in keys.
    static func escape(_ id: String) -> String {
        if isPlain(id) { return id }
        // A combining mark may follow a sign, so that both are one character.
        return id.unicodeScalars.reduce(into: "") { text, sign in
            switch sign {
            case "/": text += "%2F"
            case "%": text += "%25"
            default: text.unicodeScalars.append(sign)
            }
        }
    }

    static func key(of ids: [Name]) -> String { ids.reduce(into: "") { $0 += "/" + escape($1.text) } }

    /// True if an id has no such characters.
    static func isPlain(_ id: String) -> Bool {
        var id = id
        return id.withUTF8 { $0.allSatisfy(isPlain) }
    }

    static func isPlain(_ byte: UInt8) -> Bool {
        byte != UInt8(ascii: "/") && byte != UInt8(ascii: "%")
    }

    /// The key of the parent where the node was made; nil for the root.
    static func parentKey(of key: String) -> String? {
        key.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(key[..<$0]) }
    }

    /// The id of the node of a key.
    static func id(of key: String) -> String {
        let part = key.utf8.lastIndex(of: UInt8(ascii: "/")).map { key[key.utf8.index(after: $0)...] } ?? key[...]
        if !part.utf8.contains(UInt8(ascii: "%")) { return String(part) }
        // By bytes: a combining mark may follow a sign, so that both are one character.
        var bytes: [UInt8] = []
        var rest = part.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            // `%25` or `%2F`.
            bytes.append(rest.dropFirst().first == UInt8(ascii: "5") ? byte : UInt8(ascii: "/"))
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Keys of declarations begin with this. No node has such a key.
    static let declarations = "@"

    static func isOfNode(_ key: String) -> Bool { key.utf8.first != UInt8(ascii: "@") }

    static func isDeclaration(_ key: String) -> Bool {
        !isOfNode(key) && !NamedLayers.isKey(key) && !StoreChange.isOfRuntime(key)
    }

    /// Rows under this key name subtrees that are not in the tree: see `UnlinkedTrees`.
    static let unlinked = "@unlinked"

    static func isUnlinked(_ key: String) -> Bool { key.hasSameBytes(as: unlinked) }
}

/// Keys, and all keys above them.
struct KeyTree {
    private var below: [Name: [String]] = [:]
    private var known: Set<Name> = []

    init(_ keys: some Sequence<String>) { for key in keys { insert(key) } }

    mutating func insert(_ key: String) {
        var key = key
        while known.insert(Name(key)).inserted, let parent = StoredKey.parentKey(of: key) {
            below[Name(parent), default: []].append(key)
            key = parent
        }
    }

    /// The known keys at and below a key.
    func keys(from top: String) -> [String] {
        guard known.contains(Name(top)) else { return [] }
        var found = [top]
        var next = 0
        while next < found.count {
            found += below[Name(found[next])] ?? []
            next += 1
        }
        return found
    }
}
