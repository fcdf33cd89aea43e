import AttributeGraph
import AttributeValues
import SceneModel

/// A node as a board sees it.
final class BoardNode {
    struct Attribute {
        let name: String
        let vertex: AttributeID
        let kind: AttributeKind
        let type: String
        let isTransient: Bool
        let hasRule: Bool

        /// The type without the mark of an optional.
        var plainType: String { type.hasSuffix("?") ? String(type.dropLast()) : type }
        var isNumber: Bool { ["int", "uint", "double", "angle"].contains(plainType) }
        var isWritable: Bool { kind == .state || kind == .binding }
        /// The element of a list is a binding or a value without a rule. Its view says what to show of it.
        var isElement: Bool { type == "dyn" && (kind == .binding || kind == .let && !hasRule) }
    }

    let row: NodeRow
    let id: String
    let path: String
    let kind: NodeKind
    let component: String?
    let attributes: [Attribute]
    /// True if it shows nodes that were declared elsewhere.
    let hasPlaces: Bool
    /// The nodes that stand in it; nil for a node that has none.
    var children: [BoardNode]?
    /// The node in which it was declared.
    weak var parent: BoardNode?

    init(row: NodeRow, _ node: NodeRecord, path: String, _ attributes: [Attribute], hasPlaces: Bool) {
        self.row = row
        id = node.id.text
        self.path = path
        kind = node.kind
        component = node.definition.component
        self.attributes = attributes
        self.hasPlaces = hasPlaces
    }

    subscript(_ name: String) -> Attribute? { attributes.first { $0.name.hasSameBytes(as: name) } }

    func place(of attribute: String) -> String { "\(path).\(attribute)" }

    /// The place that a panel names: an attribute, or a part of its value (`episode.title`).
    struct Place {
        let path: String
        /// nil if the node has no such attribute.
        let attribute: Attribute?
        /// False for a part of the value.
        let isWhole: Bool
        /// Why there is nothing to show.
        let fault: String?

        /// The type; `dyn` for a part of a value.
        var type: String { isWhole ? attribute?.type ?? "dyn" : "dyn" }
    }

    func find(_ name: String) -> Place {
        let base = String(name.prefix { $0 != "." && $0 != "[" })
        let attribute = self[base]
        return Place(
            path: place(of: name), attribute: attribute, isWhole: base.hasSameBytes(as: name),
            fault: attribute == nil ? "\(path) has no attribute \(base)." : nil)
    }

    func path(to id: String) -> String { path == "/" ? "/" + id : "\(path)/\(id)" }

    var hasChildren: Bool { children?.isEmpty == false }

    /// True if its children are subviews of the container around it.
    var isTransparent: Bool { [.group, .forEach, .section].contains(kind) }
}

/// The nodes of a board, by path.
struct BoardTree {
    let root: BoardNode
    private var nodes: [Name: BoardNode] = [:]

    /// - Parameter isWhole: false leaves out what is below the node.
    /// - Throws: `limit` if the part of the tree is too large.
    init(_ description: Description, at row: NodeRow, isWhole: Bool) throws(Failure) {
        let graph = description.graph
        guard let rows = isWhole ? graph.nodes.subtree(of: row, atMost: Board.mostNodes) : [row] else {
            throw Failure(
                .limit, "a board has at most \(Board.mostNodes) nodes", path: graph.nodes.path(of: row),
                hint: "name a smaller part of the tree")
        }
        var byRow: [NodeRow: BoardNode] = [:]
        for row in rows where !graph.nodes[row].isTransparent {
            let named = graph.allAttributes(of: row)
            try graph.charge(Board.stepsPerNode + Board.stepsPerAttribute * named.count)
            let attributes = named.map { name, vertex -> BoardNode.Attribute in
                let record = graph.record(vertex)
                var (isTransient, hasRule) = (false, false)
                if case .state(let flag) = record.source { isTransient = flag }
                if case .rule = record.source { hasRule = true }
                return BoardNode.Attribute(
                    name: name, vertex: vertex, kind: record.kind, type: record.type.description,
                    isTransient: isTransient, hasRule: hasRule)
            }
            let shown = description.shown(in: graph.nodes.nodeID(row))
            byRow[row] = BoardNode(
                row: row, graph.nodes[row], path: graph.nodes.path(of: row), attributes, hasPlaces: shown != nil)
        }
        for (row, node) in byRow {
            let children = graph.nodes.visibleChildren(of: row)
            for child in children { byRow[child]?.parent = node }
            let shown = node.hasPlaces ? description.shown(in: graph.nodes.nodeID(row))?.map(\.row) : nil
            let standing = shown ?? children.filter { !description.isUnshown($0) }
            if !children.isEmpty || shown != nil { node.children = standing.compactMap { byRow[$0] } }
            nodes[Name(node.path)] = node
        }
        guard let root = byRow[row] else { preconditionFailure("the root of a board has a path") }
        self.root = root
    }

    subscript(_ path: String) -> BoardNode? { nodes[Name(path)] }

    /// The node of a subview. Its id is the path from its container.
    func subview(_ id: String, of container: BoardNode) -> BoardNode? {
        let up = "../".utf8
        var (from, rest) = (container, id.utf8[...])
        while rest.starts(with: up) {
            guard let parent = from.parent else { return nil }
            (from, rest) = (parent, rest.dropFirst(up.count))
        }
        return self[from.path(to: String(Substring(rest)))]
    }
}
