import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

/// SwiftUI's data flow over the engine: a tree of nodes whose attributes are states, bindings, lets, computeds, inherited
/// environment values and clocks.
///
/// It knows no clients, sockets or time: transactions come in (`Transaction`), content is read out (`content(of:)`), and
/// what may have changed is drained (`takeInvalidated`). One owner, one thread.
public final class ViewGraph {
    typealias Engine = GraphCore<RuleHost>

    let engine: Engine
    public internal(set) var declarations = Declarations()
    public let limits: Limits

    /// Rows by `NodeID.row`. Row 0 is `/`.
    let nodes = Tree<NodeRecord>()
    var attributes = AttributeTable()

    /// The declared default of each environment key, where no node overrides it.
    var environmentDefaults: [String: AttributeID] = [:]
    var clocks: Clocks
    var watches = Watches()
    var sharing = SharedVertices()

    /// `forEach` nodes whose data is watched, by the engine index of the data.
    var forEachByData: [UInt32: UInt32] = [:]
    var staleForEach: Set<UInt32> = []
    var places = Places()
    var animations = AnimationValues()
    var evaluation = Evaluation()
    var budget = Budget()
    /// Whether the client of the request at hand may read an attribute, or all attributes of a node; nil: it may read everything.
    /// Looked at where the graph tells something by name, never where values are made.
    public var mayRead: ((AttributePath) -> Bool)?
    /// Called now and then while rules run that take long: whoever waits for their end sees that the daemon is alive.
    public var onLongWork: (() -> Void)?
    /// Nodes made and not yet connected to what they read.
    var unboundNodes: [UInt32] = []
    /// What changed in the tree since it was last taken.
    var structureChange = StructureChange()
    /// What a store keeps of changes of structure, as far as the tree stands on it.
    var keptChanges = KeptChanges()
    /// Instances that were edited have gone since it was last asked.
    var hasLostEdits = false
    /// Where durable states have gone since it was last asked.
    var lostStates: [String] = []
    /// States that were transient before the change at hand.
    var durableFromNow: [AttributeID] = []
    /// Lists whose instances stay although the data is refused, where that has changed: what they are made from, or nil where the
    /// data is right again.
    var heldLists: [(path: String, list: [Value]?)] = []
    /// A store is being replayed: instances of data that has yet to become what it was are none that could be held.
    public var isRestoring = false
    /// Values of durable states that data has not made yet since the start, by path.
    var awaitedStates: [String: Value] = [:]
    /// Called when data has made instances, before anybody sees them, until it has nothing to change in the outermost ones, as far as
    /// they are no deeper than that. What it changes is part of the same change.
    public var onNewInstances: ((_ depth: Int) -> Bool)?
    var isCompletingInstances = false
    /// Counts the instances that were ever made.
    var createdInstances: UInt64 = 0
    /// Counts the states that were ever made.
    public internal(set) var createdStates: UInt64 = 0
    var transaction: OpenTransaction?

    public init(limits: Limits = Limits(), wallTime: Timestamp) {
        self.limits = limits
        clocks = Clocks(time: wallTime)
        engine = Engine(host: RuleHost())
        engine.host.pointee.attach(to: self)
        let definition = NodeDefinition()
        definition.kind = .container
        _ = createNode(
            id: "", definition: definition, kind: .container, parent: 0, slot: .content, isScopeBoundary: true)
        createSystemValues()
    }

    deinit { engine.deallocate() }

    /// What clients may make the graph grow to.
    public struct Limits {
        public var nodes = 2_000_000
        public var attributes = 8_000_000
        public var depth = 512
        /// Bytes, as JSON, of a value that a write makes.
        public var valueSize = 16 << 20
        /// Changes of a `forEach` behind one transaction after which it counts as endless, if its data depends on its instances.
        public var structureRounds = 64
        /// What a rule may be and do.
        public var rules = RuleLimits()

        public init() {}
    }

    public var counters: GraphCounters { engine.counters }

    // MARK: Reading

    /// The attribute's content, evaluated now if need be. O(what has to run).
    public func content(of attribute: AttributeID) -> Content {
        guard engine.isAlive(attribute) else { return .failure(RuleHost.removed) }
        return (try? engine.read(attribute)) ?? .failure(RuleHost.removed)
    }

    /// Ignored by the graph: only rules and watchers count as readers.
    func content(of place: Place) -> Content {
        let whole = content(of: place.attribute)
        guard !place.steps.isEmpty, case .value(let value) = whole else { return whole }
        return value.select(place.steps)
    }

    // MARK: Rows

    func record(_ attribute: AttributeID) -> AttributeRecord {
        guard let record = attributes[Int(attribute.index)] else {
            preconditionFailure("an attribute without a row")
        }
        return record
    }

    /// Those with a name; hidden vertices come with what is written.
    public var liveAttributes: Int { attributes.named }

    func createInput(
        _ content: Content, node: UInt32, name: String, kind: AttributeKind = .let, type: ValueType = .dyn,
        source: Source, isHidden: Bool = true
    ) -> AttributeID {
        let attribute = engine.createInput(content)
        attributes.add(
            AttributeRecord(node: node, name: name, kind: kind, type: type, isHidden: isHidden, source: source), at: attribute.index)
        return attribute
    }

    func createRule(
        node: UInt32, name: String, kind: AttributeKind = .computed, type: ValueType = .dyn, source: Source,
        isHidden: Bool = true
    ) -> AttributeID {
        let attribute = engine.createRule()
        attributes.add(
            AttributeRecord(node: node, name: name, kind: kind, type: type, isHidden: isHidden, source: source), at: attribute.index)
        noteRule(source, of: attribute)
        hold(source)
        return attribute
    }

    private func noteRule(_ source: Source, of attribute: AttributeID) {
        let rule: BoundRule? = if case .rule(let rule) = source { rule } else { nil }
        evaluation.rules.set(rule, at: attribute.index)
    }

    /// Gives a vertex another source; its rule runs again when it is next wanted.
    func setSource(_ source: Source, of attribute: AttributeID) {
        guard let old = attributes[Int(attribute.index)]?.source else { return }
        hold(source)
        attributes[Int(attribute.index)]?.source = source
        noteRule(source, of: attribute)
        release(old)
        do { try engine.invalidate(attribute) } catch { preconditionFailure("a source was given to a removed attribute") }
    }

    func destroy(_ attribute: AttributeID) {
        guard engine.isAlive(attribute), let record = attributes[Int(attribute.index)] else { return }
        if let projections = record.projections {
            projections.forEachAttribute { destroy($0) }
        }
        switch record.source {
        case .override(_, _, let value): destroy(value)
        case .object(let object) where record.kind == .state: destroyNode(object)
        default: break
        }
        structureChange.removedAttributes.append(attribute)
        free(attribute, record)
    }

    /// Forgets a vertex that nobody outside the graph knows any more.
    func free(_ attribute: AttributeID, _ record: AttributeRecord) {
        attributes.remove(at: attribute.index)
        evaluation.rules.set(nil, at: attribute.index)
        animations.watched.remove(attribute)
        noteIdle(watches.forget(attribute, in: engine))
        places.forget(attribute)
        if sharing.hasLoose { noteIdle(engine.inputs(of: attribute)) }
        engine.destroy(attribute)
        release(record.source)
    }
}
