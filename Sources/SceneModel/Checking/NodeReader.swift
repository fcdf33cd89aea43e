import AttributeValues

/// Reads a node without its children, which are read next. Its extensions read what a node is, the use of a component,
/// `forEach` and choices.
struct NodeReader {
    let parts: PartReader
    let components: ComponentTable
    let open: OpenNodes
    let tree: TreePosition
    let size: SceneSize
    let former: FormerPlaces
    var cursor: CheckCursor { parts.cursor }
    var expressions: ExpressionReader { parts.expressions }

    /// Reads a child of the innermost open node that `readCopy` does not make.
    func read(_ child: OpenNodes.Child) {
        guard let fields = readFields(child.node) else { return }
        let id = readID(of: fields, child)
        open.take(id, of: child, isWritten: fields[.id] != nil)
        tree.ids?.append(id)
        let (isNew, faultsBefore, openBefore) = (tree.live == nil, cursor.faults.countWithWarnings, open.count)
        guard let node = node(fields, id: id, tree.resolve(open.surroundings)) else { return }
        former.read(fields[.was], of: node)
        open.add(node, for: child)
        if isNew, fields[.id] != nil, fields[.was] == nil, node.forEach == nil, !node.isRepeated,
            open.count == openBefore,
            cursor.faults.countWithWarnings == faultsBefore
        {
            open.addModel(node, for: child)
        }
    }

    /// Makes a copy of a sibling's definition, if the child is new and says the same as the sibling.
    /// - Returns: false if it does not.
    func readCopy(_ child: OpenNodes.Child) -> Bool {
        guard let model = open.model(of: child), let written = child.node["id"] else { return false }
        let id = readID(written)
        tree.ids?.append(id)
        guard tree.live == nil else {
            tree.ids?.removeLast()
            return false
        }
        cursor.work += SceneCost.node
        open.take(id, of: child, isWritten: true)
        open.add(NodeDefinition(like: model, id: id), for: child)
        return true
    }

    func readRoot(of component: ComponentTable.Component) {
        let (definition, position) = (component.definition, component.entry.key.position)
        definition.component = component.entry.name
        definition.position = position
        let body = component.entry.value
        guard let fields = readFields(body.isNull ? DocumentNode(.map([]), at: position) : body) else { return }
        definition.author = cursor.authors.standard
        if let id = fields[.id] { cursor.fault(under: "id", "a component has no id: each use gives its own", at: id) }
        if let was = fields[.was] { refuseFormer(was, "a component") }
        let surroundings = Surroundings(enclosing: tree.root, isComponentRoot: true)
        if fields[.component] != nil { return readVariant(definition, fields, surroundings) }
        complete(definition, fields, surroundings)
    }

    private func node(_ fields: NodeFields, id: Name, _ surroundings: Surroundings) -> NodeDefinition? {
        tree.depth += 1
        defer { tree.depth -= 1 }
        if fields[.component] != nil { return readUse(fields, id: id, surroundings) }
        let node = NodeDefinition()
        node.id = id
        node.isContent = surroundings.isContent
        node.layer = surroundings.layer
        complete(node, fields, surroundings)
        return node
    }

    /// Reads the parts of a node, in the order of their dependencies.
    private func complete(_ node: NodeDefinition, _ fields: NodeFields, _ surroundings: Surroundings) {
        node.kind = readKind(fields)
        node.hasWrittenKind = fields[.kind] != nil
        let isContainer = node.kind == .container
        let list = AttributeList(cursor)
        cursor.withHint(forOther: fields.hintForOwn) { parts.readAttributes(fields, surroundings, into: list) }
        var own = surroundings.ownNames(of: list.attributes)
        if node.kind == .forEach {
            // The ids of the instances. Every forEach has this attribute.
            if list.attribute(named: "elements") != nil {
                cursor.fault(
                    .conflict, "every forEach has an attribute 'elements' already; use another name", at: fields.node)
            }
            own.append(ScopeEntry(name: "elements", type: .list(.dyn), access: .readOnly("made from the data")))
        }
        let continued = tree.continued(by: node)
        // A row of the store has modifiers of a component's use too, to which the component's own names mean nothing.
        let isOfUse = cursor.isKept && continued?.component != nil
        let (continuedNames, firstContinued) = (continued?.attributes ?? [], own.count)
        for (name, type) in continuedNames where list.attribute(named: name) == nil {
            own.append(ScopeEntry(name: name, type: type, outside: continued?.rootName(of: name)))
        }
        let lastContinued = own.count
        if let written = fields[.computed] {
            let before = list.attributes.count
            cursor.withHint(forOther: surroundings.enclosing.hintForComputed) {
                cursor.at("computed") { parts.computed.read(written, own: own, isContainer: isContainer, into: list) }
            }
            own += list.attributes.dropFirst(before).map { ScopeEntry($0) }
            // The name of a faulty rule is added too, so that references to it are not reported.
            for entry in written.map ?? [] where list.attribute(named: entry.name) == nil {
                own.append(ScopeEntry(name: entry.name, type: .dyn, access: .readOnly("computed")))
            }
        }
        func scope() -> ExpressionScope {
            ExpressionScope(
                lexical: own.isEmpty ? surroundings.enclosing : LexicalScope(own, in: surroundings.enclosing),
                isContainer: isContainer)
        }
        let before = list.attributes.count
        parts.readActions(fields, in: scope(), into: list)
        own += list.attributes.dropFirst(before).map { ScopeEntry($0) }
        node.attributes = list.attributes
        if isOfUse { for position in firstContinued..<lastContinued { own[position].type = .dyn } }
        let full = scope()
        parts.readModifiers(fields, of: node, full)
        if let written = fields[.forEach], node.kind == .forEach {
            cursor.at("forEach") {
                node.forEach = forEach(written, fields, in: full.lexical, dataIn: surroundings.enclosing)
            }
        }
        var inside = Surroundings(enclosing: full.lexical)
        if let continued, continued.component != nil {
            inside = tree.childSurroundings(below: continued, in: surroundings.enclosing, adding: own)
        }
        open.push(fields, of: node, inside) { [size] in size.measure(node, at: fields.node) }
    }

    /// Adds a fault for a node without an id of its own.
    private func refuseFormer(_ written: DocumentNode, _ what: String) {
        cursor.fault(
            under: "was", "\(what) has no id, so it was nothing else", at: written,
            hint: "write was at the nodes in it, at the uses of a component, or at the forEach itself")
    }

    // MARK: forEach

    /// - Parameter scope: the scope of the forEach's own node, which its instances can use.
    private func forEach(
        _ written: DocumentNode, _ own: NodeFields, in scope: LexicalScope, dataIn outer: LexicalScope
    ) -> ForEachDefinition? {
        guard let head = cursor.withHint(forOther: own.hintForOwn, { readForEach(written, in: outer) }) else {
            return nil
        }
        let (ids, authors) = (tree.ids, cursor.authors)
        let author = authors.author(of: PartName.forEach)
        (tree.ids, cursor.authors) = (nil, PartAuthors(author))
        defer { (tree.ids, cursor.authors) = (ids, authors) }
        let inner = LexicalScope(head.elements, in: scope)
        return template(written, Surroundings(enclosing: inner, elements: head.elements)).flatMap {
            head.complete(with: $0, by: author)
        }
    }

    private func template(_ written: DocumentNode, _ surroundings: Surroundings) -> NodeDefinition? {
        if let node = written["node"] {
            for key in NodeReader.templateKeys {
                guard let other = written[key.name] else { continue }
                cursor.fault(under: key.name, "forEach has node already: \(key.name) belongs inside it", at: other)
            }
            return cursor.at("node") {
                guard let fields = readFields(node) else { return nil }
                if let id = fields[.id] {
                    cursor.fault(
                        under: "id", "the node of a forEach has no id; each instance gets its id from its element",
                        at: id, hint: "write id: next to in: to name the field of the element")
                }
                if let was = fields[.was] { refuseFormer(was, "the node of a forEach") }
                return self.node(fields, id: "", surroundings)
            }
        }
        guard written["component"] != nil else {
            return cursor.refuse(
                "forEach needs the node that it makes for each element", at: written,
                hint: "write component: Name, or node: {…}")
        }
        // Here `id` names the field of the element. Faults for unknown keys have been added already.
        let fields = NodeFields(written) { _ in }.without(
            NodeKey.allCases.filter { !NodeReader.templateKeys.contains($0) })
        return node(fields, id: "", surroundings)
    }
}

extension NodeFields {
    /// For `let`, `binding` and the data of a list, which cannot use the node's own names.
    fileprivate func hintForOwn(_ name: String) -> String? {
        let parts: [NodeKey] = [.state, .binding, .let, .computed, .inherit, .clock]
        guard parts.contains(where: { self[$0]?[name] != nil }) else { return nil }
        return "'\(name)' is the node's own, and this reads the nodes around it: write the rule under computed, "
            + "or move \(name) to the node around"
    }
}

extension LexicalScope {
    /// For `computed`, which cannot use the names of the nodes around.
    fileprivate func hintForComputed(_ name: String) -> String? {
        guard find(name) != nil else { return nil }
        return "computed reads the node's own attributes: give the node let: { \(name): $\(name) } too"
    }
}
