import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

// The graph as it was. A runtime of the past performs recorded writes, runs no reactions and defers nothing; its
// clients change nothing. Clocks and operators move with the records alone.

/// The changes of a recorded transaction, without those of structure.
public struct RecordedChange {
    public var revision: UInt64
    public var author: Author?
    public var label: String?
    public var animation: Value?
    /// What the client has written, in order.
    public var writes: [RecordedWrite] = []
    /// What reactions have written, and how new states have begun, in order.
    public var reactions: [RecordedWrite] = []
    public var reports: [RecordedReport] = []

    public init(
        revision: UInt64, author: Author?, label: String?, animation: Value?, reactions: [RecordedWrite] = []
    ) {
        (self.revision, self.author, self.label, self.animation) = (revision, author, label, animation)
        self.reactions = reactions
    }
}

/// A value of a state, by the key of its node and its name there.
public struct RecordedWrite {
    public var key: String
    public var name: String
    /// A number that all writes of the state have.
    public var number: Int
    public var value: Value

    public init(key: String, name: String, number: Int, value: Value) {
        (self.key, self.name, self.number, self.value) = (key, name, number, value)
    }
}

/// See `KeptReport`.
public struct RecordedReport {
    public var key: String
    public var name: String
    public var steps: String
    public var entries: [Value]?

    public init(key: String, name: String, steps: String, entries: [Value]?) {
        (self.key, self.name, self.steps, self.entries) = (key, name, steps, entries)
    }
}

extension GraphRuntime {
    /// True for a runtime of the past. Set it before anything is loaded.
    public var isPast: Bool {
        get { watching.isPast }
        set {
            watching.isPast = newValue
            graph.keepsTransient = newValue
            store.isOn = !newValue
        }
    }

    /// Begins at a revision, when the graph is as it was then.
    public func beginPast(at revision: UInt64) { history.beginPast(at: revision) }

    /// Performs a recorded transaction in a turn that has begun at the record's time, and tells subscribers.
    public func replay(_ change: RecordedChange) {
        precondition(isPast, "only the past is replayed")
        graph.working(in: RequestContext(growth: limits.graph.attributes)) { perform(change) }
        // Nobody keeps what is replayed.
        _ = graph.takeStoreChanges(at: change.revision)
        _ = graph.takeReports()
    }

    private func perform(_ change: RecordedChange) {
        let stamp = graph.stamp
        graph.advance(to: turn.now.wall, elapsed: turn.now.elapsed)
        var states = graph.replay(change.writes, change.reports, &recorded)
        var rest = change.reactions
        // A write may make the node of the next one.
        while !rest.isEmpty {
            let (written, left) = graph.replayKnown(rest, &recorded)
            states += written
            if left.count == rest.count { break }
            rest = left
        }
        if !isFollowed {
            history.replay(change, since: stamp, states)
            var options = TransactionOptions()
            options.animation = change.animation
            watching.publishReplayed(since: stamp, try? presentations.motion(options), change.label)
        }
    }

    /// True if a value depends on what other values were before.
    public var hasOperators: Bool { graph.hasOperators }

    /// Goes to the values of another moment in a turn that has begun at its time, if no operator over time would have
    /// to know what was in between.
    /// - Parameter time: the rows of an image with the operators' clock.
    /// - Returns: false if there are operators, or states that are not there. The graph is then no longer of use.
    public func leap(to writes: [RecordedWrite], at revision: UInt64, time: [StoredRow]) -> Bool {
        if hasOperators { return false }
        graph.beginTime(at: turn.now.wall, elapsed: turn.now.elapsed, from: time)
        replay(RecordedChange(revision: revision, author: nil, label: nil, animation: nil, reactions: writes))
        history.beginPast(at: revision)
        return !hasOperators && writes.allSatisfy { graph.keptState(of: $0, &recorded) != nil }
    }

    /// Lets clocks and operators show the time of a turn that has begun, at which nothing was written.
    public func pass() {
        precondition(isPast, "only the past passes by itself")
        graph.working(in: RequestContext(growth: limits.instanceCost)) {
            let stamp = graph.stamp
            graph.advance(to: turn.now.wall, elapsed: turn.now.elapsed)
            if !isFollowed { watching.publishReplayed(since: stamp, nil, nil) }
        }
    }

    /// When the next watched clock ticks, or an operator changes its result; nil: never.
    public var nextPassing: Timestamp? {
        guard graph.hasClocks else { return nil }
        return graph.nextWait(from: turn.now.wall, elapsed: turn.now.elapsed).flatMap { turn.now.wall.advanced(by: $0) }
    }

    /// Begins with the operators' clock of an image. Call before anything is loaded.
    public func resumeTime(from rows: [StoredRow]) { graph.resumeTime(from: rows) }

    /// True if there is a node with this key.
    public func hasNode(atKey key: String) -> Bool { graph.hasNode(atKey: key) }

    /// The next subscription gets this number, which no other has.
    public func nextSubscription(is number: Int64) { watching.nextSubscription = number }

    /// The rows of the graph as it is now, without declarations: see `ViewGraph.addImage`.
    public func imageRows() -> [StoreChange] {
        var (node, rows) = (UInt32(0), [StoreChange]())
        while graph.addImage(from: &node, atMost: .max / 2, to: &rows) {}
        return rows
    }

    /// True if a client may read an attribute, or all attributes of a node.
    public func mayRead(_ path: String, _ client: ClientID) -> Bool {
        guard let grants = clients[client]?.grants, grants.isPartial else { return clients[client] != nil }
        return (try? AttributePath(path)).map(grants.showsAttributes) ?? false
    }

    /// True if a client may read everything.
    public func mayReadEverything(_ client: ClientID) -> Bool { clients[client].map { !$0.isPartial } ?? false }

    /// Why a client may not make a request; nil: it may.
    public func refusal(of request: Request, by client: ClientID) -> Failure? {
        guard let client = clients[client] else { return Failure(.unavailable, "the client has gone") }
        do throws(Failure) {
            try checkAccess(of: client, to: request)
            return nil
        } catch { return error }
    }

    /// What may be told of a transaction's author.
    public func told(_ author: Author?, to client: ClientID) -> Value {
        guard let author else { return "agd" }
        guard let client = clients[client] else { return .null }
        guard !client.isPartial || author.peer.uid == client.peer.uid && author.principal == client.principal else {
            return .null
        }
        var told = ValueMap([
            ("pid", .int(Int64(author.peer.pid))), ("uid", .int(Int64(author.peer.uid))),
            ("name", author.name.map { .string($0) } ?? .null),
        ])
        if let principal = author.principal { told["as"] = .string(principal) }
        return .map(told)
    }
}
