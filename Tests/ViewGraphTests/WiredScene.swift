import AttributeGraph
import AttributeValues
import SceneModel

@testable import ViewGraph

/// A wiring with the nodes of a document, which are made by hand: without lists and a store.
final class WiredScene {
    let wiring = TransactedWiring(wallTime: .epoch)
    /// The actions of the nodes.
    private(set) var actions: [(action: AttributeID, row: NodeRow)] = []

    convenience init(_ text: String) throws {
        self.init()
        try make(text)
    }

    func make(_ text: String) throws {
        for definition in try read(text, .merge).nodes { _ = make(definition, below: 0) }
        let rows = wiring.unsettled.takeNodes()
        for row in rows { wiring.connectReferences(of: row) }
        for row in rows { actions += wiring.connectExpressions(of: row).map { ($0, row) } }
    }

    func make(_ definition: NodeDefinition, below parent: NodeRow) -> NodeRow {
        let row = wiring.createNode(definition, definition.id, under: parent, .content)
        wiring.nodes.attach(row, to: parent)
        wiring.nodes.part(row).isMade = true
        wiring.nodes.note(definition)
        for attribute in definition.attributes { wiring.createAttribute(attribute, of: row) }
        wiring.createModifiers(of: row)
        wiring.unsettled.nodes.append(row)
        for child in definition.children { _ = make(child, below: row) }
        return row
    }

    func read(_ text: String, _ mode: ApplyMode) throws -> SceneDefinition {
        try SceneReader.read(text: text, context: wiring.sceneContext(at: .root, mode, isKept: false))
    }

    func place(_ path: String) throws -> Place { try wiring.locate(AttributePath(path)) }
    func vertex(_ path: String) throws -> AttributeID { try place(path).attribute }
    func value(_ path: String) throws -> Value? { wiring.content(of: try vertex(path)).value }
}

extension TransactedWiring {
    func write(_ value: Value, to path: String) throws {
        let path = try AttributePath(path)
        try write(try locate(path), through: path) { _ throws(Failure) in value }
    }

    /// Commits one write.
    func set(_ path: String, _ value: Value) throws {
        begin()
        try write(value, to: path)
        let commit = Commit()
        closeTransaction(into: commit)
    }
}
