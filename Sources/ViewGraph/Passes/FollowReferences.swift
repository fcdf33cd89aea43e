import AttributeGraph
import AttributeValues
import SceneModel

// Reads: the changes of the tree since the last time, the references from the root, and the patterns that rules read.
// Writes: the counters on which the readers of a reference depend.
// Leaves: the engine knows which references lead to another attribute than before, and which patterns may match others.

extension Wiring {
    /// O(references · depth + patterns · changes).
    func followReferences() {
        let (known, extent) = (roots.followed, structureChange.extent)
        guard !roots.isEmpty, extent != known else { return }
        roots.followed = extent
        for (reference, _) in roots.byText.values {
            let now = target(of: reference)
            guard now != reference.target else { continue }
            reference.target = now
            count(reference)
        }
        if !roots.patterns.isEmpty { followPatterns(since: known) }
    }

    /// Lets a reference be read again.
    private func count(_ reference: RootReference) {
        guard case .value(.int(let count)) = content(of: reference.version) else { return }
        setInput(reference.version, .value(.int(count + 1)))
    }

    private func followPatterns(since known: StructureChange.Extent) {
        let change = structureChange
        let isWide = change.extent.places != known.places
        let removed = change.removedNames.dropFirst(known.removed)
        let added = change.addedAttributes.dropFirst(known.added)
        for (reference, _) in roots.patterns.values {
            guard let pattern = reference.pattern, let name = pattern.attribute else { continue }
            let isConcerned =
                isWide
                || removed.contains { $0.attributes.contains(name) && pattern.matches(nodes: $0.ids) }
                || added.contains { attribute in
                    guard engine.isAlive(attribute), let record = attributes[attribute], record.name == name else {
                        return false
                    }
                    return pattern.matches(nodes: nodes.ids(of: record.node))
                }
            if isConcerned { count(reference) }
        }
    }
}
