import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

// Information about the graph, for the runtime and for people.

extension Wiring {
    public var namedAttributes: Int {
        var count = 0
        for row in nodes.living {
            let node = nodes[row]
            count += node.namedAttributes.count + (node.namedIndex == nil ? 0 : 1)
        }
        return count
    }

    /// The kept states of nodes and of the objects in them, found during the iteration.
    func keptStates(of rows: [NodeRow]) -> some Collection<AttributeID> {
        withObjects(rows).lazy.flatMap { self.nodes[$0].attributes.list }.map(\.attribute).filter {
            self.isKept($0)
        }
    }

    /// The state itself, if it is kept; for a state with an object, the kept states of the object.
    func keptStates(in state: AttributeID) -> [AttributeID] {
        guard case .object(let object) = record(state).source else { return isKept(state) ? [state] : [] }
        return Array(keptStates(of: [object]))
    }

    /// True if all values of a place have the same type. The place is a whole attribute then, of one type.
    public func isOfOneType(_ place: Place) -> Bool {
        switch placeType(of: place) {
        case nil, .dyn?, .nullable?, .optional?: false
        default: true
        }
    }

    public func placeType(of place: Place) -> ValueType? {
        let place = follow(place)
        return place.steps.isEmpty ? attributes[place.attribute]?.type : nil
    }

    /// The node and name of a named attribute; nil for hidden ones, and for properties of objects, which are named as
    /// places in the attribute with the object.
    public func nodeAndName(of attribute: AttributeID) -> (NodeID, String)? {
        guard engine.isAlive(attribute), let record = attributes[attribute], !record.isHidden,
            !nodes[record.node].isObject, isNamed(attribute)
        else { return nil }
        return (nodes.nodeID(record.node), record.name)
    }

    /// True if the attribute's name finds it. An instance's element or index is hidden by an attribute of the node
    /// with the same name.
    func isNamed(_ attribute: AttributeID) -> Bool {
        let record = record(attribute)
        return nodes[record.node].attributes[record.name].map { $0 == attribute } ?? true
    }

    public func systemValue(_ name: String) -> Value? {
        ownAttribute(name, of: .root).flatMap { content(of: $0).value }
    }
}
