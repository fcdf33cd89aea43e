import AttributeValues
import ViewGraph
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
    /// The client has gone, and its requests are still to come: they need not wait for other clients.
    case gaveUp(ClientID)
    /// A deadline that the runtime asked for has come.
    case woken
}

extension Command {
    /// Whose request it is, or a part of one.
    public var requester: ClientID? {
        switch self {
        case .call(let client, _, _), .refused(let client, _, _), .batchBegins(let client), .batchEnds(let client):
            client
        case .connected, .disconnected, .behind, .drained, .accessChanged, .gaveUp, .woken: nil
        }
    }
}

/// What a turn has to say, in the order in which each client must hear it.
public enum Delivery {
    case reply(ClientID, id: RequestID, Answer)
    /// The client's replies from here to the end of the batch make up one list, which stands where the batch ends.
    case batchBegins(ClientID)
    case batchEnds(ClientID)
    /// The same event for several subscriptions.
    case event([(client: ClientID, subscription: Int64)], Event)
}

/// Everything a turn leads to.
public struct Outcome {
    public var deliveries: [Delivery] = []
    /// What must be on disk before anybody hears of it, in order.
    public var changes: [(revision: UInt64, change: StoreChange)] = []
    /// Commands that are left to the next turn, to be put before what comes in until then.
    public var postponed: [Command] = []
    /// Clients whose first postponed command waits for another client. Nothing of them need come again before they are
    /// in `resumed`.
    public var parked: [ClientID] = []
    public var resumed: [ClientID] = []
    /// Seconds that the requests of clients have taken.
    public var times: [(client: ClientID, seconds: Double)] = []
    /// For the log: requests that were refused for want of a right, in order.
    public var denials: [(client: ClientID, failure: Failure)] = []
    public init() {}
}
