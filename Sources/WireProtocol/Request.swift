import AttributeValues

/// A request of a client, with one case per method. Paths, patterns and animations are text or JSON here. The runtime
/// checks them, so that errors can use the graph's knowledge (near names, types).
public enum Request {
    /// - principal: the principal for which the connection acts from now on.
    /// - time: the moment, of a connection to agd-past.
    indirect case hello(client: String?, principal: String? = nil, time: PastTime? = nil)
    case ping
    case get(Get)
    case set(Mutation, TransactionOptions)
    case transact([Mutation], TransactionOptions)
    /// Calls an action.
    case `do`(path: RequestPath, arguments: ValueMap, TransactionOptions)
    indirect case apply(Apply)
    case remove(path: String, TransactionOptions)
    /// Ends all that a named layer says.
    indirect case withdraw(layer: String, at: String, TransactionOptions)
    /// - Parameters:
    ///   - to: the new parent; nil for the present one.
    ///   - index: the position among the new siblings; nil for the last.
    indirect case move(path: String, to: String?, index: Int?, TransactionOptions)
    /// Brings back a node of a scene that was removed.
    indirect case restore(path: String, TransactionOptions)
    indirect case subscribe(Subscribe)
    case unsubscribe(subscription: Int64)
    case onDisconnect([Mutation], TransactionOptions)
    /// Sends writes of other clients below a node to this client.
    case delegate(path: String)
    /// Answers a forwarded request, with either a result or an error.
    indirect case answer(forward: Int64, result: Value?, error: Failure?)
    /// Without a path, the protocol's own schema.
    case describe(path: String?, depth: Int?)
    /// The cards of a node and all below it, or one card of an attribute, which `panel` describes.
    case board(path: String, panel: ValueMap)
    case explain(path: String, revision: UInt64?)
    /// The recorded past of an attribute.
    case history(path: String)
    /// What has happened. agd-past answers it.
    indirect case log(Log)
    /// Asks for the values of attributes, or of a rule, over a time. agd-past answers it.
    indirect case series(Series)
    /// Goes to another moment. agd-past answers it.
    indirect case seek(PastTime)
    /// Follows the records from here on, so many times as fast as they were made; 0 stops. agd-past answers it.
    case play(speed: Double)
    case dump(path: String, format: DumpFormat, layer: String? = nil)
    /// The named layers at a node and below it.
    case layers(path: String)
    case stats(format: StatsFormat)
    /// - enable: starts or stops recording turns; nil only returns the recording.
    case trace(enable: Bool?)
    /// Deletes the rows of the store that have no node.
    case prune
    /// - Parameters:
    ///   - bindings: variables by name.
    ///   - at: the node in whose scope names are looked up; nil for the root.
    indirect case eval(expression: String, bindings: ValueMap, at: String?, typed: Bool)

    /// True if the request changes nothing. Such a request can be refused even after its answer has been computed.
    public var onlyReads: Bool {
        switch self {
        case .get, .describe, .board, .explain, .history, .dump, .layers, .stats, .eval, .log, .series: true
        case .trace(let enable): enable == nil
        default: false
        }
    }

    /// True if the request changes the graph, or what will be changed later.
    public var changesGraph: Bool {
        switch self {
        case .set, .transact, .do, .apply, .remove, .move, .restore, .onDisconnect, .delegate, .answer, .prune: true
        default: false
        }
    }

    /// Which transactions are asked for.
    public struct Log {
        /// Paths and patterns; empty: everything.
        public var patterns: [String]
        public var from: PastTime?
        public var to: PastTime?
        /// The name of a client or principal, or the number of a user.
        public var by: String?
        /// A part of the label.
        public var label: String?
        public var count: Int?
        /// Only the number of changes of each transaction is told.
        public var isBrief: Bool
        /// True for those alone that changed the tree or declarations.
        public var structure: Bool

        public init(
            patterns: [String] = [], from: PastTime? = nil, to: PastTime? = nil, by: String? = nil,
            label: String? = nil, count: Int? = nil, isBrief: Bool = false, structure: Bool = false
        ) {
            (self.patterns, self.from, self.to) = (patterns, from, to)
            (self.by, self.label, self.count) = (by, label, count)
            (self.isBrief, self.structure) = (isBrief, structure)
        }
    }

    /// What is asked of a time, in stretches of equal length.
    public struct Series {
        public var subject: Subject
        public var from: PastTime
        /// nil: now.
        public var to: PastTime?
        /// The number of stretches.
        public var points: Int
        /// True to get each change with its time, too.
        public var changes: Bool
        public var typed: Bool

        public enum Subject {
            /// Paths and patterns.
            case attributes([String])
            case rule(String, at: String)
        }

        public static let standardPoints = 300
        public static let mostPoints = 2000

        public init(
            _ subject: Subject, from: PastTime, to: PastTime? = nil, points: Int = standardPoints,
            changes: Bool = false, typed: Bool = false
        ) {
            (self.subject, self.from, self.to) = (subject, from, to)
            (self.points, self.changes, self.typed) = (points, changes, typed)
        }
    }

    public struct Get {
        public var targets: [RequestPath]
        public var paths: [String] { targets.map(\.text) }
        /// True if the request has `path`. The answer is then one value instead of a map.
        public var isSingle: Bool
        public var presentation: Bool
        public var typed: Bool

        public init(paths: [String], isSingle: Bool = false, presentation: Bool = false, typed: Bool = false) {
            self.init(targets: paths.map { RequestPath($0) }, isSingle: isSingle, presentation, typed)
        }

        init(targets: [RequestPath], isSingle: Bool, _ presentation: Bool, _ typed: Bool) {
            self.targets = targets
            self.isSingle = isSingle
            self.presentation = presentation
            self.typed = typed
        }
    }

    public struct Apply {
        /// A string is the text of a document (YAML or JSON); any other value is the document itself.
        public var document: Value
        public var at: String
        public var mode: ApplyMode
        public var dryRun: Bool
        /// The name of the layer that the document is; nil: it changes the edits.
        public var layer: String?
        /// Nothing is done if the layer has changed since.
        public var condition: Position?
        public var options: TransactionOptions

        public init(document: Value, at: String, mode: ApplyMode, dryRun: Bool, options: TransactionOptions) {
            self.document = document
            self.at = at
            self.mode = mode
            self.dryRun = dryRun
            self.options = options
        }
    }

    public enum ApplyMode: String, CaseIterable, Sendable { case create, merge, replace }

    public struct Subscribe: Sendable {
        /// Paths, or patterns in which `*` is one segment and `**` any number.
        public var patterns: [String]
        public var events: EventKinds
        /// Begin with the present values.
        public var initial: Bool
        /// Continue from the position of another subscription, instead of from a snapshot.
        public var since: Position?
        /// Most updates per second, > 0. Between updates the newest values are retained, and the last is always sent.
        public var maxRate: Double?
        /// Samples per second for `frames`, > 0: displayed values of moving attributes.
        public var frameRate: Double?
        /// Timelines include an easing for browsers.
        public var css: Bool
        public var typed: Bool
        /// True to get a bookmark event after everything up to the present revision has been sent.
        public var bookmarks: Bool
        /// Updates name their author, to clients that may read everything.
        public var writers: Bool
        /// Changes have the time of the last report, and equal reports are told.
        public var reports: Bool

        /// - Parameters:
        ///   - events: `frames` is added if there is a frame rate.
        ///   - initial: nil: true if `events` has updates. With `invalidate` alone, a snapshot would have to evaluate
        /// the values.
        public init(
            patterns: [String], events: EventKinds = .update, initial: Bool? = nil, since: Position? = nil,
            maxRate: Double? = nil, frameRate: Double? = nil, css: Bool = false, typed: Bool = false,
            bookmarks: Bool = false, writers: Bool = false, reports: Bool = false
        ) {
            self.patterns = patterns
            self.events = frameRate == nil ? events : events.union(.frames)
            self.initial = initial ?? events.contains(.update)
            self.since = since
            self.maxRate = maxRate
            self.frameRate = frameRate
            self.css = css
            self.typed = typed
            self.bookmarks = bookmarks
            self.writers = writers
            self.reports = reports
        }
    }

    /// A revision of one life of the graph.
    public struct Position: Hashable, Sendable {
        public var epoch: String
        public var revision: UInt64

        public init(epoch: String, revision: UInt64) {
            self.epoch = epoch
            self.revision = revision
        }
    }

    public enum DumpFormat: String, CaseIterable, Sendable {
        /// `scene` is the tree as a document that makes an equal one.
        case json, dot, scene
    }

    public enum StatsFormat: String, CaseIterable, Sendable { case json, openmetrics }
}

/// One change in a transaction.
public struct Mutation {
    public enum Operation: String, CaseIterable, Sendable {
        /// Writes `value`.
        case set
        /// Inverts a bool.
        case toggle
        /// Adds `value` to a number (or duration to a timestamp).
        case add
        /// Appends `value` to a list (or text to a string).
        case append
        /// Inserts `value` before `index` of a list.
        case insert
        /// Removes the element or entry that the path names.
        case remove
        /// Merges `value` into a map according to RFC 7396.
        case merge
        /// Aborts the transaction with `conflict` unless the present value equals `value`.
        case test
    }

    public var operation: Operation
    public var target: RequestPath
    /// The value, or null if there is none.
    public var operand: Value
    public var hasValue: Bool
    public var index: Int?

    public var path: String { target.text }
    public var value: Value? { hasValue ? operand : nil }

    public init(operation: Operation, path: String, value: Value? = nil, index: Int? = nil) {
        self.init(operation: operation, target: RequestPath(path), value: value, index: index)
    }

    init(operation: Operation, target: RequestPath, value: Value?, index: Int? = nil) {
        self.operation = operation
        self.target = target
        operand = value ?? .null
        hasValue = value != nil
        self.index = index
    }
}

extension Mutation {
    /// Subtracts the approximate bytes of the mutation as JSON from a budget.
    public func draw(from budget: inout Int) {
        // {"op":"set","path":"","value":}
        budget -= 40 + path.utf8.count
        value?.draw(from: &budget, isTyped: false)
    }
}

/// How a transaction is performed. Without options it takes no memory.
public struct TransactionOptions {
    private struct Parts {
        var animation: Value?
        var disablesAnimations = false
        var label: String?
        var typed = false
        var once: String?
        var elapsed = 0.0
        var motions: [Value] = []
    }

    /// Empty or one element, which copies share.
    private var given: [Parts] = []
    private var parts: Parts {
        get { given.first ?? Parts() }
        set { given = [newValue] }
    }

    /// The text form or JSON form of an animation.
    public var animation: Value? {
        get { given.first?.animation }
        set { parts.animation = newValue }
    }
    public var disablesAnimations: Bool { given.first?.disablesAnimations ?? false }
    public var label: String? {
        get { given.first?.label }
        set { parts.label = newValue }
    }
    /// True if values in the request are typed JSON.
    public var typed: Bool {
        get { given.first?.typed ?? false }
        set { parts.typed = newValue }
    }
    /// Identifies the request, so that it is performed only once even if it is sent again.
    public var once: String? {
        get { given.first?.once }
        set { parts.once = newValue }
    }
    /// Seconds for which the animation has already been running.
    public var elapsed: Double {
        get { given.first?.elapsed ?? 0 }
        set { parts.elapsed = newValue }
    }

    /// Animations of some mutations, each with the positions of the mutations.
    public var motions: [Value] {
        get { given.first?.motions ?? [] }
        set { parts.motions = newValue }
    }

    /// True if all options have their defaults.
    public var isPlain: Bool { given.isEmpty }

    public init() {}

    public init(
        animation: Value? = nil, disablesAnimations: Bool = false, label: String? = nil, typed: Bool = false,
        once: String? = nil, elapsed: Double = 0
    ) {
        parts = Parts(
            animation: animation, disablesAnimations: disablesAnimations, label: label, typed: typed, once: once,
            elapsed: elapsed)
    }

    /// Subtracts the approximate bytes of the options as JSON from a budget.
    public func draw(from budget: inout Int) {
        // {"animation":,"label":"","typed":true}
        budget -= 40 + (label?.utf8.count ?? 0) + (once?.utf8.count ?? 0)
        animation?.draw(from: &budget, isTyped: false)
        for motion in motions { motion.draw(from: &budget, isTyped: false) }
    }
}

public struct EventKinds: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let update = EventKinds(rawValue: 1)
    public static let invalidate = EventKinds(rawValue: 2)
    public static let structure = EventKinds(rawValue: 4)
    public static let frames = EventKinds(rawValue: 8)
    public static let completion = EventKinds(rawValue: 16)
}
