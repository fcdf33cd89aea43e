import AttributeGraph
import AttributeValues
import SceneModel

// References from the root: `$/grid/limits.high`. Each path has one vertex, which all references with the path share.
// It has the content of the attribute that is at the path, and an error while there is none.

extension Wiring {
    /// The vertex for a name that begins with `$/`.
    func rootReference(_ name: String) -> AttributeID {
        let text = String(name.dropFirst())
        if let known = roots.byText[text] { return known.vertex }
        let version = createInput(.value(.int(0)), node: .root, name: name, source: .system)
        let reference = RootReference(text, version)
        let vertex = createRule(
            node: .root, name: name, source: .rooted(reference))
        reference.target = target(of: reference)
        roots.byText[text] = (reference, vertex)
        sharing.noteIdle(vertex)
        return vertex
    }

    func forgetRootReference(_ source: Source) {
        guard case .rooted(let reference) = source else { return }
        if let pattern = reference.pattern {
            roots.patterns[RootReferences.PatternKey(pattern: pattern, omitted: reference.omitted)] = nil
        } else {
            roots.byText[reference.text] = nil
        }
        freeVertex(reference.version, record(reference.version))
    }

    func evaluate(_ reference: RootReference, _ steps: [AttributePath.Step], for attribute: AttributeID) throws
        -> Content
    {
        _ = try engine.read(reference.version)
        if let pattern = reference.pattern { return try matches(of: pattern, reference, for: attribute) }
        let place: Place
        do throws(Failure) { place = try self.place(reference) } catch { return .failure(error) }
        return try engine.read(vertex(for: Place(place.attribute, place.steps + steps)))
    }

    /// The place that the path leads to now.
    /// - Throws: `notFound`.
    func place(_ reference: RootReference) throws(Failure) -> Place {
        guard let path = reference.path else { throw Failure(.invalid, "\(reference.text) is no path") }
        // The author of the reference may read the target, so it does not matter who reads it now.
        return try showing(nil) { () throws(Failure) in try locate(path) }
    }

    func target(of reference: RootReference) -> AttributeID? {
        guard let path = reference.path, let node = try? node(at: path.nodes, looksForNames: false) else { return nil }
        return path.attribute.flatMap { ownAttribute($0, of: node.row) }
    }
}

// A rule that names a pattern reads the map of what it matches: `$/*.battery`. The vertex of a pattern depends on each
// attribute that it has read, and on a count of the changes of the tree that concern the pattern: the attributes that
// came or went at paths which it matches. So it is looked for again only after such a change, and when it is read.

extension Wiring {
    /// The vertex for a pattern that the rule of an attribute reads.
    func patternReference(_ pattern: PathPattern, readBy reader: AttributeID?) -> AttributeID {
        let own = reader.flatMap { attributes[$0]?.name == pattern.attribute ? $0 : nil }
        let key = RootReferences.PatternKey(pattern: pattern, omitted: own)
        if let known = roots.patterns[key] { return known.vertex }
        let (text, root) = (pattern.description, NodeRow.root)
        let version = createInput(.value(.int(0)), node: root, name: "$" + text, source: .system)
        let reference = RootReference(text, version, pattern, omitting: own)
        let vertex = createRule(node: root, name: "$" + text, source: .rooted(reference))
        roots.patterns[key] = (reference, vertex)
        sharing.noteIdle(vertex)
        return vertex
    }

    /// Steps that the search for what a pattern matches may take: 10 for each node that it looks at.
    static let patternSteps = 1_000_000

    /// The values of the attributes that a pattern matches, by the ids that its `*` stand for. Failing attributes are
    /// left out.
    private func matches(
        of pattern: PathPattern, _ reference: RootReference, for attribute: AttributeID
    ) throws -> Content {
        if stepsLeft <= 0 { return deferred(attribute) }
        return try spending(Wiring.patternSteps, { $0 -= min($1, Wiring.patternSteps) }) {
            try matches(of: pattern, reference)
        }
    }

    private func matches(of pattern: PathPattern, _ reference: RootReference) throws -> Content {
        var found: [(key: String, attribute: AttributeID)] = []
        do throws(Failure) {
            try PatternSearch(pattern, in: self).forEachNamed { (ids, attribute) in
                guard attribute != reference.omitted else { return }
                let key = zip(pattern.segments, ids).filter { $0.0 == .any }.map {
                    AttributePath.quoteIfNeeded($0.1.text)
                }
                found.append((key.joined(separator: "/"), attribute))
            }
        } catch { return .failure(error) }
        var map = ValueMap(minimumCapacity: found.count)
        for (key, attribute) in found {
            let part = Place(attribute, pattern.steps)
            if case .value(let value) = try engine.read(vertex(for: part)) { map[key] = value }
        }
        return .value(.map(map))
    }
}

// References that a rule chooses. Readers depend on the attribute with such a reference, and are not connected to the
// chosen place, as they are with other references. So when the rule chooses another place, nothing has to be connected
// again.

extension Wiring {
    func boundSelection(_ selection: Selection, at row: NodeRow, _ scope: Scope) -> Source {
        let rule = boundRule(selection.program, at: row, scope)
        let targets = selection.targets.map { resolveName($0.name, from: row, scope) }
        return .selected(BoundSelection(selection, rule, targets, row, scope))
    }

    /// The content of the chosen place. Its reader depends on the rule and on that place alone.
    func evaluate(_ selection: BoundSelection, _ steps: [AttributePath.Step], for attribute: AttributeID) throws
        -> Content
    {
        let result = try evaluate(selection.rule, for: attribute)
        let place: Place
        do throws(Failure) { place = try selection.place(try result.get()) } catch { return .failure(error) }
        return try engine.read(vertex(for: Place(place.attribute, place.steps + steps)))
    }
}
