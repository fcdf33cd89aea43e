import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

/// Where names are looked up, from inside out.
enum Scope {
    /// A computed: the node's own attributes alone.
    case own
    /// `let`, bindings and the data of `forEach`: the enclosing nodes, nearest first.
    case enclosing
    /// Modifiers: the node itself, then as `enclosing`.
    case modifier
    /// Modifiers that a component or its use writes: as `modifier`, but `env` is what is inherited there, which is changed by so many
    /// of the node's modifiers of the environment: those that stand further out.
    case nestedModifier(behind: Int)
    /// The data of a `forEach`: as `enclosing`, but `preferences` are those of the node around, for its own are its instances'.
    case data
}

extension Scope {
    var isEnclosing: Bool {
        switch self {
        case .enclosing, .data: true
        default: false
        }
    }
}

extension ViewGraph {
    /// The attribute that a name means at a node, or nil.
    func attribute(named name: String, from row: UInt32, _ scope: Scope) -> AttributeID? {
        if scope.isEnclosing {
            // An instance of a `forEach` sees its own element and index where other nodes see only what encloses them.
            if let found = elementAttribute(name, of: row) { return found }
        } else if let own = ownAttribute(name, of: row) {
            return own
        }
        if case .own = scope { return nil }
        var at = row
        while at != NodeID.root.row {
            let isContent = nodes[Int(at)].isContent
            at = nodes[Int(at)].parent
            if isContent {
                // Written where the parent's component is used: what the component has inside means nothing here.
                if let found = elementAttribute(name, of: at) { return found }
                continue
            }
            if let found = ownAttribute(name, of: at) { return found }
            // Beyond the root of a component's body its attributes' names mean nothing.
            if nodes[Int(at)].isScopeBoundary { return nil }
        }
        return nil
    }

    func ownAttribute(_ name: String, of row: UInt32) -> AttributeID? {
        // A reference may lead to an object that is gone.
        guard nodes.isAlive(row) else { return nil }
        return nodes[Int(row)].attributes[name] ?? elementAttribute(name, of: row)
    }

    /// The element or the index of an instance, by the name that its `forEach` gives it.
    func elementAttribute(_ name: String, of row: UInt32) -> AttributeID? {
        for (own, attribute) in nodes[Int(row)].elementScope where own.hasSameBytes(as: name) { return attribute }
        guard let index = nodes[Int(row)].indexScope, index.name.hasSameBytes(as: name) else { return nil }
        return indexAttribute(of: row)
    }

    /// Every attribute that has a name, in the order of definition, an instance's element and index last.
    func namedAttributes(of row: UInt32) -> [(name: String, attribute: AttributeID)] {
        var named = nodes[Int(row)].namedAttributes
        if let name = nodes[Int(row)].namedIndex, let index = indexAttribute(of: row) { named.append((name, index)) }
        return named
    }

    /// Follows a place to where its value lives. Never fails: a place that leads nowhere reads as its failure.
    /// - Parameter isWritten: to where a write ends, past aliases that read the value as another type.
    public func follow(_ place: Place, isWritten: Bool = false) -> Place {
        var place = place
        // Bindings form a chain upwards in the tree, so it ends; the bound guards against a mistake of ours.
        for _ in 0...limits.depth {
            guard let record = attributes[Int(place.attribute.index)] else { return place }
            switch record.source {
            case .alias(let target, _):
                if record.isHeldToType, !isWritten { return place }
                place = Place(target.attribute, target.steps + place.steps)
            case .object(let node):
                guard case .key(let property)? = place.steps.first, let attribute = ownAttribute(property, of: node) else {
                    return place
                }
                place = Place(attribute, Array(place.steps.dropFirst()))
            default:
                return place
            }
        }
        return place
    }

    /// The vertex that always holds what a place holds.
    func vertex(for place: Place) -> AttributeID {
        let place = follow(place)
        guard !place.steps.isEmpty else { return place.attribute }
        return projection(of: place.attribute, at: place.steps)
    }

    /// The vertex for a place inside an attribute's value; made when first asked for, shared from then on. It goes when no source
    /// names it and nobody reads or watches it.
    func projection(of attribute: AttributeID, at steps: [AttributePath.Step]) -> AttributeID {
        let index = Int(attribute.index)
        guard let record = attributes[index] else { return attribute }
        let tree = record.projections ?? ProjectionTree()
        if record.projections == nil { attributes[index]?.projections = tree }
        let entry = tree.entry(at: steps)
        if let existing = entry.attribute { return existing }
        let made: AttributeID
        if isInput(record.source) {
            // Whoever runs now is to depend on the place alone.
            var content = (try? engine.readUntracked(attribute)) ?? .failure(RuleHost.removed)
            if case .value(let whole) = content {
                let hadLocators = tree.hasLocators
                content = tree.select(steps, in: whole)
                if tree.hasLocators, !hadLocators { places.noteLocators(in: tree) }
            }
            made = createInput(content, node: record.node, name: record.name, kind: record.kind, source: .system)
            // It can have changed no later than what it is a place in.
            engine.redate(made, to: engine.changedAt(attribute))
            places.add(made, in: attribute)
        } else {
            made = createRule(node: record.node, name: record.name, kind: record.kind, source: source(of: steps, in: attribute))
        }
        attributes[Int(made.index)]?.steps = steps
        entry.attribute = made
        sharing.noteIdle(made)
        return made
    }

    /// What a place in the value of an attribute that is no input shows: behind a reference what the place there shows, so that no
    /// other place of what it refers to matters.
    func source(of steps: [AttributePath.Step], in attribute: AttributeID) -> Source {
        let place = Place(attribute, steps)
        return follow(place).attribute == attribute ? .projection(of: attribute, steps: steps) : .alias(place, vertex: nil)
    }

    /// Whether an attribute shows what belongs to another node.
    func isReference(_ attribute: AttributeID) -> Bool {
        guard let record = attributes[Int(attribute.index)] else { return false }
        return switch record.source {
        case .alias: true
        case .object: record.kind != .state
        default: false
        }
    }

    /// The attribute in whose value a vertex is a place; nil for those that are none.
    func whole(of attribute: AttributeID) -> AttributeID? {
        guard let record = attributes[Int(attribute.index)] else { return nil }
        return switch record.source {
        case .projection(let whole, _): whole
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
    func setInput(_ attribute: AttributeID, _ content: Content) {
        guard let record = attributes[Int(attribute.index)] else { return }
        if let projections = record.projections {
            let old = self.content(of: attribute)
            switch (old, content) {
            case (.value(let before), .value(let after)):
                projections.refresh(from: before, to: after) { setEngineInput($0, $1) }
            case (_, .value(let after)):
                projections.refresh(from: .null, to: after) { setEngineInput($0, $1) }
            case (_, .failure):
                projections.forEachAttribute { setEngineInput($0, content) }
            }
        }
        setEngineInput(attribute, content)
    }

    private func setEngineInput(_ attribute: AttributeID, _ content: Content) {
        guard engine.isAlive(attribute) else { return }
        if transaction != nil { noteTouched(attribute) }
        do { _ = try engine.set(attribute, content) } catch {
            preconditionFailure("inputs are only written between evaluations: \(error)")
        }
    }
}
