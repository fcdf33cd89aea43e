import AttributeValues
import RuleLanguage

// Modifiers: environment, transformEnvironment, containerValues, tag, preferences, animation, transition.

extension SceneChecker {
    /// The names that the expressions of a node's modifiers can use.
    struct ModifierScope {
        var lexical: LexicalScope
        var isContainer: Bool
    }

    func modifiers(_ fields: NodeFields, of node: NodeDefinition, _ scope: ModifierScope) {
        if let written = fields[.environment] { at("environment") { environment(written, of: node, scope) } }
        if let written = fields[.transformEnvironment] {
            at("transformEnvironment") { transforms(written, of: node, scope) }
        }
        if let written = fields[.containerValues] {
            at("containerValues") {
                node.containerValues = keyed(
                    written, "containerValues", known.container, "container-value key", "keys.container", scope)
            }
        }
        if let written = fields[.tag] {
            node.tag = at("tag") { expression(written, in: scope.lexical, rules: { self.rules(scope) })?.0 }
        }
        if let written = fields[.preferences] {
            at("preferences") {
                let made = keyed(written, "preferences", known.preference, "preference key", "keys.preference", scope)
                for entry in made where !entry.steps.isEmpty {
                    fault(
                        "a preference is written whole, not at \(entry.key)\(entry.steps.map(\.description).joined())",
                        at: written)
                }
                node.preferences = made.filter(\.steps.isEmpty)
            }
        }
        if let written = fields[.animation] { at("animation") { node.animations = animations(written, scope) } }
        if let written = fields[.transition] { node.transition = at("transition") { transition(written) } }
    }

    func rules(_ scope: ModifierScope) -> RuleScope {
        guard scope.isContainer else { return scope.lexical.rules }
        let rules = RuleScope(parent: scope.lexical.rules)
        declareContainerNames(in: rules)
        return rules
    }

    // MARK: Keys

    private func environment(_ written: DocumentNode, of node: NodeDefinition, _ scope: ModifierScope) {
        var entries = self.entries(written, "environment", hint: "write key: value")
        if let objects = written["objects"] {
            entries.removeAll { $0.name == "objects" }
            at("objects") { node.environmentObjects = self.objects(objects, scope) }
        }
        node.environment = keyed(entries, known.environment, "environment key", "keys.environment", scope)
    }

    private func objects(_ written: DocumentNode, _ scope: ModifierScope) -> [Reference] {
        var objects: [Reference] = []
        var types: [String: DocumentNode] = [:]
        for (position, element) in elements(written, "objects", hint: "write objects: [$library]").enumerated() {
            at(position) {
                guard case .reference(let text) = self.written(element) else {
                    let name = element.string.map { $0.hasPrefix("=") ? String($0.dropFirst()) : $0 } ?? "library"
                    return fault("objects are referred to, as $\(name), not \(element.summary)", at: element)
                }
                guard let found = reference(text, in: scope.lexical, at: element) else { return }
                if found.type != .dyn {
                    guard let name = found.type.objectName else {
                        return fault(
                            .typeMismatch, "'$\(text)' is \(found.type.withArticle), not an object", at: element,
                            hint: "give the state an object type, as {type: Library}")
                    }
                    if let first = types[name] {
                        return fault(
                            .conflict, "there is one object of a type below a node, and \(name) is given twice",
                            at: element,
                            note: SceneFault.Note("it is given here first", first.position))
                    }
                    types[name] = element
                }
                objects.append(found.reference)
            }
        }
        return objects
    }

    private func keyed(
        _ written: DocumentNode, _ what: String, _ keys: [String: KeyDefinition], _ noun: String, _ section: String,
        _ scope: ModifierScope
    ) -> [KeyedExpression] {
        keyed(entries(written, what, hint: "write key: value"), keys, noun, section, scope)
    }

    private func keyed(
        _ entries: [DocumentEntry], _ keys: [String: KeyDefinition], _ noun: String, _ section: String,
        _ scope: ModifierScope
    ) -> [KeyedExpression] {
        var made: [KeyedExpression] = []
        for entry in entries {
            at(entry.name) {
                guard let (key, steps, type) = keyPath(entry.key, keys, noun, section) else { return }
                guard
                    let (expression, given) = self.expression(
                        entry.value, in: scope.lexical, rules: { self.rules(scope) }),
                    let fitting = fit(expression, given, to: type, of: entry.name, at: entry.value)
                else { return }
                made.append(
                    KeyedExpression(
                        key: key, steps: steps, type: type, expression: fitting, position: entry.key.position))
            }
        }
        return made
    }

    /// Reads `key`, or `key.field` for a part of a grouped key, with the type of that part.
    private func keyPath(_ node: DocumentNode, _ keys: [String: KeyDefinition], _ noun: String, _ section: String) -> (
        String, [AttributePath.Step], ValueType
    )? {
        let text = node.text
        guard let path = try? AttributePath("/." + text), let name = path.attribute else {
            fault("'\(text)' is not a key path", at: node, hint: "such as pinPosition.rotation")
            return nil
        }
        guard let key = keys[name] else {
            fault(
                .notFound, "there is no \(noun) '\(name)'", at: node,
                hint: NearestName.hint(name, among: keys.keys.sorted())
                    ?? "declare it under \(section), with its default")
            return nil
        }
        guard let last = path.steps.last else { return (name, [], key.type) }
        if case .element = last {
            fault("a key path has fields and indices only", at: node)
            return nil
        }
        // The default of a grouped key defines its fields.
        var value: Value? = key.defaultValue
        for step in path.steps {
            guard case .map(let map)? = value else { break }
            value = map.isEmpty ? nil : value?.child(step)
            if value == nil, !map.isEmpty {
                fault(
                    .notFound, "the \(noun) '\(name)' has no \(step)", at: node,
                    hint: NearestName.hint(step.description, among: map.keys.compactMap { $0.string.map { "." + $0 } }))
                return nil
            }
        }
        guard let (type, _) = type(at: path.steps, in: key.type, of: name, at: node) else { return nil }
        if type == .dyn, let value = key.defaultValue.select(path.steps).value {
            return (name, path.steps, ValueType(of: value))
        }
        return (name, path.steps, type)
    }

    /// The expression converted to the type of its target; nil after adding a fault.
    func fit(_ expression: Expression, _ given: ValueType, to type: ValueType, of name: String, at node: DocumentNode)
        -> Expression?
    {
        if case .literal(let value) = expression {
            if let name = type.objectName, value != .null {
                fault(.typeMismatch, "an object of type \(name) is referred to, as $name, not written", at: node)
                return nil
            }
            if let accepted = known.accept(value, as: type) { return .literal(accepted) }
            fault(.typeMismatch, "'\(name)' is \(type.withArticle), not \(node.summary)", at: node)
            return nil
        }
        guard type.admits(given) else {
            fault(.typeMismatch, "'\(name)' is \(type.withArticle), but this is \(given.withArticle)", at: node)
            return nil
        }
        return expression
    }

    private func transforms(_ written: DocumentNode, of node: NodeDefinition, _ scope: ModifierScope) {
        for entry in entries(written, "transformEnvironment", hint: "write key: a rule over value") {
            at(entry.name) {
                guard
                    let (key, steps, type) = keyPath(
                        entry.key, known.environment, "environment key", "keys.environment")
                else {
                    return
                }
                let rules = RuleScope(parent: self.rules(scope))
                rules.declare("value", type)
                // The inherited value is no attribute, and differs from node to node.
                rules.hasPast = false
                guard let program = rule(entry.value, in: rules) else { return }
                let given = self.type(of: program)
                guard type.admits(given) else {
                    return fault(
                        .ruleType, "'\(entry.name)' is \(type.withArticle), but the rule gives \(given.withArticle)",
                        at: entry.value)
                }
                node.transformEnvironment.append(
                    EnvironmentTransform(
                        key: key, steps: steps, type: type, program: program, place: node.environment.count))
            }
        }
    }

    // MARK: Animations

    private func animations(_ written: DocumentNode, _ scope: ModifierScope) -> [AnimationModifier] {
        guard let list = written.list else { return modifier(written, scope).map { [$0] } ?? [] }
        return list.enumerated().compactMap { position, node in at(position) { modifier(node, scope) } }
    }

    private func modifier(_ node: DocumentNode, _ scope: ModifierScope) -> AnimationModifier? {
        guard let entries = node.map, node["value"] != nil || node["curve"] != nil else {
            fault(
                "animation is {curve, value}, not \(node.summary)", at: node,
                hint: "write {curve: bouncy, value: \"=name\"}: it applies when the value changes")
            return nil
        }
        checkKeys(entries, of: "animation", allowed: ["curve", "modifiers", "value"])
        guard let value = node["value"] else {
            fault("animation needs a value to follow", at: node, hint: "write value: \"=name\"")
            return nil
        }
        guard let curve = node["curve"] else {
            fault("animation needs a curve", at: node, hint: "write curve: default, or curve: null for none")
            return nil
        }
        let followed: Expression? = at("value") {
            guard let (expression, _) = expression(value, in: scope.lexical, rules: { self.rules(scope) }) else {
                return nil
            }
            if case .literal = expression {
                fault(
                    "a literal never changes, so it animates nothing", at: value,
                    hint: "write value: \"=name\" for an attribute's value")
                return nil
            }
            return expression
        }
        guard !curve.isNull else { return followed.map { AnimationModifier(animation: nil, value: $0) } }
        let text = at("curve") { animation(whole(curve, node["modifiers"])) }
        guard let followed, let text else { return nil }
        return AnimationModifier(animation: text, value: followed)
    }

    /// Curve and modifiers may be written beside `value`. Together they are the JSON form of an animation.
    private func whole(_ curve: DocumentNode, _ modifiers: DocumentNode?) -> DocumentNode {
        if modifiers == nil, curve.string != nil || curve["curve"] != nil { return curve }
        var parts = ValueMap([(.string("curve"), curve.value)])
        if let modifiers { parts["modifiers"] = modifiers.value }
        return DocumentNode(DocumentNode(.map(parts)).content, at: curve.position)
    }
}
