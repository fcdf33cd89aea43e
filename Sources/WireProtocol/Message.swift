import AttributeValues

/// The `id` of a request: a string, a number or null. Its reply repeats it unchanged.
public typealias RequestID = Value

/// The refusal of a request.
public struct RequestFault: Error {
    /// JSON-RPC's code: -32700 parse, -32600 invalid request, -32601 no such method, -32602 parameters, -32000 refused.
    public var code: Int
    public var failure: Failure

    public init(code: Int = RequestFault.refused, failure: Failure) {
        self.code = code
        self.failure = failure
    }

    public static let parse = -32700
    public static let invalidRequest = -32600
    public static let methodNotFound = -32601
    public static let invalidParameters = -32602
    public static let refused = -32000
}

/// The answer to a request. The most common shapes are written without building a value.
public enum Answer {
    case revision(UInt64)
    case content(Content, revision: UInt64, typed: Bool)
    case contents([(path: String, content: Content)], revision: UInt64, typed: Bool)
    /// Any other object.
    case value(Value)
    indirect case fault(RequestFault)
}

extension Answer {
    /// Subtracts the bytes of the answer from a budget, without writing the answer. Stops when nothing is left. Escapes
    /// do not count.
    public func draw(from budget: inout Int) {
        switch self {
        case .content(let content, _, let typed): content.draw(from: &budget, isTyped: typed)
        case .contents(let contents, _, let typed):
            for (path, content) in contents where budget >= 0 {
                budget -= path.utf8.count
                content.draw(from: &budget, isTyped: typed)
            }
        case .value(let value): value.draw(from: &budget, isTyped: false)
        case .revision, .fault: break
        }
    }
}

extension Content {
    fileprivate func draw(from budget: inout Int, isTyped: Bool) {
        switch self {
        case .value(let value): value.draw(from: &budget, isTyped: isTyped)
        case .failure(let failure): budget -= failure.message.utf8.count
        }
    }
}

public struct Change {
    public var path: String
    public var content: Content
    /// The motion of the displayed value, if it moves: the timeline object of `Documentation/Animation.md`.
    public var timeline: ValueMap?
    /// When the value was last reported, in seconds on the daemon's monotonic clock.
    public var reported: Double?

    public init(path: String, content: Content, timeline: ValueMap? = nil, reported: Double? = nil) {
        self.path = path
        self.content = content
        self.timeline = timeline
        self.reported = reported
    }
}

extension [Change] {
    /// Subtracts the bytes of the changes, without escapes and timelines, from a budget. Stops when nothing is left.
    public func draw(from budget: inout Int, isTyped: Bool) {
        for change in self where budget >= 0 {
            budget -= change.path.utf8.count
            change.content.draw(from: &budget, isTyped: isTyped)
        }
    }
}

/// Data about a change of the tree besides names.
public struct StructureDetails {
    /// From 0 to 1 while nodes come and go; nil if the change is not animated.
    public var timeline: ValueMap?
    /// `{insertion?, removal?}` by the paths of nodes with a transition.
    public var transitions: ValueMap
    /// The paths of the nodes that are shown in a node, in order, by the path of that node.
    public var shown: ValueMap

    public init(timeline: ValueMap? = nil, transitions: ValueMap = ValueMap(), shown: ValueMap = ValueMap()) {
        self.timeline = timeline
        self.transitions = transitions
        self.shown = shown
    }
}

/// An event for subscribers. It is encoded once for all of them; only the subscription's number differs.
public enum Event {
    /// `from`: the first revision of the event, if it spans several.
    indirect case update(
        revision: UInt64, from: UInt64?, label: String?, writer: String? = nil, isInitial: Bool, changes: [Change],
        typed: Bool)
    /// As `update` for one transaction, with the elements of its list already written by `appendChange`. Most updates
    /// are told so (decision 162).
    case updateText(revision: UInt64, label: String?, writer: String?, changes: ByteBuffer)
    case invalidate(revision: UInt64, paths: [String])
    indirect case structure(
        revision: UInt64, added: [String], removed: [String], moved: [String], details: StructureDetails? = nil)
    /// `time`: seconds on the daemon's monotonic clock.
    case frames(time: Double, values: [(path: String, value: Value)])
    /// As `frames`, with the values already written as members of a JSON object.
    case frameSheet(time: Double, members: ByteBuffer)
    /// `phase`: `logical`, `removed` or `replaced`.
    case completion(revision: UInt64, transaction: UInt64, phase: String, paths: [String])
    /// Everything up to the revision has been sent.
    case bookmark(epoch: String, revision: UInt64)
    /// A request that the receiver has to perform and answer.
    case forward(number: Int64, method: String, parameters: ValueMap, principal: String?, user: UInt32)
    /// Everything that the subscription named has been removed, or the daemon ends it.
    case ended(ErrorCode, reason: String)
}
