import AttributeValues
import WireProtocol

// What goes into a turn and what comes out: the runtime's whole contact with the world.

/// Now, as the loop read it once for the whole turn.
public struct Moment {
    /// Seconds on the monotonic clock: timelines are placed on it.
    public var monotonic: Double
    /// Wall time: clocks show it.
    public var wall: Timestamp

    public init(monotonic: Double, wall: Timestamp) {
        self.monotonic = monotonic
        self.wall = wall
    }
}

/// One thing that happened since the last turn, in order of arrival.
public enum Command {
    case connected(ClientID, Peer)
    /// A decoded request. `id` is nil for a notification, which gets no reply.
    case call(ClientID, id: RequestID?, Request)
    /// A request that could not be read: it is answered in its place.
    case refused(ClientID, id: RequestID, RequestFault)
    /// The calls from here to the end of the batch are answered by one list.
    case batchBegins(ClientID)
    case batchEnds(ClientID)
    case disconnected(ClientID)
    /// The client's queue passed its limit: from now on its news is kept as the newest value per path.
    case behind(ClientID)
    /// The client's queue has room again.
    case drained(ClientID)
    /// The operator has changed who may do what.
    case accessChanged(AccessRules)
    /// A deadline that the runtime asked for has come.
    case woken
}

extension Command {
    /// Whose request it is, or a part of one.
    public var requester: ClientID? {
        switch self {
        case .call(let client, _, _), .refused(let client, _, _), .batchBegins(let client), .batchEnds(let client): client
        case .connected, .disconnected, .behind, .drained, .accessChanged, .woken: nil
        }
    }
}

/// What a turn has to say, in the order in which each client must hear it.
public enum Delivery {
    case reply(ClientID, id: RequestID, Result)
    /// The client's replies from here to the end of the batch make up one list, which stands where the batch ends.
    case batchBegins(ClientID)
    case batchEnds(ClientID)
    /// The same event for several subscriptions.
    case event([(client: ClientID, subscription: Int64)], Event)
}

/// What must be on disk before anybody hears of it.
public enum JournalEntry {
    /// A durable state's new value.
    case state(path: String, value: Value)
    /// A request that changed definitions, to be replayed in order at start.
    case applied(document: Value, at: String, mode: String)
    case removed(path: String)
    case moved(path: String, to: String?, index: Int?)
    /// The states of a node or attribute and of all below it are gone, or others have taken their place: what was kept of them
    /// counts no more.
    case forgotten(path: String)
    /// Changes of structure that the tree no longer stands on. A change's number is its place among all that were kept, from 0 on.
    case void(changes: [Int])
    /// The node that these changes of structure were done in has another path.
    case rekeyed(changes: [Int], from: String, to: String)
}

extension JournalEntry {
    /// Whether it is replayed as a change of structure, and has a number as such.
    public var isStructure: Bool {
        switch self {
        case .applied, .removed, .moved: true
        case .state, .forgotten, .void, .rekeyed: false
        }
    }

    var isState: Bool { if case .state = self { true } else { false } }

    /// The same change, done in a node whose path is another one.
    public func rekeyed(from old: String, to new: String) -> JournalEntry {
        func rekey(_ path: String) -> String {
            path == old || path.hasPrefix(old + "/") ? new + path.dropFirst(old.count) : path
        }
        return switch self {
        case .state(let path, let value): .state(path: rekey(path), value: value)
        case .applied(let document, let at, let mode): .applied(document: document, at: rekey(at), mode: mode)
        case .removed(let path): .removed(path: rekey(path))
        case .moved(let path, let to, let index): .moved(path: rekey(path), to: to.map(rekey), index: index)
        case .forgotten, .void, .rekeyed: self
        }
    }
}

/// Everything a turn leads to.
public struct Outcome {
    public var deliveries: [Delivery] = []
    public var accepted: [(revision: UInt64, entry: JournalEntry)] = []
    /// Commands that are left to the next turn, to be put before what comes in until then.
    public var postponed: [Command] = []
    /// Seconds that the requests of clients have taken.
    public var times: [(client: ClientID, seconds: Double)] = []
    /// For the log: requests that were refused for want of a right, in order.
    public var denials: [(client: ClientID, failure: Failure)] = []
    public init() {}
}
