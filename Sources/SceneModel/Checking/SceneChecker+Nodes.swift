import AttributeValues
import RuleLanguage

/// A node whose lists of children are being read, one after the other.
struct OpenNode {
    /// The node to which the children are added.
    let node: NodeDefinition
    /// The surroundings of the children.
    let place: Surroundings
    // The values of the checker's properties of these names at the node.
    let path: [SceneChecker.Step]
    let treePath: [String]?
    let depth: Int
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
    /// Called after all children have been read.
    var finish: () -> Void = {}

    /// Children in one list.
    struct List {
        /// nil for the nodes of a document.
        let key: NodeKey?
        let nodes: [DocumentNode]
        /// The number of siblings before each, for the ids of children without one.
        let numbers: SiblingNumbers
        /// The prefix of their ids; nil for each child's kind or component.
        let prefix: String?
        /// The name of the slot that they are given for.
        let slot: String?

        init(key: NodeKey?, nodes: [DocumentNode], offset: Int, prefix: String?, slot: String? = nil) {
            self.key = key
            self.nodes = nodes
            self.slot = slot
            numbers = SiblingNumbers(nodes, from: offset)
            self.prefix = prefix
        }
    }
}

extension SceneChecker {
    /// Reads the next node of the innermost unfinished list, without its children.
    func readNext() {
        let innermost = open.count - 1
        guard open[innermost].listsRead < open[innermost].lists.count else {
            let done = open.removeLast()
            (path, treePath, nodeDepth) = (done.path, done.treePath, done.depth)
            work += 1
            return done.finish()
        }
        let list = open[innermost].lists[open[innermost].listsRead]
        let position = open[innermost].nodesRead
        guard position < list.nodes.count else {
            let receiver = open[innermost].node
            if let slot = list.slot { for node in open[innermost].made { node.givenSlot = slot } }
            switch list.key {
            case .header: receiver.header += open[innermost].made
            case .footer: receiver.footer += open[innermost].made
            default: receiver.children += open[innermost].made
            }
            open[innermost].made = []
            open[innermost].listsRead += 1
            open[innermost].nodesRead = 0
            return
        }
        open[innermost].nodesRead += 1
        path = open[innermost].path
        if let key = list.key { path.append(.key(key.name)) }
        if let slot = list.slot { path.append(.key(slot)) }
        path.append(.index(position))
        treePath = open[innermost].treePath
        nodeDepth = open[innermost].depth
        let node = list.nodes[position]
        let number = list.numbers[position]
        if let choice = SceneChecker.choice(node) { return read(choice, node, number, list) }
        guard let fields = fields(node) else { return }
        let id = id(of: fields, position: number, prefix: list.prefix)
        enter(id, at: number, of: node, isWritten: fields[.id] != nil)
        treePath?.append(id)
        if let definition = self.node(fields, id: id, place(of: open[innermost].place)) {
            open[innermost].made.append(definition)
        }
    }

    /// Adds the id of a child of the innermost open node.
    func enter(_ id: String, at number: Int, of node: DocumentNode, isWritten: Bool) {
        let innermost = open.count - 1
        let branches = open[innermost].branches
        guard !open[open[innermost].around ?? innermost].ids.insert(id, at: number, in: branches) else { return }
        fault(
            .conflict, "two siblings have the id '\(id)'", at: isWritten ? node["id"] ?? node : node,
            hint: isWritten ? nil : "the node got this id for its place; write one that no other has")
    }

    /// The surroundings of the node at `treePath`. An existing node that belongs to a component's body uses the
    /// component's names, whichever document completes it.
    private func place(of place: Surroundings) -> Surroundings {
        guard let inside = place.inside, let live, !live.isContent else { return place }
        return Surroundings(enclosing: inside)
    }

    /// The existing node that the node at `treePath` completes.
    private var live: ExistingNode? { treePath.flatMap { context.existing?($0) } }

    /// The existing node that this one continues. A node with another kind or component begins anew, and so do all
    /// nodes below it.
    private func continued(by node: NodeDefinition) -> ExistingNode? {
        guard let live, live.kind == node.kind, node.component == nil || node.component == live.component else {
            return nil
        }
        return live
    }

    /// The names that the children of an existing component's root can use.
    func surroundings(below live: ExistingNode, in outer: LexicalScope?, adding own: [ScopeEntry] = []) -> Surroundings
    {
        let names = Set(own.map(\.name))
        let entries =
            own + live.attributes.filter { !names.contains($0.name) }.map { ScopeEntry(name: $0.name, type: $0.type) }
        // Earlier versions looked up names in both.
        if context.isKept { return Surroundings(enclosing: LexicalScope(entries, in: outer, base: baseScope)) }
        var place = Surroundings(enclosing: outer)
        place.inside = LexicalScope(entries, in: nil, base: baseScope)
        return place
    }

    /// The entries of a node by key; nil after adding a fault if it is not a map.
    func fields(_ node: DocumentNode) -> NodeFields? {
        work += SceneCost.node
        guard node.map != nil else {
            let hint = node.string.map { components[$0] != nil ? "write {component: \($0)}" : "write {id: \($0)}" }
            fault("a node is a map, not \(node.summary)", at: node, hint: hint)
            return nil
        }
        let fields = NodeFields(node) { entry in
            at(entry.name) { unknownKey(entry.key, of: "a node", allowed: NodeKey.names) }
        }
        let members: [NodeKey] = [
            .state, .binding, .let, .computed, .inherit, .clock, .actions, .environment, .containerValues, .preferences,
        ]
        let count = members.reduce(0) { $0 + (fields[$1]?.count ?? 0) }
        guard count <= SceneLimits.attributes else {
            fault(
                .limit, "a node has at most \(SceneLimits.attributes) attributes and values for others, not \(count)",
                at: node, hint: "make several nodes")
            return nil
        }
        return fields
    }

    /// The written id, or one made from the kind or component and the position among the siblings: `playButton1`.
    private func id(of fields: NodeFields, position: Int, prefix: String?) -> String {
        guard let written = fields[.id] else {
            if let prefix { return "\(prefix)\(position)" }
            guard let component = fields[.component]?.string else { return "\(inferredKind(fields))\(position)" }
            return component.prefix(1).lowercased() + component.dropFirst() + String(position)
        }
        return self.id(written)
    }

    func id(_ written: DocumentNode) -> String {
        at("id") {
            guard case .scalar(let value) = written.content, value != .null else {
                fault("an id is a text, not \(written.summary)", at: written)
                return written.text
            }
            if let problem = NodeIdentifier.problem(of: written.text) { fault("an id \(problem)", at: written) }
            return written.text
        }
    }

    // MARK: Kind

    private func inferredKind(_ fields: NodeFields) -> NodeKind {
        if let written = fields[.kind]?.string, let kind = NodeKind.written.first(where: { $0.rawValue == written }) {
            return kind
        }
        if fields[.forEach] != nil { return .forEach }
        if fields[.header] != nil || fields[.content] != nil || fields[.footer] != nil { return .section }
        if let live, live.kind != .view || fields[.children] == nil { return live.kind }
        return fields[.children] != nil ? .container : .view
    }

    /// The node's kind. Adds faults for children that it cannot have.
    func kind(_ fields: NodeFields) -> NodeKind {
        if let written = fields[.kind] {
            at("kind") {
                let kinds = NodeKind.written.map(\.rawValue)
                guard let text = written.string, kinds.contains(text) else {
                    return fault(
                        "\(written.summary) is not a kind of node", at: written,
                        hint: NearestName.hint(written.text, among: kinds)
                            ?? "the kinds are \(kinds.joined(separator: ", "))")
                }
            }
        }
        let kind = inferredKind(fields)
        func refuse(_ keys: [NodeKey], _ reason: String, hint: String? = nil) {
            for key in keys {
                guard let node = fields[key] else { continue }
                at(key.name) { fault(reason, at: node, hint: hint) }
            }
        }
        if fields[.component] == nil {
            refuse([.slots], "slots are given to a component", hint: "write component: Name beside slots")
        }
        switch kind {
        case .view:
            refuse(
                [.children, .header, .content, .footer, .forEach], "a view has no children",
                hint: "write kind: container, or group")
        case .container, .group:
            refuse(
                [.header, .content, .footer], "only a section has header, content and footer",
                hint: "write kind: section, or children")
            refuse([.forEach], "forEach makes a node of its own kind", hint: "leave out kind")
        case .section:
            refuse([.forEach], "a section's content may hold a forEach; it is none itself")
            if fields[.content] != nil {
                refuse([.children], "a section has content or children, which mean the same, but not both")
            }
        case .forEach:
            refuse(
                [.children, .header, .content, .footer], "the children of a forEach are made from its data",
                hint: "write the child as forEach: {in: …, node: …}")
            if fields[.forEach] == nil, live?.kind != .forEach {
                fault("a forEach needs data", at: fields.node, hint: "write forEach: {in: $items, component: Name}")
            }
        case .choice, .branch: preconditionFailure("no node is written as one")
        }
        return kind
    }

    // MARK: Node

    func node(_ fields: NodeFields, id: String, _ place: Surroundings) -> NodeDefinition? {
        nodeDepth += 1
        defer { nodeDepth -= 1 }
        if fields[.component] != nil { return use(fields, id: id, place) }
        let node = NodeDefinition()
        node.id = id
        node.isContent = place.isContent
        node.layer = place.layer
        node.position = fields.node.position
        node.kind = kind(fields)
        node.hasWrittenKind = fields[.kind] != nil
        complete(node, fields, place)
        return node
    }

    /// Reads the parts of a node after its head, in the order of their dependencies. Its children are read later: see
    /// `children`.
    func complete(_ node: NodeDefinition, _ fields: NodeFields, _ place: Surroundings) {
        var list = AttributeList()
        attributes(fields, place, into: &list)
        node.attributes = list.attributes
        var own = ownEntries(node.attributes, place)
        if node.kind == .forEach {
            // The ids of the instances. Every forEach has this attribute.
            if list.attribute(named: "elements") != nil {
                fault(.conflict, "a forEach has 'elements' already", at: fields.node)
            }
            own.append(ScopeEntry(name: "elements", type: .list(.dyn), access: .readOnly("made from the data")))
        }
        let continued = continued(by: node)
        if let live = continued {
            for (name, type) in live.attributes where list.attribute(named: name) == nil {
                own.append(ScopeEntry(name: name, type: type))
            }
        }
        if let written = fields[.computed] {
            at("computed") {
                computed(written, own: own, base: node.kind == .container ? containerScope : baseScope, into: &list)
            }
            own += list.attributes.dropFirst(node.attributes.count).map { ScopeEntry($0) }
            // The name of a faulty rule is added too, so that references to it are not reported.
            for entry in written.map ?? [] where list.attribute(named: entry.name) == nil {
                own.append(ScopeEntry(name: entry.name, type: .dyn, access: .readOnly("computed")))
            }
            node.attributes = list.attributes
        }
        let before = list.attributes.count
        actions(fields, node.kind, own: own, place, into: &list)
        own += list.attributes.dropFirst(before).map { ScopeEntry($0) }
        node.attributes = list.attributes
        let scope = own.isEmpty ? place.enclosing : LexicalScope(own, in: place.enclosing, base: baseScope)
        modifiers(
            fields, of: node,
            ModifierScope(lexical: scope ?? place.scope(base: baseScope), isContainer: node.kind == .container))
        if let written = fields[.forEach], node.kind == .forEach {
            at("forEach") { node.forEach = forEach(written, place, scope) }
        }
        let finish = { [unowned self] in measure(node, at: fields.node) }
        if let live = continued, live.component != nil {
            children(fields, of: node, surroundings(below: live, in: place.enclosing, adding: own), finish)
        } else {
            children(fields, of: node, Surroundings(enclosing: scope), finish)
        }
    }

    /// The names of the node that its own rules can use: its attributes, and its element if it is the template of a
    /// forEach.
    func ownEntries(_ attributes: [AttributeDefinition], _ place: Surroundings) -> [ScopeEntry] {
        let own = attributes.map { ScopeEntry($0) }
        return own + place.elements.filter { element in !own.contains { $0.name.hasSameBytes(as: element.name) } }
    }

    func attributes(_ fields: NodeFields, _ place: Surroundings, into list: inout AttributeList) {
        var started: [DocumentEntry] = []
        if let written = fields[.state] {
            at("state") { started = states(entries(written, "state", hint: "write name: value"), into: &list) }
        }
        if let written = fields[.binding] { at("binding") { bindings(written, place, into: &list) } }
        if let written = fields[.let] { at("let") { constants(written, place, into: &list) } }
        if let written = fields[.inherit] { at("inherit") { inherit(written, into: &list) } }
        if let written = fields[.clock] {
            at("clock") {
                for entry in entries(written, "clock", hint: "write now: every 1s") {
                    at(entry.name) { clock(entry, into: &list) }
                }
            }
        }
        guard !started.isEmpty else { return }
        let late = started.map(\.name) + (fields[.computed]?.map ?? []).map(\.name)
        let names = ownEntries(list.attributes, place) + late.map { ScopeEntry(name: $0, type: .dyn) }
        let scope = LexicalScope(names, in: place.enclosing, base: baseScope)
        at("state") {
            for entry in started {
                at(entry.name) { startedState(entry, in: scope, late: Set(late), into: &list) }
            }
        }
    }

    private func bindings(_ written: DocumentNode, _ place: Surroundings, into list: inout AttributeList) {
        if written.list != nil {
            for name in parameterNames(written, "binding", place) {
                enter(name, .binding(nil, animation: nil), .dyn, into: &list)
            }
            return
        }
        for entry in entries(written, "binding", hint: "write name: $target") {
            at(entry.name) {
                let made = binding(entry.value, place) ?? WrittenBinding(target: .constant(.null), type: .dyn)
                enter(entry.key, .binding(made.target, animation: made.animation), made.type, into: &list)
            }
        }
    }

    private func constants(_ written: DocumentNode, _ place: Surroundings, into list: inout AttributeList) {
        if written.list != nil {
            for name in parameterNames(written, "let", place) { enter(name, .constant(nil), .dyn, into: &list) }
            return
        }
        for entry in entries(written, "let", hint: "write name: value") {
            at(entry.name) {
                let (expression, type) = constant(entry.value, place) ?? (.literal(.null), .dyn)
                enter(entry.key, .constant(expression), type, into: &list)
            }
        }
    }

    // MARK: Children

    /// Opens a node, whose children are read next.
    /// - Parameter finish: called when they and everything below them have been read.
    func children(_ fields: NodeFields, of node: NodeDefinition, _ place: Surroundings, _ finish: @escaping () -> Void)
    {
        var opened = OpenNode(
            node: node, place: place, path: path, treePath: continued(by: node) == nil ? nil : treePath,
            depth: nodeDepth, lists: [],
            finish: finish)
        for inherited in node.header + node.children + node.footer { opened.ids.add(inherited) }
        func enter(_ key: NodeKey, _ offset: Int, prefix: String? = nil) {
            guard let written = fields[key] else { return }
            at(key.name) {
                if written.map != nil {
                    return fault(
                        "\(key.name) is a list of nodes, not a map", at: written, hint: "write each node behind a '-'")
                }
                let nodes = elements(written, key.name, hint: "write each node behind a '-'")
                if !nodes.isEmpty {
                    opened.lists.append(OpenNode.List(key: key, nodes: nodes, offset: offset, prefix: prefix))
                }
            }
        }
        if node.kind == .section {
            enter(.header, SiblingNumbers.count(node.header), prefix: "header")
            enter(fields[.content] != nil ? .content : .children, SiblingNumbers.count(node.children))
            enter(.footer, SiblingNumbers.count(node.footer), prefix: "footer")
        } else if node.kind != .forEach, fields[.children] != nil {
            enter(.children, SiblingNumbers.count(node.children))
        }
        let slots = node.slots
        let given = (fields[.slots]?.map ?? []).sorted {
            slots.firstIndex(of: $0.name) ?? slots.count < slots.firstIndex(of: $1.name) ?? slots.count
        }
        for entry in given {
            let nodes = at("slots") {
                at(entry.name) { elements(entry.value, entry.name, hint: "write each node behind a '-'") }
            }
            opened.lists.append(
                OpenNode.List(key: .slots, nodes: nodes, offset: 0, prefix: entry.name, slot: entry.name))
        }
        if opened.lists.isEmpty { finish() } else { open.append(opened) }
    }

    // MARK: Size

    /// Counts the nodes of one instance. A component counts at each use, so a few lines can make many nodes.
    func measure(_ node: NodeDefinition, at written: DocumentNode) {
        var count = 1
        var levels = 0
        if node.repeated == nil {
            for child in node.header + node.children + node.footer {
                count = min(count + child.nodeCount, SceneLimits.nodes + 1)
                levels = max(levels, child.levels)
            }
        }
        node.nodeCount = count
        node.levels = levels + 1
        if count > SceneLimits.nodes { tellSize("more than \(SceneLimits.nodes) nodes", at: written) }
        if node.levels > SceneLimits.depth { tellSize("more than \(SceneLimits.depth) levels of nodes", at: written) }
    }

    func checkSize(_ nodes: [NodeDefinition], at written: DocumentNode) {
        var count = 0
        for node in nodes { count = min(count + node.nodeCount, SceneLimits.nodes + 1) }
        if count > SceneLimits.nodes { tellSize("more than \(SceneLimits.nodes) nodes", at: written) }
    }

    private func tellSize(_ what: String, at written: DocumentNode) {
        guard !toldOfNodeLimit else { return }
        toldOfNodeLimit = true
        fault(.limit, "the scene makes \(what)", at: written, hint: "components count wherever they are used")
    }
}
