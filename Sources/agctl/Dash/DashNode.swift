import AttributeValues

/// A node of a board, made from an answer of `describe`.
final class DashNode {
    struct Attribute {
        var kind: String
        var type: String
        var isTransient: Bool
        var hasRule: Bool

        var isNumber: Bool { ["int", "uint", "double", "angle"].contains(plainType) }
        var isWritable: Bool { kind == "state" || kind == "binding" }
        /// The type without the mark of an optional.
        var plainType: String { type.hasSuffix("?") ? String(type.dropLast()) : type }
    }

    let id: String
    let path: String
    let kind: String
    let component: String?
    let attributes: [(name: String, attribute: Attribute)]
    /// The nodes that it shows; nil for a node that cannot have any.
    private(set) var children: [DashNode]?
    /// The node in which it was declared.
    private(set) weak var parent: DashNode?
    /// True if it shows nodes that were declared elsewhere.
    let hasPlaces: Bool
    /// For the root: all other nodes by path, including those that no node shows.
    private(set) var others: [Name: DashNode] = [:]

    private init(_ map: ValueMap) {
        id = map["id"]?.string ?? ""
        path = map["path"]?.string ?? "/"
        kind = map["kind"]?.string ?? "view"
        component = map["component"]?.string
        attributes = (map["attributes"]?.map ?? ValueMap()).map { name, attribute in
            let map = attribute.map
            return (
                name.string ?? "",
                Attribute(
                    kind: map?["kind"]?.string ?? "", type: map?["type"]?.string ?? "dyn",
                    isTransient: map?["transient"] == true, hasRule: map?["rule"] != nil)
            )
        }
        children = map["children"]?.list == nil ? nil : []
        hasPlaces = map["shown"] != nil
    }

    /// The node with everything below it. Deep trees are read without recursion.
    static func tree(_ described: Value) -> DashNode? {
        guard let map = described.map, map["id"] != nil else { return nil }
        let root = DashNode(map)
        var pending = [(root, map)]
        var byPath: [Name: DashNode] = [:]
        var shown: [(node: DashNode, paths: [Value])] = []
        while let (node, map) = pending.popLast() {
            byPath[node.path] = node
            for case .map(let child) in map["children"]?.list ?? [] {
                let made = DashNode(child)
                made.parent = node
                if child["isUnshown"] != true { node.children?.append(made) }
                pending.append((made, child))
            }
            if let paths = map["shown"]?.list { shown.append((node, paths.array)) }
        }
        for (node, paths) in shown { node.children = paths.compactMap { $0.string.flatMap { byPath[$0] } } }
        byPath[root.path] = nil
        root.others = byPath
        return root
    }

    /// The node of a subview. Its id is the path from its container.
    func subview(_ id: String, in nodes: [Name: DashNode]) -> DashNode? {
        let up = "../".utf8
        var (from, rest) = (self, id.utf8[...])
        while rest.starts(with: up) {
            guard let parent = from.parent else { return nil }
            (from, rest) = (parent, rest.dropFirst(up.count))
        }
        return nodes[from.path(to: String(Substring(rest)))]
    }

    /// The node and everything below it.
    var all: [DashNode] {
        var found: [DashNode] = []
        var pending = [self]
        while let node = pending.popLast() {
            found.append(node)
            pending += node.children ?? []
        }
        return found
    }

    subscript(_ name: String) -> Attribute? { attributes.first { $0.name == name }?.attribute }

    func place(of attribute: String) -> String { "\(path).\(attribute)" }

    func path(to id: String) -> String { path == "/" ? "/" + id : "\(path)/\(id)" }

    /// True if its children are subviews of the container around it.
    var isTransparent: Bool { ["group", "forEach", "section"].contains(kind) }
}
