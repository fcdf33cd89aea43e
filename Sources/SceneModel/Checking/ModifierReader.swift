import AttributeValues
import RuleLanguage

// Reads modifiers: environment, transformEnvironment, containerValues, tag, preferences, animation, transition, past.
extension PartReader {
    func readModifiers(_ fields: NodeFields, of node: NodeDefinition, _ scope: ExpressionScope) {
        if let written = fields[.environment] { cursor.at("environment") { environment(written, of: node, scope) } }
        fields.visit(.transformEnvironment, cursor) { written in transforms(written, of: node, scope) }
        fields.visit(.containerValues, cursor) { written in
            node.containerValues = keyed(
                cursor.readEntries(written, "containerValues", hint: "write key: value"), .container, scope)
        }
        if let written = fields[.tag] {
            node.tag = cursor.at("tag") { expressions.expression(written, in: scope)?.expression }
        }
        fields.visit(.preferences, cursor) { written in
            let made = keyed(cursor.readEntries(written, "preferences", hint: "write key: value"), .preference, scope)
            for entry in made where !entry.steps.isEmpty {
                cursor.fault(
                    "a preference is written whole, not at \(entry.key)\(entry.steps.map(\.description).joined())",
                    at: written)
            }
            node.preferences = made.filter(\.steps.isEmpty)
        }
        if let written = fields[.animation] { cursor.at("animation") { node.animations = animations(written, scope) } }
        if let written = fields[.transition] {
            node.transition = cursor.at("transition") { expressions.readTransition(written) }
        }
        if let written = fields[.past] {
            if case .scalar(.bool(let isKept)) = written.content {
                node.isLeftOutOfPast = !isKept
            } else {
                cursor.fault(under: "past", .typeMismatch, "past is true or false, not \(written.summary)", at: written)
            }
        }
    }

    // MARK: Keys

    private func environment(_ written: DocumentNode, of node: NodeDefinition, _ scope: ExpressionScope) {
        var entries = cursor.readEntries(written, "environment", hint: "write key: value")
        if let objects = written["objects"] {
            entries.removeAll { $0.name == "objects" }
            cursor.at("objects") { node.environmentObjects = self.objects(objects, scope) }
        }
        node.environment = keyed(entries, .environment, scope)
    }

    private func objects(_ written: DocumentNode, _ scope: ExpressionScope) -> [ProvidedReference] {
        var objects: [ProvidedReference] = []
        var types: [String: DocumentNode] = [:]
        for (position, element) in cursor.readElements(written, "objects", hint: "write objects: [$library]")
            .enumerated()
        {
            cursor.at(position) {
                guard case .reference(let text) = element.form else {
                    let name = element.string.map { $0.hasPrefix("=") ? String($0.dropFirst()) : $0 } ?? "library"
                    return cursor.fault(
                        "objects takes references such as $\(name), not \(element.summary)", at: element,
                        hint: "write objects: [$\(name)]")
                }
                guard let found = expressions.resolve(text, in: scope.lexical, at: element) else { return }
                if found.type != .dyn {
                    guard let name = found.type.objectName else {
                        return cursor.fault(
                            .typeMismatch, "'$\(text)' is \(found.type.withArticle), not an object", at: element,
                            hint: "give the state an object type, as {type: Library}")
                    }
                    if let first = types[name] {
                        return cursor.fault(
                            .conflict, "a node provides one object of each type, and \(name) is given twice",
                            at: element, note: SceneFault.Note("it is given here first", first.position))
                    }
                    types[name] = element
                }
                objects.append(
                    ProvidedReference(
                        reference: found.reference, author: cursor.authors.author(of: PartName.object(position))))
            }
        }
        return objects
    }

    private func keyed(_ entries: [DocumentEntry], _ group: KeyGroup, _ scope: ExpressionScope) -> [KeyedExpression] {
        var made: [KeyedExpression] = []
        for entry in entries {
            cursor.at(entry.name) {
                guard let (key, steps, type) = keyPath(entry.key, group),
                    let given = expressions.expression(entry.value, in: scope),
                    let fitting = expressions.fit(
                        given, to: type, of: entry.name, at: entry.value, in: scope.lexical)
                else { return }
                made.append(
                    KeyedExpression(
                        key: key, steps: steps, type: type, expression: fitting, position: entry.key.position))
            }
        }
        return made
    }

    /// Reads `key`, or `key.field` for a part of a grouped key, with the type of that part.
    private func keyPath(_ node: DocumentNode, _ group: KeyGroup) -> (String, [AttributePath.Step], ValueType)? {
        let noun = group == .container ? "container-value key" : "\(group) key"
        let keys = expressions.vocabulary.known[group]
        let text = node.text
        guard let path = try? AttributePath("/." + text), let name = path.attribute else {
            return cursor.refuse("'\(text)' is not a key path", at: node, hint: "such as pinPosition.rotation")
        }
        guard let key = keys[name] else {
            return cursor.refuse(
                .notFound, "there is no \(noun) '\(name)'", at: node,
                hint: NearestName.hint(name, among: keys.keys.sorted())
                    ?? "declare it under keys.\(group), with its default")
        }
        guard let last = path.steps.last else { return (name, [], key.type) }
        if case .element = last {
            return cursor.refuse("a key path has fields and indices only", at: node)
        }
        // The default of a grouped key defines its fields.
        var value: Value? = key.defaultValue
        for step in path.steps {
            guard case .map(let map)? = value else { break }
            value = map.isEmpty ? nil : value?.child(step)
            if value == nil, !map.isEmpty {
                return cursor.refuse(
                    .notFound, "the \(noun) '\(name)' has no \(step)", at: node,
                    hint: NearestName.hint(step.description, among: map.keys.compactMap { $0.string.map { "." + $0 } }))
            }
        }
        guard let (type, _) = expressions.findPart(path.steps, of: key.type, named: name, at: node) else { return nil }
        if type == .dyn, let value = key.defaultValue.select(path.steps).value {
            return (name, path.steps, ValueType(of: value))
        }
        return (name, path.steps, type)
    }

    private func transforms(_ written: DocumentNode, of node: NodeDefinition, _ scope: ExpressionScope) {
        cursor.visitEntries(written, "transformEnvironment", hint: "write key: a rule over value") { entry in
            guard let (key, steps, type) = keyPath(entry.key, .environment) else { return }
            let rules = RuleScope(parent: scope.rules)
            rules.declare("value", type)
            // The inherited value is no attribute, and differs from node to node.
            rules.hasPast = false
            guard let program = expressions.readProgram(entry.value, in: rules) else { return }
            let given = expressions.vocabulary.type(of: program)
            guard type.admits(given) else {
                return cursor.fault(
                    .ruleType, "'\(entry.name)' is \(type.withArticle), but the rule gives \(given.withArticle)",
                    at: entry.value)
            }
            node.transformEnvironment.append(
                EnvironmentTransform(
                    key: key, steps: steps, type: type, program: program, place: node.environment.count))
        }
    }

    // MARK: Animations

    private func animations(_ written: DocumentNode, _ scope: ExpressionScope) -> [AnimationModifier] {
        guard let list = written.list else { return modifier(written, scope).map { [$0] } ?? [] }
        return list.enumerated().compactMap { position, node in cursor.at(position) { modifier(node, scope) } }
    }

    private func modifier(_ node: DocumentNode, _ scope: ExpressionScope) -> AnimationModifier? {
        guard let entries = node.map, node["value"] != nil || node["curve"] != nil else {
            return cursor.refuse(
                "animation is {curve, value}, not \(node.summary)", at: node,
                hint: "write {curve: bouncy, value: \"=name\"}: it applies when the value changes")
        }
        cursor.checkKeys(entries, of: "animation", allowed: SceneForm.animation.keys)
        guard let value = node["value"] else {
            return cursor.refuse("animation needs a value to follow", at: node, hint: "write value: \"=name\"")
        }
        guard let curve = node["curve"] else {
            return cursor.refuse(
                "animation needs a curve", at: node, hint: "write curve: default, or curve: null for none")
        }
        let followed: Expression? = cursor.at("value") {
            guard let (expression, _) = expressions.expression(value, in: scope) else { return nil }
            if case .literal = expression {
                return cursor.refuse(
                    "a literal never changes, so it animates nothing", at: value,
                    hint: "write value: \"=name\" for an attribute's value")
            }
            return expression
        }
        guard !curve.isNull else { return followed.map { AnimationModifier(animation: nil, value: $0) } }
        let text = cursor.at("curve") { expressions.readAnimation(whole(curve, node["modifiers"])) }
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
