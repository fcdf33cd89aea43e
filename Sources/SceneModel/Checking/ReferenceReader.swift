import AttributeValues

// Resolves references and the parts of values that they name.
extension ExpressionReader {
    /// A reference that leads to an attribute.
    struct Resolved {
        var reference: Reference
        var type: ValueType
        var entry: ScopeEntry
        var property: ObjectProperty?

        /// The reason why it cannot be written through; nil if it can.
        var obstacle: String? { entry.obstacle(behind: reference.steps.count, property) }
    }

    /// A property of an object on the path of a reference.
    struct ObjectProperty {
        var type: String
        var property: AttributeDefinition
    }

    /// - Parameter text: the text after the `$`.
    func resolve(_ text: String, in scope: LexicalScope, at node: DocumentNode) -> Resolved? {
        if text.hasPrefix("/") { return resolve(fromRoot: text, at: node) }
        guard let path = try? AttributePath("/." + text), let name = path.attribute else {
            return cursor.refuse(
                "'$\(text)' is not a reference", at: node,
                hint: hint(forFaulty: text, in: scope)
                    ?? "a reference is $name, $name.key, $name[0] or $name[id=\"x\"]; $$ begins a text with $")
        }
        guard path.steps.count <= AttributePath.maximumSteps else {
            return cursor.refuse(.limit, "a reference has at most \(AttributePath.maximumSteps) steps", at: node)
        }
        guard let entry = findAttribute(name, in: scope, at: node),
            let (type, property) = findPart(path.steps, of: entry.type, named: name, at: node)
        else { return nil }
        return Resolved(
            reference: Reference(name: Name(name), steps: path.steps), type: type, entry: entry, property: property)
    }

    /// A hint for a text behind a `$` that is no reference: a rule, or a name between braces or after a space.
    private func hint(forFaulty text: String, in scope: LexicalScope) -> String? {
        if let rule = meantRule(text, in: ExpressionScope(lexical: scope)) { return "write =\(rule) for the rule" }
        let name = String(text.filter { !"{} ".contains($0) })
        return scope.find(name) == nil ? nil : "write $\(name)"
    }

    /// Resolves a reference that is written through; nil after adding a fault.
    /// - Parameter text: the whole reference, with its `$`.
    func resolveTarget(_ text: String, in scope: LexicalScope, at node: DocumentNode) -> Resolved? {
        guard let found = resolve(String(text.dropFirst()), in: scope, at: node) else { return nil }
        guard let obstacle = found.obstacle else {
            cursor.noteWritten(found.entry)
            return found
        }
        return cursor.refuse(
            .readOnly, "'\(text)' cannot be written: \(obstacle)", at: node, hint: "write to the state it comes from")
    }

    /// Resolves `$/grid/limits.high`, or a part of its value.
    private func resolve(fromRoot text: String, at node: DocumentNode) -> Resolved? {
        do throws(Failure) {
            let path = try AttributePath(text)
            guard path.attribute != nil else {
                return cursor.refuse(
                    "'$\(text)' names no attribute", at: node, hint: "end it with one, as $/grid/limits.high")
            }
            let name = "$\(AttributePath(nodes: path.nodes, attribute: path.attribute))"
            return Resolved(
                reference: Reference(name: Name(name), steps: path.steps), type: .dyn,
                entry: ScopeEntry(name: name, type: .dyn, outside: Name(name)))
        } catch {
            return cursor.refuse(error.code, error.message, at: node, hint: error.hint)
        }
    }

    /// The nearest attribute of that name; nil after adding a fault.
    func findAttribute(_ name: String, in scope: LexicalScope, at node: DocumentNode) -> ScopeEntry? {
        if let entry = scope.find(name) { return entry }
        return cursor.refuse(
            .notFound, "no enclosing node has an attribute '\(name)'", at: node,
            hint: hint(for: name, among: scope.names))
    }

    private func hint(for name: String, among names: [String]) -> String? {
        if let other = cursor.hintForOther(name) { return other }
        if let near = NearestName.find(name, among: names) { return NearestName.question("$\(near)") }
        if names.isEmpty, cursor.component != nil {
            return "a component sees nothing from outside: declare a parameter, as binding: [\(name)] or let: [\(name)]"
        }
        return names.isEmpty ? nil : "in scope are \(names.prefix(12).joined(separator: ", "))"
    }

    /// The type of a part of a value; nil after adding a fault if values of the type have no such part.
    func findPart(
        _ steps: [AttributePath.Step], of whole: ValueType, named name: String, at node: DocumentNode
    ) -> (type: ValueType, property: ObjectProperty?)? {
        var type = whole
        var object: ObjectProperty?
        var text = name
        for step in steps {
            if let part = type.typeOfPart(at: step) {
                type = part
            } else if let name = type.objectName, case .key(let key) = step {
                guard let definition = vocabulary.known.types[name] else { return (.dyn, object) }
                guard let property = definition.properties.first(where: { $0.name.hasSameBytes(as: key) }) else {
                    // The type was declared anew since.
                    if cursor.isKept { return (.dyn, object) }
                    return cursor.refuse(
                        .notFound, "\(name) has no property '\(key)'", at: node,
                        hint: NearestName.hint(key, among: definition.properties.map(\.name)))
                }
                type = property.type
                object = ObjectProperty(type: name, property: property)
            } else {
                return cursor.refuse(.typeMismatch, "'\(text)' is \(type.withArticle) and has no \(step)", at: node)
            }
            text += step.description
        }
        return (type, object)
    }
}

extension ScopeEntry {
    /// The reason why a part of its value cannot be written; nil if it can.
    /// - Parameters:
    ///   - steps: the number of steps that lead to the part.
    ///   - property: the last property of an object among them.
    func obstacle(behind steps: Int, _ property: ExpressionReader.ObjectProperty?) -> String? {
        if let property {
            guard case .computed = property.property.role else { return nil }
            return "'\(property.property.name)' of \(property.type) is computed"
        }
        guard case .readOnly(let what, let mayBeObject) = access else { return nil }
        let isObject = type.objectName != nil || (type == .dyn && steps > 0)
        return mayBeObject && isObject ? nil : "'\(name)' is \(what)"
    }
}
