/// The keys of a node, in the order in which they are documented.
enum NodeKey: Int, CaseIterable {
    case id, was, kind, component
    case state, binding, `let`, computed, inherit, clock, actions
    case environment, transformEnvironment, containerValues, tag, preferences, animation, transition, past
    case onAppear, onChange, onDisappear
    case children, header, content, footer, slots, forEach

    var name: String { NodeKey.names[rawValue] }

    static let names = allCases.map { "\($0)" }
    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.name, $0) })

    init?(_ name: String) {
        guard let key = NodeKey.byName[name] else { return nil }
        self = key
    }
}

/// A node as written, with its entries by key.
struct NodeFields {
    let node: DocumentNode
    private let entries: [DocumentEntry]
    /// By key: the entry's number, or -1. Only entries with a key of a node are numbered, so few bits suffice.
    private var positions = SIMD32<Int16>(repeating: -1)

    /// - Parameter unknown: called for entries whose key is not a key of a node.
    init(_ node: DocumentNode, unknown: (DocumentEntry) -> Void) {
        self.node = node
        entries = node.map ?? []
        for (position, entry) in entries.enumerated() {
            if let key = NodeKey(entry.name), let position = Int16(exactly: position) {
                positions[key.rawValue] = position
            } else {
                unknown(entry)
            }
        }
    }

    subscript(_ key: NodeKey) -> DocumentNode? {
        let position = positions[key.rawValue]
        return position < 0 ? nil : entries[Int(position)].value
    }

    /// Reads what is written under a key, at its position.
    func visit(_ key: NodeKey, _ cursor: CheckCursor, _ body: (DocumentNode) -> Void) {
        if let written = self[key] { cursor.at(key.name) { body(written) } }
    }

    /// The same node without some of its keys.
    func without(_ keys: [NodeKey]) -> NodeFields {
        var other = self
        for key in keys { other.positions[key.rawValue] = -1 }
        return other
    }
}
