import AttributeValues

// Reads the use of a component: the node is a copy of the body's root with arguments, modifiers and children.
extension NodeReader {
    /// Makes a node from a component: a copy of the body's root with the arguments, modifiers and children of the use.
    func readUse(_ fields: NodeFields, id: Name, _ surroundings: Surroundings) -> NodeDefinition? {
        guard let base = fields[.component].flatMap({ components.findBase($0, depth: tree.depth) }) else {
            // The parts of a faulty use are checked too.
            let stray = NodeDefinition()
            stray.kind = fields[.header] ?? fields[.content] ?? fields[.footer] != nil ? .section : .container
            open.push(fields, of: stray, Surroundings(enclosing: surroundings.enclosing)) {}
            return nil
        }
        for key in [NodeKey.state, .computed, .inherit, .clock, .actions, .forEach] {
            guard let written = fields[key] else { continue }
            cursor.fault(
                under: key.name, "a use of the component \(base.name) cannot have \(key.name)", at: written,
                hint: key == .forEach
                    ? "write forEach: {in: …, component: \(base.name)}"
                    : "write it in the component, or give the component a parameter", note: base.note)
        }
        if let written = fields[.kind], written.string != base.definition.kind.rawValue {
            cursor.fault(
                under: "kind", "\(base.name) is a \(base.definition.kind.rawValue); a use cannot change that",
                at: written, note: base.note)
        }
        let node = NodeDefinition()
        node.id = id
        node.component = base.name
        node.isContent = surroundings.isContent
        node.layer = surroundings.layer
        fill(node, from: base, fields, surroundings)
        return node
    }

    /// Reads the root of a component that is made from another component.
    func readVariant(_ definition: NodeDefinition, _ fields: NodeFields, _ surroundings: Surroundings) {
        guard let base = fields[.component].flatMap({ components.findBase($0, depth: tree.depth) }) else { return }
        fill(definition, from: base, fields, surroundings)
    }

    /// Fills in what a node has from its component and what the use gives it.
    private func fill(
        _ node: NodeDefinition, from base: ComponentTable.Base, _ fields: NodeFields, _ surroundings: Surroundings
    ) {
        let body = base.definition
        node.kind = body.kind
        node.hasWrittenKind = body.hasWrittenKind
        if fields[.children] != nil, body.kind == .view, !body.hasWrittenKind { node.kind = .container }
        let isContainer = node.kind == .container
        refuseSlots(fields, base)
        refuseChildren(fields, node.kind, base)
        let list = AttributeList(cursor, body.attributes)
        if surroundings.isComponentRoot {
            parts.readAttributes(fields.without([.binding, .let]), surroundings, into: list)
        }
        parts.readArguments(fields, of: base, surroundings, into: list)
        if surroundings.isComponentRoot, let written = fields[.computed] {
            cursor.at("computed") {
                let own = list.attributes.map { ScopeEntry($0) }
                parts.computed.read(written, own: own, isContainer: isContainer, into: list)
            }
        }
        // A variant extends its base, and can use all its names. A use can use the parameters alone.
        let isUse = !surroundings.isComponentRoot
        func scope() -> ExpressionScope {
            let names = surroundings.ownNames(of: isUse ? list.attributes.filter(\.isParameter) : list.attributes)
            return ExpressionScope(lexical: LexicalScope(names, in: surroundings.enclosing), isContainer: isContainer)
        }
        func hint(_ name: String) -> String? {
            guard isUse, body.attributes.contains(where: { $0.name.hasSameBytes(as: name) }) else { return nil }
            return "'\(name)' is \(base.name)'s own: a use can name the component's parameters, and what is around it"
        }
        cursor.withHint(forOther: hint) {
            let before = list.attributes.count
            parts.readActions(isUse ? fields.without([.actions]) : fields, in: scope(), into: list)
            if isUse {
                for attribute in list.attributes.dropFirst(before) {
                    if case .action(let action) = attribute.role { action.isAtUse = true }
                }
            }
        }
        node.attributes = list.attributes
        let full = scope()
        cursor.withHint(forOther: hint) { parts.readModifiers(fields, of: node, full) }
        if isUse { node.noteModifiersAtUse() }
        wrap(node, around: body)
        if base.isRepeated {
            node.repeated = body
        } else {
            node.body = body
            node.forEach = body.forEach
            node.header = body.header
            node.children = body.children
            node.footer = body.footer
        }
        var inside =
            surroundings.isComponentRoot
            ? Surroundings(enclosing: full.lexical) : Surroundings(enclosing: surroundings.enclosing, isContent: true)
        inside.layer = node.components.count
        content(fields, of: node, inside)
    }

    /// Children given at the use follow those of the body.
    private func content(_ fields: NodeFields, of node: NodeDefinition, _ surroundings: Surroundings) {
        guard node.repeated != nil else {
            return open.push(fields, of: node, surroundings) { [size] in size.measure(node, at: fields.node) }
        }
        // The body is not complete yet. Only the nodes given here belong to this node itself.
        let given = NodeDefinition()
        given.kind = node.kind
        open.push(fields, of: given, surroundings) { [size] in
            node.header = given.header
            node.children = given.children
            node.footer = given.footer
            size.measure(node, at: fields.node)
        }
    }

    private func refuseChildren(_ fields: NodeFields, _ kind: NodeKind, _ base: ComponentTable.Base) {
        let allowed: [NodeKey] =
            switch kind {
            case .container, .group: [.children]
            case .section: [.children, .header, .content, .footer]
            case .view, .forEach, .choice, .branch: []
            }
        for key in [NodeKey.children, .header, .content, .footer] where !allowed.contains(key) {
            guard let written = fields[key] else { continue }
            cursor.fault(
                under: key.name, "\(base.name) is a \(kind.rawValue) and takes no \(key.name)", at: written,
                note: base.note)
        }
    }

    /// Adds faults for nodes that are given and that no slot of the component shows.
    private func refuseSlots(_ fields: NodeFields, _ base: ComponentTable.Base) {
        let (name, body) = (base.name, base.definition)
        let placing = body.placing.isEmpty ? body.components.last { !$0.placing.isEmpty }?.placing : body.placing
        let slots = (placing?.slots ?? []).filter { $0 != NodeDefinition.contentSlot }
        let hint = slots.isEmpty ? "it has no slots" : "its slots are \(slots.joined(separator: ", "))"
        fields.visit(.slots, cursor) { written in
            for entry in cursor.readEntries(written, "slots", hint: "write name: and below it a list of nodes") {
                guard !slots.contains(entry.name) else { continue }
                let isChildren = entry.name == NodeDefinition.contentSlot
                cursor.fault(
                    under: entry.name, .notFound, "\(name) has no slot '\(entry.name)'", at: entry.key,
                    hint: isChildren ? "write children" : NearestName.hint(entry.name, among: slots) ?? hint,
                    note: base.note)
            }
        }
        if let written = fields[.children], let placing, !placing.isEmpty, !placing.hasPlaces,
            !placing.slots.contains(NodeDefinition.contentSlot)
        {
            cursor.fault(
                under: "children", "\(name) shows no children: \(hint)", at: written,
                hint: "write slots: { \(slots[0]): […] }", note: base.note)
        }
    }

    /// The use's modifiers are outside those of the body's root. Where the nearest modifier wins, the body's win.
    /// Preferences pass upwards, so there the outer one wins. The use appears and disappears as a whole, so its
    /// transition wins.
    private func wrap(_ node: NodeDefinition, around base: NodeDefinition) {
        node.transformEnvironment += base.transformEnvironment.map { transform in
            var transform = transform
            transform.place += node.environment.count
            return transform
        }
        node.environment += base.environment
        node.environmentObjects += base.environmentObjects
        node.containerValues += base.containerValues
        node.preferences = base.preferences + node.preferences
        node.animations += base.animations
        if let tag = base.tag { (node.tag, node.isTagAtUse) = (tag, false) }
        node.transition = node.transition ?? base.transition
        node.isLeftOutOfPast = node.isLeftOutOfPast || base.isLeftOutOfPast
    }
}
