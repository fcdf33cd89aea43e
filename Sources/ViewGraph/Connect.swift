import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

// Connects vertices to what they read, when a node is made and again when the tree around it changes. A vertex whose
// sources stay the same is left alone, so only rules with other sources run again.

extension Wiring {
    func connectReferences(of row: NodeRow) {
        connectEnvironmentReferences(of: row)
        if nodes[row].definition.environmentObjects.isEmpty, nodes[row].objects.isEmpty {
            return connectAttributes(of: row)
        }
        // A node sees the objects that it provides. Its own references may lead to these, so a second pass may be
        // needed.
        nodes[row].objects = providedObjects(of: row)
        connectAttributes(of: row)
        let provided = providedObjects(of: row)
        guard !provided.elementsEqual(nodes[row].objects, by: ==) else { return }
        nodes[row].objects = provided
        connectAttributes(of: row)
    }

    private func providedObjects(of row: NodeRow) -> [(type: String, object: ProvidedObject, position: Int)] {
        let definition = nodes[row].definition
        return definition.environmentObjects.indices.compactMap { position in
            guard let place = providedPlace(position, of: row) else { return nil }
            let target = follow(place)
            if case .object(let object) = record(target.attribute).source {
                guard nodes.isAlive(object), let type = nodes[object].definition.component else { return nil }
                return (type, .node(object), position)
            }
            return declaredType(of: place).objectName.map { ($0, .place(place), position) }
        }
    }

    /// Where the reference to an object that a node provides leads.
    func providedPlace(_ position: Int, of row: NodeRow) -> Place? {
        let definition = nodes[row].definition
        let reference = definition.environmentObjects[position].reference
        let scope = Scope.modifier.atUse(position < definition.objectsAtUse)
        return resolveName(reference.name.text, from: row, scope).map { Place($0, reference.steps) }
    }

    private func connectAttributes(of row: NodeRow) {
        if connectOwnReferences(of: nodes[row]) { return }
        for (_, attribute) in nodes[row].attributes {
            guard let known = attributes[attribute], let definition = known.definition else { continue }
            if !known.isBare || definition.history != nil { connectHistory(of: attribute, known) }
            if !known.isBare || definition.expires != nil { connectExpiry(of: attribute, known) }
            if !known.isBare || definition.entries != nil { connectEntries(of: attribute, known) }
            switch definition.role {
            case .binding(let target, _):
                switch target {
                case .reference(let reference)?: replaceSource(of: attribute, alias(reference, from: row, .enclosing))
                case .selection(let selection)?:
                    replaceSource(of: attribute, boundSelection(selection, at: row, .enclosing))
                case .rules: continue
                case .constant(let value)?: replaceSource(of: attribute, .literal(.value(value)))
                case nil: replaceSource(of: attribute, .literal(.failure(missingParameter(attribute))))
                }
            case .constant(.reference(let reference)?):
                replaceSource(of: attribute, alias(reference, from: row, .enclosing))
            case .constant(.literal(let value)?):
                replaceSource(of: attribute, .literal(.value(declarations.complete(value, as: record(attribute).type))))
            case .constant(nil): replaceSource(of: attribute, .literal(.failure(missingParameter(attribute))))
            case .inherit(let key):
                // A node's own modifiers of the environment apply below it, not to its own attributes.
                if let source = environmentSource(key, at: row, before: nodes[row].definition.modifiersAroundBody) {
                    replaceSource(of: attribute, .alias(Place(source), vertex: nil))
                } else {
                    let failure = Failure(.notFound, "undeclared environment key \(key)", path: path(of: attribute))
                    replaceSource(of: attribute, .literal(.failure(failure)))
                }
            case .inheritObject(let type, let isOptional):
                replaceSource(of: attribute, inheritedObject(type, isOptional, for: attribute, at: row))
            case .clock(let schedule):
                replaceSource(
                    of: attribute,
                    scheduledSource(schedule, at: row) ?? .alias(Place(clockVertex(of: schedule)), vertex: nil))
            case .action(let action): replaceSource(of: attribute, .literal(.value(action.summary)))
            case .constant(.selection(let selection)?):
                replaceSource(of: attribute, boundSelection(selection, at: row, .enclosing))
            case .constant(.rule), .state, .computed: continue
            }
        }
        noteReferences(of: nodes[row])
    }

    /// - Returns: the node's actions. Their triggers are still to be connected.
    func connectExpressions(of row: NodeRow) -> [AttributeID] {
        let node = nodes[row]
        if !node.standing.isEmpty { connectStanding(of: row) }
        if connectOwnRules(of: node) { return [] }
        defer { noteRules(of: node) }
        var actions: [AttributeID] = []
        for (_, attribute) in node.attributes {
            switch attributes[attribute]?.definition?.role {
            case .computed(let program):
                connectRule(program, of: attribute, at: row, .own)
            case .binding(.rules(let program, _)?, _), .constant(.rule(let program)):
                connectRule(program, of: attribute, at: row, .enclosing)
            case .action: actions.append(attribute)
            default: continue
            }
        }
        let definition = node.definition
        if definition.isPlain { return actions }
        for (position, modifier) in definition.environmentModifiers.enumerated() {
            switch modifier {
            case .override(let entry):
                if case .reference = entry.expression { continue }
                connectOverride(entry, at: row, position)
            case .transform(let transform):
                guard let inherited = environmentSource(transform.key, at: row, before: position) else { continue }
                let scope = Scope.nestedModifier(behind: definition.modifiersAround(position))
                    .atUse(transform.isAtUse)
                let written = boundRule(
                    transform.program, at: row, scope, value: Place(inherited, transform.steps), type: transform.type)
                connectEnvironment(
                    transform.key, transform.steps, transform.type, .rule(written), inherited, at: row,
                    node.environment[position].attribute)
            }
        }
        for (position, entry) in definition.containerValues.enumerated() {
            let value = node.containerValues[position].source
            replaceSource(
                of: value, source(entry.expression, at: row, .label.atUse(entry.isAtUse), entry.type, at: .init(value)))
        }
        if let tag = node.tag, let expression = definition.tag {
            replaceSource(of: tag, source(expression, at: row, .label.atUse(definition.isTagAtUse), at: .init(tag)))
        }
        for (position, entry) in definition.preferences.enumerated() {
            let value = node.preferences[position].source
            let scope = Scope.modifier.atUse(entry.isAtUse)
            replaceSource(of: value, source(entry.expression, at: row, scope, entry.type, at: .init(value)))
        }
        for (position, modifier) in definition.animations.enumerated() {
            let value = node.animations[position].value
            let scope = Scope.modifier.atUse(modifier.isAtUse)
            replaceSource(of: value, source(modifier.value, at: row, scope, at: .init(value)))
        }
        return actions
    }

    /// Overrides that are references come with the other references: those of nodes below lead through them.
    private func connectEnvironmentReferences(of row: NodeRow) {
        let definition = nodes[row].definition
        if definition.isPlain { return }
        for (position, modifier) in definition.environmentModifiers.enumerated() {
            if case .override(let entry) = modifier, case .reference = entry.expression {
                connectOverride(entry, at: row, position)
            }
        }
    }

    /// Drops the cached targets of a node's aliases, because references of other nodes now lead to other places. The
    /// next read finds them again.
    func renewReferences(of row: NodeRow) {
        let node = nodes[row]
        let all = node.attributes.map(\.attribute) + node.environment.map(\.attribute)
        for attribute in all + (node.attributes.element.map { [$0] } ?? []) {
            guard case .alias(let target, _?)? = attributes.source(attribute) else { continue }
            replaceSource(of: attribute, .alias(target, vertex: nil))
        }
    }

    private func connectOverride(_ entry: KeyedExpression, at row: NodeRow, _ position: Int) {
        let outer = nodes[row].definition.modifiersAround(position)
        let scope = Scope.nestedModifier(behind: outer).atUse(entry.isAtUse)
        let written = source(entry.expression, at: row, scope, entry.type)
        let inherited = entry.steps.isEmpty ? nil : environmentSource(entry.key, at: row, before: position)
        connectEnvironment(
            entry.key, entry.steps, entry.type, written, inherited, at: row,
            nodes[row].environment[position].attribute)
    }

    /// Sets the source of an environment modifier's vertex: `written`, or `inherited` with one field replaced.
    /// - Parameter inherited: the value that the field is part of.
    func connectEnvironment(
        _ key: String, _ steps: [AttributePath.Step], _ type: ValueType, _ written: Source, _ inherited: AttributeID?,
        at row: NodeRow, _ vertex: AttributeID
    ) {
        guard !steps.isEmpty else { return replaceSource(of: vertex, written) }
        guard let inherited else { return }
        // The field's value has a vertex of its own, which the override reads.
        let value: AttributeID
        if case .override(_, _, let existing) = record(vertex).source {
            value = existing
        } else {
            value = createHidden("environment.\(key) field", row, type)
        }
        replaceSource(of: value, written)
        replaceSource(of: vertex, .override(inherited: inherited, steps: steps, value: value))
    }

    /// The source for an expression. A rule converts its result to `type`; an alias has the type of its vertex.
    /// - Parameter base: the vertex that will have this source, if it is known.
    func source(
        _ expression: Expression, at row: NodeRow, _ scope: Scope, _ type: ValueType = .dyn,
        at base: BoundRule.Base = .none
    ) -> Source {
        switch expression {
        case .literal(let value): .literal(.value(value))
        case .reference(let reference): alias(reference, from: row, scope)
        case .rule(let program): .rule(boundRule(program, at: row, scope, type: type, at: base))
        case .selection(let selection): boundSelection(selection, at: row, scope)
        }
    }

    private func alias(_ reference: Reference, from row: NodeRow, _ scope: Scope) -> Source {
        guard let target = resolveName(reference.name.text, from: row, scope) else {
            return .literal(
                .failure(
                    Failure(
                        .dangling, "$\(reference.name) names no attribute of an enclosing node",
                        path: nodes.path(of: row),
                        hint: "declare \(reference.name) in an enclosing node")))
        }
        return .alias(Place(target, reference.steps), vertex: nil)
    }

    private func missingParameter(_ attribute: AttributeID) -> Failure {
        Failure(.dangling, "the parameter \(record(attribute).name) was not given", path: path(of: attribute))
    }

    private func inheritedObject(_ type: String, _ isOptional: Bool, for attribute: AttributeID, at row: NodeRow)
        -> Source
    {
        switch nodes.nearestObject(ofType: type, at: row) {
        case .node(let object)?: return .object(node: object)
        // A node that provides what it inherits would inherit it from itself.
        case .place(let place)? where !leads(place, to: attribute): return .alias(place, vertex: nil)
        case .place?: break
        case nil: break
        }
        if isOptional { return .literal(.value(.null)) }
        return .literal(
            .failure(
                Failure(
                    .notFound, "no object of type \(type) in the environment of \(nodes.path(of: row))",
                    path: path(of: attribute),
                    hint: "provide one above with environment: {objects: [$…]}, or inherit \(type)?")))
    }

    /// True if a chain of references from a place comes to an attribute.
    private func leads(_ place: Place, to attribute: AttributeID) -> Bool {
        var at = place.attribute
        for _ in 0...limits.depth {
            if at == attribute { return true }
            guard case .alias(let target, _)? = attributes.source(at) else { return false }
            at = target.attribute
        }
        return true
    }

    // MARK: Rules

    /// A program with its inputs bound to vertices.
    /// - Parameters:
    ///   - value: what the name `value` reads (transforms of the environment).
    ///   - base: the vertex that will have the rule, if it is known.
    func boundRule(
        _ program: Program, at row: NodeRow, _ scope: Scope, value: Place? = nil, type: ValueType = .dyn,
        at base: BoundRule.Base = .none
    ) -> BoundRule {
        // Binding an input may make vertices that have rules, too.
        var inputs: [BoundInput] = []
        swap(&inputs, &evaluation.inputs)
        defer { swap(&inputs, &evaluation.inputs) }
        inputs.removeAll(keepingCapacity: true)
        for input in program.inputs { inputs.append(boundInput(input, of: program, at: row, scope, value, base)) }
        let accepted = type.mustConvert(program.resultType.valueType) ? type : nil
        return BoundRule.obtain(program: program, accepted: accepted, inputs: inputs, at: base)
    }

    private func connectRule(_ program: Program, of attribute: AttributeID, at row: NodeRow, _ scope: Scope) {
        let type = record(attribute).type
        replaceSource(of: attribute, .rule(boundRule(program, at: row, scope, type: type, at: .init(attribute))))
    }

    private func boundInput(
        _ input: RuleInput, of program: Program, at row: NodeRow, _ scope: Scope, _ value: Place?,
        _ base: BoundRule.Base
    ) -> BoundInput {
        let matching = input.pattern.map { Place(patternReference($0, readBy: base.attribute), input.path) }
        guard let place = matching ?? place(of: input, at: row, scope, value) else {
            return .failure(Failure(.notFound, "nothing named \(input.variable) is in scope"))
        }
        if input.isDynamic { return .dynamic(Place(place.attribute, place.steps.dropLast(input.steps.count))) }
        // A reference is read itself, so the rule stays the same when the reference leads elsewhere, and nodes that are
        // made from one definition share the rule.
        if input.operation == nil, place.steps.isEmpty, !input.isPresence { return .attribute(place.attribute) }
        let vertex = vertex(for: place)
        if let operation = input.operation {
            guard let span = input.span else { return timedInput(operation, of: vertex) }
            guard let given = self.place(of: program.inputs[span], at: row, scope, value) else {
                return .failure(Failure(.notFound, "nothing named \(program.inputs[span].variable) is in scope"))
            }
            return timedInput(operation, of: vertex, over: self.vertex(for: given))
        }
        guard input.isPresence else { return .attribute(vertex) }
        return .presence(vertex, of: self.vertex(for: Place(place.attribute, Array(place.steps.dropLast()))))
    }

    /// The vertex of an input's whole variable.
    func evaluationSource(_ input: RuleInput, at row: NodeRow, _ scope: Scope = .own) -> BoundInput {
        guard let place = place(of: input, at: row, scope, nil) else {
            return .failure(Failure(.notFound, "nothing named \(input.variable) is in scope"))
        }
        return .attribute(vertex(for: Place(place.attribute, place.steps.dropLast(input.steps.count))))
    }

    private func place(of input: RuleInput, at row: NodeRow, _ scope: Scope, _ value: Place?) -> Place? {
        if let found = resolveName(input.root, from: row, scope) { return Place(found, input.path) }
        if input.root == "value", let value { return Place(value.attribute, value.steps + input.path) }
        if input.root == "subviews" || input.root == "sections" {
            let (parts, container) = (SubviewParts(input.parts), container(meantBy: scope, at: row))
            return Place(
                systemAttribute(input.root == "subviews" ? .subviews(parts) : .sections(parts), of: container),
                input.path)
        }
        guard case .key(let key)? = input.path.first else { return nil }
        let source: AttributeID? =
            switch (input.root, key) {
            case ("env", _):
                if let standing = scope.standing {
                    environmentSource(key, at: standing.row, standingBefore: standing.before)
                } else {
                    environmentSource(
                        key, at: row, before: outerModifiers(of: row, scope), isDeclared: scope.isOfDeclaration)
                }
            case ("preferences", _):
                if case .data = scope.kind {
                    systemAttribute(.preference(key), of: nodes.visibleParent(of: row))
                } else {
                    systemAttribute(.preference(key), of: row)
                }
            case ("self", "id"): systemAttribute(.selfID, of: nodes.visible(row))
            case ("self", "path"): systemAttribute(.selfPath, of: nodes.visible(row))
            case ("self", "index"): systemAttribute(.selfIndex, of: nodes.visible(row))
            default: nil
            }
        return source.map { Place($0, Array(input.path.dropFirst())) }
    }

    /// The container whose subviews a rule reads: the node itself. For the data of a list, the component around the
    /// list.
    private func container(meantBy scope: Scope, at row: NodeRow) -> NodeRow {
        guard case .data = scope.kind else { return row }
        return nodes.componentBody(around: row)?.root ?? row
    }

    /// The number of the node's own environment modifiers that apply to a rule of this scope. A rule in the body of a
    /// component sees the modifiers at the use of the component; the node's other modifiers apply only below it.
    private func outerModifiers(of row: NodeRow, _ scope: Scope) -> Int {
        switch scope.kind {
        case .nestedModifier(let outer): outer
        case .own, .modifier, .label: nodes[row].definition.modifiersAroundBody
        case .enclosing, .data: 0
        }
    }

    // MARK: Replacing

    /// Sets a vertex's source. Marks the vertex stale only if the source differs from the old one.
    func replaceSource(of attribute: AttributeID, _ source: Source) {
        guard let record = attributes[attribute] else { return }
        let converts = needsConversion(record.type, source)
        let isChanged = record.convertsToType != converts
        if isChanged { attributes[attribute]?.convertsToType = converts }
        if isChanged || !isSame(record.source, source, of: attribute) {
            setSource(source, of: attribute)
            if case .unconnected = record.source {} else { haveReferencesMoved = true }
        }
        // Places that are watched through a reference are connected to the reference's new target.
        record.projections?.forEachAttribute { place in
            replaceSource(of: place, self.source(of: self.record(place).steps, in: attribute))
        }
    }

    private func isSame(_ old: Source, _ new: Source, of attribute: AttributeID) -> Bool {
        switch (old, new) {
        case (.literal(let a), .literal(let b)): a == b
        case (.alias(let a, let vertex), .alias(let b, _)):
            a == b && vertex.map { $0 == knownVertex(behind: b) } ?? true
        case (.rule(let a), .rule(let b)):
            a.program == b.program && a.accepted == b.accepted && a.readsSame(as: b, at: .init(attribute))
        case (.override(let a, let x, let v), .override(let b, let y, let w)): a == b && x == y && v == w
        case (.selected(let a), .selected(let b)): a.isSame(as: b)
        case (.rooted(let a), .rooted(let b)): a === b
        case (.object(let a), .object(let b)): a == b
        case (.scheduled(let a, let x), .scheduled(let b, let y)): a == b && x == y
        case (.projection, .projection), (.elements, .elements): true
        default: false
        }
    }
}

extension NodeDefinition {
    /// How many of its environment modifiers are outside the innermost component that it is made from: those of all
    /// uses.
    var modifiersAroundBody: Int { modifiersAround(environment.count + transformEnvironment.count) }

    /// How many of its environment modifiers are outside the component that wrote the modifier at `position`: those of
    /// the uses around that component.
    func modifiersAround(_ position: Int) -> Int {
        let count = environment.count + transformEnvironment.count
        var around = 0
        var inner = base
        while let body = inner {
            let start = count - body.environment.count - body.transformEnvironment.count
            guard position >= start else { break }
            around = start
            inner = body.base
        }
        return around
    }
}
