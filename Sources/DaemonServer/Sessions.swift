import AttributeValues
import EventLoop
import GraphRuntime
import Logging
import WireProtocol

/// All clients: those with input, and those with output.
final class Sessions {
    var limits: ServerLimits
    private(set) var log: Logger
    var admission: Admission
    let pool = InputPool()
    /// The requests of a client in one turn, if `requests-per-turn` allows more. The client reads their answers while
    /// the daemon performs its next requests. Only if a turn waits for the disk, as many as possible share the wait.
    var portion = 32
    /// The output that waits for all clients together.
    let output = OutputLedger()
    private var decoder: RequestDecoder

    private var table = SessionTable()
    /// The daemon is stopping: a client is closed as soon as it has read its output.
    private var isLeaving = false
    /// All clients have been closed.
    private var isClosed = false

    /// Sessions with complete lines, or ended, in the order in which they became so.
    private var ready: [Session] = []
    /// The sessions served in the present turn. Reused, to save allocations.
    private var takers: [Session] = []
    /// Sessions with output since the last flush.
    private var touched: [Session] = []
    /// The sessions of the present flush. Reused, to save allocations.
    private var flushed: [Session] = []
    var inputAllowance = InputAllowance()
    /// Connections and disconnections since the last turn, in order.
    private var news: [Command] = []

    /// Some client waits or has ended its side, and has to be checked from time to time.
    private(set) var needsCare = false
    private(set) var statistics = SessionStatistics()

    /// Bytes that all clients together may receive from one turn to the next: some milliseconds of copying.
    private static let writtenPerTurn = 8 << 20
    /// Bytes of it that are left.
    private var bytesLeft = writtenPerTurn
    /// Bytes of requests that all clients together get performed in a turn: some 20 ms of reading. The others wait for
    /// the next turn.
    static let performedPerTurn = 16 << 20
    /// Bytes of it that are left.
    var performedLeft = performedPerTurn

    init(limits: ServerLimits, access: AccessRules, log: Logger) {
        self.limits = limits
        admission = Admission(access: access)
        self.log = log
        decoder = RequestDecoder(
            maximumDepth: limits.nesting, maximumBatch: limits.batchCalls, maximumValues: limits.messageValues)
    }

    func giveBack() { decoder.giveBack() }

    /// Takes effect from the next line on.
    func change(limits: ServerLimits, log: Logger) {
        self.limits = limits
        self.log = log
        decoder = RequestDecoder(
            maximumDepth: limits.nesting, maximumBatch: limits.batchCalls, maximumValues: limits.messageValues)
    }

    /// Takes effect in the next turn, before its requests.
    func change(_ access: AccessRules) {
        admission.access = access
        for session in all { session.share.standing = access.standing(of: session.peer) }
        news.append(.accessChanged(access))
    }

    subscript(_ id: ClientID) -> Session? { table[id] }

    var all: [Session] { Array(table.all) }

    var count: Int { table.count }

    // Connecting and disconnecting.

    var mayAccept: Bool { inputAllowance.left > 0 }

    func accept(_ connection: Connection) {
        // Accepting a client takes about as long as reading this many bytes.
        inputAllowance.use(InputBlock.smallest)
        let peer: Peer
        do throws(LoopError) { peer = try admission.identify(connection) } catch {
            didFailToAccept(error)
            return connection.close()
        }
        if let refusal = admission.refusal(of: connection, peer, limits) {
            return refuse(connection, refusal)
        }
        let now = Loop.monotonicTime
        let debt = admission.addConnection(of: peer, at: now)
        let standing = admission.access.standing(of: peer)
        let session = table.add { id in
            Session(
                id: id, peer: peer, connection: connection, sessions: self, debt: debt, standing: standing, now: now)
        }
        statistics.accepted += 1
        news.append(.connected(session.id, session.peer))
        connection.delegate = session
        connection.startReading()
        log.debug("\(session.name) has connected", metadata: session.details)
    }

    private func refuse(_ connection: Connection, _ failure: Failure) {
        noteRefusal(failure.hint.map { "\(failure.message) (\($0))" } ?? failure.message)
        var farewell = OutputQueue()
        farewell.append { line in
            line.appendReply(.fault(RequestFault(failure: failure)), to: .null)
            line.append(UInt8(ascii: "\n"))
        }
        // A new socket accepts these bytes at once. It does not matter whether the client reads them.
        do throws(LoopError) { _ = try farewell.flush(to: connection) } catch { log.debug("\(error)") }
        connection.close()
    }

    /// Counts a connection that could not be accepted.
    func didFailToAccept(_ error: LoopError) { noteRefusal("\(error)") }

    private func noteRefusal(_ reason: String) {
        statistics.refused += 1
        guard admission.mayWarn(at: Loop.monotonicTime) else { return }
        log.warning("a client is refused: \(reason); refused since the start: \(statistics.refused)")
    }

    func didClose(_ session: Session) {
        guard table.remove(session) else { return }
        admission.removeConnection(of: session.peer)
        // Received requests are still performed.
        if !isClosed, session.hasPostponed { news += [.gaveUp(session.id)] + session.takePostponed() }
        news.append(.disconnected(session.id))
        log.debug("\(session.name) is no longer connected", metadata: session.details)
    }

    /// Disconnects a client that cannot be served any more.
    func disconnect(_ session: Session, _ reason: String) {
        guard !session.isClosing else { return }
        statistics.disconnected += 1
        log.warning("\(session.name) is disconnected: \(reason)", metadata: session.details)
        close(session)
    }

    func close(_ session: Session) {
        guard !session.isClosing else { return }
        session.isClosing = true
        session.output.dropAll()
        session.connection.close()
    }

    /// Logs what no connected client can be told.
    func note(_ faults: [Failure]) {
        for failure in faults { log.warning("\(failure.message)") }
    }

    /// Logs denied requests, at the level debug and only some per turn, because clients can cause them at will.
    func note(_ denials: [(client: ClientID, failure: Failure)]) {
        for (client, failure) in denials.prefix(Sessions.notedDenials) {
            let session = self[client]
            var details = session?.details ?? [:]
            if let path = failure.path { details["path"] = "\(path)" }
            log.debug("\(session?.name ?? "a disconnected client"): \(failure.message)", metadata: details)
        }
        let others = denials.count - Sessions.notedDenials
        if others > 0 { log.debug("\(others) more requests were denied in the same turn") }
    }

    private static let notedDenials = 20

    // The beginning and the end of a turn.

    func markReady(_ session: Session) {
        guard !session.isReady, !session.isParked, !session.isClosing else { return }
        session.isReady = true
        ready.append(session)
    }

    /// Writes messages that are on disk to a client for which nothing waits, without its queue.
    /// - Returns: false if the client has not got them, and they are not in its queue.
    func write(_ messages: ByteBuffer, to session: Session, at now: Double) -> Bool {
        guard bytesLeft > 0, session.isIdle(at: now) else { return false }
        bytesLeft -= messages.count
        if !session.write(messages, at: now) { touch(session) }
        return true
    }

    /// Marks a session whose queue has got, or is about to get, output.
    func touch(_ session: Session) {
        guard !session.isTouched else { return }
        session.isTouched = true
        session.output.markBeginning()
        touched.append(session)
    }

    /// True if a turn would have something to do.
    var hasNews: Bool { !ready.isEmpty || !news.isEmpty || !touched.isEmpty }

    /// Connections and disconnections since the last turn, in order.
    func takeNews(into commands: inout [Command]) {
        swap(&commands, &news)
        if !news.isEmpty { news.removeAll(keepingCapacity: true) }
    }

    /// Performs each client's share of requests, beginning with the process that has the least debt.
    func performCalls(by runtime: GraphRuntime, at now: Double) {
        swap(&takers, &ready)
        if takers.count > 1 {
            for session in takers { session.debt.settle(at: now) }
            takers.sort { $0.debt.seconds < $1.debt.seconds }
        }
        performedLeft = Sessions.performedPerTurn
        for session in takers {
            session.isReady = false
            if session.isClosing { continue }
            if performedLeft <= 0 {
                markReady(session)
                continue
            }
            if session.performCalls(decoder, by: runtime) { markReady(session) }
            // A client that has ended may have no output left: it is closed after this turn.
            if session.hasEnded { touch(session) }
        }
        takers.removeEach()
    }

    /// Called before each sleep: resumes reading of the sessions that had to wait.
    func readOn() {
        for session in inputAllowance.refill() { session.readOn() }
    }

    // Sharing the time of a turn.

    /// Adds the time of a turn's requests to the debts of their processes.
    func charge(_ times: [(client: ClientID, seconds: Double)], at now: Double) {
        for (client, seconds) in times { self[client]?.debt.add(seconds, at: now) }
    }

    /// Returns commands that a turn had no time for to their clients, for the next turn.
    func takeBack(_ commands: [Command]) {
        var ofGone: [Command] = []
        for command in commands {
            if let client = command.requester, let session = self[client] {
                touch(session)
                session.postpone(command)
                // These come before the clients that were served in this turn.
                if !session.isBehind { markReady(session) }
            } else {
                if case .call(let client, _, _) = command { ofGone.append(.gaveUp(client)) }
                ofGone.append(command)
            }
        }
        if isClosed { ofGone.removeAll { $0.requester != nil } }
        if !ofGone.isEmpty { news.insert(contentsOf: ofGone, at: 0) }
    }

    /// Suspends clients whose requests wait for another client.
    func park(_ parked: [ClientID]) {
        for client in parked { self[client]?.isParked = true }
    }

    /// Resumes clients whose requests have been answered by the other client.
    func resume(_ resumed: [ClientID]) {
        for client in resumed {
            guard let session = self[client] else { continue }
            session.isParked = false
            if session.hasRequests, !session.isBehind { markReady(session) }
        }
    }

    /// Writes as much as each client accepts, and finds clients that have fallen behind or are done.
    /// - Parameter isSubscribed: true if the client has subscriptions. Then it stays connected after it has ended its
    ///   side.
    func flush(at now: Double, isSubscribed: (ClientID) -> Bool) {
        swap(&touched, &flushed)
        // Clients for which nothing waited have been written to, and leave the others half.
        bytesLeft = max(bytesLeft, Sessions.writtenPerTurn / 2)
        var position = 0
        while position < flushed.count, bytesLeft >= 0 {
            let session = flushed[position]
            position += 1
            session.isTouched = false
            if session.isClosing { continue }
            session.share.endTurn(session.output.added)
            bytesLeft -= session.flush(at: now)
            if settle(session, isSubscribed) { needsCare = true }
        }
        if position < flushed.count { touched.insert(contentsOf: flushed[position...], at: 0) }
        flushed.removeEach()
        bytesLeft = Sessions.writtenPerTurn
        keepWithinTotal()
    }

    // Memory of output.

    /// Decides whether an answer may be queued for a client. If there is no space, another client that reads nothing
    /// and has much more output waiting is disconnected: one of the same user, if the user's share is used up.
    func admits(_ bytes: Int, for client: ClientID) -> Bool {
        guard let session = self[client] else { return true }
        let (standing, user) = (session.standing, session.peer.uid)
        let all = output.total + bytes
        // A user has at most as much as all.
        if standing.verdict(own: all, used: all, of: limits.outputTotal) == .fits { return true }
        let own = min(output.total, waiting[user] ?? 0) + bytes
        var freed = (own: 0, all: 0)
        let now = Loop.monotonicTime
        while true {
            let verdict = standing.verdict(own: own - freed.own, used: all - freed.all, of: limits.outputTotal)
            if verdict == .fits { return true }
            let hoarder = largest(after: {
                now - $0.lastProgress > 1 && (verdict == .full || $0.peer.uid == user)
            })
            guard let hoarder, hoarder.waiting > 2 * (session.waiting + bytes) else { return false }
            freed.all += hoarder.waiting
            if hoarder.peer.uid == user { freed.own += hoarder.waiting }
            disconnect(hoarder, hoarding(hoarder))
        }
    }

    /// Bytes that wait for each user.
    private var waiting: [UInt32: Int] {
        var waiting: [UInt32: Int] = [:]
        for session in table.all where !session.isClosing { waiting[session.peer.uid, default: 0] += session.waiting }
        return waiting
    }

    /// While too much output waits in total, disconnects the clients with the most, of the users with the most.
    private func keepWithinTotal() {
        var excess = output.total - limits.outputTotal
        if excess <= 0 { return }
        var waiting = waiting
        while excess > 0, let user = waiting.max(by: { $0.value < $1.value })?.key,
            let hoarder = largest(after: { $0.peer.uid == user })
        {
            excess -= hoarder.waiting
            waiting[user, default: 0] -= hoarder.waiting
            disconnect(hoarder, hoarding(hoarder))
        }
    }

    private func largest(after condition: (Session) -> Bool) -> Session? {
        var found: Session?
        for session in table.all
        where !session.isClosing && session.waiting > found?.waiting ?? 0 && condition(session) {
            found = session
        }
        return found
    }

    private func hoarding(_ session: Session) -> String {
        "the output of all clients exceeds \(limits.outputTotal) bytes (output-total), "
            + "and it has the most of its user, \(session.waiting)"
    }

    /// - Returns: whether the session has to be checked from time to time.
    private func settle(_ session: Session, _ isSubscribed: (ClientID) -> Bool) -> Bool {
        let untaken = session.untaken
        // The less space is left for all clients together, the earlier news is conflated.
        let queue = output.total > limits.outputTotal / 2 ? limits.outputQueue / 16 : limits.outputQueue
        if !session.isBehind, untaken > queue {
            session.isBehind = true
            // A client without subscriptions may only wait for a long answer.
            if isSubscribed(session.id) {
                statistics.fallenBehind += 1
                log.debug(
                    "\(session.name) is slow: \(untaken) bytes wait for it; its updates are conflated (output-queue)",
                    metadata: session.details)
            }
            news.append(.behind(session.id))
        } else if session.isBehind, untaken <= queue / 2 {
            session.isBehind = false
            news.append(.drained(session.id))
        }
        if session.hasRequests {
            if !session.isBehind { markReady(session) }
        } else if session.hasEnded {
            // A client that has closed only its own direction may still listen. One that has hung up is closed now, and
            // not by the check once a second.
            let isOver =
                session.isBroken || session.connection.hasHungUp
                || untaken == 0 && (isLeaving || !isSubscribed(session.id))
            if isOver { close(session) }
            return !isOver
        }
        return session.waiting > 0
    }

    /// Once a second while necessary: closes clients that have hung up or read nothing any more.
    func care(at now: Double) {
        needsCare = false
        for session in table.all where !session.isClosing {
            let untaken = session.connection.pendingBytes + session.connection.unreadBytes
            if untaken != session.lastUntaken || !session.isBehind { session.lastProgress = now }
            session.lastUntaken = untaken
            if session.hasEnded, session.connection.hasHungUp {
                close(session)
            } else if now - session.lastProgress > limits.stallTime {
                disconnect(
                    session,
                    "it has read nothing for \(Int(limits.stallTime)) s (stall-time), "
                        + "and \(session.waiting) bytes wait for it")
            } else if session.waiting > 0 || session.hasEnded {
                needsCare = true
            }
        }
    }

    /// Closes all clients. Requests that no turn had time for are not performed, but `onDisconnect` transactions are.
    func closeAll() {
        isClosed = true
        news.removeAll { $0.requester != nil }
        for session in all { close(session) }
    }

    /// Ends reading: received requests are answered, and then each client is closed.
    func endReading() {
        isLeaving = true
        for session in all {
            session.readRest()
            session.connection.stopReading()
            session.hasEnded = true
            session.input.dropIncomplete()
            markReady(session)
        }
    }
}

/// Counters that only grow.
struct SessionStatistics {
    var accepted: UInt64 = 0
    var refused: UInt64 = 0
    /// Disconnected by the daemon, for a reason that is logged.
    var disconnected: UInt64 = 0
    var fallenBehind: UInt64 = 0

    var figures: [GraphRuntime.Figure] {
        [
            ("accepted_clients", true, "Connections accepted.", Double(accepted)),
            ("refused_clients", true, "Connections refused.", Double(refused)),
            ("disconnected_clients", true, "Clients that the daemon disconnected.", Double(disconnected)),
            (
                "slow_clients", true, "Times that a client did not read in time, so that its updates were conflated.",
                Double(fallenBehind)
            ),
        ]
    }
}

#if DEBUG
    extension Sessions {
        /// Describes each contradiction between the sessions and what is counted of them.
        func checkInvariants() -> [String] {
            var faults = table.checkInvariants()
            let connections = Dictionary(grouping: all.filter { !$0.isClosing }) { $0.peer.uid }.mapValues(\.count)
            faults += admission.checkInvariants(atLeast: connections, sessions: count)
            if output.total < 0 || count == 0 && output.total > 0 {
                faults.append("\(output.total) bytes of waiting output are counted for \(count) clients")
            }
            return faults
        }
    }
#endif
