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
public class Wiring: Vertices {
    public final internal(set) var declarations = Declarations()
    public final let limits: Limits

    /// Rows by `NodeID.row`. Row 0 is `/`.
    final let nodes: Tree<NodeRecord>

    /// The vertices of the keys' declared defaults, for readers without an override.
    final var environmentDefaults: [String: AttributeID] = [:]
    /// The initial values of the root's system attributes.
    final var systemStandards: [String: Value] = [:]
    final var clocks: Clocks
    final var timedValues: TimedValues
    /// Between the requests of a turn: that of the start.
    public final internal(set) var request: RequestContext
    final var roots = RootReferences()
    final var derived = DerivedProperties()
    /// Lists by the engine's row of their data, which is always watched.
    final var listsByData: [AttributeID: NodeRow] = [:]
    final var triggers = Triggers()
    /// True if a source has been replaced since nodes were last connected again.
    final var haveReferencesMoved = false
    /// Called from time to time while rules run for long, so that those who wait see that the daemon is alive.
    public final var onLongWork: (() -> Void)?
    final var unsettled = Unsettled()
    /// The changes of the tree since they were last taken.
    final var structureChange = StructureChange()

    init(
        _ nodes: Tree<NodeRecord> = Tree(), limits: Limits = Limits(), wallTime: Timestamp,
        elapsed: TimeSpan = TimeSpan(nanoseconds: 0), request: RequestContext = RequestContext()
    ) {
        self.nodes = nodes
        self.request = request
        self.limits = limits
        clocks = Clocks(time: wallTime)
        timedValues = TimedValues(time: OperatorTime(wall: wallTime, elapsed: elapsed))
        super.init()
        engine.host.pointee.attach(to: self)
        let definition = NodeDefinition()
        definition.kind = .container
        let root = createNode(definition, "", under: .root, .content)
        nodes[root].isScopeBoundary = true
        createSystemValues()
    }

    /// The content of a state until the rule for its first value has run.
    static var notBegun: Content { .failure(Failure(.dangling, "the state has not begun yet")) }

    /// Limits on what clients can make of the graph.
    public struct Limits: Equatable {
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
}
