import AttributeValues

// Reads `actions`, which clients call, and `onChange`, `onAppear` and `onDisappear`, which the daemon calls by itself.
extension PartReader {
    /// - Parameter scope: the names of the node's other attributes, and those around it.
    func readActions(_ fields: NodeFields, in scope: @autoclosure () -> ExpressionScope, into list: AttributeList) {
        let keys = [NodeKey.actions, .onAppear, .onChange, .onDisappear]
        guard keys.contains(where: { fields[$0] != nil }) else { return }
        var scope = scope()
        // Actions can call each other.
        let names = (fields[.actions]?.map ?? []).filter { list.attribute(named: $0.name) == nil }.map {
            ScopeEntry(name: $0.name, type: .dyn, access: .readOnly("an action"))
        }
        if !names.isEmpty { scope.lexical = LexicalScope(names, in: scope.lexical) }
        fields.visit(.actions, cursor) { written in
            cursor.visitEntries(written, "actions", hint: "write name: {set: {$state: value}}") { entry in
                list.enter(entry.key, .action(action(entry.value, in: scope)), .dyn)
            }
        }
        reactions(fields, scope, into: list)
    }

    /// Adds the actions of a node that the daemon calls by itself. Their names are those of their keys, with a number
    /// from the second one on.
    private func reactions(_ fields: NodeFields, _ scope: ExpressionScope, into list: AttributeList) {
        func add(_ key: NodeKey, _ word: String, _ trigger: ActionDefinition.Trigger) {
            guard let written = fields[key] else { return }
            cursor.at(key.name) {
                let document: Value = ["on": .string(word), "perform": written.value]
                list.add(action(written, trigger, document, in: scope.lexical), under: key.name, at: written.position)
            }
        }
        add(.onAppear, "appear", .appear)
        if let written = fields[.onChange] {
            cursor.at(NodeKey.onChange.name) {
                func add(_ one: DocumentNode) {
                    list.add(reaction(one, scope), under: NodeKey.onChange.name, at: one.position)
                }
                guard let several = written.list else { return add(written) }
                for (position, one) in several.enumerated() { cursor.at(position) { add(one) } }
            }
        }
        add(.onDisappear, "disappear", .disappear)
    }

    /// An action that says when the daemon calls it: `{of: value, perform: …}`, or `{on: appear, perform: …}`.
    private func reaction(_ node: DocumentNode, _ scope: ExpressionScope) -> ActionDefinition {
        let form = "onChange is {of: value, perform: {set: {$state: value}}}"
        guard let entries = node.map, let perform = node["perform"], node["of"] != nil || node["on"] != nil else {
            cursor.fault("onChange needs 'of', the value to watch, and 'perform', the action", at: node, hint: form)
            return ActionDefinition(parameters: [], steps: [], document: node.value)
        }
        cursor.checkKeys(entries, of: "an action that the daemon calls", allowed: SceneForm.onChange.keys)
        var trigger = ActionDefinition.Trigger.appear
        var type = ValueType.dyn
        if let on = node["on"] {
            cursor.at("on") {
                switch on.string {
                case "appear": break
                case "disappear": trigger = .disappear
                default:
                    cursor.fault(
                        "on is appear or disappear, not \(on.summary)", at: on, hint: "for changes, write of: value")
                }
            }
            for key in ["of", "initial"] {
                if let other = node[key] {
                    cursor.fault(
                        under: key, "\(key) and on cannot be written together", at: other, hint: "remove one of them")
                }
            }
        } else if let of = node["of"] {
            let initial = node["initial"]?.value ?? false
            if case .bool = initial {
            } else if let written = node["initial"] {
                cursor.fault(under: "initial", "initial is true or false, not \(written.summary)", at: written)
            }
            if let (value, found) = cursor.at("of", { watched(of, scope) }) {
                trigger = .change(of: value, initial: initial == true)
                type = found
            }
        }
        return action(
            perform, trigger, node.value, type, under: "perform", when: node["when"], in: scope.lexical)
    }

    /// The value of an `onChange`: a reference, or a rule, which needs no `=`.
    private func watched(_ node: DocumentNode, _ scope: ExpressionScope) -> ExpressionReader.Typed? {
        switch node.form {
        case .reference: return expressions.expression(node, in: scope.lexical)
        case .literal(let value) where value.string == nil:
            return cursor.refuse(
                "\(node.summary) never changes", at: node, hint: "write of: name, or a rule over names")
        case .literal, .rule: return expressions.readRule(node, in: scope)
        }
    }

    /// - Parameters:
    ///   - type: the type of the value whose change calls the action.
    ///   - key: the key of the action at this place; nil for the place itself.
    ///   - condition: what has to be true besides; it is written beside that key.
    private func action(
        _ node: DocumentNode, _ trigger: ActionDefinition.Trigger, _ document: Value, _ type: ValueType = .dyn,
        under key: String? = nil, when condition: DocumentNode? = nil, in scope: LexicalScope
    ) -> ActionDefinition {
        if let written = node["parameters"] {
            cursor.fault(
                under: key ?? "parameters", "an action that the daemon calls has no parameters of its own", at: written)
        }
        var parameters: [ActionDefinition.Parameter] = []
        if case .change = trigger {
            parameters = [ActionDefinition.oldValue, ActionDefinition.newValue].map { .init(name: $0, type: type) }
        }
        let made = readSteps(node, under: key, parameters, when: condition, in: scope)
        return ActionDefinition(
            parameters: parameters, steps: made.steps, trigger: trigger, document: document)
    }

    private func action(_ node: DocumentNode, in scope: ExpressionScope) -> ActionDefinition {
        if node["perform"] != nil || node["of"] != nil || node["on"] != nil { return reaction(node, scope) }
        return calledAction(node, in: scope.lexical)
    }

    /// An action that somebody calls.
    func calledAction(_ node: DocumentNode, in scope: LexicalScope) -> ActionDefinition {
        let parameters =
            node["parameters"].map { written in cursor.at("parameters") { readActionParameters(written) } } ?? []
        let made = readSteps(node, parameters, hasCaller: true, in: scope)
        return ActionDefinition(
            parameters: parameters, steps: made.steps, document: node.value, readsCaller: made.readsCaller)
    }
}
