import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

// Information about the graph, for the runtime and for people.

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

    /// The durable states of nodes and of the objects in them, found during the iteration.
    func durableStates(of rows: [UInt32]) -> some Collection<AttributeID> {
        withObjects(rows).lazy.flatMap { self.nodes[Int($0)].attributes.list }.map(\.attribute).filter {
            self.isDurable($0)
        }
    }

    /// The state itself, if it is durable; for a state with an object, the durable states of the object.
    func durableStates(in state: AttributeID) -> [AttributeID] {
        guard case .object(let object) = record(state).source else { return isDurable(state) ? [state] : [] }
        return Array(durableStates(of: [object]))
    }

    /// Whether all values of a place have the same type: a whole attribute whose type leaves no choice.
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

    /// Whether an attribute's name leads to it. An instance's element or index is hidden by an attribute of the node
    /// with the same name.
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

    /// The chain from an attribute to the input whose change reached it last, the attribute first. It leads from a
    /// place in a value to the state with the value.
    public func causes(of attribute: AttributeID) -> [AttributeID] {
        var chain = [attribute]
        var seen: Set<AttributeID> = [attribute]
        while let last = chain.last, let cause = cause(of: last), seen.insert(cause).inserted { chain.append(cause) }
        return chain
    }

    private func cause(of attribute: AttributeID) -> AttributeID? {
        if let cause = engine.cause(of: attribute) { return cause }
        if let owner = places.owner(of: attribute) { return owner }
        // The cause of a place behind a reference is what it reads, even if it has run only once.
        if wholeAttribute(of: attribute).map(isReference) == true { return engine.inputs(of: attribute).first }
        // A rule that has run only once was not run because of a change. Its newest input counts as the cause.
        return engine.inputs(of: attribute).max { engine.changedAt($0) < engine.changedAt($1) }
    }
}
