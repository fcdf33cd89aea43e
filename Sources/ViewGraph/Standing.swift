import AttributeGraph
import AttributeValues
import SceneModel

// A component's body can place the subviews that it is given one by one. The groups and lists around a subview have
// their effect where the subview stands. Their environment modifiers may build on the environment there, which differs
// from subview to subview. So a placed subview has vertices of its own for these modifiers.

/// An environment modifier of a group or list around a placed subview.
struct StandingModifier {
    /// The group or list, and the number of the modifier there.
    var wrapper: NodeRow
    var position: Int
    var key: String
    var attribute: AttributeID
}

extension ViewGraph {
    /// The groups and lists with environment modifiers around a placed node, from outside in.
    private func standingWrappers(of row: NodeRow) -> [NodeRow] {
        guard !nodes.placements.isEmpty else { return [] }
        let roots = nodes.placements.standingPlaces(of: row).map(\.root)
        if roots.isEmpty { return [] }
        let between = Array(nodes.upward(from: nodes[row].parent).prefix { !roots.contains($0) })
        return between.reversed().filter { !nodes[$0].environment.isEmpty }
    }

    /// Makes the vertices for the modifiers around a placed node, if they are others than before.
    func renewStanding(of row: NodeRow) {
        let wrappers = standingWrappers(of: row)
        if wrappers.isEmpty, nodes[row].standing.isEmpty { return }
        var wanted: [(wrapper: NodeRow, position: Int, key: String)] = []
        for wrapper in wrappers {
            for (position, entry) in nodes[wrapper].environment.enumerated() {
                wanted.append((wrapper, position, entry.key))
            }
        }
        let old = nodes[row].standing
        if old.elementsEqual(wanted, by: { ($0.wrapper, $0.position) == ($1.wrapper, $1.position) && $0.key == $1.key })
        {
            return
        }
        nodes[row].standing = wanted.map { wrapper, position, key in
            StandingModifier(
                wrapper: wrapper, position: position, key: key,
                attribute: createHidden("environment.\(key)", row, declarations.environment[key]?.type ?? .dyn))
        }
        for gone in old { destroyVertex(gone.attribute) }
    }
}

extension Wiring {
    /// Connects the vertices for the modifiers around a placed node.
    func connectStanding(of row: NodeRow) {
        var first = 0
        for (place, standing) in nodes[row].standing.enumerated() {
            if standing.position == 0 { first = place }
            let definition = nodes[standing.wrapper].definition
            let modifiers = definition.environmentModifiers
            guard standing.position < modifiers.count else { continue }
            var scope = Scope.nestedModifier(behind: 0)
            scope.standing = (row, first + definition.modifiersAround(standing.position))
            let inherited = environmentSource(standing.key, at: row, standingBefore: place)
            switch modifiers[standing.position] {
            case .override(let entry):
                let written = source(entry.expression, at: standing.wrapper, scope.atUse(entry.isAtUse), entry.type)
                connectEnvironment(entry.key, entry.steps, entry.type, written, inherited, at: row, standing.attribute)
            case .transform(let transform):
                guard let inherited else { continue }
                let written = boundRule(
                    transform.program, at: standing.wrapper, scope.atUse(transform.isAtUse),
                    value: Place(inherited, transform.steps), type: transform.type)
                connectEnvironment(
                    transform.key, transform.steps, transform.type, .rule(written), inherited, at: row,
                    standing.attribute)
            }
        }
    }
}
