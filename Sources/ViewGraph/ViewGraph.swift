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
    /// The values of the root's own attributes at the start.
    var systemStandards: [String: Value] = [:]
    var clocks: Clocks
    var timedValues: TimedValues
    var watches = Watches()
    var sharing = SharedVertices()

    /// `forEach` nodes whose data is watched, by the engine index of the data.
    var forEachByData: [UInt32: UInt32] = [:]
    var staleForEach: Set<UInt32> = []
    var places = Places()
    var animations = AnimationValues()
    var reactions = Reactions()
    var roots = RootReferences()
    var evaluation = Evaluation()
    var budget = Budget()
    /// Whether the client of the request at hand may read an attribute, or all attributes of a node; nil: it may read everything.
    /// Looked at where the graph tells something by name, never where values are made.
    public var mayRead: ((AttributePath) -> Bool)?
    /// Called now and then while rules run that take long: whoever waits for their end sees that the daemon is alive.
    public var onLongWork: (() -> Void)?
    /// Nodes made and not yet connected to what they read.
    var unboundNodes: [UInt32] = []
    /// States of new nodes that begin with rules.
    var unbegun: [AttributeID] = []
    /// Those that have begun at a start and are kept from then on.
    var begunStates: [AttributeID] = []
    /// What changed in the tree since it was last taken.
    var structureChange = StructureChange()
    /// The subviews by id of the component that was asked for last, and `Tree.changes` then.
    var knownSubviews: (root: UInt32, changes: UInt64, rows: [String: UInt32])?
    /// What a store has to know, in order.
    var storeChanges: [StoreChange] = []
    /// Nodes whose rows may be others.
    var dueNodes: [NodeID] = []
    /// Subtrees that are out of the tree and not freed yet.
    var unlinked: UnlinkedTrees
    /// Children without a place among their siblings, by parent.
    var unplaced: [UInt32: [NodeID]] = [:]
    /// Nodes whose children stand in another order.
    var reordered: Set<UInt32> = []
    /// Whether changes are those of clients and data. Those of scenes at a start are not kept: the next start makes them again.
    public var notesChanges = true
    /// Rows of the store without a node.
    var absentRows = AbsentRows()
    /// Whether any node has ever got another parent.
    var hasMovedNodes = false
    /// The last number in a client's key.
    var nextKeyNumber: UInt64 = 0
    /// The rows come from a store that was recovered: a client's node goes on with the values that are left of it.
    var isSalvaged = false
    /// A store's rows are on their way back into the tree. What data makes on the way goes without taking its rows along.
    var isRestoring = false
    /// What was wrong with rows that found their nodes.
    var restoringFailures: [(revision: UInt64, failure: Failure)] = []
    /// When the states that have their values from a store were written.
    var restoredStates: [AttributeID: UInt64] = [:]
    /// Whether components are still the declared ones, by definition. Good until the next declaration.
    var currentComponents: [ObjectIdentifier: Bool] = [:]
    /// Instances that were made while rows of the store had no node.
    var newInstances: [UInt32] = []
    /// States whose present value counts from the change at hand on.
    var keptFromNow: [AttributeID] = []
    /// States with long values: the bytes that their values may still grow by.
    var rooms: [AttributeID: Int] = [:]
    var transaction: OpenTransaction?
    let reusedTransaction = OpenTransaction()

    public init(limits: Limits = Limits(), wallTime: Timestamp) {
        self.limits = limits
        unlinked = UnlinkedTrees(room: limits.freedAtOnce)
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

    /// What clients may make the graph grow to.
    public struct Limits {
        public var nodes = 1_000_000
        public var attributes = 2_000_000
        public var depth = 512
        /// Bytes, as JSON, of a value that a write makes.
        public var valueSize = 8 << 20
        /// Changes of a `forEach` behind one transaction after which it counts as endless, if its data depends on its instances.
        public var structureRounds = 64
        /// Rounds of actions that a change calls, each set off by the one before, after which they count as a loop.
        public var reactionRounds = 32
        /// Operators over time, each with an operand of its own.
        public var timedValues = 100_000
        /// Nodes that one change frees before it is done; more are freed in slices.
        public var freedAtOnce = 2000
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
            AttributeRecord(node: node, name: name, kind: kind, type: type, isHidden: isHidden, source: source),
            at: attribute.index)
        return attribute
    }

    func createRule(
        node: UInt32, name: String, kind: AttributeKind = .computed, type: ValueType = .dyn, source: Source,
        isHidden: Bool = true
    ) -> AttributeID {
        let attribute = engine.createRule()
        attributes.add(
            AttributeRecord(node: node, name: name, kind: kind, type: type, isHidden: isHidden, source: source),
            at: attribute.index)
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
        do { try engine.invalidate(attribute) } catch {
            preconditionFailure("a source was given to a removed attribute")
        }
    }

    func destroy(_ attribute: AttributeID) {
        guard engine.isAlive(attribute), let record = attributes[Int(attribute.index)] else { return }
        releaseHistory(of: record)
        if let projections = record.projections {
            projections.forEachAttribute { destroy($0) }
        }
        if record.kind == .action { forgetReaction(attribute) }
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
        if !rooms.isEmpty { rooms[attribute] = nil }
        noteIdle(watches.forget(attribute, in: engine))
        places.forget(attribute)
        if sharing.hasLoose { noteIdle(engine.inputs(of: attribute)) }
        engine.destroy(attribute)
        release(record.source)
    }
}
