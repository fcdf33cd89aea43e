import AttributeGraph
import AttributeValues
import SceneModel

extension Wiring {
    public var liveNodes: Int { nodes.count }

    /// Every node begins here: the root, objects in states, and what documents and lists make. Its parent does not list
    /// it yet.
    func createNode(_ definition: NodeDefinition, _ id: Name, under parent: NodeRow, _ slot: Slot) -> NodeRow {
        nodes.insert {
            NodeRecord(
                id: id, kind: definition.kind, slot: slot, generation: $0, parent: parent, definition: definition,
                isScopeBoundary: definition.component != nil)
        }
    }

    public func isAlive(_ node: NodeID) -> Bool { nodes.isAlive(node) }

    public func ids(of node: NodeID) -> [Name] { nodes.ids(of: node.row) }

    public func path(of node: NodeID) -> String { nodes.path(of: node.row) }

    /// The rows, each followed by the rows of the objects in its states, and of the objects in those.
    func withObjects(_ rows: [NodeRow]) -> [NodeRow] {
        var all: [NodeRow] = []
        all.reserveCapacity(rows.count)
        for row in rows {
            var pending = [row]
            while let next = pending.popLast() {
                all.append(next)
                for (_, attribute) in nodes[next].attributes {
                    guard case .object(let object)? = attributes.source(attribute),
                        record(attribute).kind == .state
                    else { continue }
                    pending.append(object)
                }
            }
        }
        return all
    }
}
