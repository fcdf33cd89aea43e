import AttributeGraph
import AttributeValues

/// The engine's vertices with their records. Knows no tree: a record has the row of its node as a number.
///
/// `Wiring` is the only subclass, so that the path of an update leads through one object.
public class Vertices {
    typealias Engine = GraphCore<RuleHost>

    final let engine = Engine(host: RuleHost())
    final var attributes = AttributeTable()
    final var watches = Watches()
    final var sharing = SharedVertices()
    final var evaluation = Evaluation()
    /// The writes of the open transaction so far. While it is open, vertices are noted before their contents change.
    final var transaction: OpenTransaction?
    /// The contents before a change that actions may take back: see `Detours`.
    final var detours = Detours()
    /// True if changes of transient states are noted too: there is an archive, or the graph is one of the past.
    public final var keepsTransient = false

    deinit { engine.deallocate() }

    public var counters: GraphCounters { engine.counters }

    /// Number of attributes with a name. Hidden vertices are not counted.
    public var liveAttributes: Int { attributes.named }

    // MARK: Reading

    /// The attribute's content, evaluated now if need be. O(what has to run).
    public func content(of attribute: AttributeID) -> Content {
        guard engine.isAlive(attribute) else { return .failure(RuleHost.removed) }
        return (try? engine.read(attribute)) ?? .failure(RuleHost.removed)
    }

    /// The same, between evaluations.
    public func contentForWatcher(of attribute: AttributeID) -> Content {
        (try? engine.readUntracked(attribute)) ?? .failure(RuleHost.removed)
    }

    /// The content of a place. This read adds no edge: only rules and watchers count as readers.
    func content(of place: Place) -> Content {
        let whole = content(of: place.attribute)
        guard !place.steps.isEmpty, case .value(let value) = whole else { return whole }
        return value.select(place.steps)
    }

    // MARK: Rows

    func record(_ attribute: AttributeID) -> AttributeRecord {
        guard let record = attributes[attribute] else {
            preconditionFailure("an attribute without a row")
        }
        return record
    }

    func createInput(
        _ content: Content, node: NodeRow, name: String, kind: AttributeKind = .let, type: ValueType = .dyn,
        source: Source, isHidden: Bool = true
    ) -> AttributeID {
        createInput(
            content,
            AttributeRecord(node: node, name: name, kind: kind, type: type, isHidden: isHidden, source: source))
    }

    func createInput(_ content: Content, _ record: AttributeRecord) -> AttributeID {
        let attribute = engine.createInput(content)
        attributes.add(record, at: attribute)
        return attribute
    }

    func createRule(
        node: NodeRow, name: String, kind: AttributeKind = .computed, type: ValueType = .dyn, source: Source,
        isHidden: Bool = true
    ) -> AttributeID {
        createRule(
            AttributeRecord(node: node, name: name, kind: kind, type: type, isHidden: isHidden, source: source))
    }

    func createRule(_ record: AttributeRecord) -> AttributeID {
        let attribute = engine.createRule()
        attributes.add(record, at: attribute)
        retainVertices(of: record.source, attribute)
        return attribute
    }

    /// Gives a source to a vertex that has never had one. The engine knows it as stale.
    func connectNew(_ attribute: AttributeID, to source: Source) {
        attributes.setSource(source, at: attribute)
        retainVertices(of: source, attribute)
    }

    /// Gives a vertex another source. A rule runs again when it is next read.
    func setSource(_ source: Source, of attribute: AttributeID) {
        guard let old = attributes.source(attribute) else { return }
        retainVertices(of: source, attribute)
        attributes.setSource(source, at: attribute)
        releaseVertices(of: old, attribute)
        do { try engine.invalidate(attribute) } catch {
            preconditionFailure("a source was given to a removed attribute")
        }
    }

    /// Frees a vertex that nobody outside the graph knows any more.
    func freeVertex(_ attribute: AttributeID, _ record: AttributeRecord) {
        attributes.remove(at: attribute)
        noteIdle(watches.forget(attribute, in: engine))
        if sharing.hasLoose { noteIdle(engine.inputs(of: attribute)) }
        engine.destroy(attribute)
        releaseVertices(of: record.source, attribute)
    }
}
