import AttributeValues

// Reads the arguments of a component's use: `binding` and `let`.
extension PartReader {
    func readArguments(
        _ fields: NodeFields, of base: ComponentTable.Base, _ surroundings: Surroundings, into list: AttributeList
    ) {
        var given: Set<String> = []
        for key in [NodeKey.binding, .let] {
            guard let written = fields[key] else { continue }
            given.formUnion((written.map ?? []).map(\.name))
            cursor.at(key.name) {
                if written.list != nil {
                    for parameter in expressions.readParameterNames(written, key.name, surroundings) {
                        // A parameter of the base that is named again stays a parameter.
                        if let known = list.attribute(named: parameter.text), known.isParameter(key) { continue }
                        list.enter(parameter: parameter, key)
                    }
                    return
                }
                cursor.visitEntries(written, key.name, hint: "write name: value") { entry in
                    argument(entry, key, base, surroundings, into: list)
                }
            }
        }
        guard !surroundings.isComponentRoot else { return }
        for attribute in list.attributes where attribute.lacksValue && !given.contains(attribute.name) {
            let key = attribute.isParameter(.binding) ? "binding" : "let"
            cursor.fault(
                "\(base.name) needs its \(key) '\(attribute.name)'", at: fields[.component] ?? fields.node,
                hint: "write \(key): {\(attribute.name): \(key == "binding" ? "$…" : "…")}",
                note: base.declaredHere(attribute))
        }
    }

    private func argument(
        _ entry: DocumentEntry, _ key: NodeKey, _ base: ComponentTable.Base, _ surroundings: Surroundings,
        into list: AttributeList
    ) {
        guard let parameter = list.attribute(named: entry.name), parameter.isParameter(key) else {
            if surroundings.isComponentRoot, list.attribute(named: entry.name) == nil {
                add(entry, key, surroundings, to: list)
                return
            }
            return refuse(entry, key, base, list)
        }
        func given(_ type: ValueType) -> ValueType { parameter.type == .dyn ? type : parameter.type }
        let role: AttributeRole
        let type: ValueType
        if key == .binding {
            // A component's own root has no enclosing nodes, so `binding` refuses `$` there.
            guard let made = readBinding(entry.value, surroundings) else { return }
            switch made.target {
            case .constant(let value)?:
                guard let accepted = expressions.vocabulary.known.accept(value, as: parameter.type) else {
                    return cursor.fault(
                        .typeMismatch,
                        "'\(entry.name)' of \(base.name) is \(parameter.type.withArticle), not \(entry.value.summary)",
                        at: entry.value, note: base.declaredHere(parameter))
                }
                role = .binding(.constant(accepted), animation: made.animation)
            default:
                guard parameter.type.agrees(with: made.type) else {
                    return cursor.fault(
                        .typeMismatch,
                        "'\(entry.name)' of \(base.name) is \(parameter.type.withArticle), "
                            + "but is bound to \(made.type.withArticle)",
                        at: entry.value, note: base.declaredHere(parameter))
                }
                role = .binding(made.target, animation: made.animation)
            }
            type = given(made.type)
        } else {
            guard let found = expressions.expression(entry.value, in: surroundings.enclosing),
                let fitting = expressions.fit(
                    found, to: parameter.type, of: entry.name, at: entry.value, in: surroundings.enclosing)
            else { return }
            role = .constant(fitting)
            type = given(found.type)
        }
        list.replace(parameter.name, role, type, at: entry.key.position)
    }

    /// Adds a fault for an argument that the component does not take.
    private func refuse(_ entry: DocumentEntry, _ key: NodeKey, _ base: ComponentTable.Base, _ list: AttributeList) {
        let name = base.name
        if let taken = list.attribute(named: entry.name) {
            let isOther = taken.isParameter(key == .binding ? .let : .binding)
            return cursor.fault(
                "'\(entry.name)' of \(name) is \(taken.role.noun), not a \(key.name)", at: entry.key,
                hint: isOther
                    ? "write \(key == .binding ? "let" : "binding"): {\(entry.name): …}"
                    : "a use gives values only to bindings and lets", note: base.declaredHere(taken))
        }
        let names = list.attributes.filter { $0.isParameter(.binding) || $0.isParameter(.let) }.map(\.name)
        cursor.fault(
            .notFound, "\(name) has no parameter '\(entry.name)'", at: entry.key,
            hint: NearestName.hint(entry.name, among: names)
                ?? (names.isEmpty
                    ? "\(name) takes no parameters" : "its parameters are \(names.joined(separator: ", "))"),
            note: base.note)
    }
}

extension AttributeDefinition {
    /// On a component's root, every binding and every let is a parameter.
    fileprivate func isParameter(_ key: NodeKey) -> Bool {
        switch role {
        case .binding: key == .binding
        case .constant: key == .let
        default: false
        }
    }
}
