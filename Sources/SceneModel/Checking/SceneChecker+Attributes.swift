import AttributeValues
import RuleLanguage

// The attributes of a node: state, binding, let, inherit, clock. `computed` has its own file.

extension SceneChecker {
    private static let stateForm = ["initial", "type", "transient", "history"]
    private static let bindingForm = ["to", "animation"]
    static let parameterForm = ["default", "type"]

    /// Adds an attribute unless its name is wrong or taken.
    func enter(
        _ key: DocumentNode, _ role: AttributeRole, _ type: ValueType, history: TimeSpan? = nil,
        start: Expression? = nil, into list: inout AttributeList
    ) {
        work += SceneCost.entry
        guard checkName(key, "an attribute") else { return }
        let attribute = AttributeDefinition(
            name: key.text, role: role, type: type, history: history, start: start, position: key.position)
        guard let taken = list.add(attribute) else { return }
        let note = taken.position == .none ? nil : SceneFault.Note("the other one is here", taken.position)
        fault(.conflict, "the node has an attribute '\(key.text)' already, \(taken.role.noun)", at: key, note: note)
    }

    // MARK: State

    /// The states of a node that begin with rules are added behind its other attributes, which the rules read.
    func states(_ entries: [DocumentEntry], into list: inout AttributeList) -> [DocumentEntry] {
        entries.filter { entry in
            if beginning(of: entry.value) != nil { return true }
            at(entry.name) { state(entry, into: &list) }
            return false
        }
    }

    /// The rule or reference that a state begins with.
    private func beginning(of state: DocumentNode) -> DocumentNode? {
        guard state.isForm(SceneChecker.stateForm, requiring: ["initial", "type"]), let node = state["initial"] else {
            return nil
        }
        if case .literal = written(node) { return nil }
        return node
    }

    /// A state that begins with a rule or a reference.
    /// - Parameters:
    ///   - scope: the names that it can use.
    ///   - late: names of the node that have no values when its states begin.
    func startedState(
        _ entry: DocumentEntry, in scope: LexicalScope, late: Set<String>, into list: inout AttributeList
    ) {
        let form = entry.value
        var (start, type): (Expression?, ValueType) = (nil, .dyn)
        if let node = beginning(of: form), let wanted = writtenType(form) {
            at("initial") {
                guard let (expression, found) = expression(node, in: scope),
                    !tellLate(expression, late, at: node), !tellOperator(expression, at: node),
                    let fitting = fit(expression, found, to: wanted ?? found, of: "initial", at: node)
                else { return }
                guard (wanted ?? found).objectName == nil else {
                    return fault(
                        .typeMismatch, "an object begins with a literal", at: node,
                        hint: "let the properties of the object begin with literals, or bind to the other object")
                }
                (start, type) = (fitting, wanted ?? found)
            }
        }
        enter(
            entry.key, .state(initial: .null, isTransient: isTransient(form)), type, history: history(form, of: type),
            start: start, into: &list)
    }

    private func tellLate(_ expression: Expression, _ late: Set<String>, at node: DocumentNode) -> Bool {
        let names: [String] =
            switch expression {
            case .reference(let reference): [reference.name]
            case .rule(let program): program.inputs.filter { $0.namespace == nil }.map(\.name)
            case .selection(let selection): selection.targets.map(\.name) + selection.program.inputs.map(\.name)
            case .literal: []
            }
        guard let name = names.first(where: late.contains) else { return false }
        fault(
            "a state begins before the node computes '\(name)'", at: node,
            hint: "its rule can read what the node is given (let, binding, inherit) and what encloses it")
        return true
    }

    private func tellOperator(_ expression: Expression, at node: DocumentNode) -> Bool {
        guard case .rule(let program) = expression, program.inputs.contains(where: { $0.operation != nil }) else {
            return false
        }
        fault("a state begins with what is now, and an operator over time tells of what was", at: node)
        return true
    }

    /// A faulty state is added as `dyn`, so that references to it are not reported too.
    func state(_ entry: DocumentEntry, into list: inout AttributeList) {
        let (initial, isTransient, type) = stored(entry) ?? (.null, false, .dyn)
        let history =
            entry.value.isForm(SceneChecker.stateForm, requiring: ["initial", "type"])
            ? history(entry.value, of: type) : nil
        enter(entry.key, .state(initial: initial, isTransient: isTransient), type, history: history, into: &list)
    }

    /// The `history` of a long form; nil without one, or after adding a fault.
    func history(_ form: DocumentNode, of type: ValueType) -> TimeSpan? {
        guard let node = form["history"] else { return nil }
        return at("history") {
            guard let span = TimeSpan(node.text) else {
                fault("'\(node.text)' is not a length of time", at: node, hint: "such as 10m, 1h30m, 24h")
                return nil
            }
            if let problem = TimeOperator.fault(of: span) {
                fault(.limit, problem, at: node)
                return nil
            }
            switch type {
            case .dyn, .scalar(.int), .scalar(.uint), .scalar(.double), .nullable(.scalar(.int)),
                .nullable(.scalar(.uint)), .nullable(.scalar(.double)):
                return span
            default:
                fault(
                    .typeMismatch, "a history is of numbers, and this is \(type.withArticle)", at: node,
                    hint: "remove history:, or record a rule that makes a number of it")
                return nil
            }
        }
    }

    private func stored(_ entry: DocumentEntry) -> (initial: Value, isTransient: Bool, type: ValueType)? {
        let node = entry.value
        let hint =
            "use computed for a rule that goes on, { initial: =rule } for one to begin with, or binding for $name"
        guard node.isForm(SceneChecker.stateForm, requiring: ["initial", "type"]) else {
            guard let initial = literal(node, "a state starts from a literal", hint: hint), isShort(initial, node)
            else { return nil }
            return (initial, false, ValueType(of: initial))
        }
        guard let type = writtenType(node) else { return nil }
        let isTransient = isTransient(node)
        var initial: Value?
        if let node = node["initial"] {
            initial = at("initial") { literal(node, "a state starts from a literal", hint: hint) }
            guard let initial, at("initial", { isShort(initial, node) }) else { return nil }
        }
        guard let type else { return (initial ?? .null, isTransient, ValueType(of: initial ?? .null)) }
        return at("initial") { self.initial(initial, of: type, node["initial"] ?? entry.key) }.map {
            ($0, isTransient, type)
        }
    }

    private func isTransient(_ form: DocumentNode) -> Bool {
        guard let node = form["transient"] else { return false }
        if case .scalar(.bool(let flag)) = node.content { return flag }
        at("transient") { fault(.typeMismatch, "transient is true or false, not \(node.summary)", at: node) }
        return false
    }

    /// The initial value converted to its type.
    private func initial(_ value: Value?, of type: ValueType, _ node: DocumentNode) -> Value? {
        guard let value else {
            if case .object = type { return .map(ValueMap()) }
            if type.admits(.null) { return .null }
            fault(
                "a state of type \(type) needs an initial value", at: node,
                hint: "write initial:, or the type \(type)? and start from null")
            return nil
        }
        if let name = type.objectName {
            if case .null = value, case .object = type { return .map(ValueMap()) }
            // Objects of types that are still being declared are checked after the types.
            return known.types[name] == nil ? value : objectProperties(value, of: name, at: node)
        }
        // Lists and maps of such objects are checked then too.
        if type.objectNames.contains(where: { known.types[$0] == nil && typeNames.contains($0) }) { return value }
        return fitting(
            value, as: type, at: node, hint: type == .bytes ? "bytes are written in base64, as !!binary aGk=" : nil
        ) {
            "the initial value is \(node.summary), not \(type.withArticle)"
        }
    }

    /// A state's initial value converted to its type. If it does not fit or is too long, a fault is added and the
    /// result is nil.
    /// - Parameter misfit: the message for a value that does not fit.
    func fitting(
        _ value: Value, as type: ValueType, at node: DocumentNode, hint: String? = nil, misfit: () -> String
    ) -> Value? {
        var room = context.valueSize
        let accepted = known.accept(value, as: type, within: &room)
        guard room >= 0, accepted.map({ room == context.valueSize || !$0.isLonger(than: context.valueSize) }) ?? true
        else {
            tellLong(node)
            return nil
        }
        if accepted == nil { fault(.typeMismatch, misfit(), at: node, hint: hint) }
        return accepted
    }

    /// Adds a fault if the value is longer than allowed. O(parts of the value).
    private func isShort(_ value: Value, _ node: DocumentNode) -> Bool {
        guard value.isLonger(than: context.valueSize) else { return true }
        tellLong(node)
        return false
    }

    private func tellLong(_ node: DocumentNode) {
        fault(
            .limit, "the initial value has more than \(context.valueSize) bytes", at: node,
            hint: "value-size is the limit")
    }

    // MARK: Bindings

    /// A binding as written.
    struct WrittenBinding {
        var target: BindingTarget?
        var animation: String?
        /// The type of the target or the parameter.
        var type: ValueType
    }

    func binding(_ node: DocumentNode, _ place: Surroundings) -> WrittenBinding? {
        if place.isComponentRoot, node.isForm(SceneChecker.parameterForm) {
            return parameter(node).map { parameter in
                WrittenBinding(target: parameter.standard.map { .constant($0) }, animation: nil, type: parameter.type)
            }
        }
        if node.isForm(["get", "set", "animation"], requiring: ["get"]) {
            guard var made = twoRules(node, place) else { return nil }
            if let animation = node["animation"], !animation.isNull {
                guard let text = at("animation", { self.animation(animation) }) else { return nil }
                made.animation = text
            }
            return made
        }
        if isBindingForm(node) {
            checkKeys(node.map ?? [], of: "a binding", allowed: SceneChecker.bindingForm)
            guard let to = node["to"] else {
                if node.isForm(SceneChecker.bindingForm) {
                    fault("a binding needs something to write to", at: node, hint: "write to: $name")
                }
                return nil
            }
            guard var made = at("to", { target(to, place) }) else { return nil }
            if let animation = node["animation"], !animation.isNull {
                guard let text = at("animation", { self.animation(animation) }) else { return nil }
                made.animation = text
            }
            return made
        }
        return target(node, place)
    }

    /// True if a map describes the target of a binding and is not a constant: it has the keys of that form, or it
    /// contains a reference.
    private func isBindingForm(_ node: DocumentNode) -> Bool {
        if node.isForm(SceneChecker.bindingForm, requiring: ["to"]) { return true }
        guard let entries = node.map, !context.isKept else { return false }
        return entries.contains { entry in
            guard case .reference = written(entry.value) else { return false }
            return entry.name == "to" || NearestName.find(entry.name, among: ["to"]) != nil
                || entries.contains { $0.name == "animation" }
        }
    }

    private func target(_ node: DocumentNode, _ place: Surroundings) -> WrittenBinding? {
        switch written(node) {
        case .literal(.string(let text))
        where !context.isKept && text == node.text && Rule.reading(text, in: place.scope(base: baseScope).rules) != nil:
            fault(
                "'\(text)' is a text here, but names an attribute", at: node,
                hint: "write $\(text) to bind to it, or \(SceneChecker.typed(text)) for the text")
            return nil
        case .literal(let value): return WrittenBinding(target: .constant(value), type: ValueType(of: value))
        case .rule(let text, _) where SelectionText.hasReferences(text): return selectedTarget(text, node, place)
        case .rule:
            fault(
                "a binding needs something to write to, not a rule", at: node,
                hint: "bind to $name, choose one with =cond ? $a : $b, or take the rule's value with let")
            return nil
        case .reference(let text):
            if isSelection(text) { return selectedTarget("$" + text, node, place) }
            guard !refusesTarget(node, place) else { return nil }
            guard let found = reference(text, in: place.scope(base: baseScope), at: node) else { return nil }
            if let reason = unwritable(found.entry, found.reference, found.object) {
                fault(
                    .readOnly, "'$\(text)' cannot be bound: \(reason)", at: node,
                    hint: "pass it as let, or bind to the state it comes from")
                return nil
            }
            return WrittenBinding(target: .reference(found.reference), type: found.type)
        }
    }

    /// Adds a fault for a target at the root of a component.
    private func refusesTarget(_ node: DocumentNode, _ place: Surroundings) -> Bool {
        guard place.isComponentRoot else { return false }
        fault(
            "a component's binding is a parameter, whose target is given where the component is used", at: node,
            hint: "declare it, as binding: [name]")
        return true
    }

    private func selectedTarget(_ text: String, _ node: DocumentNode, _ place: Surroundings) -> WrittenBinding? {
        let scope = place.scope(base: baseScope)
        guard !refusesTarget(node, place),
            case (.selection(let made), let type, let reason)? = selection(
                text, in: scope, rules: scope.rules, at: node)
        else { return nil }
        if let reason {
            fault(
                .readOnly, "'\(text)' cannot be bound: \(reason)", at: node,
                hint: "pass it as let, or bind to the state it comes from")
            return nil
        }
        return WrittenBinding(target: .selection(made), type: type)
    }

    /// `{get: rule, set: {$state: value over newValue}}`
    private func twoRules(_ node: DocumentNode, _ place: Surroundings) -> WrittenBinding? {
        checkKeys(node.map ?? [], of: "a binding with rules", allowed: ["get", "set", "animation"])
        let outer = place.scope(base: baseScope)
        guard !refusesTarget(node, place), let get = node["get"], let read = at("get", { rule(get, in: outer.rules) })
        else { return nil }
        let form = "write set: {$state: =newValue}"
        guard let set = node["set"], set.map?.isEmpty == false else {
            fault("a binding that computes what it reads needs set", at: node, hint: form)
            return nil
        }
        let type = self.type(of: read)
        let scope = LexicalScope(
            [ScopeEntry(name: BindingTarget.newValue, type: type, access: .readOnly("the value that is written"))],
            in: place.enclosing, base: baseScope)
        var writes: [(target: Reference, value: Expression)] = []
        at("set") {
            for entry in entries(set, "set", hint: form) {
                at(entry.name) {
                    guard entry.name.hasPrefix("$") else {
                        return fault("'\(entry.name)' is no target", at: entry.key, hint: "a target is $name")
                    }
                    guard let found = reference(String(entry.name.dropFirst()), in: outer, at: entry.key),
                        let (value, _) = expression(entry.value, in: scope)
                    else { return }
                    if let reason = unwritable(found.entry, found.reference, found.object) {
                        return fault(
                            .readOnly, "'\(entry.name)' cannot be written: \(reason)", at: entry.key,
                            hint: "write to the state it comes from")
                    }
                    writes.append((found.reference, value))
                }
            }
        }
        guard !writes.isEmpty else { return nil }
        return WrittenBinding(target: .rules(get: read, set: writes), type: type)
    }

    /// The reason why a reference cannot be written through; nil if it can.
    func unwritable(_ entry: ScopeEntry, _ reference: Reference, _ object: ObjectProperty?) -> String? {
        if let object {
            if case .computed = object.property.role {
                return "'\(object.property.name)' of \(object.type) is computed"
            }
            return nil
        }
        guard case .readOnly(let what, let mayHoldObject) = entry.access else { return nil }
        let isObject = entry.type.objectName != nil || (entry.type == .dyn && !reference.steps.isEmpty)
        return mayHoldObject && isObject ? nil : "'\(entry.name)' is \(what)"
    }

    /// A parameter's declaration `{default, type}`; nil after adding a fault.
    func parameter(_ node: DocumentNode) -> (standard: Value?, type: ValueType)? {
        guard let type = writtenType(node) else { return nil }
        guard let standard = node["default"] else { return (nil, type ?? .dyn) }
        return at("default") { () -> (standard: Value?, type: ValueType)? in
            guard let value = literal(standard, "a default is a literal", hint: "take the value as a parameter") else {
                return nil
            }
            guard let type else { return (value, ValueType(of: value)) }
            guard let accepted = known.accept(value, as: type) else {
                fault(.typeMismatch, "the default is \(standard.summary), not \(type.withArticle)", at: standard)
                return nil
            }
            return (accepted, type)
        }
    }

    /// Parameters that are declared only by their names: `binding: [isPlaying]`.
    func parameterNames(_ node: DocumentNode, _ key: String, _ place: Surroundings) -> [DocumentNode] {
        guard place.isComponentRoot else {
            let name = node.list?.first?.string ?? "name"
            fault(
                "only a component declares parameters, as \(key): [\(name)]", at: node,
                hint: key == "binding"
                    ? "give each its target, as binding: {\(name): $\(name)}"
                    : "give each its value, as let: {\(name): …}")
            return []
        }
        var names: [DocumentNode] = []
        for (position, element) in (node.list ?? []).enumerated() {
            if element.string != nil {
                names.append(element)
            } else {
                at(position) {
                    fault(
                        "a parameter is a name, not \(element.summary)", at: element,
                        hint: "write \(key): {name: {default: …}} for one with a default")
                }
            }
        }
        return names
    }

    // MARK: let

    func constant(_ node: DocumentNode, _ place: Surroundings) -> (Expression?, ValueType)? {
        if place.isComponentRoot, node.isForm(SceneChecker.parameterForm) {
            guard let standard = node["default"], case .rule = written(standard) else {
                return parameter(node).map { ($0.standard.map { .literal($0) }, $0.type) }
            }
            guard let type = writtenType(node) else { return nil }
            return at("default") { () -> (Expression?, ValueType)? in
                guard let (rule, found) = expression(standard, in: place.scope(base: baseScope)),
                    let fitting = fit(rule, found, to: type ?? found, of: "default", at: standard)
                else { return nil }
                return (fitting, type ?? found)
            }
        }
        return expression(node, in: place.scope(base: baseScope)).map { ($0, $1) }
    }

    // MARK: Inherited

    func inherit(_ node: DocumentNode, into list: inout AttributeList) {
        if let names = node.list {
            for (position, name) in names.enumerated() {
                at(position) {
                    guard let key = name.string else {
                        return fault("inherit lists environment keys, not \(name.summary)", at: name)
                    }
                    if typeNames.contains(key) {
                        let attribute = key.prefix(1).lowercased() + key.dropFirst()
                        return fault(
                            "an object needs a name here", at: name, hint: "write inherit: {\(attribute): \(key)}")
                    }
                    inherit(key, as: name, at: name, into: &list)
                }
            }
            return
        }
        for entry in entries(node, "inherit", hint: "write inherit: [key], or {name: key}") {
            at(entry.name) {
                guard let key = entry.value.string else {
                    return fault(
                        "inherit takes an environment key or an object type, not \(entry.value.summary)",
                        at: entry.value)
                }
                let isObject = key.unicodeScalars.first.map { ("A"..."Z").contains($0) } ?? false
                guard isObject else { return inherit(key, as: entry.key, at: entry.value, into: &list) }
                let isOptional = key.hasSuffix("?")
                let name = isOptional ? String(key.dropLast()) : key
                guard typeNames.contains(name) else {
                    enter(entry.key, .inherit(key: key), .dyn, into: &list)
                    return fault(
                        .notFound, "there is no object type '\(name)'", at: entry.value,
                        hint: NearestName.hint(name, among: typeNames.sorted())
                            ?? "object types are declared under types")
                }
                enter(
                    entry.key, .inheritObject(type: name, isOptional: isOptional),
                    isOptional ? .nullable(.object(name)) : .object(name), into: &list)
            }
        }
    }

    private func inherit(_ key: String, as name: DocumentNode, at node: DocumentNode, into list: inout AttributeList) {
        guard let declared = known.environment[key] else {
            if name.position != node.position { enter(name, .inherit(key: key), .dyn, into: &list) }
            let isPath = key.contains(".")
            return fault(
                .notFound, "there is no environment key '\(key)'", at: node,
                hint: isPath
                    ? "inherit the whole key, or read env.\(key) in a rule"
                    : NearestName.hint(key, among: known.environment.keys.sorted())
                        ?? "environment keys are declared under keys.environment")
        }
        enter(name, .inherit(key: key), declared.type, into: &list)
    }
}

extension AttributeRole {
    /// The kind of the attribute, for messages.
    var noun: String {
        switch self {
        case .state: "a state"
        case .binding: "a binding"
        case .constant: "a let"
        case .computed: "a computed"
        case .inherit, .inheritObject: "an inherited value"
        case .clock: "a clock"
        case .action: "an action"
        }
    }
}
