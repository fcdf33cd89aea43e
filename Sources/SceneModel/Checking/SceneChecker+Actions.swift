import AttributeValues
import RuleLanguage

// `actions`: writes that are done together when somebody calls them. `onChange`, `onAppear` and `onDisappear`: actions that
// the daemon calls by itself.

extension SceneChecker {
    private static let actionForm =
        "{set: {$state: value}}, with parameters and animation if needed, or a list of such steps"

    /// - Parameter own: the names of the node's other attributes.
    func actions(
        _ fields: NodeFields, _ kind: NodeKind, own: [ScopeEntry], _ place: Surroundings,
        into list: inout AttributeList
    ) {
        let keys = [NodeKey.actions, .onAppear, .onChange, .onDisappear]
        guard keys.contains(where: { fields[$0] != nil }) else { return }
        let scope = ModifierScope(
            lexical: LexicalScope(own, in: place.enclosing, base: baseScope), isContainer: kind == .container)
        if let written = fields[.actions] {
            at("actions") {
                for entry in entries(written, "actions", hint: "write name: {set: {$state: value}}") {
                    at(entry.name) { enter(entry.key, .action(action(entry.value, in: scope)), .dyn, into: &list) }
                }
            }
        }
        reactions(fields, scope, into: &list)
    }

    /// Adds the actions of a node that the daemon calls by itself. Their names are those of their keys, with a number from
    /// the second one on.
    private func reactions(_ fields: NodeFields, _ scope: ModifierScope, into list: inout AttributeList) {
        func add(_ key: NodeKey, _ node: DocumentNode, _ action: ActionDefinition) {
            work += SceneCost.entry
            var (name, number) = (key.name, 1)
            while list.attribute(named: name) != nil {
                number += 1
                name = "\(key.name)\(number)"
            }
            _ = list.add(AttributeDefinition(name: name, role: .action(action), type: .dyn, position: node.position))
        }
        func add(_ key: NodeKey, _ word: String, _ trigger: ActionDefinition.Trigger) {
            guard let written = fields[key] else { return }
            at(key.name) {
                let document: Value = ["on": .string(word), "perform": written.value]
                add(key, written, action(written, trigger, document, in: scope.lexical))
            }
        }
        add(.onAppear, "appear", .appear)
        if let written = fields[.onChange] {
            at(NodeKey.onChange.name) {
                guard let several = written.list else {
                    return add(.onChange, written, reaction(written, scope))
                }
                for (position, one) in several.enumerated() {
                    at(position) { add(.onChange, one, reaction(one, scope)) }
                }
            }
        }
        add(.onDisappear, "disappear", .disappear)
    }

    /// An action that says when the daemon calls it: `{of: value, perform: …}`, or `{on: appear, perform: …}`.
    private func reaction(_ node: DocumentNode, _ scope: ModifierScope) -> ActionDefinition {
        let form = "onChange is {of: value, perform: {set: {$state: value}}}"
        guard let entries = node.map, let perform = node["perform"], node["of"] != nil || node["on"] != nil else {
            fault("what is done on a change needs of and perform", at: node, hint: form)
            return ActionDefinition(parameters: [], steps: [], document: node.value)
        }
        checkKeys(entries, of: "an action that the daemon calls", allowed: ["of", "on", "initial", "perform"])
        var trigger = ActionDefinition.Trigger.appear
        var type = ValueType.dyn
        if let on = node["on"] {
            at("on") {
                switch on.string {
                case "appear": break
                case "disappear": trigger = .disappear
                default:
                    fault("on is appear or disappear, not \(on.summary)", at: on, hint: "for changes, write of: value")
                }
            }
            for key in ["of", "initial"] {
                if let other = node[key] { at(key) { fault("\(key) goes with changes, not with on", at: other) } }
            }
        } else if let of = node["of"] {
            let initial = node["initial"]?.value ?? false
            if case .bool = initial {
            } else if let written = node["initial"] {
                at("initial") { fault("initial is true or false, not \(written.summary)", at: written) }
            }
            if let (value, found) = at("of", { watched(of, scope) }) {
                trigger = .change(of: value, initial: initial == true)
                type = found
            }
        }
        return at("perform") { action(perform, trigger, node.value, type, in: scope.lexical) }
    }

    /// The value of an `onChange`: a reference, or a rule, which needs no `=`.
    private func watched(_ node: DocumentNode, _ scope: ModifierScope) -> (Expression, ValueType)? {
        switch written(node) {
        case .reference: return expression(node, in: scope.lexical)
        case .literal(let value) where value.string == nil:
            fault("\(node.summary) never changes", at: node, hint: "write of: name, or a rule over names")
            return nil
        case .literal, .rule: return rule(node, in: rules(scope)).map { (.rule($0), self.type(of: $0)) }
        }
    }

    /// - Parameter type: of the value whose change calls the action.
    private func action(
        _ node: DocumentNode, _ trigger: ActionDefinition.Trigger, _ document: Value, _ type: ValueType = .dyn,
        in scope: LexicalScope
    ) -> ActionDefinition {
        if let written = node["parameters"] {
            at("parameters") { fault("an action that the daemon calls has no parameters of its own", at: written) }
        }
        var parameters: [ActionDefinition.Parameter] = []
        if case .change = trigger {
            parameters = [ActionDefinition.oldValue, ActionDefinition.newValue].map { .init(name: $0, type: type) }
        }
        let made = steps(node, parameters, in: scope)
        return ActionDefinition(
            parameters: parameters, steps: made.steps, outsideTargets: made.outside, trigger: trigger,
            document: document)
    }

    private func action(_ node: DocumentNode, in scope: ModifierScope) -> ActionDefinition {
        if node["perform"] != nil || node["of"] != nil || node["on"] != nil { return reaction(node, scope) }
        let parameters = node["parameters"].map { written in at("parameters") { actionParameters(written) } } ?? []
        let made = steps(node, parameters, in: scope.lexical)
        return ActionDefinition(
            parameters: parameters, steps: made.steps, outsideTargets: made.outside, document: node.value)
    }

    private func steps(
        _ node: DocumentNode, _ parameters: [ActionDefinition.Parameter], in outer: LexicalScope
    ) -> ActionSteps {
        let own = parameters.map { ScopeEntry(name: $0.name, type: $0.type, access: .readOnly("a parameter")) }
        let scope = LexicalScope(own, in: outer, base: baseScope)
        // An action is evaluated once for each call, and watches nothing.
        scope.rules.hasPast = false
        var made = ActionSteps()
        if let list = node.list {
            for (position, step) in list.enumerated() { at(position) { actionStep(step, in: scope, into: &made) } }
        } else if let steps = node["steps"] {
            checkKeys(node.map ?? [], of: "an action with steps", allowed: ["parameters", "steps"])
            at("steps") {
                for (position, step) in elements(steps, "steps").enumerated() {
                    at(position) { actionStep(step, in: scope, into: &made) }
                }
            }
        } else {
            actionStep(node, also: ["parameters", "steps"], in: scope, into: &made)
        }
        if made.steps.count > SceneLimits.actionSteps {
            fault(.limit, "an action has at most \(SceneLimits.actionSteps) targets", at: node, hint: "use a pattern")
        }
        return made
    }

    private struct ActionSteps {
        var steps: [ActionDefinition.Step] = []
        var outside: [String] = []
    }

    private func actionParameters(_ node: DocumentNode) -> [ActionDefinition.Parameter] {
        var names = NameSet()
        var parameters: [ActionDefinition.Parameter] = []
        func add(_ key: DocumentNode, _ type: ValueType, _ standard: Value?) {
            guard checkName(key, "a parameter") else { return }
            if names.insert(key.text, at: parameters.count) != nil {
                return fault(.conflict, "two parameters have the name '\(key.text)'", at: key)
            }
            parameters.append(ActionDefinition.Parameter(name: key.text, type: type, standard: standard))
        }
        if let list = node.list {
            for (position, element) in list.enumerated() { at(position) { add(element, .dyn, nil) } }
            return parameters
        }
        for entry in entries(node, "parameters", hint: "write parameters: [name], or {name: {default: …}}") {
            at(entry.name) {
                guard entry.value.isForm(SceneChecker.parameterForm) else {
                    return fault(
                        "a parameter is {default: …, type: …}, not \(entry.value.summary)", at: entry.value,
                        hint: "write {default: …} for a default, {type: …} for a type")
                }
                if let (standard, type) = parameter(entry.value) { add(entry.key, type, standard) }
            }
        }
        return parameters
    }

    private func actionStep(
        _ node: DocumentNode, also others: [String] = [], in scope: LexicalScope, into made: inout ActionSteps
    ) {
        let operations = ActionDefinition.Operation.allCases.map(\.rawValue)
        guard let entries = node.map else {
            return fault("an action is not \(node.summary)", at: node, hint: "an action is \(SceneChecker.actionForm)")
        }
        let allowed = operations + ["animation"] + others
        checkKeys(entries, of: "an action", allowed: allowed)
        let animation = node["animation"].flatMap { written in at("animation") { self.animation(written) } }
        for entry in entries {
            guard let operation = ActionDefinition.Operation(rawValue: entry.name) else { continue }
            at(entry.name) { actionStep(operation, entry.value, animation, in: scope, into: &made) }
        }
        guard entries.allSatisfy({ allowed.contains($0.name) && !operations.contains($0.name) }) else { return }
        fault("the action does nothing", at: node, hint: "an action is \(SceneChecker.actionForm)")
    }

    private func actionStep(
        _ operation: ActionDefinition.Operation, _ node: DocumentNode, _ animation: String?, in scope: LexicalScope,
        into made: inout ActionSteps
    ) {
        func add(_ key: DocumentNode, _ value: DocumentNode?) {
            work += SceneCost.entry
            guard let (target, type) = actionTarget(key, in: scope, into: &made) else { return }
            var operand: Expression?
            if let value {
                guard let (expression, _) = expression(value, in: scope) else { return }
                if operation == .set, case .literal(let literal) = expression, known.accept(literal, as: type) == nil {
                    return fault(
                        .typeMismatch, "'\(key.text)' is \(type.withArticle), and takes no \(literal.shortTypeName)",
                        at: value)
                }
                operand = expression
            }
            made.steps.append(.init(operation: operation, target: target, value: operand, animation: animation))
        }
        if operation.takesValue {
            let hint = "write \(operation.rawValue): {$state: value}"
            for entry in entries(node, operation.rawValue, hint: hint) {
                at(entry.name) { add(entry.key, entry.value) }
            }
        } else if let list = node.list {
            for (position, element) in list.enumerated() { at(position) { add(element, nil) } }
        } else {
            add(node, nil)
        }
    }

    /// A target, with its type.
    private func actionTarget(
        _ node: DocumentNode, in scope: LexicalScope, into made: inout ActionSteps
    ) -> (ActionDefinition.Target, ValueType)? {
        let text = node.text
        // A reference from the root is the path of one attribute.
        if text.hasPrefix("$"), !text.hasPrefix("$/") {
            guard let found = reference(String(text.dropFirst()), in: scope, at: node) else { return nil }
            if let reason = unwritable(found.entry, found.reference, found.object) {
                fault(
                    .readOnly, "'\(text)' cannot be written: \(reason)", at: node,
                    hint: "write to the state it comes from")
                return nil
            }
            if found.entry.isOutside { made.outside.append(found.reference.name) }
            return (.reference(found.reference), found.type)
        }
        guard text.hasPrefix("/") || text.hasPrefix("$/") else {
            fault(
                "'\(text)' is no target", at: node,
                hint: scope.find(text) == nil
                    ? "a target is $name for an attribute in scope, or a path as /lamps/*.isOn" : "write $\(text)")
            return nil
        }
        do throws(Failure) {
            let pattern = try PathPattern(text.hasPrefix("$") ? String(text.dropFirst()) : text)
            guard pattern.attribute != nil else {
                fault(
                    "'\(text)' names no attribute", at: node, hint: "end it with an attribute's name, as /lamps/*.isOn")
                return nil
            }
            return (.pattern(pattern), .dyn)
        } catch {
            fault(error.code, error.message, at: node, hint: error.hint)
            return nil
        }
    }
}
