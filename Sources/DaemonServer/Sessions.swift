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
    /// What waits for all clients together.
    let output = OutputLedger()
    private var decoder: RequestDecoder

    private var slots: [Session?] = []
    private var freeSlots: [Int] = []
    /// By process.
    private var debts: [Int32: Debt] = [:]
    /// Clients are let go as soon as they have taken what is theirs.
    private var isLeaving = false
    /// Nobody waits for answers any more.
    private var isClosed = false
    private var nextSerial: UInt64 = 1
    private(set) var count = 0

    /// With complete lines, or ended; in the order in which they became so.
    private var ready: [Session] = []
    /// Those of the turn that is being played; kept for its memory.
    private var takers: [Session] = []
    /// With output since the last flush.
    private var touched: [Session] = []
    /// Bytes that may be read yet before the next turn.
    private(set) var readRoom = Sessions.readPerTurn
    /// Turns so far, for `Session.turnOfPortion`.
    private var turn: UInt64 = 1
    /// They wait for the next turn to read on.
    private var unread: [Session] = []
    /// Comings and goings since the last turn, in order.
    private var news: [Command] = []

    /// Somebody waits or has ended its side, and has to be looked after from time to time.
    private(set) var needsCare = false
    private(set) var statistics = SessionStatistics()
    private var lastWarning = -Double.infinity

    /// A client's number is its slot below and a serial number above, so that it is found without hashing and never
    /// used again.
    private static let slotBits: UInt64 = 20

    /// Who may do what, as the runtime knows it.
    private var access: AccessRules

    /// Bytes that all clients together may send, and take, from one turn to the next: some milliseconds of copying.
    private static let readPerTurn = 8 << 20
    private static let writtenPerTurn = 8 << 20
    /// Bytes that a client may send in each turn, whatever the others send.
    private static let portion = 4 << 10

    init(limits: ServerLimits, access: AccessRules, log: Logger) {
        self.limits = limits
        self.access = access
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

    var mayAccept: Bool { readRoom > 0 }

    func accept(_ connection: Connection) {
        // To take a client takes about as long as reading so much.
        didRead(InputBlock.smallest)
        guard count < limits.clients else {
            return refuse(
                connection, "the daemon serves \(limits.clients) clients already", hint: "clients is the limit")
        }
        guard descriptors.admits(connection.descriptor) else {
            return refuse(
                connection, "the daemon has no file descriptor left for a client", hint: "LimitNOFILE is the limit")
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
        let now = Loop.monotonicTime
        let debt = debts[peer.pid] ?? Debt(at: now)
        debts[peer.pid] = debt
        debt.connections += 1
        let session = Session(id: id, peer: peer, connection: connection, sessions: self, debt: debt, now: now)
        session.hasRights = access.giveAny(to: peer)
        slots[slot] = session
        count += 1
        statistics.accepted += 1
        news.append(.connected(id, session.peer))
        connection.delegate = session
        connection.startReading()
        log.debug("\(session.name) is here", metadata: session.details)
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
        session.debt.connections -= 1
        if session.debt.connections == 0 { debts[session.peer.pid] = nil }
        // What was received is still executed.
        if !isClosed, session.hasPostponed { news += [.gaveUp(session.id)] + session.takePostponed() }
        news.append(.disconnected(session.id))
        log.debug("\(session.name) is gone", metadata: session.details)
    }

    /// Ends a client that cannot be served any more.
    func disconnect(_ session: Session, _ reason: String) {
        guard !session.isClosing else { return }
        statistics.disconnected += 1
        log.warning("\(session.name) is disconnected: \(reason)", metadata: session.details)
        close(session)
    }

    func close(_ session: Session) {
        guard !session.isClosing else { return }
        session.isClosing = true
        session.dropOutput()
        session.connection.close()
    }

    /// At the level debug, because a client may be refused as often as it likes; for the same reason only some of each
    /// turn.
    func note(_ denials: [(client: ClientID, failure: Failure)]) {
        for (client, failure) in denials.prefix(Sessions.notedDenials) {
            let session = self[client]
            var details = session?.details ?? [:]
            if let path = failure.path { details["path"] = "\(path)" }
            log.debug("\(session?.name ?? "a client that is gone"): \(failure.message)", metadata: details)
        }
        let others = denials.count - Sessions.notedDenials
        if others > 0 { log.debug("\(others) more requests were denied in the same turn") }
    }

    private static let notedDenials = 20

    // The turn's two ends.

    func markReady(_ session: Session) {
        guard !session.isReady, !session.isParked, !session.isClosing else { return }
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

    /// Comings and goings since the last turn, in order.
    func takeNews(into commands: inout [Command]) {
        swap(&commands, &news)
        news.removeAll(keepingCapacity: true)
    }

    /// Has everybody's share of requests performed; first those of the process that has lately had the least.
    func performCalls(by runtime: GraphRuntime, at now: Double) {
        swap(&takers, &ready)
        if takers.count > 1 {
            for session in takers { session.debt.settle(at: now) }
            takers.sort { $0.debt.seconds < $1.debt.seconds }
        }
        for session in takers {
            session.isReady = false
            if session.isClosing { continue }
            if session.performCalls(decoder, by: runtime) { markReady(session) }
            // Nothing may be owed to a client that has ended: it is let go behind this turn.
            if session.hasEnded { touch(session) }
        }
        takers.removeAll(keepingCapacity: true)
    }

    // Sharing what is read between two turns.

    /// What the client may read now. When the room that all share is used up, each client still reads one small portion
    /// a turn, so that a short request never waits for the long messages of others.
    /// - Returns: bytes; 0 when the client has to wait for the next turn.
    func share(of session: Session) -> Int {
        if readRoom > 0 { return .max }
        if session.turnOfPortion != turn {
            session.turnOfPortion = turn
            return Sessions.portion
        }
        unread.append(session)
        return 0
    }

    func didRead(_ count: Int) { readRoom -= count }

    /// Called before each sleep: reads on from those that had to wait.
    func readOn() {
        readRoom = Sessions.readPerTurn
        turn &+= 1
        if unread.isEmpty { return }
        let sessions = unread
        unread.removeAll(keepingCapacity: true)
        for session in sessions { session.readOn() }
    }

    /// Takes note of what the requests of a turn have taken.
    func charge(_ times: [(client: ClientID, seconds: Double)], at now: Double) {
        for (client, seconds) in times { self[client]?.debt.add(seconds, at: now) }
    }

    /// Keeps what a turn had no time for until the client's next turn.
    func takeBack(_ commands: [Command]) {
        var ofGone: [Command] = []
        for command in commands {
            if let client = command.requester, let session = self[client] {
                touch(session)
                session.postpone(command)
                // Before those that were served in this turn.
                if !session.isBehind { markReady(session) }
            } else {
                if case .call(let client, _, _) = command { ofGone.append(.gaveUp(client)) }
                ofGone.append(command)
            }
        }
        if isClosed { ofGone.removeAll { $0.requester != nil } }
        if !ofGone.isEmpty { news.insert(contentsOf: ofGone, at: 0) }
    }

    /// Clients whose requests wait for another client are left alone until it has answered.
    func park(_ parked: [ClientID], resumed: [ClientID]) {
        for client in parked { self[client]?.isParked = true }
        for client in resumed {
            guard let session = self[client] else { continue }
            session.isParked = false
            if session.hasRequests, !session.isBehind { markReady(session) }
        }
    }

    /// Writes what each client takes, and sees who has fallen behind or is done.
    /// - Parameter isSubscribed: whether a client may have more to come: subscriptions keep a client that has ended its
    ///   side.
    func flush(at now: Double, isSubscribed: (ClientID) -> Bool) {
        let sessions = touched
        touched.removeAll(keepingCapacity: true)
        var room = Sessions.writtenPerTurn
        for (place, session) in sessions.enumerated() {
            if room < 0 {
                touched.insert(contentsOf: sessions[place...], at: 0)
                break
            }
            session.isTouched = false
            if session.isClosing { continue }
            session.measureAnswers(session.output.count - session.outputBefore)
            room -= session.flush(at: now)
            if settle(session, isSubscribed) { needsCare = true }
        }
        keepWithinTotal()
    }

    // Memory of output.

    /// Whether an answer may wait for a client. Another one that takes nothing and hoards much more has to go for it.
    func admits(_ bytes: Int, for client: ClientID) -> Bool {
        guard output.total + bytes > limits.outputTotal, let session = self[client] else { return true }
        var freed = 0
        let now = Loop.monotonicTime
        while let hoarder = largest(after: { now - $0.lastProgress > 1 }),
            hoarder.waiting > 2 * (session.waiting + bytes)
        {
            freed += hoarder.waiting
            disconnect(hoarder, hoarding(hoarder))
            if output.total - freed + bytes <= limits.outputTotal { return true }
        }
        return false
    }

    /// Lets go of those that hoard most while too much waits for all together.
    private func keepWithinTotal() {
        var excess = output.total - limits.outputTotal
        while excess > 0, let hoarder = largest(after: { _ in true }) {
            excess -= hoarder.waiting
            disconnect(hoarder, hoarding(hoarder))
        }
    }

    private func largest(after condition: (Session) -> Bool) -> Session? {
        var found: Session?
        for case let session? in slots
        where !session.isClosing && session.waiting > found?.waiting ?? 0 && condition(session) {
            found = session
        }
        return found
    }

    private func hoarding(_ session: Session) -> String {
        "\(session.waiting) bytes wait for it, the most of all, and more than \(limits.outputTotal) for all clients (output-total)"
    }

    /// - Returns: whether the session has to be looked after from time to time.
    private func settle(_ session: Session, _ isSubscribed: (ClientID) -> Bool) -> Bool {
        let untaken = session.untaken
        // News is conflated the earlier the less room there is for all together.
        let queue = output.total > limits.outputTotal / 2 ? limits.outputQueue / 16 : limits.outputQueue
        if !session.isBehind, untaken > queue {
            session.isBehind = true
            statistics.fallenBehind += 1
            news.append(.behind(session.id))
        } else if session.isBehind, untaken <= queue / 2 {
            session.isBehind = false
            news.append(.drained(session.id))
        }
        if session.hasRequests {
            if !session.isBehind { markReady(session) }
        } else if session.hasEnded {
            // Who only closed its own direction may go on listening; who is gone is not kept for the once-a-second
            // care.
            let isOver =
                session.isBroken || session.connection.hasHungUp
                || untaken == 0 && (isLeaving || !isSubscribed(session.id))
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
                disconnect(
                    session,
                    "it has taken nothing for \(Int(limits.stallTime)) s and \(session.waiting) bytes wait (stall-time)"
                )
            } else if session.waiting > 0 || session.hasEnded {
                needsCare = true
            }
        }
    }

    /// Lets go of everybody. Requests that no turn had time for are not executed; what clients left for when they go
    /// is.
    func closeAll() {
        isClosed = true
        news.removeAll { $0.requester != nil }
        for session in all { close(session) }
    }

    /// Reads no more from anybody: what has come in is answered, and then each is let go.
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
            (
                "slow_clients", true, "Times a client fell behind, so that its updates were conflated.",
                Double(fallenBehind)
            ),
        ]
    }
}
