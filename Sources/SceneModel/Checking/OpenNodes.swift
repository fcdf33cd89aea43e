import AttributeValues

/// The nodes whose lists of children are being read, one after the other.
final class OpenNodes {
    /// A child that is to be read.
    struct Child {
        let node: DocumentNode
        /// The number of the open node that it belongs to.
        fileprivate let parent: Int
        /// The number of siblings before it.
        let number: Int
        /// See `List.prefix`.
        let prefix: String?
    }

    struct Branch {
        let node: NodeDefinition
        let steps: [CheckCursor.Step]
        let nodes: [DocumentNode]
    }

    /// Children in one list.
    private struct List {
        /// nil for the nodes of a document.
        let key: NodeKey?
        let nodes: [DocumentNode]
        /// The number of siblings before each, for the ids of children without one.
        let numbers: SiblingNumbers
        /// The prefix of their ids; nil for each child's kind or component.
        let prefix: String?
        /// The name of the slot that they are given for.
        let slot: String?

        init(_ key: NodeKey?, _ nodes: [DocumentNode], offset: Int = 0, prefix: String? = nil, slot: String? = nil) {
            self.key = key
            self.nodes = nodes
            self.slot = slot
            numbers = SiblingNumbers(nodes, from: offset)
            self.prefix = prefix
        }
    }

    private struct Open {
        /// The node to which the children are added.
        let node: NodeDefinition
        let surroundings: Surroundings
        let place: TreePosition.Place
        let author: PartAuthor
        /// Ids of the children read so far; for a branch, those of the node around it.
        var ids = SiblingIDs()
        /// The number of the open node to whose children those of a branch belong.
        var around: Int?
        /// The branches around the children.
        var branches: [SiblingIDs.Place] = []
        var lists: [List]
        /// The number of lists that have been read, and of nodes read from the next one.
        var listsRead = 0
        var nodesRead = 0
        /// The nodes made from the next list so far.
        var made: [NodeDefinition] = []
        /// Some of those without children, as they are written: nodes that say the same become copies of them.
        var models: [(written: [DocumentEntry], definition: NodeDefinition)] = []
        /// Called after all children have been read.
        var finish: () -> Void
    }

    private let cursor: CheckCursor
    private let tree: TreePosition
    /// Outermost first.
    private var open: [Open] = []

    init(_ cursor: CheckCursor, _ tree: TreePosition) {
        self.cursor = cursor
        self.tree = tree
    }

    var isEmpty: Bool { open.isEmpty }
    var count: Int { open.count }
    /// The surroundings of the children of the innermost node.
    var surroundings: Surroundings { open[open.count - 1].surroundings }

    // MARK: Opening

    func push(_ nodes: [DocumentNode], of top: NodeDefinition, _ surroundings: Surroundings) {
        open.append(
            Open(
                node: top, surroundings: surroundings, place: tree.place, author: cursor.authors.standard,
                lists: [List(nil, nodes)], finish: {}))
    }

    /// Opens a node, whose children are read next.
    /// - Parameter finish: called when they and everything below them have been read.
    func push(
        _ fields: NodeFields, of node: NodeDefinition, _ surroundings: Surroundings, _ finish: @escaping () -> Void
    ) {
        var place = tree.place
        if tree.continued(by: node) == nil { place.ids = nil }
        var opened = Open(
            node: node, surroundings: surroundings, place: place, author: cursor.authors.standard, lists: [],
            finish: finish)
        for inherited in node.header + node.children + node.footer { opened.ids.add(inherited) }
        func add(_ key: NodeKey, after siblings: [NodeDefinition], prefix: String? = nil) {
            guard let written = fields[key] else { return }
            let nodes = cursor.at(key.name) { cursor.readNodes(written, key.name) }
            let offset = SiblingNumbers.sum(siblings)
            if !nodes.isEmpty { opened.lists.append(List(key, nodes, offset: offset, prefix: prefix)) }
        }
        if node.kind == .section {
            add(.header, after: node.header, prefix: "header")
            add(fields[.content] != nil ? .content : .children, after: node.children)
            add(.footer, after: node.footer, prefix: "footer")
        } else if node.kind != .forEach {
            add(.children, after: node.children)
        }
        let slots = node.slots
        let given = (fields[.slots]?.map ?? []).sorted {
            slots.firstIndex(of: $0.name) ?? slots.count < slots.firstIndex(of: $1.name) ?? slots.count
        }
        for entry in given {
            let nodes = cursor.at("slots") {
                cursor.at(entry.name) {
                    cursor.readElements(entry.value, entry.name, hint: "write a '-' before each node")
                }
            }
            opened.lists.append(List(.slots, nodes, prefix: entry.name, slot: entry.name))
        }
        if opened.lists.isEmpty { finish() } else { open.append(opened) }
    }

    /// Opens the branches of a choice, which is a child of the innermost node. The first one is read next.
    /// - Parameter finish: called for each branch when everything in it has been read.
    func push(_ branches: [Branch], of choice: Child, _ finish: @escaping (NodeDefinition) -> Void) {
        let innermost = open.count - 1
        let around = open[innermost].around ?? innermost
        let identity = open[around].ids.newChoice()
        var next = choice.number + 1
        var opened: [Open] = []
        for (position, branch) in branches.enumerated() {
            let place = TreePosition.Place(path: cursor.path + branch.steps, ids: nil, depth: tree.depth + 2)
            var inside = Open(
                node: branch.node, surroundings: Surroundings(enclosing: surroundings.enclosing), place: place,
                author: cursor.authors.standard, lists: [], finish: { finish(branch.node) })
            if !branch.nodes.isEmpty { inside.lists = [List(nil, branch.nodes, offset: next, prefix: choice.prefix)] }
            inside.around = around
            inside.branches = open[innermost].branches + [SiblingIDs.Place(choice: identity, branch: position)]
            next += branch.nodes.reduce(0) { $0 + SiblingNumbers.sum($1) }
            opened.append(inside)
        }
        open += opened.reversed()
    }

    // MARK: Reading

    /// Goes to the next child of the innermost unfinished list.
    /// - Returns: nil if a list or a node has come to its end.
    func next() -> Child? {
        let innermost = open.count - 1
        guard open[innermost].listsRead < open[innermost].lists.count else {
            let done = open.removeLast()
            tree.place = done.place
            cursor.work += 1
            done.finish()
            return nil
        }
        let list = open[innermost].lists[open[innermost].listsRead]
        let position = open[innermost].nodesRead
        guard position < list.nodes.count else {
            finish(list)
            return nil
        }
        open[innermost].nodesRead += 1
        tree.place = open[innermost].place
        cursor.authors.standard = open[innermost].author
        if let key = list.key { cursor.path.append(.key(key.name)) }
        if let slot = list.slot { cursor.path.append(.key(slot)) }
        cursor.path.append(.index(position))
        return Child(node: list.nodes[position], parent: innermost, number: list.numbers[position], prefix: list.prefix)
    }

    private func finish(_ list: List) {
        let innermost = open.count - 1
        let (receiver, made) = (open[innermost].node, open[innermost].made)
        if let slot = list.slot { for node in made { node.givenSlot = slot } }
        switch list.key {
        case .header: receiver.header += made
        case .footer: receiver.footer += made
        default: receiver.children += made
        }
        open[innermost].made = []
        open[innermost].models = []
        open[innermost].listsRead += 1
        open[innermost].nodesRead = 0
    }

    /// Takes the id of a child; adds a fault if a sibling has it.
    func take(_ id: Name, of child: Child, isWritten: Bool) {
        let (around, branches) = (open[child.parent].around ?? child.parent, open[child.parent].branches)
        guard !open[around].ids.insert(id, at: child.number, in: branches) else { return }
        cursor.fault(
            .conflict, "two siblings have the id '\(id)'", at: isWritten ? child.node["id"] ?? child.node : child.node,
            hint: isWritten ? nil : "the node got this id from its position; write an id that no sibling has")
    }

    func add(_ definition: NodeDefinition, for child: Child) { open[child.parent].made.append(definition) }

    // MARK: Copies

    /// A node is compared with so many siblings.
    private static let mostModels = 4

    /// Siblings that say the same as a child, but for the id, can be copies of its definition.
    func addModel(_ definition: NodeDefinition, for child: Child) {
        if open[child.parent].models.count == OpenNodes.mostModels { open[child.parent].models.removeFirst() }
        open[child.parent].models.append((child.node.map ?? [], definition))
    }

    /// The definition of a sibling that says the same as a child, but for the id.
    func model(of child: Child) -> NodeDefinition? {
        let models = open[child.parent].models
        if models.isEmpty { return nil }
        if case .copy(let entries, let place) = child.node.content,
            entries[Int(place)].name.hasSameBytes(as: NodeKey.id.name),
            let model = models.last(where: { $0.written.isCopy(of: entries) })
        {
            return model.definition
        }
        guard let entries = child.node.map else { return nil }
        return models.indices.last { place in
            models[place].written.hasSameElements(as: entries) { a, b in
                a.pointee.name.hasSameBytes(as: b.pointee.name)
                    && (a.pointee.name.hasSameBytes(as: NodeKey.id.name)
                        || a.pointee.value.saysSame(as: b.pointee.value))
            }
        }.map { models[$0].definition }
    }
}
