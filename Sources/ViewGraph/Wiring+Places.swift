import AttributeGraph
import AttributeValues

extension Wiring {
    /// Follows a place to where its value is stored. Never fails: a place that leads nowhere reads as its failure.
    /// - Parameter isWritten: follows a write, also past aliases that convert the value to another type.
    public func follow(_ place: Place, isWritten: Bool = false) -> Place {
        var place = place
        // Bindings form a chain upwards in the tree, so it ends. The bound is for mistakes in this code.
        for _ in 0...limits.depth {
            switch attributes.source(Int(place.attribute.index)) {
            case .alias(let target, _):
                if !isWritten, attributes[Int(place.attribute.index)]?.isHeldToType == true { return place }
                place = target.inside(place.steps)
            case .object(let node):
                guard case .key(let property)? = place.steps.first, let attribute = ownAttribute(property, of: node)
                else {
                    return place
                }
                place = Place(attribute, Array(place.steps.dropFirst()))
            default:
                return place
            }
        }
        return place
    }

    /// The vertex that always has the content of a place.
    func vertex(for place: Place) -> AttributeID {
        let place = follow(place)
        guard !place.steps.isEmpty else { return place.attribute }
        return projectionVertex(of: place.attribute, at: place.steps)
    }

    /// The vertex for a place inside an attribute's value; made at the first call, then shared. It is freed when no
    /// source names it and nobody reads or watches it.
    func projectionVertex(of attribute: AttributeID, at steps: [AttributePath.Step]) -> AttributeID {
        let index = Int(attribute.index)
        guard let record = attributes[index] else { return attribute }
        let tree = record.projections ?? ProjectionTree()
        if record.projections == nil { attributes[index]?.projections = tree }
        let entry = tree.entry(at: steps)
        if let existing = entry.attribute { return existing }
        let made: AttributeID
        if isInput(record.source) {
            // The running rule must depend on the place alone.
            var content = (try? engine.readUntracked(attribute)) ?? .failure(RuleHost.removed)
            if case .value(let whole) = content {
                let hadLocators = tree.hasLocators
                content = tree.select(steps, in: whole)
                if tree.hasLocators, !hadLocators { places.noteLocators(in: tree) }
            }
            made = createInput(content, node: record.node, name: record.name, kind: record.kind, source: .system)
            // It cannot have changed later than the value around it.
            engine.redate(made, to: engine.changedAt(attribute))
            places.add(made, in: attribute)
        } else {
            made = createRule(
                node: record.node, name: record.name, kind: record.kind, source: source(of: steps, in: attribute))
        }
        attributes[Int(made.index)]?.steps = steps
        entry.attribute = made
        sharing.noteIdle(made)
        return made
    }

    /// The source of a place in the value of an attribute that is no input. Behind a reference it is the place in the
    /// target, so that other parts of the target do not matter.
    func source(of steps: [AttributePath.Step], in attribute: AttributeID) -> Source {
        let place = Place(attribute, steps)
        switch attributes[Int(attribute.index)]?.source {
        case .selected(let selection, let outer, _)?:
            return .selected(selection, steps: outer + steps, whole: attribute)
        case .rooted(let reference, let outer, _)?: return .rooted(reference, steps: outer + steps, whole: attribute)
        default: break
        }
        return follow(place).attribute == attribute
            ? .projection(of: attribute, steps: steps) : .alias(place, vertex: nil)
    }

    /// Whether an attribute shows a value that belongs to another attribute.
    func isReference(_ attribute: AttributeID) -> Bool {
        guard let record = attributes[Int(attribute.index)] else { return false }
        return switch record.source {
        case .alias, .selected, .rooted: true
        case .object: record.kind != .state
        default: false
        }
    }

    /// The attribute in whose value a vertex is a place; nil if the vertex is no place.
    func wholeAttribute(of attribute: AttributeID) -> AttributeID? {
        guard let record = attributes[Int(attribute.index)] else { return nil }
        return switch record.source {
        case .projection(let whole, _): whole
        case .selected(_, _, let whole?), .rooted(_, _, let whole?): whole
        case .alias(let place, _) where !record.steps.isEmpty: place.attribute
        default: places.owner(of: attribute)
        }
    }

    func isInput(_ source: Source) -> Bool {
        switch source {
        case .state, .system: true
        default: false
        }
    }

    /// Sets an input and every vertex for a place inside it.
    func setInput(_ attribute: AttributeID, _ content: consuming Content) {
        guard let record = attributes[Int(attribute.index)] else { return }
        if let projections = record.projections { refresh(projections, of: attribute, content) }
        setEngineInput(attribute, content)
    }

    private func refresh(_ projections: ProjectionTree, of attribute: AttributeID, _ content: Content) {
        switch (self.content(of: attribute), content) {
        case (.value(let before), .value(let after)):
            projections.refresh(from: before, to: after) { setEngineInput($0, $1) }
        case (_, .value(let after)):
            projections.refresh(from: .null, to: after) { setEngineInput($0, $1) }
        case (_, .failure):
            projections.forEachAttribute { setEngineInput($0, content) }
        }
    }

    private func setEngineInput(_ attribute: AttributeID, _ content: consuming Content) {
        guard engine.isAlive(attribute) else { return }
        if transaction != nil { noteTouched(attribute) }
        do { _ = try engine.set(attribute, content) } catch {
            preconditionFailure("inputs are only written between evaluations: \(error)")
        }
    }

    /// Notes a vertex that is about to get another content while a transaction is open.
    func noteTouched(_ attribute: AttributeID) {
        guard transaction?.needsNote(of: attribute) == true else { return }
        transaction?.note(
            .init(
                attribute: attribute, content: engine.lastValue(of: attribute), changedAt: engine.changedAt(attribute)))
    }
}
