/// Reads the nodes of a document and the bodies of its components, one node at a time.
final class SceneWalk {
    private let tree: TreePosition
    private let open: OpenNodes
    private let components: ComponentTable
    private let nodes: NodeReader
    private let parts: PartReader
    /// The author of the document.
    private let author: PartAuthor
    let size: SceneSize
    private let former: FormerPlaces
    /// The parent of the document's nodes. It is not one of them.
    let top = NodeDefinition()
    /// Components that have not been read yet; the next one is last.
    private var unread: [String]

    init(_ parts: PartReader, _ components: ComponentTable, _ tree: TreePosition) {
        self.components = components
        self.parts = parts
        author = parts.cursor.authors.standard
        self.tree = tree
        unread = components.order.reversed()
        open = OpenNodes(parts.cursor, tree)
        size = SceneSize(parts.cursor)
        former = FormerPlaces(parts.cursor)
        nodes = NodeReader(parts: parts, components: components, open: open, tree: tree, size: size, former: former)
        components.readBody = { [unowned self] in read($0) }
    }

    /// Reads the next node.
    /// - Returns: false if no node is open.
    func readNext() -> Bool {
        guard !open.isEmpty else { return false }
        guard let child = open.next() else { return true }
        if nodes.readCopy(child) { return true }
        if let choice = child.node.choice { nodes.readChoice(choice, child) } else { nodes.read(child) }
        return true
    }

    /// Reads a component's root. The nodes below it are read next.
    /// - Returns: false if all components have been read.
    func readNextComponent() -> Bool {
        if let name = components.reading.last, let component = components[name] {
            components.end(component)
            return true
        }
        guard let name = unread.popLast() else { return false }
        tree.depth = 0
        if let component = components[name] { begin(component) }
        return true
    }

    private func begin(_ component: ComponentTable.Component) {
        guard component.progress == .untouched else { return }
        components.begin(component)
        parts.cursor.authors = PartAuthors(author)
        tree.place = TreePosition.Place(
            path: [.key("components"), .key(component.entry.name)], ids: nil, depth: tree.depth)
        nodes.readRoot(of: component)
    }

    /// Reads a component that another one uses, with everything below it. Components are read in the order of their
    /// uses. Readings nest only for a cycle through forEach.
    private func read(_ component: ComponentTable.Component) {
        let (outer, authors) = (tree.place, parts.cursor.authors)
        let around = open.count
        begin(component)
        while open.count > around, readNext() {}
        components.end(component)
        tree.place = outer
        parts.cursor.authors = authors
    }

    /// Opens the document's nodes, which are read next.
    /// - Parameter scope: the names around them.
    func beginNodes(_ nodes: [DocumentNode], in scope: LexicalScope) {
        tree.ids = []
        parts.cursor.authors = PartAuthors(author)
        // The nodes inside a component cannot use names from outside it.
        let surroundings = tree.live.flatMap {
            $0.component != nil ? tree.childSurroundings(below: $0, in: scope) : nil
        }
        open.push(nodes, of: top, surroundings ?? Surroundings(enclosing: scope))
    }

    /// Checks the former places of the document's nodes and of those in its components.
    func checkFormerPlaces() {
        for name in components.order {
            guard let component = components[name] else { continue }
            former.check(below: component.definition, isComponent: true)
        }
        former.check(below: top, isComponent: false)
    }

    /// True if the document has nodes with a former place.
    var hasFormerPlaces: Bool { !former.isEmpty }

    /// The scope around all others.
    var root: LexicalScope { tree.root }
}
