import AttributeValues

// Reads the attributes of a node that do not compute: state, binding, let, inherit, clock.
extension PartReader {
    func readAttributes(_ fields: NodeFields, _ place: Surroundings, into list: AttributeList) {
        var started: [DocumentEntry] = []
        fields.visit(.state, cursor) { written in
            started = expressions.addLiteralStates(
                cursor.readEntries(written, "state", hint: "write name: value"), to: list)
        }
        add(fields, .binding, hint: "write name: $target", place, to: list)
        add(fields, .let, hint: "write name: value", place, to: list)
        fields.visit(.inherit, cursor) { written in readInherited(written, into: list) }
        fields.visit(.clock, cursor) { written in
            cursor.visitEntries(written, "clock", hint: "write now: every 1s") { entry in
                list.enter(entry.key, .clock(readClock(entry.value) ?? .everyMinute), .timestamp)
            }
        }
        guard !started.isEmpty else { return }
        let late = started.map(\.name) + (fields[.computed]?.map ?? []).map(\.name)
        let names = place.ownNames(of: list.attributes) + late.map { ScopeEntry(name: $0, type: .dyn) }
        let scope = LexicalScope(names, in: place.enclosing)
        cursor.at("state") {
            for entry in started {
                cursor.at(entry.name) { expressions.addStartedState(entry, in: scope, late: Set(late), to: list) }
            }
        }
    }

    /// Adds the bindings or the lets of a node.
    private func add(
        _ fields: NodeFields, _ key: NodeKey, hint: String, _ place: Surroundings, to list: AttributeList
    ) {
        guard let written = fields[key] else { return }
        cursor.at(key.name) {
            guard written.list == nil else {
                for name in expressions.readParameterNames(written, key.name, place) {
                    list.enter(parameter: name, key)
                }
                return
            }
            cursor.visitEntries(written, key.name, hint: hint) { entry in
                guard !add(entry, key, place, to: list) else { return }
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
    func add(_ entry: DocumentEntry, _ key: NodeKey, _ place: Surroundings, to list: AttributeList) -> Bool {
        if key == .binding {
            guard let made = readBinding(entry.value, place) else { return false }
            list.enter(entry.key, .binding(made.target, animation: made.animation), made.type)
        } else {
            guard let (expression, type) = expressions.readLet(entry.value, place) else { return false }
            list.enter(entry.key, .constant(expression), type)
        }
        return true
    }
}
