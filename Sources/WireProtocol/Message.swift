import AttributeValues

/// A request's `id`: repeated in its reply as it came.
public enum RequestID: Hashable {
    case int(Int64)
    /// Beyond the range of `int`.
    case uint(UInt64)
    case double(Double)
    case string(String)
    case null
}

/// JSON-RPC's own faults, and the project's.
public struct RequestFault: Error {
    /// JSON-RPC: -32700 parse, -32600 invalid request, -32601 no such method, -32602 parameters, -32000 refused.
    public var code: Int
    public var failure: Failure

    public init(code: Int, failure: Failure) {
        self.code = code
        self.failure = failure
    }

    public static let parse = -32700
    public static let invalidRequest = -32600
    public static let methodNotFound = -32601
    public static let invalidParameters = -32602
    public static let refused = -32000
}

/// What a request is answered with. The commonest shapes are written without building a value.
public enum Result {
    case revision(UInt64)
    case content(Content, revision: UInt64, typed: Bool)
    case contents([(path: String, content: Content)], revision: UInt64, typed: Bool)
    case subscribed(subscription: Int64, epoch: String, revision: UInt64)
    /// Any other object, as it stands.
    case value(Value)
    case fault(RequestFault)
}

extension Result {
    /// Takes from a budget the bytes that it fills, found without writing it; stops as soon as nothing is left. Escapes are not
    /// counted.
    public func draw(from budget: inout Int) {
        switch self {
        case .content(let content, _, let typed): content.draw(from: &budget, isTyped: typed)
        case .contents(let contents, _, let typed):
            for (path, content) in contents where budget >= 0 {
                budget -= path.utf8.count
                content.draw(from: &budget, isTyped: typed)
            }
        case .value(let value): value.draw(from: &budget, isTyped: false)
        case .revision, .subscribed, .fault: break
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

/// One attribute's news.
public struct Change {
    public var path: String
    public var content: Content
    /// How the displayed value moves, when it does (the object of specification section 6).
    public var timeline: Value?

    public init(path: String, content: Content, timeline: Value? = nil) {
        self.path = path
        self.content = content
        self.timeline = timeline
    }
}

extension [Change] {
    /// Takes from a budget the bytes that changes fill, escapes and timelines not counted; stops as soon as nothing is left.
    public func draw(from budget: inout Int, isTyped: Bool) {
        for change in self where budget >= 0 {
            budget -= change.path.utf8.count
            change.content.draw(from: &budget, isTyped: isTyped)
        }
    }
}

/// What subscribers are told. Encoded once however many there are; only the subscription's number differs.
public enum Event {
    /// `from`: the first revision the event spans, when it spans several.
    case update(revision: UInt64, from: UInt64?, label: String?, isInitial: Bool, changes: [Change], typed: Bool)
    case invalidate(revision: UInt64, paths: [String])
    case structure(revision: UInt64, added: [String], removed: [String], moved: [String])
    /// `time`: seconds on the daemon's monotonic clock.
    case frames(time: Double, values: [(path: String, value: Value)])
    /// The same, its values written already as the members of a JSON object.
    case frameSheet(time: Double, members: ByteBuffer)
    /// `phase`: `logical`, `removed` or `replaced`.
    case completion(revision: UInt64, transaction: UInt64, phase: String, paths: [String])
    /// Everything up to the revision has been sent.
    case bookmark(epoch: String, revision: UInt64)
    /// All that the subscription named is gone, or the daemon ends it.
    case ended(ErrorCode, reason: String)
}
