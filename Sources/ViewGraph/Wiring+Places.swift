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
        var place = AttributeRecord(placeIn: record, like: tree.lastRecord)
        place.steps = steps
        let made: AttributeID
        if isInput(record.source) {
            // The running rule must depend on the place alone.
            var content = (try? engine.readUntracked(attribute)) ?? .failure(RuleHost.removed)
            if case .value(let whole) = content {
                let hadLocators = tree.hasLocators
                content = tree.select(steps, in: whole)
                if tree.hasLocators, !hadLocators { places.noteLocators(in: tree) }
            }
            place.owner = attribute
            made = createInput(content, place)
            // It cannot have changed later than the value around it.
            engine.redate(made, to: engine.changedAt(attribute))
        } else {
            place.source = source(of: steps, in: attribute)
            made = createRule(place)
        }
        tree.lastRecord = place
        entry.attribute = made
        sharing.noteIdle(made)
        return made
    }

    /// The steps of a place in an attribute's value. The index of an element that was read before is known.
    func stepsByPosition(_ place: Place, in whole: Value) -> [AttributePath.Step] {
        guard case .element(let field, let id)? = place.steps.first, case .list(let list) = whole,
            let position = attributes[Int(place.attribute.index)]?.projections?.knownPosition(
                of: id, by: field, in: list)
        else { return place.steps }
        var steps = place.steps
        steps[0] = .index(position)
        return steps
    }

    /// See `ProjectionTree.expectElements`.
    func expectElements(of list: ValueList, at place: Place, by field: String, from position: Int) {
        let place = follow(place)
        attributes[Int(place.attribute.index)]?.projections?.expectElements(
            at: place.steps, by: field, in: list, from: position)
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
}
