import AttributeValues

// Reads what a node is: its keys, its id and its kind.
extension NodeReader {
    /// The entries of a node by key; nil after adding a fault if it is not a map.
    func readFields(_ node: DocumentNode) -> NodeFields? {
        cursor.work += SceneCost.node
        guard node.map != nil else {
            let hint = node.string.map { components[$0] != nil ? "write {component: \($0)}" : "write {id: \($0)}" }
            return cursor.refuse("a node is a map, not \(node.summary)", at: node, hint: hint)
        }
        cursor.authors.others = [:]
        let fields = NodeFields(node) { entry in
            if cursor.takeAuthors(entry) { return }
            cursor.at(entry.name) { cursor.refuseKey(entry.key, of: "a node", allowed: NodeKey.names) }
        }
        let members: [NodeKey] = [
            .state, .binding, .let, .computed, .inherit, .clock, .actions, .environment, .containerValues, .preferences,
        ]
        let count = members.reduce(0) { $0 + (fields[$1]?.count ?? 0) }
        guard count <= SceneLimits.attributes else {
            return cursor.refuse(
                .limit, "a node has at most \(SceneLimits.attributes) attributes and values for others, not \(count)",
                at: node, hint: "make several nodes")
        }
        return fields
    }

    /// The written id, or one made from the kind or component and the position among the siblings: `playButton1`.
    func readID(of fields: NodeFields, _ child: OpenNodes.Child) -> Name {
        guard let written = fields[.id] else {
            if let prefix = child.prefix { return Name("\(prefix)\(child.number)") }
            guard let component = fields[.component]?.string else {
                return Name("\(inferredKind(fields))\(child.number)")
            }
            return Name(component.prefix(1).lowercased() + component.dropFirst() + String(child.number))
        }
        return readID(written)
    }

    func readID(_ written: DocumentNode) -> Name {
        if case .scalar = written.content, !written.isNull {
            if let problem = NodeIdentifier.refusal(of: written.text) {
                cursor.fault(under: "id", "an id \(problem)", at: written)
            }
            if !cursor.isKept, let text = written.string,
                expressions.isSign(text, in: ExpressionScope(lexical: open.surroundings.enclosing))
            {
                cursor.at("id") {
                    cursor.warn(
                        "the id '\(text)' is a text, neither a rule nor a reference", at: written,
                        "write a text; the ids of nodes that follow data come from forEach")
                }
            }
        } else {
            cursor.fault(under: "id", "an id is a text, not \(written.summary)", at: written)
        }
        return Name(written.text)
    }

    // MARK: Kind

    private func inferredKind(_ fields: NodeFields) -> NodeKind {
        if let written = fields[.kind]?.string, let kind = NodeKind.written.first(where: { $0.rawValue == written }) {
            return kind
        }
        if fields[.forEach] != nil { return .forEach }
        if fields[.header] != nil || fields[.content] != nil || fields[.footer] != nil { return .section }
        if let live = tree.live, live.kind != .view || fields[.children] == nil { return live.kind }
        return fields[.children] != nil ? .container : .view
    }

    /// The node's kind. Adds faults for children that it cannot have.
    func readKind(_ fields: NodeFields) -> NodeKind {
        fields.visit(.kind, cursor) { written in
            let kinds = NodeKind.written.map(\.rawValue)
            guard let text = written.string, kinds.contains(text) else {
                return cursor.fault(
                    "\(written.summary) is not a kind of node", at: written,
                    hint: NearestName.hint(written.text, among: kinds)
                        ?? "the kinds are \(kinds.joined(separator: ", "))")
            }
        }
        let kind = inferredKind(fields)
        func refuse(_ keys: [NodeKey], _ reason: String, hint: String? = nil) {
            for key in keys {
                guard let node = fields[key] else { continue }
                cursor.fault(under: key.name, reason, at: node, hint: hint)
            }
        }
        if fields[.component] == nil {
            refuse([.slots], "only the use of a component has slots", hint: "add component: Name")
        }
        switch kind {
        case .view:
            refuse(
                [.children, .header, .content, .footer, .forEach], "a view has no children",
                hint: "write kind: container, or group")
        case .container, .group:
            refuse(
                [.header, .content, .footer], "only a section has header, content and footer",
                hint: "write kind: section, or use children")
            refuse([.forEach], "forEach makes a node of its own kind", hint: "leave out kind")
        case .section:
            refuse([.forEach], "a section cannot be a forEach", hint: "write the forEach as a node in its content")
            if fields[.content] != nil {
                refuse([.children], "content and children of a section mean the same; write one of them")
            }
        case .forEach:
            refuse(
                [.children, .header, .content, .footer], "the children of a forEach are made from its data",
                hint: "write the child as forEach: {in: …, node: …}")
            if fields[.forEach] == nil, tree.live?.kind != .forEach {
                cursor.fault(
                    "a forEach needs data", at: fields.node, hint: "write forEach: {in: $items, component: Name}")
            }
        case .choice, .branch: preconditionFailure("no node is written as one")
        }
        return kind
    }
}
