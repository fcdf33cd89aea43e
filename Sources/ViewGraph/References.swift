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
        let version = createInput(.value(.int(0)), node: NodeID.root.row, name: name, source: .system)
        let reference = RootReference(text, version)
        let vertex = createRule(
            node: NodeID.root.row, name: name, source: .rooted(reference))
        reference.target = target(of: reference)
        roots.byText[text] = (reference, vertex)
        sharing.noteIdle(vertex)
        return vertex
    }

    func forgetRootReference(_ source: Source) {
        guard case .rooted(let reference) = source else { return }
        roots.byText[reference.text] = nil
        freeVertex(reference.version, record(reference.version))
    }

    /// After a change of the tree: references whose path leads to another attribute are read again. O(references ·
    /// depth).
    func followRootReferences() {
        guard !roots.isEmpty, hasStructureChange else { return }
        for (reference, _) in roots.byText.values {
            let now = target(of: reference)
            guard now != reference.target else { continue }
            reference.target = now
            guard case .value(.int(let count)) = content(of: reference.version) else { continue }
            setInput(reference.version, .value(.int(count + 1)))
        }
    }

    func evaluate(_ reference: RootReference, _ steps: [AttributePath.Step]) throws -> Content {
        _ = try engine.read(reference.version)
        let place: Place
        do throws(Failure) { place = try self.place(reference) } catch { return .failure(error) }
        return try engine.read(vertex(for: Place(place.attribute, place.steps + steps)))
    }

    /// The place that the path leads to now.
    /// - Throws: `notFound`.
    func place(_ reference: RootReference) throws(Failure) -> Place {
        guard let path = reference.path else { throw Failure(.invalid, "\(reference.text) is no path") }
        // The author of the reference may read the target, so it does not matter who reads it now.
        let reader = mayRead
        mayRead = nil
        defer { mayRead = reader }
        return try locate(path)
    }

    private func target(of reference: RootReference) -> AttributeID? {
        guard let path = reference.path, let node = try? node(at: path.nodes, looksForNames: false) else { return nil }
        return path.attribute.flatMap { ownAttribute($0, of: node.row) }
    }
}

// References that a rule chooses. Readers depend on the attribute with such a reference, and are not connected to the
// chosen place, as they are with other references. So when the rule chooses another place, nothing has to be connected
// again.

extension Wiring {
    func boundSelection(_ selection: Selection, at row: UInt32, _ scope: Scope) -> Source {
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
