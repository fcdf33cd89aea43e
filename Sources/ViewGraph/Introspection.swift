import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

// What the graph tells about itself: to the runtime, and to people.

extension Wiring {
    public var namedAttributes: Int {
        var count = 0
        for row in nodes.living {
            let node = nodes[Int(row)]
            count += node.namedAttributes.count + (node.namedIndex == nil ? 0 : 1)
        }
        return count
    }

    public func isDurable(_ attribute: AttributeID) -> Bool {
        if case .state(let isTransient)? = attributes[Int(attribute.index)]?.source { return !isTransient }
        return false
    }

    public func isState(_ attribute: AttributeID) -> Bool {
        if case .state? = attributes[Int(attribute.index)]?.source { true } else { false }
    }

    /// Found as they are asked for.
    func durableStates(of rows: [UInt32]) -> some Collection<AttributeID> {
        withObjects(rows).lazy.flatMap { self.nodes[Int($0)].attributes.list }.map(\.attribute).filter {
            self.isDurable($0)
        }
    }

    /// A state, if it is durable, or the durable ones of the object in it.
    func durableStates(in state: AttributeID) -> [AttributeID] {
        guard case .object(let object) = record(state).source else { return isDurable(state) ? [state] : [] }
        return Array(durableStates(of: [object]))
    }

    /// Whether a place holds values of one type whatever is written: a whole attribute whose type leaves no choice.
    public func isOfOneType(_ place: Place) -> Bool {
        switch placeType(of: place) {
        case nil, .dyn?, .nullable?, .optional?: false
        default: true
        }
    }

    public func placeType(of place: Place) -> ValueType? {
        let place = follow(place)
        return place.steps.isEmpty ? attributes[Int(place.attribute.index)]?.type : nil
    }

    /// The node and name of a named attribute; nil for hidden ones, and for properties of objects, which are named as
    /// places in the attribute that holds the object.
    public func owner(of attribute: AttributeID) -> (NodeID, String)? {
        guard engine.isAlive(attribute), let record = attributes[Int(attribute.index)], !record.isHidden,
            !nodes[Int(record.node)].isObject, isNamed(attribute)
        else { return nil }
        return (nodes.nodeID(record.node), record.name)
    }

    /// Whether the name of an attribute means it: an instance's element or index gives way to an attribute of the
    /// node's own.
    func isNamed(_ attribute: AttributeID) -> Bool {
        let record = record(attribute)
        return nodes[Int(record.node)].attributes[record.name].map { $0 == attribute } ?? true
    }

    public func systemValue(_ name: String) -> Value? {
        ownAttribute(name, of: NodeID.root.row).flatMap { content(of: $0).value }
    }

    // MARK: Causes

    /// The state whose change made the attribute change last, as far as the engine remembers.
    public func originState(of attribute: AttributeID) -> AttributeID? {
        causes(of: attribute).last
    }

    /// From an attribute down to the input whose change reached it last, the attribute first. Projections lead on to
    /// the state they are of.
    public func causes(of attribute: AttributeID) -> [AttributeID] {
        var chain = [attribute]
        var seen: Set<AttributeID> = [attribute]
        while let last = chain.last, let cause = cause(of: last), seen.insert(cause).inserted { chain.append(cause) }
        return chain
    }

    private func cause(of attribute: AttributeID) -> AttributeID? {
        if let cause = engine.cause(of: attribute) { return cause }
        if let owner = places.owner(of: attribute) { return owner }
        // A place behind a reference is what it reads, also when it has run only once.
        if wholeAttribute(of: attribute).map(isReference) == true { return engine.inputs(of: attribute).first }
        // What has run only once was not made to by any: it has its value from what it read, of which something came
        // last.
        return engine.inputs(of: attribute).max { engine.changedAt($0) < engine.changedAt($1) }
    }
}
