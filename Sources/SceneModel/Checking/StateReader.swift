import AttributeValues
import RuleLanguage

// Reads `state`: its initial value, for how long its past is recorded, when it expires, and the bounds of its entries.
extension ExpressionReader {
    static func isStateForm(_ node: DocumentNode) -> Bool {
        node.isForm(SceneForm.state.keys, requiring: ["initial", "type"])
    }

    /// Refuses a literal map that would be the long form of a state if its keys were spelled right.
    private func refusesMisspelled(_ node: DocumentNode) -> Bool {
        let keys = SceneForm.state.keys
        guard let entries = node.map, entries.contains(where: { ["initial", "type"].contains($0.name) }) else {
            return false
        }
        let wrong = entries.filter { !keys.contains($0.name) }
        let near = wrong.compactMap { NearestName.find($0.name, among: keys) }
        guard let entry = wrong.first, near.count == wrong.count else { return false }
        cursor.fault(
            under: entry.name, "a state has no key '\(entry.name)'", at: entry.key,
            hint: "did you mean '\(near[0])'? A map as a value is written {initial: {…}}")
        return true
    }

    // MARK: Literals

    /// Adds the states whose initial value is a literal.
    /// - Returns: the states whose initial value is a rule. They are added after the node's other attributes, which
    ///   these rules may read.
    func addLiteralStates(_ entries: [DocumentEntry], to list: AttributeList) -> [DocumentEntry] {
        entries.filter { entry in
            if beginning(of: entry.value) != nil { return true }
            cursor.at(entry.name) { addLiteralState(entry, to: list) }
            return false
        }
    }

    /// The rule or reference that a state begins with.
    private func beginning(of state: DocumentNode) -> DocumentNode? {
        guard ExpressionReader.isStateForm(state), let node = state["initial"] else { return nil }
        if case .literal = node.form { return nil }
        return node
    }

    /// Adds a state that begins with a rule or a reference.
    /// - Parameters:
    ///   - scope: the names that it can use.
    ///   - late: names of the node that have no values when its states begin.
    func addStartedState(_ entry: DocumentEntry, in scope: LexicalScope, late: Set<String>, to list: AttributeList) {
        let form = entry.value
        var (start, type): (Expression?, ValueType) = (nil, .dyn)
        if let node = beginning(of: form), let wanted = writtenType(form) {
            cursor.at("initial") {
                guard let found = expression(node, in: scope),
                    !refusesLate(found.expression, late, at: node), !refusesOperator(found.expression, at: node),
                    let fitting = fit(found, to: wanted ?? found.type, of: "initial", at: node, in: scope)
                else { return }
                guard (wanted ?? found.type).objectName == nil else {
                    return cursor.fault(
                        .typeMismatch, "the initial value of an object is a literal", at: node,
                        hint: "write literals for the properties of the object, or bind to the other object")
                }
                (start, type) = (fitting, wanted ?? found.type)
            }
        }
        list.enter(
            entry.key, .state(initial: .null, isTransient: isTransient(form)), type,
            history: readHistory(form, of: type), expires: readExpiry(form, of: type),
            entries: readEntries(form, of: type), start: start, isLeftOutOfPast: !flag("past", of: form, else: true))
    }

    private func refusesLate(_ expression: Expression, _ late: Set<String>, at node: DocumentNode) -> Bool {
        let names: [String] =
            switch expression {
            case .reference(let reference): [reference.name.text]
            case .rule(let program): program.inputs.filter { $0.namespace == nil }.map(\.name.text)
            case .selection(let selection): selection.targets.map(\.name) + selection.program.inputs.map(\.name.text)
            case .literal: []
            }
        guard let name = names.first(where: late.contains) else { return false }
        cursor.fault(
            "an initial value cannot read '\(name)', which the node computes later", at: node,
            hint: "it can read values that the node is given (let, binding, inherit), and enclosing nodes")
        return true
    }

    private func refusesOperator(_ expression: Expression, at node: DocumentNode) -> Bool {
        guard case .rule(let program) = expression, program.inputs.contains(where: { $0.operation != nil }) else {
            return false
        }
        cursor.fault(
            "an initial value cannot use an operator over time, which needs the past of its attribute", at: node,
            hint: "use the operator in a computed")
        return true
    }

    /// A faulty state is added as `dyn`, so that references to it are not reported too.
    func addLiteralState(_ entry: DocumentEntry, to list: AttributeList) {
        let (initial, isTransient, type) = stored(entry) ?? (.null, false, .dyn)
        let isForm = ExpressionReader.isStateForm(entry.value)
        list.enter(
            entry.key, .state(initial: initial, isTransient: isTransient), type,
            history: isForm ? readHistory(entry.value, of: type) : nil,
            expires: isForm ? readExpiry(entry.value, of: type) : nil,
            entries: isForm ? readEntries(entry.value, of: type) : nil,
            isLeftOutOfPast: isForm && !flag("past", of: entry.value, else: true))
    }

    /// The `expires` of a long form; nil without one, or after adding a fault.
    private func readExpiry(_ form: DocumentNode, of type: ValueType) -> TimeSpan? {
        guard let node = form["expires"] else { return nil }
        return cursor.at("expires") {
            guard let span = readExpiry(node, "a state") else { return nil }
            guard type.objectName == nil else {
                return cursor.refuse(
                    .typeMismatch, "an object does not expire", at: node,
                    hint: "write expires: at the properties of its type")
            }
            return span
        }
    }

    private func readExpiry(_ node: DocumentNode, _ what: String) -> TimeSpan? {
        guard let span = TimeSpan(node.text) else {
            return cursor.refuse("'\(node.text)' is not a length of time", at: node, hint: "such as 30s, 5m, 24h")
        }
        guard (TimeOperator.shortestSpan...SceneLimits.longestExpiry).contains(span.nanoseconds) else {
            return cursor.refuse(.limit, "\(what) expires after 10 ms to 87600h (3650 days), not \(span)", at: node)
        }
        return span
    }

    /// The `entries` of a long form; nil without them, or after adding a fault.
    private func readEntries(_ form: DocumentNode, of type: ValueType) -> EntryBounds? {
        guard let node = form["entries"] else { return nil }
        return cursor.at("entries") {
            guard let written = node.map else {
                return cursor.refuse(
                    "entries is a map, not \(node.summary)", at: node,
                    hint: "write entries: { expires: 90s, limit: 1000 }, or entries: {}")
            }
            cursor.checkKeys(written, of: "entries", allowed: SceneForm.entries.keys)
            guard case .map = type else {
                return cursor.refuse(
                    .typeMismatch, "a state with entries is a map, not \(type.withArticle)", at: node,
                    hint: "write type: map, or type: map(string, double)")
            }
            var bounds = EntryBounds()
            if let span = node["expires"] {
                bounds.expires = cursor.at("expires") { readExpiry(span, "an entry") }
            }
            if let limit = node["limit"] {
                guard let count = Int(limit.text), (1...SceneLimits.mostEntries).contains(count) else {
                    cursor.fault(
                        under: "limit",
                        "limit is a number of entries from 1 to \(SceneLimits.mostEntries), "
                            + "not \(limit.summary)", at: limit)
                    return nil
                }
                bounds.limit = count
            }
            return bounds
        }
    }

    private func stored(_ entry: DocumentEntry) -> (initial: Value, isTransient: Bool, type: ValueType)? {
        let node = entry.value
        let hint = "use computed for a rule, { initial: =rule } for a rule that runs once, or binding for $name"
        guard ExpressionReader.isStateForm(node) else {
            guard !refusesMisspelled(node),
                let initial = readLiteral(node, "a state starts from a literal", hint: hint), isShort(initial, node)
            else { return nil }
            return (initial, false, ValueType(of: initial))
        }
        guard let type = writtenType(node) else { return nil }
        let isTransient = isTransient(node)
        var initial: Value?
        if let node = node["initial"] {
            initial = cursor.at("initial") { readLiteral(node, "a state starts from a literal", hint: hint) }
            guard let initial, cursor.at("initial", { isShort(initial, node) }) else { return nil }
        }
        guard let type else { return (initial ?? .null, isTransient, ValueType(of: initial ?? .null)) }
        if initial == nil, node["entries"] != nil, case .map = type { return (.map(ValueMap()), isTransient, type) }
        return cursor.at("initial") { self.initial(initial, of: type, node["initial"] ?? entry.key) }.map {
            ($0, isTransient, type)
        }
    }

    private func isTransient(_ form: DocumentNode) -> Bool { flag("transient", of: form, else: false) }

    private func flag(_ key: String, of form: DocumentNode, else standard: Bool) -> Bool {
        guard let node = form[key] else { return standard }
        if case .scalar(.bool(let flag)) = node.content { return flag }
        cursor.fault(under: key, .typeMismatch, "\(key) is true or false, not \(node.summary)", at: node)
        return standard
    }

    private func initial(_ value: Value?, of type: ValueType, _ node: DocumentNode) -> Value? {
        guard let value else {
            if case .object = type { return .map(ValueMap()) }
            if type.admits(.null) { return .null }
            return cursor.refuse(
                "a state of type \(type) needs an initial value", at: node,
                hint: "write initial:, or the type \(type)?, which starts as null")
        }
        let known = vocabulary.known
        if let name = type.objectName {
            if case .null = value, case .object = type { return .map(ValueMap()) }
            // Objects of types that are still being declared are checked after the types.
            return known.types[name] == nil ? value : readObject(value, of: name, at: node)
        }
        // Lists and maps of such objects are checked then too.
        let isPending = type.objectNames.contains {
            known.types[$0] == nil && vocabulary.typeNames.contains($0)
        }
        if isPending { return value }
        return fit(
            value, as: type, at: node, hint: type == .bytes ? "bytes are written in base64, as !!binary aGk=" : nil
        ) {
            "the initial value is \(node.summary), not \(type.withArticle)"
        }
    }
}
