import AttributeValues

// `components`: each body is read once. A use copies its root and fills in the parameters.

/// A component of this document.
final class ComponentState {
    enum Progress { case untouched, reading, done }

    let entry: DocumentEntry
    let definition = NodeDefinition()
    var progress = Progress.untouched
    /// Its instances would be endless; the fault has been added.
    var isEndless = false

    init(_ entry: DocumentEntry) { self.entry = entry }
}

extension SceneChecker {
    func declareComponents(_ written: DocumentNode) {
        var order: [String] = []
        for entry in entries(written, "components", hint: "write Name: and its body below") {
            at(entry.name) {
                guard checkName(entry.key, "a component") else { return }
                components[entry.name] = ComponentState(entry)
                order.append(entry.name)
            }
        }
        let uses = components.mapValues { ComponentUses(of: $0.entry.value) }
        tellEndless(order, uses)
        componentOrder = ComponentUses.order(order, uses)
    }

    /// Adds faults for components that contain themselves other than through the elements of a list.
    private func tellEndless(_ names: [String], _ uses: [String: ComponentUses]) {
        for name in names where components[name]?.isEndless == false {
            guard let chain = ComponentUses.chain(from: name, backTo: name, uses) else { continue }
            for member in chain { components[member]?.isEndless = true }
            guard let entry = components[name]?.entry else { continue }
            at(name) {
                fault(
                    "\(name) contains itself without end: \((chain + [name]).joined(separator: " → "))", at: entry.key,
                    hint: "a component may repeat itself for the elements of a list that ends, with forEach")
            }
        }
    }

    /// Reads a component that another one uses, with everything below it. Components are read in the order of their
    /// uses. Readings nest only for a cycle through forEach.
    private func read(component name: String) {
        guard let state = components[name], state.progress == .untouched else { return }
        guard nodeDepth <= SceneLimits.repetitionDepth else {
            let chain = (componentChain + [name]).joined(separator: " → ")
            return fault(
                .limit,
                "components repeat each other from more than \(SceneLimits.repetitionDepth) nodes deep: \(chain)",
                at: state.entry.key)
        }
        let outer = (path, treePath, nodeDepth)
        let around = open.count
        begin(component: name)
        while open.count > around { readNext() }
        end(component: name)
        (path, treePath, nodeDepth) = outer
    }

    /// Reads a component's root. The nodes below it are read next.
    func begin(component name: String) {
        guard let state = components[name], state.progress == .untouched else { return }
        state.progress = .reading
        componentChain.append(name)
        path = [.key("components"), .key(name)]
        treePath = nil
        readBody(state, name)
    }

    /// Called when all nodes below a component's root have been read.
    func end(component name: String) {
        guard let state = components[name] else { return }
        componentChain.removeLast()
        state.progress = .done
        declared.components[name] = state.definition
        declared.written.components[name] = state.entry.value.value
        known.components[name] = state.definition
    }

    private func readBody(_ state: ComponentState, _ name: String) {
        let definition = state.definition
        definition.component = name
        definition.position = state.entry.key.position
        let written =
            state.entry.value.isNull ? DocumentNode(.map([]), at: state.entry.key.position) : state.entry.value
        guard let fields = fields(written) else { return }
        if let id = fields[.id] { at("id") { fault("a component has no id: each use gives its own", at: id) } }
        let place = Surroundings(isComponentRoot: true)
        guard fields[.component] != nil else {
            definition.kind = kind(fields)
            definition.hasWrittenKind = fields[.kind] != nil
            return complete(definition, fields, place)
        }
        guard let (base, _, _) = base(of: fields) else { return }
        fill(definition, from: base, isRepeated: false, fields, place)
    }

    // MARK: Use

    /// The component of a use; nil after adding a fault.
    private func base(of fields: NodeFields) -> (definition: NodeDefinition, name: String, isRepeated: Bool)? {
        guard let written = fields[.component] else { return nil }
        return at("component") {
            guard let name = written.string else {
                fault("component takes a component's name, not \(written.summary)", at: written)
                return nil
            }
            if let state = components[name] {
                read(component: name)
                guard state.progress != .untouched else { return nil }
                return state.isEndless && state.progress == .reading
                    ? nil : (state.definition, name, state.progress == .reading)
            }
            guard let known = known.components[name] else {
                fault(
                    .notFound, "there is no component '\(name)'", at: written,
                    hint: NearestName.hint(name, among: Set(components.keys).union(self.known.components.keys).sorted())
                        ?? "components are declared under components")
                return nil
            }
            return (known, name, false)
        }
    }

    /// Makes a node from a component: a copy of the body's root with the arguments, modifiers and children of the use.
    func use(_ fields: NodeFields, id: String, _ place: Surroundings) -> NodeDefinition? {
        guard let (base, name, isRepeated) = base(of: fields) else {
            // The parts of a faulty use are checked too.
            let stray = NodeDefinition()
            stray.kind = fields[.header] ?? fields[.content] ?? fields[.footer] != nil ? .section : .container
            children(fields, of: stray, Surroundings(enclosing: place.enclosing)) {}
            return nil
        }
        for key in [NodeKey.state, .computed, .inherit, .clock, .actions, .forEach] {
            guard let written = fields[key] else { continue }
            at(key.name) {
                fault(
                    "\(key.name) does not go with component: \(name) says what it has", at: written,
                    hint: key == .forEach
                        ? "write forEach: {in: …, component: \(name)}"
                        : "write it in the component, or give the component a parameter",
                    note: definition(of: name, base))
            }
        }
        if let written = fields[.kind], written.string != base.kind.rawValue {
            at("kind") {
                fault(
                    "\(name) is a \(base.kind.rawValue); a use cannot change that", at: written,
                    note: definition(of: name, base))
            }
        }
        let node = NodeDefinition()
        node.id = id
        node.component = name
        node.isContent = place.isContent
        node.layer = place.layer
        node.position = fields.node.position
        fill(node, from: base, isRepeated: isRepeated, fields, place)
        return node
    }

    private func definition(of name: String, _ base: NodeDefinition) -> SceneFault.Note? {
        base.position == .none || components[name] == nil
            ? nil : SceneFault.Note("\(name) is defined here", base.position)
    }

    private func fill(
        _ node: NodeDefinition, from base: NodeDefinition, isRepeated: Bool, _ fields: NodeFields, _ place: Surroundings
    ) {
        let name = base.component ?? "the component"
        node.kind = base.kind
        node.hasWrittenKind = base.hasWrittenKind
        if fields[.children] != nil, base.kind == .view, !base.hasWrittenKind { node.kind = .container }
        refuseChildren(fields, node.kind, name, base)
        var list = AttributeList(base.attributes)
        if place.isComponentRoot {
            attributes(fields.without([.binding, .let]), place, into: &list)
        }
        arguments(fields, name, base, place, into: &list)
        if place.isComponentRoot, let written = fields[.computed] {
            at("computed") {
                let own = list.attributes.map { ScopeEntry($0) }
                computed(written, own: own, base: node.kind == .container ? containerScope : baseScope, into: &list)
            }
        }
        actions(
            place.isComponentRoot ? fields : fields.without([.actions]), node.kind,
            own: ownEntries(list.attributes, place), place, into: &list)
        node.attributes = list.attributes
        let scope = LexicalScope(ownEntries(node.attributes, place), in: place.enclosing, base: baseScope)
        modifiers(fields, of: node, ModifierScope(lexical: scope, isContainer: node.kind == .container))
        wrap(node, around: base)
        if isRepeated {
            node.repeated = base
        } else {
            node.body = base
            node.forEach = base.forEach
            node.header = base.header
            node.children = base.children
            node.footer = base.footer
        }
        var inside =
            place.isComponentRoot
            ? Surroundings(enclosing: scope) : Surroundings(enclosing: place.enclosing, isContent: true)
        inside.layer = node.components.count
        content(fields, of: node, inside)
    }

    /// Children given at the use follow those of the body.
    private func content(_ fields: NodeFields, of node: NodeDefinition, _ place: Surroundings) {
        guard node.repeated != nil else {
            return children(fields, of: node, place) { [unowned self] in measure(node, at: fields.node) }
        }
        // The body is not complete yet. Only the nodes given here belong to this node itself.
        let given = NodeDefinition()
        given.kind = node.kind
        children(fields, of: given, place) { [unowned self] in
            node.header = given.header
            node.children = given.children
            node.footer = given.footer
            measure(node, at: fields.node)
        }
    }

    private func refuseChildren(_ fields: NodeFields, _ kind: NodeKind, _ name: String, _ base: NodeDefinition) {
        let allowed: [NodeKey] =
            switch kind {
            case .container, .group: [.children]
            case .section: [.children, .header, .content, .footer]
            case .view, .forEach, .choice, .branch: []
            }
        refuseSlots(fields, name, base)
        for key in [NodeKey.children, .header, .content, .footer] where !allowed.contains(key) {
            guard let written = fields[key] else { continue }
            at(key.name) {
                fault(
                    "\(name) is a \(kind.rawValue) and takes no \(key.name)", at: written,
                    note: definition(of: name, base))
            }
        }
    }

    /// Adds faults for nodes that are given and that no slot of the component shows.
    private func refuseSlots(_ fields: NodeFields, _ name: String, _ base: NodeDefinition) {
        let placing = base.placing.isEmpty ? base.components.last { !$0.placing.isEmpty }?.placing : base.placing
        let slots = (placing?.slots ?? []).filter { $0 != NodeDefinition.contentSlot }
        let hint = slots.isEmpty ? "it has no slots" : "its slots are \(slots.joined(separator: ", "))"
        if let written = fields[.slots] {
            at("slots") {
                for entry in entries(written, "slots", hint: "write name: and below it a list of nodes") {
                    guard !slots.contains(entry.name) else { continue }
                    let isChildren = entry.name == NodeDefinition.contentSlot
                    at(entry.name) {
                        fault(
                            .notFound, "\(name) has no slot '\(entry.name)'", at: entry.key,
                            hint: isChildren
                                ? "write children" : NearestName.hint(entry.name, among: slots) ?? hint,
                            note: definition(of: name, base))
                    }
                }
            }
        }
        if let written = fields[.children], let placing, !placing.isEmpty, !placing.hasPlaces,
            !placing.slots.contains(NodeDefinition.contentSlot)
        {
            at("children") {
                fault(
                    "\(name) shows no children: \(hint)", at: written, hint: "write slots: { \(slots[0]): […] }",
                    note: definition(of: name, base))
            }
        }
    }

    /// The use's modifiers are outside those of the body's root. Where the nearest modifier wins, the body's win.
    /// Preferences pass upwards, so there the outer one wins. What comes and goes is the use, so its transition wins.
    private func wrap(_ node: NodeDefinition, around base: NodeDefinition) {
        node.transformEnvironment += base.transformEnvironment.map { transform in
            var transform = transform
            transform.place += node.environment.count
            return transform
        }
        node.environment += base.environment
        node.environmentObjects += base.environmentObjects
        node.containerValues += base.containerValues
        node.preferences = base.preferences + node.preferences
        node.animations += base.animations
        node.tag = base.tag ?? node.tag
        node.transition = node.transition ?? base.transition
    }

    // MARK: Arguments

    private func arguments(
        _ fields: NodeFields, _ name: String, _ base: NodeDefinition, _ place: Surroundings,
        into list: inout AttributeList
    ) {
        var given: Set<String> = []
        for key in [NodeKey.binding, .let] {
            guard let written = fields[key] else { continue }
            given.formUnion((written.map ?? []).map(\.name))
            at(key.name) {
                if written.list != nil {
                    for parameter in parameterNames(written, key.name, place) {
                        // A parameter of the base that is named again stays a parameter.
                        if let known = list.attribute(named: parameter.text), known.isParameter(key) { continue }
                        enter(
                            parameter, key == .binding ? .binding(nil, animation: nil) : .constant(nil), .dyn,
                            into: &list)
                    }
                    return
                }
                for entry in entries(written, key.name, hint: "write name: value") {
                    at(entry.name) { argument(entry, key, name, base, place, into: &list) }
                }
            }
        }
        guard !place.isComponentRoot else { return }
        for attribute in list.attributes where attribute.lacksValue && !given.contains(attribute.name) {
            let key = attribute.isParameter(.binding) ? "binding" : "let"
            fault(
                "\(name) needs its \(key) '\(attribute.name)'", at: fields[.component] ?? fields.node,
                hint: "write \(key): {\(attribute.name): \(key == "binding" ? "$…" : "…")}",
                note: attribute.position == .none || components[name] == nil
                    ? nil : SceneFault.Note("it is declared here", attribute.position))
        }
    }

    private func argument(
        _ entry: DocumentEntry, _ key: NodeKey, _ name: String, _ base: NodeDefinition, _ place: Surroundings,
        into list: inout AttributeList
    ) {
        guard let parameter = list.attribute(named: entry.name), parameter.isParameter(key) else {
            if place.isComponentRoot, list.attribute(named: entry.name) == nil {
                return declare(entry, key, place, into: &list)
            }
            return tellUnknown(entry, key, name, base, list)
        }
        func given(_ type: ValueType) -> ValueType { parameter.type == .dyn ? type : parameter.type }
        let role: AttributeRole
        let type: ValueType
        if key == .binding {
            // A component's own root has no enclosing nodes, so `binding` refuses `$` there.
            guard let made = binding(entry.value, place) else { return }
            switch made.target {
            case .constant(let value)?:
                guard let accepted = known.accept(value, as: parameter.type) else {
                    return fault(
                        .typeMismatch,
                        "'\(entry.name)' of \(name) is \(parameter.type.withArticle), not \(entry.value.summary)",
                        at: entry.value, note: declared(parameter, name))
                }
                role = .binding(.constant(accepted), animation: made.animation)
            default:
                guard parameter.type.agrees(with: made.type) else {
                    return fault(
                        .typeMismatch,
                        "'\(entry.name)' of \(name) is \(parameter.type.withArticle), but is bound to \(made.type.withArticle)",
                        at: entry.value, note: declared(parameter, name))
                }
                role = .binding(made.target, animation: made.animation)
            }
            type = given(made.type)
        } else {
            guard let (expression, found) = expression(entry.value, in: place.scope(base: baseScope)),
                let fitting = fit(expression, found, to: parameter.type, of: entry.name, at: entry.value)
            else { return }
            role = .constant(fitting)
            type = given(found)
        }
        list.replace(AttributeDefinition(name: parameter.name, role: role, type: type, position: entry.key.position))
    }

    /// Adds a further parameter with a default, for a component whose root is another component.
    private func declare(_ entry: DocumentEntry, _ key: NodeKey, _ place: Surroundings, into list: inout AttributeList)
    {
        if key == .binding {
            guard let made = binding(entry.value, place) else { return }
            enter(entry.key, .binding(made.target, animation: made.animation), made.type, into: &list)
        } else {
            guard let (expression, type) = constant(entry.value, place) else { return }
            enter(entry.key, .constant(expression), type, into: &list)
        }
    }

    private func declared(_ parameter: AttributeDefinition, _ name: String) -> SceneFault.Note? {
        parameter.position == .none || components[name] == nil
            ? nil : SceneFault.Note("it is declared here", parameter.position)
    }

    private func tellUnknown(
        _ entry: DocumentEntry, _ key: NodeKey, _ name: String, _ base: NodeDefinition, _ list: AttributeList
    ) {
        if let taken = list.attribute(named: entry.name) {
            let isOther = taken.isParameter(key == .binding ? .let : .binding)
            return fault(
                "'\(entry.name)' of \(name) is \(taken.role.noun), not a \(key.name)", at: entry.key,
                hint: isOther
                    ? "write \(key == .binding ? "let" : "binding"): {\(entry.name): …}"
                    : "only bindings and lets are given at the use",
                note: declared(taken, name))
        }
        let names = list.attributes.filter { $0.isParameter(.binding) || $0.isParameter(.let) }.map(\.name)
        fault(
            .notFound, "\(name) has no parameter '\(entry.name)'", at: entry.key,
            hint: NearestName.hint(entry.name, among: names)
                ?? (names.isEmpty
                    ? "\(name) takes no parameters" : "its parameters are \(names.joined(separator: ", "))"),
            note: definition(of: name, base))
    }
}

extension AttributeDefinition {
    /// On a component's root, every binding and every let is a parameter.
    func isParameter(_ key: NodeKey) -> Bool {
        switch role {
        case .binding: key == .binding
        case .constant: key == .let
        default: false
        }
    }

    var lacksValue: Bool {
        switch role {
        case .binding(nil, _), .constant(nil): true
        default: false
        }
    }
}
