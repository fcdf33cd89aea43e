/// The keys of a node, in the order in which they are documented.
enum NodeKey: Int, CaseIterable {
    case id, kind, component
    case state, binding, `let`, computed, inherit, clock
    case environment, transformEnvironment, containerValues, tag, preferences, animation
    case children, header, content, footer, forEach

    var name: String { NodeKey.names[rawValue] }

    static let names = allCases.map { "\($0)" }
    private static let byName = Dictionary(uniqueKeysWithValues: allCases.map { ($0.name, $0) })

    init?(_ name: String) {
        guard let key = NodeKey.byName[name] else { return nil }
        self = key
    }
}

/// A node as written, by its keys.
struct NodeFields {
    let node: DocumentNode
    private var values: [DocumentNode?] = Array(repeating: nil, count: NodeKey.allCases.count)

    init(_ node: DocumentNode) { self.node = node }

    subscript(_ key: NodeKey) -> DocumentNode? {
        get { values[key.rawValue] }
        set { values[key.rawValue] = newValue }
    }

    /// The keys that are written, in the order of `NodeKey`.
    var keys: [NodeKey] { NodeKey.allCases.filter { values[$0.rawValue] != nil } }
}
