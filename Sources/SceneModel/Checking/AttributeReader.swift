import AttributeValues

// Reads the attributes of a node that do not compute: state, binding, let, inherit, clock.
extension PartReader {
    func readAttributes(_ fields: NodeFields, _ surroundings: Surroundings, into list: AttributeList) {
        var started: [DocumentEntry] = []
        fields.visit(.state, cursor) { written in
            let entries = cursor.readEntries(written, "state", hint: "write name: value")
            started = expressions.addLiteralStates(entries, to: list)
            warnOfMistaken(entries, fields, surroundings)
        }
        add(fields, .binding, hint: "write name: $target", surroundings, to: list)
        add(fields, .let, hint: "write name: value", surroundings, to: list)
        fields.visit(.inherit, cursor) { written in readInherited(written, into: list) }
        fields.visit(.clock, cursor) { written in
            let scope = LexicalScope(surroundings.ownNames(of: list.attributes), in: surroundings.enclosing)
            cursor.visitEntries(written, "clock", hint: "write now: every 1s") { entry in
                list.enter(entry.key, .clock(readClock(entry.value, in: scope) ?? .everyMinute), .timestamp)
            }
        }
        guard !started.isEmpty else { return }
        let late = started.map(\.name) + (fields[.computed]?.map ?? []).map(\.name)
        let names = surroundings.ownNames(of: list.attributes) + late.map { ScopeEntry(name: $0, type: .dyn) }
        let scope = LexicalScope(names, in: surroundings.enclosing)
        cursor.at("state") {
            for entry in started {
                cursor.at(entry.name) { expressions.addStartedState(entry, in: scope, late: Set(late), to: list) }
            }
        }
    }

    /// Warns of states that begin with the text of a rule.
    private func warnOfMistaken(_ states: [DocumentEntry], _ fields: NodeFields, _ surroundings: Surroundings) {
        guard !cursor.isKept else { return }
        var scope: ExpressionScope?
        for entry in states {
            let isForm = ExpressionReader.isStateForm(entry.value)
            guard let value = isForm ? entry.value["initial"] : entry.value, mayBeMistaken(value) else { continue }
            if scope == nil {
                let keys = [NodeKey.state, .binding, .let, .computed, .inherit, .clock]
                let names = keys.flatMap { fields[$0]?.map ?? [] }.map { ScopeEntry(name: $0.name, type: .dyn) }
                scope = ExpressionScope(lexical: LexicalScope(names, in: surroundings.enclosing))
            }
            if let scope { cursor.at(entry.name) { expressions.warnOfMistaken(state: value, in: scope) } }
        }
    }

    private func mayBeMistaken(_ value: DocumentNode) -> Bool {
        if case .literal(.string(let text)) = value.form {
            return text.utf8.contains(where: "+-*/%<>=!&|?(".utf8.contains)
        }
        return value.count > 0
    }

    /// Adds the bindings or the lets of a node.
    private func add(
        _ fields: NodeFields, _ key: NodeKey, hint: String, _ surroundings: Surroundings, to list: AttributeList
    ) {
        guard let written = fields[key] else { return }
        cursor.at(key.name) {
            guard written.list == nil else {
                for name in expressions.readParameterNames(written, key.name, surroundings) {
                    list.enter(parameter: name, key)
                }
                return
            }
            cursor.visitEntries(written, key.name, hint: hint) { entry in
                guard !add(entry, key, surroundings, to: list) else { return }
                // A faulty attribute is added, so that references to it are not reported too.
                list.enter(
                    entry.key,
                    key == .binding ? .binding(.constant(.null), animation: nil) : .constant(.literal(.null)), .dyn)
            }
        }
    }

    /// Adds a binding or a let.
    /// - Returns: false after adding a fault instead.
    @discardableResult
    func add(_ entry: DocumentEntry, _ key: NodeKey, _ surroundings: Surroundings, to list: AttributeList) -> Bool {
        if key == .binding {
            guard let made = readBinding(entry.value, surroundings) else { return false }
            list.enter(entry.key, .binding(made.target, animation: made.animation), made.type)
        } else {
            guard let (expression, type) = expressions.readLet(entry.value, surroundings) else { return false }
            list.enter(entry.key, .constant(expression), type)
        }
        return true
    }
}
