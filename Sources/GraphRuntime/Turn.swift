import AttributeValues
import ViewGraph
import WireProtocol

// The input and output of a turn. The runtime has no other contact with its surroundings.

/// The present time. The loop reads it once for the whole turn.
public struct Moment {
    /// Seconds on the monotonic clock, which timelines use.
    public var monotonic: Double
    /// Wall time, which clocks show.
    public var wall: Timestamp
    /// Seconds that the machine has slept since it was booted. The monotonic clock does not count them.
    public var asleep: Double
    /// If set, the time of operators, which has passed at another pace than the monotonic clock: that of a record.
    public var recorded: TimeSpan?

    public init(monotonic: Double, wall: Timestamp, asleep: Double = 0, recorded: TimeSpan? = nil) {
        self.monotonic = monotonic
        self.wall = wall
        self.asleep = asleep
        self.recorded = recorded
    }

    /// The moment with which a graph goes on whose last commit was at a time of the wall clock. The time between is a
    /// sleep: the first turn, at this moment, ends it.
    /// - Parameter time: nil: there was no commit.
    public func goingOn(from time: Timestamp?) -> Moment {
        guard let time else { return self }
        var moment = self
        // A wall clock that was set back tells nothing.
        moment.asleep -= max(0, wall.since(time)?.seconds ?? 0)
        moment.wall = time
        return moment
    }

    /// The time since the machine was booted, which operators over time use.
    public var elapsed: TimeSpan {
        recorded ?? TimeSpan(nanoseconds: Int64(((monotonic + asleep) * 1e9).rounded()))
    }
}

/// An event since the last turn. Commands are in the order of their arrival.
public enum Command {
    case connected(ClientID, Peer)
    /// A decoded request. `id` is nil for a notification, which gets no reply.
    case call(ClientID, id: RequestID?, Request)
    /// A request that could not be read. It is answered in its position among the other requests.
    case refused(ClientID, id: RequestID, RequestFault)
    /// The calls from here to the end of the batch are answered by one list.
    case batchBegins(ClientID)
    case batchEnds(ClientID)
    case disconnected(ClientID)
    /// The client's queue has exceeded its limit. From now on, the newest value of each path is retained for it.
    case behind(ClientID)
    /// The client's queue has space again.
    case drained(ClientID)
    case accessChanged(AccessRules)
    /// The client has disconnected, and its remaining requests follow. They do not wait for other clients.
    case gaveUp(ClientID)
    /// A deadline of the runtime has come.
    case woken
}

extension Command {
    /// The client that made the request, or a part of it.
    public var requester: ClientID? {
        switch self {
        case .call(let client, _, _), .refused(let client, _, _), .batchBegins(let client), .batchEnds(let client):
            client
        case .connected, .disconnected, .behind, .drained, .accessChanged, .gaveUp, .woken: nil
        }
    }
}

/// Output of a turn, in the order in which each client must get it.
public enum Delivery {
    case reply(ClientID, id: RequestID, Answer)
    /// The client's replies from here to the end of the batch form one list, at the position of the end of the batch.
    case batchBegins(ClientID)
    case batchEnds(ClientID)
    /// The same event for several subscriptions.
    case event([Receiver], Event)
}

/// A subscription, as deliveries name it.
public typealias Receiver = (client: ClientID, subscription: Int64)

/// Gets the deliveries of a turn at once, in their order. So the time to write them counts as the command's.
public protocol TurnOutput: AnyObject {
    /// The text of an `Event.updateText` is valid until the call returns.
    func take(_ delivery: consuming Delivery)
}

public struct Outcome {
    public var deliveries: [Delivery] = []
    /// Changes that must be on disk before any client hears of them, in order.
    public var changes: [(revision: UInt64, change: StoreChange)] = []
    /// Commands that are left to the next turn. They come before the new ones.
    public var postponed: [Command] = []
    /// Clients whose first postponed command waits for another client. Their commands need not be given again before
    /// the client is in `resumed`.
    public var parked: [ClientID] = []
    public var resumed: [ClientID] = []
    /// Seconds that clients' requests have taken.
    public var times: [(client: ClientID, seconds: Double)] = []
    /// For the log: requests that were denied, in order.
    public var denials: [(client: ClientID, failure: Failure)] = []
    /// For the log: what could not be performed, and concerns no connected client.
    public var faults: [Failure] = []
    public init() {}

    /// Most turns leave nothing, and every turn asks.
    mutating func removeAll() {
        if !deliveries.isEmpty { deliveries = [] }
        if !changes.isEmpty { changes = [] }
        if !postponed.isEmpty { postponed = [] }
        if !parked.isEmpty { parked = [] }
        if !resumed.isEmpty { resumed = [] }
        if !times.isEmpty { times = [] }
        if !denials.isEmpty { denials = [] }
        if !faults.isEmpty { faults = [] }
    }
}
