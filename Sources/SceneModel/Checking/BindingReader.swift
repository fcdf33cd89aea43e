import AttributeValues
import RuleLanguage

// Reads `binding`: a reference, one that a rule chooses, two rules, or a constant.
extension PartReader {

    struct WrittenBinding {
        var target: BindingTarget?
        var animation: String?
        /// The type of the target or the parameter.
        var type: ValueType
    }

    func readBinding(_ node: DocumentNode, _ surroundings: Surroundings) -> WrittenBinding? {
        if surroundings.isComponentRoot, node.isForm(ExpressionReader.parameterForm) {
            return expressions.readParameter(node).map { parameter in
                WrittenBinding(target: parameter.standard.map { .constant($0) }, animation: nil, type: parameter.type)
            }
        }
        let made: WrittenBinding?
        if node.isForm(SceneForm.computedBinding.keys, requiring: ["get"]) {
            made = twoRules(node, surroundings)
        } else if isBindingForm(node) {
            cursor.checkKeys(node.map ?? [], of: "a binding", allowed: SceneForm.binding.keys)
            guard let to = node["to"] else {
                if node.isForm(SceneForm.binding.keys) {
                    cursor.fault("a binding needs something to write to", at: node, hint: "write to: $name")
                }
                return nil
            }
            made = cursor.at("to") { target(to, surroundings) }
        } else {
            return target(node, surroundings)
        }
        guard var made, let animation = node["animation"], !animation.isNull else { return made }
        guard let text = cursor.at("animation", { expressions.readAnimation(animation) }) else { return nil }
        made.animation = text
        return made
    }

    /// True if a map describes the target of a binding and is not a constant: it has the keys of that form, or it
    /// contains a reference.
    private func isBindingForm(_ node: DocumentNode) -> Bool {
        if node.isForm(SceneForm.binding.keys, requiring: ["to"]) { return true }
        guard let entries = node.map else { return false }
        return entries.contains { entry in
            guard case .reference = entry.value.form else { return false }
            return entry.name == "to" || NearestName.find(entry.name, among: ["to"]) != nil
                || entries.contains { $0.name == "animation" }
        }
    }

    private func target(_ node: DocumentNode, _ surroundings: Surroundings) -> WrittenBinding? {
        switch node.form {
        case .literal(let value):
            guard cursor.isKept || !refusesMistaken(node, in: ExpressionScope(lexical: surroundings.enclosing)) else {
                return nil
            }
            return WrittenBinding(target: .constant(value), type: ValueType(of: value))
        case .rule(let text) where SelectionText.hasReferences(text): return selectedTarget(text, node, surroundings)
        case .rule:
            return cursor.refuse(
                "a binding needs something to write to, not a rule", at: node,
                hint: "bind to $name, choose one with =cond ? $a : $b, or take the rule's value with let")
        case .reference(let text):
            if ExpressionReader.isSelection(text) { return selectedTarget("$" + text, node, surroundings) }
            guard !refusesTarget(node, surroundings),
                let found = expressions.resolve(text, in: surroundings.enclosing, at: node),
                isWritable(found.obstacle, "$" + text, at: node)
            else { return nil }
            cursor.noteWritten(found.entry)
            return WrittenBinding(target: .reference(found.reference), type: found.type)
        }
    }

    /// Adds a fault for a constant that was meant to be something to write to.
    private func refusesMistaken(_ node: DocumentNode, in scope: ExpressionScope) -> Bool {
        guard let text = node.string, text == node.text else {
            // A constant map or list of references: each needs a binding of its own.
            return expressions.refusesInside(node, in: scope) {
                "give each part a binding of its own, as name: $target, or write '=\($0)' under let to read it"
            }
        }
        let literal = TypedLiteral.example(text)
        func refuse(_ what: String, _ hint: String) -> Bool {
            cursor.fault("'\(text)' is a text here, but \(what)", at: node, hint: "\(hint), or \(literal) for the text")
            return true
        }
        if let rule = expressions.meantRule(text, in: scope) {
            return SelectionText.hasReferences(rule)
                ? refuse("chooses a reference", "write =\(rule) to bind to the one that the rule chooses")
                : refuse(
                    "reads like a rule",
                    "bind to $name, choose one with =cond ? $a : $b, write =\(rule) under let to read the rule's value")
        }
        if let reference = expressions.meantSelection(text, in: scope) {
            return refuse("names a part of an attribute", "write \(reference) to bind to it")
        }
        if Rule.reading(text, in: scope.rules) != nil {
            return refuse("names an attribute", "write $\(text) to bind to it")
        }
        if text.hasPrefix("/"), (try? AttributePath(text))?.attribute != nil {
            return refuse("is the path of an attribute", "write $\(text) to bind to it")
        }
        return false
    }

    /// Adds a fault for a target at the root of a component.
    private func refusesTarget(_ node: DocumentNode, _ surroundings: Surroundings) -> Bool {
        guard surroundings.isComponentRoot else { return false }
        cursor.fault(
            "a component's binding is a parameter, whose target is given where the component is used", at: node,
            hint: "declare it, as binding: [name]")
        return true
    }

    private func selectedTarget(_ text: String, _ node: DocumentNode, _ surroundings: Surroundings) -> WrittenBinding? {
        let scope = ExpressionScope(lexical: surroundings.enclosing)
        guard !refusesTarget(node, surroundings),
            let chosen = expressions.choose(text, in: scope, at: node),
            isWritable(chosen.obstacle, text, at: node)
        else { return nil }
        for entry in chosen.entries { cursor.noteWritten(entry) }
        return WrittenBinding(target: .selection(chosen.selection), type: chosen.type)
    }

    /// Adds a fault if there is an obstacle.
    private func isWritable(_ obstacle: String?, _ text: String, at node: DocumentNode) -> Bool {
        guard let obstacle else { return true }
        cursor.fault(
            .readOnly, "'\(text)' cannot be bound: \(obstacle)", at: node,
            hint: "pass it as let, or bind to the state it comes from")
        return false
    }

    /// `{get: rule, set: {$state: value over newValue}}`
    private func twoRules(_ node: DocumentNode, _ surroundings: Surroundings) -> WrittenBinding? {
        cursor.checkKeys(node.map ?? [], of: "a binding with rules", allowed: SceneForm.computedBinding.keys)
        let outer = surroundings.enclosing
        guard !refusesTarget(node, surroundings), let get = node["get"],
            let read = cursor.at("get", { expressions.readProgram(get, in: outer.rules) })
        else { return nil }
        let form = "write set: {$state: =newValue}"
        guard let set = node["set"], set.map?.isEmpty == false else {
            return cursor.refuse("a binding with get needs set", at: node, hint: form)
        }
        let type = expressions.vocabulary.type(of: read)
        let scope = LexicalScope(
            [ScopeEntry(name: BindingTarget.newValue, type: type, access: .readOnly("the value that is written"))],
            in: outer)
        var writes: [BindingTarget.Write] = []
        cursor.at("set") {
            cursor.visitEntries(set, "set", hint: form) { entry in
                guard entry.name.hasPrefix("$") else {
                    return cursor.fault("'\(entry.name)' is no target", at: entry.key, hint: "a target is $name")
                }
                guard let found = expressions.resolveTarget(entry.name, in: outer, at: entry.key),
                    let (value, _) = expressions.expression(entry.value, in: scope)
                else { return }
                writes.append(BindingTarget.Write(target: found.reference, value: value))
            }
        }
        guard !writes.isEmpty else { return nil }
        return WrittenBinding(target: .rules(get: read, set: writes), type: type)
    }
}
