import AttributeGraph
import AttributeValues

extension Vertices {
    /// Counts a new source as a use of the vertices that it names.
    func retainVertices(of source: Source, _ attribute: AttributeID) {
        forEachVertex(in: source, attribute) { retainShared($0) }
    }

    func retainShared(_ vertex: AttributeID) {
        uses(of: vertex)?.count += 1
    }

    /// The reverse, for a source that was replaced or removed.
    func releaseVertices(of source: Source, _ attribute: AttributeID) {
        forEachVertex(in: source, attribute) { releaseShared($0) }
    }

    func releaseShared(_ vertex: AttributeID) {
        guard let uses = uses(of: vertex) else { return }
        uses.count -= 1
        if uses.count == 0 { sharing.noteIdle(vertex) }
    }

    /// Notes vertices that have lost a use. They are freed later if they are shared and have no other.
    func noteIdle(_ vertices: [AttributeID]) {
        for vertex in vertices where uses(of: vertex)?.count == 0 { sharing.noteIdle(vertex) }
    }

    /// nil for a vertex that is not shared, or has been freed.
    func uses(of vertex: AttributeID) -> SharedUses? {
        guard let uses = attributes.uses(vertex), engine.isAlive(vertex) else { return nil }
        return uses
    }

    private func forEachVertex(in source: Source, _ attribute: AttributeID, _ body: (AttributeID) -> Void) {
        switch source {
        case .alias(let place, let vertex):
            body(place.attribute)
            if let vertex { body(vertex) }
        case .rule(let rule): forEachVertex(in: rule, attribute, body)
        case .selected(let selection):
            forEachVertex(in: selection.rule, attribute, body)
            for target in selection.targets { if let target { body(target) } }
        case .timed(let value): body(value.operand)
        case .reportTime(let vertex), .scheduled(_, let vertex): body(vertex)
        default: break
        }
    }

    private func forEachVertex(in rule: BoundRule, _ attribute: AttributeID, _ body: (AttributeID) -> Void) {
        for input in rule.sources(at: BoundRule.Base(attribute)) {
            switch input {
            case .attribute(let vertex): body(vertex)
            case .presence(let vertex, let whole):
                body(vertex)
                body(whole)
            case .dynamic, .failure: break
            }
        }
    }

    var uses: UseCounts {
        let counters = engine.counters
        return UseCounts(begun: counters.edgesAdded &+ watches.begun, ended: counters.edgesRemoved &+ watches.ended)
    }
}
