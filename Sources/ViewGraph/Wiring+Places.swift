import AttributeGraph
import AttributeValues

extension Wiring {
    /// Follows a place to where its value is stored. Never fails: a place that leads nowhere reads as its failure.
    /// - Parameter isWritten: follows a write, also past aliases that convert the value to another type.
    public func follow(_ place: Place, isWritten: Bool = false) -> Place {
        var place = place
        // Bindings form a chain upwards in the tree, so it ends. The bound is for mistakes in this code.
        for _ in 0...limits.depth {
            switch attributes.source(place.attribute) {
            case .alias(let target, _):
                if !isWritten, attributes.convertsToType(place.attribute) { return place }
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

    /// The attribute that stores what an attribute, or a place in one, shows.
    public func storingState(of attribute: AttributeID) -> AttributeID {
        follow(Place(wholeAttribute(of: attribute) ?? attribute)).attribute
    }

    /// The vertex that always has the content of a place.
    func vertex(for place: Place) -> AttributeID {
        var place = place
        // As `follow`, but not beyond the vertex that an alias reads.
        way: for _ in 0...limits.depth {
            switch attributes.source(place.attribute) {
            case .alias(let target, let vertex):
                if attributes.convertsToType(place.attribute) { break way }
                let known = vertex.flatMap { engine.isAlive($0) ? $0 : nil }
                place.attribute = known ?? connectAlias(place.attribute, to: target)
            case .object:
                let followed = follow(place)
                if followed == place { break way }
                place = followed
            default: break way
            }
        }
        guard !place.steps.isEmpty else { return place.attribute }
        return derivedVertex(for: place) ?? projectionVertex(of: place.attribute, at: place.steps)
    }

    /// The vertex of the place that bindings and references lead to, if somebody has asked for it.
    func knownVertex(behind place: Place) -> AttributeID? {
        let place = follow(place)
        guard !place.steps.isEmpty else { return place.attribute }
        return attributes[place.attribute]?.projections?.existing(at: place.steps)
    }

    /// Finds the vertex that an alias reads. Bindings form a chain upwards in the tree, whose depth is limited.
    func connectAlias(_ alias: AttributeID, to target: Place) -> AttributeID {
        let vertex = vertex(for: target)
        attributes.setSource(.alias(target, vertex: vertex), at: alias)
        retainShared(vertex)
        return vertex
    }

    /// The vertex for a place inside the value of an attribute, or of another place. It is made at the first call, then
    /// shared, and freed when no source names it and nobody reads or watches it.
    func projectionVertex(of attribute: AttributeID, at steps: [AttributePath.Step]) -> AttributeID {
        guard let whole = attributes.place(attribute) ?? projections(of: attribute)?.root else {
            return attribute
        }
        let entry = steps.reduce(whole) { $0.madeChild($1) }
        return entry.attribute ?? makeVertex(for: entry)
    }

    private func projections(of attribute: AttributeID) -> ProjectionTree? {
        guard let record = attributes[attribute] else { return nil }
        if let tree = record.projections { return tree }
        let tree = ProjectionTree(of: attribute, name: record.name)
        attributes[attribute]?.projections = tree
        return tree
    }

    /// - Parameter content: of a place in an input, if it is known.
    private func makeVertex(for entry: ProjectionTree.Entry, _ content: Content? = nil) -> AttributeID {
        let whole = entry.tree.whole
        let owner = record(whole)
        let made: AttributeID
        if isInput(owner.source) {
            made = createInput(
                content ?? self.content(of: entry),
                AttributeRecord(entry, node: owner.node, kind: owner.kind, source: .system))
            // It cannot have changed later than the value around it.
            engine.redate(made, to: engine.changedAt(whole))
        } else {
            made = createRule(
                AttributeRecord(entry, node: owner.node, kind: owner.kind, source: source(of: entry.steps, in: whole)))
        }
        entry.attribute = made
        sharing.noteIdle(made)
        return made
    }

    /// The content of a place in an input, selected from the nearest value around it that has a vertex. No rule depends
    /// on that value: it reads the place alone. The depth of values is limited.
    private func content(of entry: ProjectionTree.Entry) -> Content {
        guard let around = entry.parent else { return contentForWatcher(of: entry.tree.whole) }
        let content = around.attribute.map(contentForWatcher) ?? self.content(of: around)
        let hadLocators = entry.tree.hasLocators
        defer { if entry.tree.hasLocators, !hadLocators { unsettled.searched.append(entry.tree) } }
        return entry.select(in: content)
    }

    /// The steps of a place in an attribute's value. The index of an element that was read before is known.
    func stepsByPosition(_ place: Place, in whole: Value) -> [AttributePath.Step] {
        guard case .element(let field, let id)? = place.steps.first, case .list(let list) = whole,
            let position = attributes[place.attribute]?.projections?.knownPosition(
                of: id, by: field, in: list)
        else { return place.steps }
        var steps = place.steps
        steps[0] = .index(position)
        return steps
    }

    /// The entry of the list at a place in an input, whose elements become vertices. Each id occurs once in the list.
    /// - Parameter more: about so many elements will get vertices.
    /// - Returns: nil if the list is empty, or not at a place in an input.
    func elementPlaces(at place: Place, by field: String, in list: ValueList, expecting more: Int)
        -> ProjectionTree.Entry?
    {
        let place = follow(place)
        guard let source = attributes.source(place.attribute), isInput(source), !list.isEmpty,
            case .value(.list(let now)) = content(of: place), now.isIdentical(to: list),
            let entry = projections(of: place.attribute)?.entry(at: place.steps)
        else { return nil }
        entry.madeField(field).noteUnique(list, expecting: more)
        return entry
    }

    /// The vertex for an element of a list that is at a place in an input.
    func vertex(
        ofElement id: Value, by field: String, in list: ProjectionTree.Entry, _ element: Value, at position: Int
    ) -> AttributeID {
        let entry = list.madeField(field).madeEntry(of: id, in: list)
        entry.position = UInt32(position)
        return entry.attribute ?? makeVertex(for: entry, .value(element))
    }

    /// The source of a place in the value of an attribute that is no input. Behind a reference it is the place in the
    /// target, so that other parts of the target do not matter.
    func source(of steps: [AttributePath.Step], in attribute: AttributeID) -> Source {
        let place = Place(attribute, steps)
        switch attributes[attribute]?.source {
        case .selected(let selection)?: return .selected(selection)
        case .rooted(let reference)? where reference.pattern == nil: return .rooted(reference)
        case .override(let inherited, let part, let value)?:
            // A part that is not overridden is inherited, and an inherited error does not matter to one that is.
            if steps.starts(with: part) {
                return .alias(Place(value, Array(steps.dropFirst(part.count))), vertex: nil)
            }
            return part.isApart(from: steps) ? .alias(Place(inherited, steps), vertex: nil) : .projection
        default: return follow(place).attribute == attribute ? .projection : .alias(place, vertex: nil)
        }
    }
}
