import AttributeValues
import RuleLanguage

// `if` and `switch` among the children of a node: one of several lists of nodes, chosen by a rule. `place` and `slot`:
// nodes that a component is given.

extension SceneChecker {
    private static let choices: [ForEachDefinition.Choice] = [.if, .switch, .place, .slot]

    /// The kind of choice that a node in a list of children is; nil for any other node.
    static func choice(_ node: DocumentNode) -> ForEachDefinition.Choice? {
        guard node.map != nil else { return nil }
        return choices.first { node[$0.rawValue] != nil }
    }

    private static func keys(of choice: ForEachDefinition.Choice) -> [String] {
        switch choice {
        case .if: ["id", "if", "then", "else"]
        case .switch: ["id", "switch", "cases", "default"]
        case .place: ["id", "place"]
        case .slot: ["id", "slot", "default"]
        }
    }

    /// The lists of nodes in a choice, in the order in which they are written.
    static func branches(of node: DocumentNode) -> [DocumentNode] {
        (node.map ?? []).flatMap { entry -> [DocumentNode] in
            switch entry.name {
            case "then", "else", "default": [entry.value]
            case "cases": (entry.value.map ?? []).map(\.value)
            default: []
            }
        }
    }

    /// Reads a choice. Its branches are read next.
    /// - Parameter number: of siblings before it.
    func read(_ choice: ForEachDefinition.Choice, _ node: DocumentNode, _ number: Int, _ list: OpenNode.List) {
        work += SceneCost.node
        let innermost = open.count - 1
        let around = open[innermost].around ?? innermost
        checkKeys(node.map ?? [], of: choice.rawValue, allowed: SceneChecker.keys(of: choice))
        let definition = NodeDefinition()
        definition.kind = .choice
        definition.id = node["id"].map { self.id($0) } ?? "\(choice)\(number)"
        definition.position = node.position
        definition.isContent = open[innermost].place.isContent
        definition.layer = open[innermost].place.layer
        enter(definition.id, at: number, of: node, isWritten: node["id"] != nil)
        let outer = open[innermost].place
        let condition = choice.isPlacement ? placing(node, choice, outer) : condition(of: node, choice, outer)
        var next = number + 1
        let numbered = choices(in: node, choice)
        let identity = open[around].ids.newChoice()
        var opened: [OpenNode] = []
        for (position, (name, steps, nodes)) in numbered.enumerated() {
            let branch = NodeDefinition()
            branch.id = name
            branch.kind = .branch
            branch.position = node.position
            var inside = OpenNode(
                node: branch, place: Surroundings(enclosing: outer.enclosing), path: path + steps, treePath: nil,
                depth: nodeDepth + 2,
                lists: nodes.isEmpty
                    ? [] : [OpenNode.List(key: nil, nodes: nodes, offset: next, prefix: list.prefix)],
                finish: { [unowned self] in measure(branch, at: node) })
            inside.around = around
            inside.branches = open[innermost].branches + [SiblingIDs.Place(choice: identity, branch: position)]
            next += nodes.reduce(0) { $0 + SiblingNumbers.count($1) }
            opened.append(inside)
        }
        definition.forEach = ForEachDefinition(
            choice, condition ?? .literal(.null), branches: opened.map(\.node))
        open[innermost].made.append(definition)
        open += opened.reversed()
    }

    private func condition(
        of node: DocumentNode, _ choice: ForEachDefinition.Choice, _ place: Surroundings
    ) -> Expression? {
        guard let written = node[choice.rawValue] else { return nil }
        return at(choice.rawValue) {
            let made: (Expression, ValueType)?
            switch self.written(written) {
            case .reference: made = expression(written, in: place.scope(base: baseScope))
            case .literal(let value) where value.string == nil: made = (.literal(value), ValueType(of: value))
            case .literal, .rule: made = rule(written, in: dataRules(place)).map { (.rule($0), type(of: $0)) }
            }
            guard let (expression, type) = made else { return nil }
            noteSubviews(in: expression)
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
                fault(
                    .typeMismatch, "\(choice.rawValue) needs \(needed), but this is \(type.withArticle)", at: written,
                    hint: choice == .if ? "compare it with something, as in n > 0" : nil)
                return nil
            }
            return expression
        }
    }

    /// What rules over data can use: in the body of a component also the subviews and sections that it is given.
    func dataRules(_ place: Surroundings) -> RuleScope {
        let rules = place.scope(base: baseScope).rules
        guard !componentChain.isEmpty else { return rules }
        let inside = RuleScope(parent: rules)
        declareContainerNames(in: inside)
        return inside
    }

    /// A body with data made of what the component is given decides where that stands.
    func noteSubviews(in data: Expression) {
        guard case .rule(let program) = data, let component = componentChain.last.flatMap({ components[$0] }),
            program.inputs.contains(where: { $0.root == "subviews" || $0.root == "sections" })
        else { return }
        component.definition.placing.hasPlaces = true
    }

    /// What a `place` or a `slot` shows. The component whose body it stands in takes note of it.
    private func placing(
        _ node: DocumentNode, _ choice: ForEachDefinition.Choice, _ place: Surroundings
    ) -> Expression? {
        guard let written = node[choice.rawValue] else { return nil }
        guard let component = componentChain.last.flatMap({ components[$0]?.definition }) else {
            if context.isKept { return .literal(.null) }
            at(choice.rawValue) {
                fault(
                    "\(choice.rawValue) puts what a component is given into its body, and this is in no component",
                    at: written, hint: "declare a component whose body has it, under components")
            }
            return nil
        }
        guard choice == .slot else {
            component.placing.hasPlaces = true
            if let base = component.components.last(where: { $0.placing.hasPlaces }) {
                at("place") {
                    fault(
                        "\(base.component ?? "the component") places its subviews itself", at: written,
                        hint: "a component that is made from it passes on what it is given, with slot: content")
                }
            }
            return condition(of: node, choice, place)
        }
        return at("slot") {
            guard checkName(written, "a slot") else { return nil }
            if !component.placing.slots.contains(written.text) { component.placing.slots.append(written.text) }
            return .literal(.string(written.text))
        }
    }

    /// The branches with their places in the document.
    private func choices(
        in node: DocumentNode, _ choice: ForEachDefinition.Choice
    ) -> [(name: String, steps: [Step], nodes: [DocumentNode])] {
        func nodes(_ written: DocumentNode, _ name: String) -> [DocumentNode] {
            if written.map != nil {
                fault("\(name) is a list of nodes, not a map", at: written, hint: "write each node behind a '-'")
                return []
            }
            return elements(written, name, hint: "write each node behind a '-'")
        }
        var found: [(String, [Step], [DocumentNode])] = []
        func add(_ key: String, _ name: String) {
            guard let written = node[key] else { return }
            found.append((name, [.key(key)], at(key) { nodes(written, key) }))
        }
        switch choice {
        case .if:
            if node["then"] == nil {
                fault("if needs what is there when it is true", at: node, hint: "write then: and a list of nodes")
            }
            add("then", Branch.then)
            add("else", Branch.else)
        case .switch:
            guard let cases = node["cases"] else {
                fault("switch needs its cases", at: node, hint: "write cases: and below it a list of nodes for each")
                break
            }
            at("cases") {
                for entry in entries(cases, "cases", hint: "write value: and a list of nodes") {
                    let nodes = at(entry.name) { nodes(entry.value, "a case") }
                    found.append((Branch.case(entry.name), [.key("cases"), .key(entry.name)], nodes))
                }
            }
            add("default", Branch.default)
        case .place: break
        case .slot: add("default", Branch.default)
        }
        return found
    }
}
