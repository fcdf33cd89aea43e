import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

/// The tree and the engine's vertices, with what connects both: names, the environment, containers,
/// places in values, time.
///
/// All of it can be read and evaluated. Vertices that are made for readers are made at the first read. This class makes
/// and removes no nodes but those of objects in states. `TransactedWiring` adds transactions, and `ViewGraph` adds
/// lists and a store. One owner, one thread.
public class Wiring {
    typealias Engine = GraphCore<RuleHost>

    final let engine: Engine
    public final internal(set) var declarations = Declarations()
    public final let limits: Limits

    /// Rows by `NodeID.row`. Row 0 is `/`.
    final let nodes: Tree<NodeRecord>
    final var attributes = AttributeTable()

    /// The vertices of the keys' declared defaults, for readers without an override.
    final var environmentDefaults: [String: AttributeID] = [:]
    /// The initial values of the root's system attributes.
    final var systemStandards: [String: Value] = [:]
    final var clocks: Clocks
    final var timedValues: TimedValues
    final var watches = Watches()
    final var sharing = SharedVertices()
    final var places = Places()
    final var roots = RootReferences()
    final var evaluation = Evaluation()
    final var budget = Budget()
    /// `forEach` nodes whose data is watched, by the engine index of the data.
    final var forEachByData: [UInt32: UInt32] = [:]
    final var staleForEach: Set<UInt32> = []
    final var triggers = Triggers()
    /// Whether the client of the current request may read an attribute, or all attributes of a node; nil: it may read
    /// everything. Checked where the graph tells something by name, never where values are computed.
    public final var mayRead: ((AttributePath) -> Bool)?
    /// Called from time to time while rules run for long, so that those who wait see that the daemon is alive.
    public final var onLongWork: (() -> Void)?
    /// Nodes made and not yet connected to what they read.
    final var unboundNodes: [UInt32] = []
    /// States of new nodes whose first values come from rules that have not run.
    final var unbegun: [AttributeID] = []
    /// The changes of the tree since they were last taken.
    final var structureChange = StructureChange()
    /// The source of a rule's vertex until its node is connected.
    final let unconnected = Source.literal(.failure(Failure(.dangling, "not connected yet")))
    /// The writes of the open transaction so far. While it is open, vertices are noted before their contents change.
    final var transaction: OpenTransaction?

    init(_ nodes: Tree<NodeRecord> = Tree(), limits: Limits = Limits(), wallTime: Timestamp) {
        self.nodes = nodes
        self.limits = limits
        clocks = Clocks(time: wallTime)
        timedValues = TimedValues(time: wallTime)
        engine = Engine(host: RuleHost())
        engine.host.pointee.attach(to: self)
        let definition = NodeDefinition()
        definition.kind = .container
        _ = createNode(
            id: "", definition: definition, kind: .container, parent: 0, slot: .content, isScopeBoundary: true)
        createSystemValues()
    }

    deinit { engine.deallocate() }

    /// The content of a state until the rule for its first value has run.
    static var notBegun: Content { .failure(Failure(.dangling, "the state has not begun yet")) }

    /// Limits on what clients can make of the graph.
    public struct Limits {
        public var nodes = 1_000_000
        public var attributes = 2_000_000
        public var depth = 512
        /// Bytes, as JSON, of a value that a write makes.
        public var valueSize = 8 << 20
        /// Changes of a `forEach` for one transaction after which it counts as endless, if its data depends on its
        /// instances.
        public var structureRounds = 64
        /// Rounds of actions that one change may call, each set off by the round before. More count as a loop.
        public var reactionRounds = 32
        /// Operators over time. Uses of the same operator over the same operand count once.
        public var timedValues = 100_000
        /// Nodes that one change frees before it is done; more are freed in slices.
        public var freedAtOnce = 2000
        /// Limits for each rule.
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
        guard let record = attributes[Int(attribute.index)] else {
            preconditionFailure("an attribute without a row")
        }
        return record
    }

    /// Number of attributes with a name. Hidden vertices are not counted.
    public var liveAttributes: Int { attributes.named }

    func createInput(
        _ content: Content, node: UInt32, name: String, kind: AttributeKind = .let, type: ValueType = .dyn,
        source: Source, isHidden: Bool = true
    ) -> AttributeID {
        createInput(
            content,
            AttributeRecord(node: node, name: name, kind: kind, type: type, isHidden: isHidden, source: source))
    }

    func createInput(_ content: Content, _ record: AttributeRecord) -> AttributeID {
        let attribute = engine.createInput(content)
        attributes.add(record, at: attribute.index)
        return attribute
    }

    func createRule(
        node: UInt32, name: String, kind: AttributeKind = .computed, type: ValueType = .dyn, source: Source,
        isHidden: Bool = true
    ) -> AttributeID {
        createRule(
            AttributeRecord(node: node, name: name, kind: kind, type: type, isHidden: isHidden, source: source))
    }

    func createRule(_ record: AttributeRecord) -> AttributeID {
        let attribute = engine.createRule()
        attributes.add(record, at: attribute.index)
        holdVertices(of: record.source, attribute)
        return attribute
    }

    /// Gives a vertex another source. A rule runs again when it is next read.
    func setSource(_ source: Source, of attribute: AttributeID) {
        guard let old = attributes[Int(attribute.index)]?.source else { return }
        holdVertices(of: source, attribute)
        attributes[Int(attribute.index)]?.source = source
        releaseVertices(of: old, attribute)
        do { try engine.invalidate(attribute) } catch {
            preconditionFailure("a source was given to a removed attribute")
        }
    }

    /// Frees a vertex that nobody outside the graph knows any more.
    func freeVertex(_ attribute: AttributeID, _ record: AttributeRecord) {
        attributes.remove(at: attribute.index)
        noteIdle(watches.forget(attribute, in: engine))
        places.forget(attribute)
        if sharing.hasLoose { noteIdle(engine.inputs(of: attribute)) }
        engine.destroy(attribute)
        releaseVertices(of: record.source, attribute)
    }
}
