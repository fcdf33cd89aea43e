import AttributeValues

// Reads `if` and `switch` among the children of a node: one of several lists of nodes, chosen by a rule. Also reads
// `place` and `slot`: nodes that a component is given.
extension NodeReader {
    private static func keys(of choice: ForEachDefinition.Choice) -> [String] {
        switch choice {
        case .if: SceneForm.ifChoice.keys
        case .switch: SceneForm.switchChoice.keys
        case .place: SceneForm.place.keys
        case .slot: SceneForm.slot.keys
        }
    }

    /// Reads a choice. Its branches are read next.
    func readChoice(_ choice: ForEachDefinition.Choice, _ child: OpenNodes.Child) {
        let node = child.node
        cursor.work += SceneCost.node
        cursor.authors.others = [:]
        let entries = (node.map ?? []).filter { !cursor.takeAuthors($0) }
        cursor.checkKeys(entries, of: choice.rawValue, allowed: NodeReader.keys(of: choice))
        let definition = NodeDefinition()
        definition.kind = .choice
        definition.id = node["id"].map { readID($0) } ?? Name("\(choice)\(child.number)")
        definition.isContent = open.surroundings.isContent
        definition.layer = open.surroundings.layer
        open.take(definition.id, of: child, isWritten: node["id"] != nil)
        let scope = open.surroundings.enclosing
        let condition = choice.isPlacement ? placing(node, choice, scope) : condition(of: node, choice, scope)
        let branches = branches(of: node, choice)
        definition.forEach = ForEachDefinition(choice, condition ?? .literal(.null), branches: branches.map(\.node))
        definition.forEach?.author = cursor.authors.standard
        former.read(node["was"], of: definition)
        open.add(definition, for: child)
        open.push(branches, of: child) { [size] branch in size.measure(branch, at: node) }
    }

    private func condition(
        of node: DocumentNode, _ choice: ForEachDefinition.Choice, _ scope: LexicalScope
    ) -> Expression? {
        guard let written = node[choice.rawValue] else { return nil }
        return cursor.at(choice.rawValue) {
            let made: ExpressionReader.Typed?
            switch written.form {
            case .reference: made = expressions.expression(written, in: scope)
            case .literal(let value) where value.string == nil: made = (.literal(value), ValueType(of: value))
            case .literal, .rule: made = expressions.readRule(written, in: expressions.dataScope(scope))
            }
            guard let (expression, type) = made else { return nil }
            components.noteSubviews(in: expression)
            var wanted = type
            if case .nullable(let wrapped) = wanted { wanted = wrapped }
            let isFitting: Bool =
                switch (choice, wanted) {
                case (_, .dyn), (.if, .bool), (.place, .string), (.place, .list), (.place, .map): true
                case (.switch, .string), (.switch, .bool), (.switch, .int), (.switch, .uint), (.switch, .double): true
                default: false
                }
            guard isFitting else {
                let needed =
                    switch choice {
                    case .if: "a bool"
                    case .switch: "a text, a number or a bool"
                    case .place, .slot: "a subview or a list of subviews"
                    }
                return cursor.refuse(
                    .typeMismatch, "\(choice.rawValue) needs \(needed), but this is \(type.withArticle)", at: written,
                    hint: choice == .if ? "compare it with something, as in n > 0" : nil)
            }
            return expression
        }
    }

    /// The data of a `place` or a `slot`. The component whose body contains it notes that.
    private func placing(
        _ node: DocumentNode, _ choice: ForEachDefinition.Choice, _ scope: LexicalScope
    ) -> Expression? {
        guard let written = node[choice.rawValue] else { return nil }
        let component = components.current
        guard component != nil || cursor.isKept else {
            return cursor.refuse(
                under: choice.rawValue,
                "\(choice.rawValue) shows nodes that a component is given, so it must be inside a component",
                at: written, hint: "declare a component under components, and write it in the component's body")
        }
        guard choice == .slot else {
            component?.placing.hasPlaces = true
            if let base = component?.components.last(where: { $0.placing.hasPlaces }) {
                cursor.fault(
                    under: "place", "\(base.component ?? "the component") places its subviews itself", at: written,
                    hint: "to pass nodes on from a component that is made from it, write slot: content")
            }
            return condition(of: node, choice, scope)
        }
        return cursor.at("slot") {
            guard cursor.checkName(written, "a slot") else { return nil }
            if component?.placing.slots.contains(written.text) == false {
                component?.placing.slots.append(written.text)
            }
            return .literal(.string(written.text))
        }
    }

    /// Warns of a case that no value may ever have: cases are bare texts.
    private func warnOfSign(_ key: DocumentNode) {
        let text = key.text
        let bare = text.hasPrefix("=") || text.hasPrefix("$") ? String(text.dropFirst()) : text
        let isQuoted = bare.count > 2 && ["\"", "'"].contains { bare.hasPrefix($0) && bare.hasSuffix($0) }
        let scope = ExpressionScope(lexical: open.surroundings.enclosing)
        guard !cursor.isKept, isQuoted || expressions.isSign(text, in: scope) else { return }
        cursor.at(["cases", text]) {
            cursor.warn(
                "'\(text)' is a text here: a case is a literal, with which the value is compared", at: key,
                isQuoted ? "write \(bare.dropFirst().dropLast())" : "write the text of the value, or use if with a rule"
            )
        }
    }

    private func branches(of node: DocumentNode, _ choice: ForEachDefinition.Choice) -> [OpenNodes.Branch] {
        var found: [OpenNodes.Branch] = []
        func add(_ name: String, _ steps: [String], _ written: DocumentNode?, _ what: String) {
            guard let written else { return }
            let definition = NodeDefinition()
            definition.id = Name(name)
            definition.kind = .branch
            let nodes = cursor.at(steps) { cursor.readNodes(written, what) }
            found.append(OpenNodes.Branch(node: definition, steps: steps.map { .key($0) }, nodes: nodes))
        }
        switch choice {
        case .if:
            if node["then"] == nil {
                cursor.fault(
                    "if needs the nodes that exist while its condition is true", at: node,
                    hint: "write then: and a list of nodes")
            }
            add(Branch.then, ["then"], node["then"], "then")
            add(Branch.else, ["else"], node["else"], "else")
        case .switch:
            guard let cases = node["cases"] else {
                cursor.fault(
                    "switch needs its cases", at: node, hint: "write cases: and below it a list of nodes for each")
                break
            }
            let entries = cursor.at("cases") {
                cursor.readEntries(cases, "cases", hint: "write value: and a list of nodes")
            }
            for entry in entries { warnOfSign(entry.key) }
            for entry in entries { add(Branch.case(entry.name), ["cases", entry.name], entry.value, "a case") }
            add(Branch.default, ["default"], node["default"], "default")
        case .place: break
        case .slot: add(Branch.default, ["default"], node["default"], "default")
        }
        return found
    }
}
