import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

extension Wiring {
    /// The attribute that a name means at a node, or nil.
    func resolveName(_ name: String, from row: NodeRow, _ scope: Scope) -> AttributeID? {
        if name.utf8.first == UInt8(ascii: "$") { return rootReference(name) }
        return nodes.meaning(of: name, at: row, scope).flatMap(vertex)
    }

    func ownAttribute(_ name: String, of row: NodeRow) -> AttributeID? { nodes.own(name, of: row).flatMap(vertex) }

    private func vertex(_ meaning: Meaning) -> AttributeID? {
        switch meaning {
        case .attribute(let attribute): attribute
        case .index(let row): indexAttribute(of: row)
        }
    }

    /// Every attribute that has a name, in the order of definition, an instance's element and index
    /// last.
    func allAttributes(of row: NodeRow) -> [(name: String, attribute: AttributeID)] {
        var named = nodes[row].namedAttributes
        if let name = nodes[row].namedIndex, let index = indexAttribute(of: row) { named.append((name, index)) }
        return named
    }
}
