import AttributeGraph
import AttributeValues

// Kinds of vertices, times of their changes, and setting inputs.

extension Vertices {
    public func isAlive(_ attribute: AttributeID) -> Bool { engine.isAlive(attribute) }

    /// Makes `takeInvalidated` report the attribute when it may have changed. Evaluates nothing.
    public func beginWatch(of attribute: AttributeID) { watches.begin(attribute, in: engine) }

    /// A point on the engine's own clock, for `hasChanged(_:since:)`.
    public var stamp: UInt64 { engine.revision }

    /// True if the attribute's content has changed since a stamp. Known once it has been read.
    public func hasChanged(_ attribute: AttributeID, since stamp: UInt64) -> Bool {
        engine.changedAt(attribute) > stamp
    }

    public func lastChange(of attribute: AttributeID) -> UInt64 { engine.changedAt(attribute) }

    /// True if the attribute's content may have changed since a stamp, as far as that is known without reading it.
    public func mayHaveChanged(_ attribute: AttributeID, since stamp: UInt64) -> Bool {
        engine.changedAt(attribute) > stamp || engine.isInvalidated(attribute)
    }

    /// True for a state whose value the store has.
    public func isDurable(_ attribute: AttributeID) -> Bool {
        if case .state(let isTransient)? = attributes.source(attribute) { return !isTransient }
        return false
    }

    public func isState(_ attribute: AttributeID) -> Bool {
        if case .state? = attributes.source(attribute) { true } else { false }
    }

    /// True if an attribute shows the value of another attribute.
    func isReference(_ attribute: AttributeID) -> Bool {
        guard let record = attributes[attribute] else { return false }
        return switch record.source {
        case .alias, .selected: true
        case .rooted(let reference): reference.pattern == nil
        case .object: record.kind != .state
        default: false
        }
    }

    /// The attribute in whose value a vertex is a place; nil if the vertex is no place.
    func wholeAttribute(of attribute: AttributeID) -> AttributeID? {
        attributes[attribute]?.place?.tree.whole
    }

    func isInput(_ source: Source) -> Bool {
        switch source {
        case .state, .system: true
        default: false
        }
    }

    /// Sets an input and every vertex for a place inside it.
    func setInput(_ attribute: AttributeID, _ content: consuming Content) {
        if let projections = attributes.projections(attribute) { refresh(projections, of: attribute, content) }
        setEngineInput(attribute, content)
    }

    private func refresh(_ projections: ProjectionTree, of attribute: AttributeID, _ content: Content) {
        switch (self.content(of: attribute), content) {
        case (.value(let before), .value(let after)):
            projections.refresh(from: before, to: after) { setEngineInput($0, $1) }
        case (_, .value(let after)):
            projections.refresh(from: .null, to: after) { setEngineInput($0, $1) }
        case (_, .failure):
            projections.forEachAttribute { setEngineInput($0, content) }
        }
    }

    private func setEngineInput(_ attribute: AttributeID, _ content: consuming Content) {
        guard engine.isAlive(attribute) else { return }
        if transaction != nil || detours.notesAll { noteTouched(attribute) }
        do { _ = try engine.set(attribute, content) } catch {
            preconditionFailure("inputs are only written between evaluations: \(error)")
        }
    }

    /// Notes a vertex that is about to get another content while a transaction is open.
    func noteTouched(_ attribute: AttributeID) {
        if detours.notesAll { detours.note(touched(attribute)) }
        guard transaction?.needsNote(of: attribute) == true else { return }
        transaction?.note(touched(attribute))
    }

    func touched(_ attribute: AttributeID) -> OpenTransaction.Touched {
        .init(attribute: attribute, content: engine.lastValue(of: attribute), changedAt: engine.changedAt(attribute))
    }
}
