import AttributeValues

// Reads what an action does: its parameters, its targets and what it writes to them.
extension PartReader {
    private static let actionForm =
        "{set: {$state: value}}, with parameters and animation if needed, or a list of such steps"

    struct Steps {
        var steps: [ActionDefinition.Step] = []
        /// The conditions under which the step that is being read is performed, outermost first.
        var conditions: [Expression] = []
        var readsCaller = false
    }

    /// - Parameters:
    ///   - key: the key of the action at this place; nil for the place itself.
    ///   - condition: what has to be true for all steps; it is written beside that key.
    ///   - hasCaller: true if the rules can read who calls the action.
    func readSteps(
        _ node: DocumentNode, under key: String? = nil, _ parameters: [ActionDefinition.Parameter],
        when condition: DocumentNode? = nil, hasCaller: Bool = false, in outer: LexicalScope
    ) -> Steps {
        var own = parameters.map { ScopeEntry(name: $0.name, type: $0.type, access: .readOnly("a parameter")) }
        let caller = ActionDefinition.caller
        var made = Steps()
        if hasCaller, outer.find(caller) == nil, !own.contains(where: { $0.name.hasSameBytes(as: caller) }) {
            own.append(
                ScopeEntry(name: caller, type: .map(key: .string, value: .dyn), access: .readOnly("the caller")))
            made.readsCaller = true
        }
        let scope = LexicalScope(own, in: outer)
        // An action is evaluated once for each call, and watches nothing.
        scope.rules.hasPast = false
        scope.rules.getsWholeValues = true
        if let condition { cursor.at("when") { add(condition: condition, in: scope, to: &made) } }
        let path = cursor.path
        if let key { cursor.path.append(.key(key)) }
        defer { cursor.path = path }
        if let list = node.list {
            for (position, one) in list.enumerated() { cursor.at(position) { step(one, in: scope, into: &made) } }
        } else if let steps = node["steps"] {
            cursor.checkKeys(node.map ?? [], of: "an action with steps", allowed: SceneForm.steps.keys)
            if let condition = node["when"] { cursor.at("when") { add(condition: condition, in: scope, to: &made) } }
            cursor.at("steps") {
                cursor.visit(cursor.readElements(steps, "steps")) { one in step(one, in: scope, into: &made) }
            }
        } else {
            step(node, also: ["parameters", "steps"], in: scope, into: &made)
        }
        if made.readsCaller {
            made.readsCaller = ActionDefinition(parameters: [], steps: made.steps, document: .null).expressions.contains
            { expression in
                if case .reference(let reference) = expression { return reference.name.text.hasSameBytes(as: caller) }
                return expression.program?.inputs.contains { $0.variable.hasSameBytes(as: caller) } ?? false
            }
        }
        if made.steps.count > SceneLimits.actionSteps {
            cursor.fault(
                .limit, "an action has at most \(SceneLimits.actionSteps) targets", at: node, hint: "use a pattern")
        }
        return made
    }

    /// `when`: a rule that gives a bool.
    private func add(condition node: DocumentNode, in scope: LexicalScope, to made: inout Steps) {
        guard let (rule, type) = expressions.readRule(node, in: ExpressionScope(lexical: scope)) else { return }
        guard ValueType.bool.admits(type) else {
            return cursor.fault(
                .typeMismatch, "when is a condition, but this is \(type.withArticle)", at: node,
                hint: "write a rule that is true or false, as when: newValue > 3")
        }
        made.conditions.append(rule)
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
        guard let entries = node.map else {
            return cursor.fault(
                "an action is not \(node.summary)", at: node, hint: "an action is \(PartReader.actionForm)")
        }
        let allowed = SceneForm.action.keys.filter { $0 != "parameters" } + others
        cursor.checkKeys(entries, of: "an action", allowed: allowed)
        let conditions = made.conditions.count
        defer { made.conditions.removeLast(made.conditions.count - conditions) }
        if let condition = node["when"] { cursor.at("when") { add(condition: condition, in: scope, to: &made) } }
        let animation = node["animation"].flatMap { written in
            cursor.at("animation") { expressions.readAnimation(written) }
        }
        for entry in entries {
            guard let operation = ActionDefinition.Operation(rawValue: entry.name) else { continue }
            cursor.at(entry.name) { step(operation, entry.value, animation, in: scope, into: &made) }
        }
        guard
            entries.allSatisfy({
                allowed.contains($0.name) && ActionDefinition.Operation(rawValue: $0.name) == nil
            })
        else { return }
        cursor.fault("the action does nothing", at: node, hint: "an action is \(PartReader.actionForm)")
    }

    private func step(
        _ operation: ActionDefinition.Operation, _ node: DocumentNode, _ animation: String?, in scope: LexicalScope,
        into made: inout Steps
    ) {
        func add(_ key: DocumentNode, _ value: DocumentNode?) {
            cursor.work += SceneCost.entry
            guard let (target, type) = target(key, of: operation, in: scope) else { return }
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
            made.steps.append(
                .init(
                    operation: operation, target: target, conditions: made.conditions, value: operand,
                    animation: animation))
        }
        if operation == .call {
            call(node, animation, in: scope, into: &made)
        } else if operation.takesValue {
            let hint = "write \(operation.rawValue): {$state: value}"
            cursor.visitEntries(node, operation.rawValue, hint: hint) { entry in add(entry.key, entry.value) }
        } else if let list = node.list {
            for (position, element) in list.enumerated() { cursor.at(position) { add(element, nil) } }
        } else {
            add(node, nil)
        }
    }

    /// `do: $night`, `do: [$night, /home.allOff]`, or `do: { $louder: { by: 0.2 } }`.
    private func call(
        _ node: DocumentNode, _ animation: String?, in scope: LexicalScope, into made: inout Steps
    ) {
        func add(_ key: DocumentNode, _ given: DocumentNode?) {
            cursor.work += SceneCost.entry
            guard let (target, _) = target(key, of: .call, in: scope) else { return }
            var arguments: [(name: String, value: Expression)] = []
            if let given {
                cursor.visitEntries(given, "the arguments", hint: "write do: {$action: {parameter: value}}") { entry in
                    guard let (value, _) = expressions.expression(entry.value, in: scope) else { return }
                    arguments.append((entry.name, value))
                }
            }
            made.steps.append(
                .init(
                    operation: .call, target: target, conditions: made.conditions, arguments: arguments,
                    animation: animation))
        }
        if let entries = node.map {
            for entry in entries { cursor.at(entry.name) { add(entry.key, entry.value) } }
        } else if let list = node.list {
            for (position, element) in list.enumerated() { cursor.at(position) { add(element, nil) } }
        } else {
            add(node, nil)
        }
    }

    private func target(
        _ node: DocumentNode, of operation: ActionDefinition.Operation, in scope: LexicalScope
    ) -> (ActionDefinition.Target, ValueType)? {
        guard let (target, type) = place(node, of: operation, in: scope) else { return nil }
        if operation == .insert, !target.endsAtIndex {
            return cursor.refuse(
                "insert needs a position in a list", at: node,
                hint: "write the index of the element before which it comes, as '\(node.text)[0]'")
        }
        return (target, type)
    }

    private func place(
        _ node: DocumentNode, of operation: ActionDefinition.Operation, in scope: LexicalScope
    ) -> (ActionDefinition.Target, ValueType)? {
        let text = node.text
        // A reference from the root is the path of one attribute.
        if text.hasPrefix("$"), !text.hasPrefix("$/") {
            if ExpressionReader.isSelection(String(text.dropFirst())) {
                return operation == .call
                    ? chosenAction(text, at: node, in: scope) : selected(text, at: node, in: scope)
            }
            guard operation == .call else {
                guard let found = expressions.resolveTarget(text, in: scope, at: node) else { return nil }
                return (.reference(found.reference), found.type)
            }
            if let path = try? AttributePath("/." + text.dropFirst()), let name = path.attribute,
                case .key(let action)? = path.steps.last, let entry = scope.find(name)
            {
                let object = expressions.findPart(Array(path.steps.dropLast()), of: entry.type, named: name, at: node)
                guard let object, isAction(action, of: object.type, at: node) else { return nil }
                cursor.noteWritten(entry)
                return (.reference(Reference(name: Name(name), steps: path.steps)), .dyn)
            }
            guard let found = expressions.resolve(String(text.dropFirst()), in: scope, at: node) else { return nil }
            guard found.reference.steps.isEmpty, found.entry.isAction else {
                return cursor.refuse(
                    "'\(text)' is no action", at: node, hint: "do calls an action in scope, or one by its path")
            }
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

    /// Adds a fault unless objects of a type have an action of this name.
    private func isAction(_ name: String, of type: ValueType, at node: DocumentNode) -> Bool {
        let whole = if case .nullable(let inner) = type { inner } else { type }
        if whole == .dyn { return true }
        guard let object = whole.objectName, let known = expressions.vocabulary.known.types[object] else {
            cursor.fault(
                .typeMismatch, "'\(node.text)' is no action: '\(name)' is to be one of \(type.withArticle)", at: node,
                hint: "only objects have actions, which their types declare")
            return false
        }
        if known.actionNames.contains(where: { $0.hasSameBytes(as: name) }) { return true }
        cursor.fault(
            .notFound, "\(object) has no action '\(name)'", at: node,
            hint: NearestName.hint(name, among: known.actionNames)
                ?? "actions of a type are declared under actions: beside its state:")
        return false
    }

    /// `$books[id=book].read`: an action of the object that a rule chooses.
    private func chosenAction(
        _ text: String, at node: DocumentNode, in scope: LexicalScope
    ) -> (ActionDefinition.Target, ValueType)? {
        let end = text.utf8.lastIndex(of: UInt8(ascii: "."))
        guard let end, !text[end...].utf8.contains(UInt8(ascii: "]")) else {
            return cursor.refuse(
                "'\(text)' is no action", at: node, hint: "write the action behind the object, as $books[id=book].read")
        }
        let name = String(text[end...].dropFirst())
        guard let found = expressions.choose(String(text[..<end]), in: ExpressionScope(lexical: scope), at: node),
            isAction(name, of: found.type, at: node)
        else { return nil }
        for entry in found.entries { cursor.noteWritten(entry) }
        let targets = found.selection.targets.map { target in
            Selection.Target(name: target.name, steps: target.steps + [.fixed(.key(name))])
        }
        return (.selection(Selection(text: text, program: found.selection.program, targets: targets)), .dyn)
    }

    /// `$trains[id=train].delay`: a rule chooses the element.
    private func selected(
        _ text: String, at node: DocumentNode, in scope: LexicalScope
    ) -> (ActionDefinition.Target, ValueType)? {
        guard let found = expressions.choose(text, in: ExpressionScope(lexical: scope), at: node) else { return nil }
        if let obstacle = found.obstacle {
            return cursor.refuse(
                .readOnly, "'\(text)' cannot be written: \(obstacle)", at: node,
                hint: "write to the state it comes from")
        }
        for entry in found.entries { cursor.noteWritten(entry) }
        return (.selection(found.selection), found.type)
    }
}

extension ActionDefinition.Target {
    /// True if the target is an element of a list, by its index.
    fileprivate var endsAtIndex: Bool {
        switch self {
        case .reference(let reference): if case .index? = reference.steps.last { true } else { false }
        case .pattern(let pattern): if case .index? = pattern.steps.last { true } else { false }
        case .selection(let selection):
            selection.targets.allSatisfy { target in
                switch target.steps.last {
                case .part?, .fixed(.index)?: true
                default: false
                }
            }
        }
    }
}

extension ScopeEntry {
    /// True for an action, and for what may hand one down.
    fileprivate var isAction: Bool { if case .readOnly("an action", _) = access { true } else { type == .dyn } }
}
