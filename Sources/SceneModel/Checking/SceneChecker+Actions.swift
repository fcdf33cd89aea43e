import AttributeValues
import RuleLanguage

// `actions`: writes that are done together when somebody calls them.

extension SceneChecker {
    private static let actionForm =
        "{set: {$state: value}}, with parameters and animation if needed, or a list of such steps"

    func actions(_ written: DocumentNode, in scope: LexicalScope, into list: inout AttributeList) {
        for entry in entries(written, "actions", hint: "write name: {set: {$state: value}}") {
            at(entry.name) { enter(entry.key, .action(action(entry.value, in: scope)), .dyn, into: &list) }
        }
    }

    private func action(_ node: DocumentNode, in outer: LexicalScope) -> ActionDefinition {
        let parameters = node["parameters"].map { written in at("parameters") { actionParameters(written) } } ?? []
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
        return ActionDefinition(
            parameters: parameters, steps: made.steps, outsideTargets: made.outside, document: node.value)
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
        if text.hasPrefix("$") {
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
        guard text.hasPrefix("/") else {
            fault(
                "'\(text)' is no target", at: node,
                hint: scope.find(text) == nil
                    ? "a target is $name for an attribute in scope, or a path as /lamps/*.isOn" : "write $\(text)")
            return nil
        }
        do throws(Failure) {
            let pattern = try PathPattern(text)
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
