import AttributeValues

// Reads what an action does: its parameters, its targets and what it writes to them.
extension PartReader {
    private static let actionForm =
        "{set: {$state: value}}, with parameters and animation if needed, or a list of such steps"

    struct Steps {
        var steps: [ActionDefinition.Step] = []
    }

    func readSteps(_ node: DocumentNode, _ parameters: [ActionDefinition.Parameter], in outer: LexicalScope) -> Steps {
        let own = parameters.map { ScopeEntry(name: $0.name, type: $0.type, access: .readOnly("a parameter")) }
        let scope = LexicalScope(own, in: outer)
        // An action is evaluated once for each call, and watches nothing.
        scope.rules.hasPast = false
        var made = Steps()
        if let list = node.list {
            for (position, one) in list.enumerated() { cursor.at(position) { step(one, in: scope, into: &made) } }
        } else if let steps = node["steps"] {
            cursor.checkKeys(node.map ?? [], of: "an action with steps", allowed: ["parameters", "steps"])
            cursor.at("steps") {
                cursor.visit(cursor.readElements(steps, "steps")) { one in step(one, in: scope, into: &made) }
            }
        } else {
            step(node, also: ["parameters", "steps"], in: scope, into: &made)
        }
        if made.steps.count > SceneLimits.actionSteps {
            cursor.fault(
                .limit, "an action has at most \(SceneLimits.actionSteps) targets", at: node, hint: "use a pattern")
        }
        return made
    }

    func readActionParameters(_ node: DocumentNode) -> [ActionDefinition.Parameter] {
        var names = NameSet()
        var parameters: [ActionDefinition.Parameter] = []
        func add(_ key: DocumentNode, _ type: ValueType, _ standard: Value?) {
            guard cursor.checkName(key, "a parameter") else { return }
            if names.insert(key.text, at: parameters.count) != nil {
                return cursor.fault(.conflict, "two parameters have the name '\(key.text)'", at: key)
            }
            parameters.append(ActionDefinition.Parameter(name: key.text, type: type, standard: standard))
        }
        if let list = node.list {
            for (position, element) in list.enumerated() { cursor.at(position) { add(element, .dyn, nil) } }
            return parameters
        }
        cursor.visitEntries(node, "parameters", hint: "write parameters: [name], or {name: {default: …}}") { entry in
            guard entry.value.isForm(ExpressionReader.parameterForm) else {
                return cursor.fault(
                    "a parameter is {default: …, type: …}, not \(entry.value.summary)", at: entry.value,
                    hint: "write {default: …} for a default, {type: …} for a type")
            }
            if let (standard, type) = expressions.readParameter(entry.value) { add(entry.key, type, standard) }
        }
        return parameters
    }

    private func step(
        _ node: DocumentNode, also others: [String] = [], in scope: LexicalScope, into made: inout Steps
    ) {
        let operations = ActionDefinition.Operation.allCases.map(\.rawValue)
        guard let entries = node.map else {
            return cursor.fault(
                "an action is not \(node.summary)", at: node, hint: "an action is \(PartReader.actionForm)")
        }
        let allowed = operations + ["animation"] + others
        cursor.checkKeys(entries, of: "an action", allowed: allowed)
        let animation = node["animation"].flatMap { written in
            cursor.at("animation") { expressions.readAnimation(written) }
        }
        for entry in entries {
            guard let operation = ActionDefinition.Operation(rawValue: entry.name) else { continue }
            cursor.at(entry.name) { step(operation, entry.value, animation, in: scope, into: &made) }
        }
        guard entries.allSatisfy({ allowed.contains($0.name) && !operations.contains($0.name) }) else { return }
        cursor.fault("the action does nothing", at: node, hint: "an action is \(PartReader.actionForm)")
    }

    private func step(
        _ operation: ActionDefinition.Operation, _ node: DocumentNode, _ animation: String?, in scope: LexicalScope,
        into made: inout Steps
    ) {
        func add(_ key: DocumentNode, _ value: DocumentNode?) {
            cursor.work += SceneCost.entry
            guard let (target, type) = target(key, in: scope, into: &made) else { return }
            var operand: Expression?
            if let value {
                guard let (expression, _) = expressions.expression(value, in: scope) else { return }
                if operation == .set, case .literal(let literal) = expression,
                    expressions.vocabulary.known.accept(literal, as: type) == nil
                {
                    return cursor.fault(
                        .typeMismatch, "'\(key.text)' is \(type.withArticle), and takes no \(literal.shortTypeName)",
                        at: value, hint: expressions.hintForName(value, in: scope))
                }
                operand = expression
            }
            made.steps.append(.init(operation: operation, target: target, value: operand, animation: animation))
        }
        if operation.takesValue {
            let hint = "write \(operation.rawValue): {$state: value}"
            cursor.visitEntries(node, operation.rawValue, hint: hint) { entry in add(entry.key, entry.value) }
        } else if let list = node.list {
            for (position, element) in list.enumerated() { cursor.at(position) { add(element, nil) } }
        } else {
            add(node, nil)
        }
    }

    private func target(
        _ node: DocumentNode, in scope: LexicalScope, into made: inout Steps
    ) -> (ActionDefinition.Target, ValueType)? {
        let text = node.text
        // A reference from the root is the path of one attribute.
        if text.hasPrefix("$"), !text.hasPrefix("$/") {
            guard let found = expressions.resolveTarget(text, in: scope, at: node) else { return nil }
            return (.reference(found.reference), found.type)
        }
        guard text.hasPrefix("/") || text.hasPrefix("$/") else {
            return cursor.refuse(
                "'\(text)' is no target", at: node,
                hint: scope.find(String(text.drop { $0 == "=" })) == nil
                    ? "a target is $name for an attribute in scope, or a path as /lamps/*.isOn"
                    : "write $\(text.drop { $0 == "=" })")
        }
        do throws(Failure) {
            let pattern = try PathPattern(text.hasPrefix("$") ? String(text.dropFirst()) : text)
            guard pattern.attribute != nil else {
                return cursor.refuse(
                    "'\(text)' names no attribute", at: node, hint: "end it with an attribute's name, as /lamps/*.isOn")
            }
            return (.pattern(pattern), .dyn)
        } catch {
            return cursor.refuse(error.code, error.message, at: node, hint: error.hint)
        }
    }
}
