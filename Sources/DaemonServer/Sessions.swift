import AttributeValues
import EventLoop
import GraphRuntime
import Logging
import WireProtocol

/// All clients: who has something to say, and who must be told something.
final class Sessions {
    var limits: ServerLimits
    var descriptors = DescriptorLimit.current()
    private(set) var log: Logger
    /// Who is at the other end of a connection.
    var identify: (Connection) throws(LoopError) -> Peer = Peer.init(of:)
    let pool = InputPool()
    private var decoder: RequestDecoder

    private var slots: [Session?] = []
    private var freeSlots: [Int] = []
    private var nextSerial: UInt64 = 1
    private(set) var count = 0

    /// With complete lines, or ended; in the order in which they became so.
    private var ready: [Session] = []
    /// With output since the last flush.
    private var touched: [Session] = []
    /// Comings and goings since the last turn, in order.
    private var news: [Command] = []

    /// The time for stopping is over: calls that wait for a turn are not done any more.
    private var dropsCalls = false

    /// Somebody waits or has ended its side, and has to be looked after from time to time.
    private(set) var needsCare = false
    private(set) var statistics = SessionStatistics()
    private var lastWarning = -Double.infinity

    /// A client's number is its slot below and a serial number above, so that it is found without hashing and never used
    /// again.
    private static let slotBits: UInt64 = 20

    /// Who may do what, as the runtime knows it.
    private var access: AccessRules

    init(limits: ServerLimits, access: AccessRules, log: Logger) {
        self.limits = limits
        self.access = access
        self.log = log
        decoder = RequestDecoder(maximumDepth: limits.nesting, maximumBatch: limits.batchCalls)
    }

    /// Takes effect from the next line on.
    func change(limits: ServerLimits, log: Logger) {
        self.limits = limits
        self.log = log
        decoder = RequestDecoder(maximumDepth: limits.nesting, maximumBatch: limits.batchCalls)
    }

    /// Takes effect in the next turn, before any request of it.
    func change(_ access: AccessRules) {
        self.access = access
        for session in all { session.hasRights = access.giveAny(to: session.peer) }
        news.append(.accessChanged(access))
    }

    subscript(_ id: ClientID) -> Session? {
        let slot = Int(id.number & (1 << Sessions.slotBits - 1))
        guard slot < slots.count, let session = slots[slot], session.id == id else { return nil }
        return session
    }

    var all: [Session] { slots.compactMap { $0 } }

    // Coming and going.

    func accept(_ connection: Connection) {
        guard count < limits.clients else {
            return refuse(connection, "the daemon serves \(limits.clients) clients already", hint: "clients is the limit")
        }
        guard descriptors.admits(connection.descriptor) else {
            return refuse(connection, "the daemon has no file descriptor left for a client", hint: "LimitNOFILE is the limit")
        }
        let peer: Peer
        do throws(LoopError) {
            peer = try identify(connection)
        } catch {
            didFailToAccept(error)
            return connection.close()
        }
        let slot = freeSlots.popLast() ?? slots.count
        if slot == slots.count { slots.append(nil) }
        let id = ClientID(number: nextSerial << Sessions.slotBits | UInt64(slot))
        nextSerial += 1
        let session = Session(id: id, peer: peer, connection: connection, sessions: self, now: Loop.monotonicTime)
        session.hasRights = access.giveAny(to: peer)
        slots[slot] = session
        count += 1
        statistics.accepted += 1
        news.append(.connected(id, session.peer))
        connection.delegate = session
        connection.startReading()
        log.debug("\(session.name) is here")
    }

    private func refuse(_ connection: Connection, _ message: String, hint: String) {
        statistics.refused += 1
        warnOfRefusal("\(message) (\(hint))")
        let failure = Failure(.limit, message, hint: hint)
        var farewell = OutputQueue()
        farewell.append { line in
            line.appendReply(.fault(RequestFault(code: RequestFault.refused, failure: failure)), to: .null)
            line.append(UInt8(ascii: "\n"))
        }
        // A new socket takes these bytes at once; whether the client reads them is its own business.
        do throws(LoopError) { _ = try farewell.flush(to: connection) } catch { log.debug("\(error)") }
        connection.close()
    }

    /// A connection that could not even be taken from the kernel.
    func didFailToAccept(_ error: LoopError) {
        statistics.refused += 1
        warnOfRefusal("\(error)")
    }

    /// Once a second at most: who is refused comes again.
    private func warnOfRefusal(_ reason: String) {
        let now = Loop.monotonicTime
        guard now - lastWarning >= 1 else { return }
        lastWarning = now
        log.warning("a client is refused: \(reason); \(statistics.refused) up to now")
    }

    func didClose(_ session: Session) {
        let slot = Int(session.id.number & (1 << Sessions.slotBits - 1))
        guard slots[slot] === session else { return }
        slots[slot] = nil
        freeSlots.append(slot)
        count -= 1
        // What was received is still executed.
        let postponed = session.takePostponed()
        if !dropsCalls { news += postponed }
        news.append(.disconnected(session.id))
        log.debug("\(session.name) is gone")
    }

    /// Ends a client that cannot be served any more.
    func disconnect(_ session: Session, _ reason: String) {
        guard !session.isClosing else { return }
        statistics.disconnected += 1
        log.warning("\(session.name) is disconnected: \(reason)")
        close(session)
    }

    func close(_ session: Session) {
        guard !session.isClosing else { return }
        session.isClosing = true
        session.output.removeAll()
        session.connection.close()
    }

    /// At the level debug, because a client may be refused as often as it likes; for the same reason only some of each turn.
    func note(_ denials: [(client: ClientID, failure: Failure)]) {
        for (client, failure) in denials.prefix(Sessions.notedDenials) {
            log.debug("\(self[client]?.name ?? "a client that is gone"): \(failure.message)")
        }
        let others = denials.count - Sessions.notedDenials
        if others > 0 { log.debug("\(others) more requests were denied in the same turn") }
    }

    private static let notedDenials = 20

    // The turn's two ends.

    func markReady(_ session: Session) {
        guard !session.isReady, !session.isClosing else { return }
        session.isReady = true
        ready.append(session)
    }

    /// Output has been, or is about to be, put into the session's queue.
    func touch(_ session: Session) {
        guard !session.isTouched else { return }
        session.isTouched = true
        session.outputBefore = session.output.count
        touched.append(session)
    }

    /// A turn would find something to do.
    var hasNews: Bool { !ready.isEmpty || !news.isEmpty || !touched.isEmpty }

    /// What came in since the last turn: comings and goings, then everybody's share of requests.
    func takeCommands(into commands: inout [Command]) {
        swap(&commands, &news)
        news.removeAll(keepingCapacity: true)
        let takers = ready
        ready.removeAll(keepingCapacity: true)
        for session in takers {
            session.isReady = false
            if session.isClosing { continue }
            if session.takeCalls(decoder, into: &commands) { markReady(session) }
            // Nothing may be owed to a client that has ended: it is let go behind this turn.
            if session.hasEnded { touch(session) }
        }
    }

    /// Keeps what a turn had no time for until the client's next turn.
    func takeBack(_ commands: [Command]) {
        var ofGone: [Command] = []
        for command in commands {
            if let client = command.requester, let session = self[client] {
                touch(session)
                session.postpone(command)
            } else {
                ofGone.append(command)
            }
        }
        if !ofGone.isEmpty { news.insert(contentsOf: ofGone, at: 0) }
    }

    /// From now on no call is done that waits for a turn. What clients leave for when they go away still is.
    func dropCalls() {
        dropsCalls = true
        news.removeAll { if case .call = $0 { true } else { false } }
    }

    /// Writes what each client takes, and sees who has fallen behind or is done.
    func flush(at now: Double) {
        let sessions = touched
        touched.removeAll(keepingCapacity: true)
        for session in sessions {
            session.isTouched = false
            if session.isClosing { continue }
            session.measureAnswers(session.output.count - session.outputBefore)
            session.flush(at: now)
            if settle(session) { needsCare = true }
        }
    }

    /// - Returns: whether the session has to be looked after from time to time.
    private func settle(_ session: Session) -> Bool {
        let untaken = session.untaken
        if !session.isBehind, untaken > limits.outputQueue {
            session.isBehind = true
            statistics.fallenBehind += 1
            news.append(.behind(session.id))
        } else if session.isBehind, untaken <= limits.outputQueue / 2 {
            session.isBehind = false
            news.append(.drained(session.id))
        }
        if session.hasRequests {
            if !session.isBehind { markReady(session) }
        } else if session.hasEnded {
            // Who only closed its own direction may go on listening; who is gone is not kept for the once-a-second care.
            let isOver =
                session.isBroken || session.connection.hasHungUp || (untaken == 0 && session.subscriptions.isEmpty)
            if isOver { close(session) }
            return !isOver
        }
        return session.waiting > 0
    }

    /// Once a second while somebody needs it: lets go of who has hung up or takes nothing any more.
    func care(at now: Double) {
        needsCare = false
        for case let session? in slots where !session.isClosing {
            let untaken = session.connection.pendingBytes + session.connection.unreadBytes
            if untaken != session.lastUntaken || !session.isBehind { session.lastProgress = now }
            session.lastUntaken = untaken
            if session.hasEnded, session.connection.hasHungUp {
                close(session)
            } else if now - session.lastProgress > limits.stallTime {
                disconnect(session, "it has taken nothing for \(Int(limits.stallTime)) s and \(session.waiting) bytes wait (stall-time)")
            } else if session.waiting > 0 || session.hasEnded {
                needsCare = true
            }
        }
    }

    /// Reads no more from anybody: what has come in is answered, and then each is let go.
    func endReading() {
        for session in all {
            session.readRest()
            session.connection.stopReading()
            session.hasEnded = true
            session.subscriptions = []
            session.input.dropIncomplete()
            markReady(session)
        }
    }
}

extension Peer {
    /// By the kernel's word, at the time of connecting.
    init(of connection: Connection) throws(LoopError) {
        let peer = try connection.peerCredentials()
        self.init(pid: peer.pid, uid: peer.uid, gid: peer.gid, groups: try connection.peerGroups())
    }
}

/// Counters that only grow.
struct SessionStatistics {
    var accepted: UInt64 = 0
    var refused: UInt64 = 0
    /// By the daemon, for a reason that the log gives.
    var disconnected: UInt64 = 0
    var fallenBehind: UInt64 = 0

    var figures: [GraphRuntime.Figure] {
        [
            ("accepted_clients", true, "Connections accepted.", Double(accepted)),
            ("refused_clients", true, "Connections refused.", Double(refused)),
            ("disconnected_clients", true, "Clients that the daemon disconnected.", Double(disconnected)),
            ("slow_clients", true, "Times a client fell behind, so that its updates were conflated.", Double(fallenBehind)),
        ]
    }
}
