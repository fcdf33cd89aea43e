import AGClient
import AttributeValues
import CNATS
import LinkProtocol
import WireProtocol

/// Publishes one subtree of the daemon. It runs on a thread of its own.
///
/// It always reads the daemon, whether NATS takes messages or not: what NATS has not acknowledged is merged into one
/// transaction, whose size the subtree bounds.
final class Publisher {
    private static let heartbeatTime = 1.0
    /// Requests for structure in a row, if the structure changes during each of them.
    private static let attempts = 16
    private static let snapshotAfter = 10_000
    /// NATS gets the transactions of a round together. Each has an update, and some have a bookmark.
    private static let eventsPerRound = 128

    private let settings: Configuration
    private let root: [String]
    private let rootPath: String
    private let site: SiteName
    private let subject: String
    private let stop: Wakeup
    private let pulse: Pulse
    private var nats: NATS
    private let holder: String
    private var lease: Lease
    private var log: Log

    // The daemon's side.
    private var epoch = ""
    private var tree = SiteTree()
    private var revision: UInt64 = 0
    /// Changes of one revision whose turn has not ended.
    private var collected: (revision: UInt64, changes: Transaction)?
    private var structureChanged = false
    private var isSubscribed = false
    /// When the daemon was asked for a sign of life; nil if it has answered. Monotonic seconds.
    private var askedAt: Double?
    private var nextQuestion = 0.0

    /// Writes of other sites. Nil without a lease.
    private var writes: Inbox?
    private var principals: PrincipalConnections

    // The side of NATS.
    private var hasStreams = false
    /// Changes that have not been sent.
    private var pending: Transaction?
    private var window = Window()
    /// The subject of acknowledgments, without the number of the message.
    private var inbox = ""
    private var acknowledgments: Inbox?
    private let parser = JSONParser()
    /// Counts the failures after which messages are sent again.
    private var attempt: UInt64 = 0
    private var acknowledged: UInt64 = 0
    /// True if transactions wait for `NATS.flush`.
    private var isUnflushed = false
    /// The sequence after the last transaction.
    private var nextSequence: UInt64 = 1
    private var snapshotPosition: Position?
    private var snapshotTime = 0.0
    private var snapshotID: String?
    /// Snapshots to purge, with the time.
    private var oldSnapshots: [(id: String, due: Double)] = []
    private var sentSinceSnapshot = 0
    /// An empty transaction must follow the first snapshot. Mirrors at another revision see a gap in it and read the
    /// snapshot.
    private var needsAnnouncement = false
    private var nextHeartbeat = 0.0
    private var nextTry = 0.0
    private var backoff = Backoff(first: 0.1)
    private var counts: [Metric: Double] = [:]
    private var nextSamples = 0.0

    init(
        _ publication: Configuration.Publication, _ settings: Configuration, holder: String, stop: Wakeup, pulse: Pulse
    ) throws(NATSError) {
        self.settings = settings
        self.pulse = pulse
        self.stop = stop
        root = publication.nodes
        rootPath = AttributePath.describe(nodes: root)
        site = publication.site
        subject = publication.site.transactions
        nats = try NATS(settings, isCollecting: true)
        self.holder = holder
        principals = PrincipalConnections(settings)
        lease = Lease(site: site, holder: holder, time: settings.leaseTime)
        log = Log(subject: "\(publication.site)")
    }

    func run() {
        var pause = Backoff()
        while !stop.isSignalled {
            do throws(ClientError) {
                try publish()
                pause.reset()
            } catch {
                log.report("daemon", "\(error)")
                isSubscribed = false
                let end = MonotonicTime.now + pause.pause()
                while MonotonicTime.now < end, !stop.isSignalled {
                    serveNATS()
                    stop.wait(0.1)
                }
            }
        }
        lease.release(nats)
    }

    private var pattern: String { rootPath + "/**" }

    /// Reads one connection to the daemon until it is lost or the program ends.
    private func publish() throws(ClientError) {
        let connection = try Connection(
            to: .find(settings.socket), name: "agd-link \(site)", typed: true, timeout: max(5, settings.liveTime))
        let result = try connection.call(
            .subscribe(
                .init(
                    patterns: [pattern], events: [.update, .structure], initial: false, typed: true, bookmarks: true,
                    writers: true))
        )
        guard let epoch = result.map?["epoch"]?.string else { throw .malformed("subscribe was answered without epoch") }
        collected = nil
        // Revisions of different epochs cannot be compared, and mirrors order them by term.
        if epoch != self.epoch { lease.endTerm() }
        self.epoch = epoch
        try readAll(connection)
        (isSubscribed, askedAt) = (true, nil)
        log.report("daemon", "published from \(AttributePath.describe(nodes: root)), revision \(revision)", level: 6)
        while !stop.isSignalled {
            // Only acknowledgments make room for pending changes.
            var patience = pending == nil ? 0.01 : 0.001
            for _ in 0..<Publisher.eventsPerRound {
                guard let message = try connection.receive(timeout: patience, interrupt: stop.descriptor) else { break }
                patience = 0
                try take(message)
                if structureChanged {
                    try readAll(connection)
                    // A large subtree takes a while, and the lease must not lapse meanwhile.
                    break
                }
            }
            let now = MonotonicTime.now
            if let askedAt {
                // A daemon that hangs keeps its connections. Its mirrors must not be live.
                if now > askedAt + settings.liveTime { throw .timedOut(seconds: settings.liveTime) }
            } else if now >= nextQuestion {
                connection.send(.ping)
                askedAt = now
                nextQuestion = now + Publisher.heartbeatTime / 2
            }
            serveNATS()
            try performWrites(connection)
        }
    }

    /// Performs the writes of other sites, and answers each when its changes have been published.
    private func performWrites(_ connection: Connection) throws(ClientError) {
        var isAnswered = false
        defer { if isAnswered { nats.flush() } }
        while let message = (try? writes?.next()) ?? nil {
            isAnswered = true
            guard let sender = message.reply else { continue }
            counts[.writesPerformed, default: 0] += 1
            let reply: ForwardedReply
            switch perform(message.bytes) {
            case .success(let result):
                try catchUp(connection)
                reply = ForwardedReply(result: result, position: position(revision))
            case .failure(let failure): reply = ForwardedReply(failure: failure)
            }
            do throws(NATSError) { try nats.send(sender, reply.json) } catch {
                log.report("nats", nats.describe(error))
            }
        }
    }

    private func perform(_ message: [UInt8]) -> Result<ValueMap, Failure> {
        do throws(Failure) {
            return principals.perform(try ForwardedCall(json: message), below: root)
        } catch { return .failure(error) }
    }

    /// Publishes all that the daemon has committed up to now. It sends events before the reply to a later request.
    private func catchUp(_ connection: Connection) throws(ClientError) {
        let ping = connection.send(.ping)
        while true {
            let message = try connection.receiveAnswer()
            if case .reply(ping, _) = message { break }
            try take(message)
        }
        finish()
        if structureChanged { try readAll(connection) }
    }

    private func take(_ message: Message) throws(ClientError) {
        guard case .event(_, let event) = message else { return askedAt = nil }
        switch event {
        case .update(let revision, _, _, _, _, _, _):
            guard revision > self.revision else { return }
            if let collected, collected.revision != revision { finish() }
            collect(event)
        case .structure(let revision, _, _, _, _): if revision > self.revision { structureChanged = true }
        case .bookmark: finish()
        case .ended(_, let reason): throw .ended(reason)
        default: break
        }
    }

    /// Adds an update to what is collected.
    private func collect(_ event: Event) {
        guard case .update(let revision, let from, let label, let writer, _, let changes, _) = event else { return }
        var transaction = collected?.changes ?? Transaction()
        (transaction.label, transaction.writer) = (label, writer)
        if from != nil || collected.map({ $0.revision != revision }) ?? false { transaction.isConflated = true }
        for change in changes {
            guard let place = place(change.path) else { continue }
            transaction.contents[place] = change.content
            if let timeline = change.timeline?.map, transaction.animation == nil {
                transaction.animation = Publisher.animation(timeline)
                let start = timeline["start"]?.number ?? MonotonicTime.now
                transaction.begun = WallTime.now - (MonotonicTime.now - start)
            }
        }
        collected = (revision, transaction)
    }

    /// The animation that makes the same motion.
    private static func animation(_ timeline: ValueMap) -> Value? {
        guard let curve = timeline["curve"] else { return nil }
        var modifiers: [Value] = []
        if let speed = timeline["speed"]?.number, speed != 1 { modifiers.append(["speed": .double(speed)]) }
        if let delay = timeline["delay"]?.number, delay != 0 { modifiers.append(["delay": .double(delay)]) }
        return modifiers.isEmpty ? ["curve": curve] : ["curve": curve, "modifiers": .list(modifiers)]
    }

    /// - Parameter path: as the daemon writes it.
    private func place(_ path: String) -> Transaction.Place? {
        guard path.hasPrefix(rootPath) else { return nil }
        let rest = path.utf8.dropFirst(rootPath.utf8.count)
        guard rest.first == UInt8(ascii: ".") || rest.first == UInt8(ascii: "/") else { return nil }
        return Transaction.Place(path: String(Substring(rest)))
    }

    /// All changes of the collected revision have come. If the structure has changed too, `readAll` publishes them.
    private func finish() {
        guard let (revision, changes) = collected, !structureChanged else { return }
        collected = nil
        tree.apply(changes)
        queue(changes, revision)
    }

    private func queue(_ changes: Transaction, _ revision: UInt64) {
        if changes.isEmpty, revision == self.revision { return }
        self.revision = revision
        if pending == nil {
            pending = changes
        } else {
            pending?.merge(changes)
            counts[.transactionsMerged, default: 0] += 1
        }
        attemptNATS { () throws(NATSError) in
            // Something else is due first: `serveNATS` does it after the round.
            guard isSubscribed, lease.isValid, snapshotPosition?.term == lease.term, !needsAnnouncement else { return }
            if !window.hasRoom { try takeAcknowledgments() }
            try sendPending()
        }
    }

    /// Reads the whole subtree at one revision, and queues what has changed.
    ///
    /// The daemon sends events before a reply that includes them. So without an event of structure between the two
    /// requests and their replies, both replies describe the same nodes.
    private func readAll(_ connection: Connection) throws(ClientError) {
        for _ in 0..<Publisher.attempts {
            structureChanged = false
            let describe = connection.send(.describe(path: AttributePath.describe(nodes: root), depth: nil))
            let get = connection.send(.get(.init(paths: [pattern], isSingle: false, presentation: false, typed: true)))
            var description: Value?
            while true {
                switch try connection.receiveAnswer() {
                case .reply(let id, let reply) where id == describe:
                    do throws(ClientError) { description = try reply.get() } catch {
                        guard error.failure?.code == .notFound else { throw error }
                    }
                    continue
                case .reply(let id, let reply) where id == get:
                    let result = try reply.get()
                    if structureChanged { break }
                    return try update(description, result)
                case .event(_, .structure):
                    structureChanged = true
                    continue
                case .event(_, .ended(_, let reason)): throw .ended(reason)
                case .event(_, let event):
                    // The difference has its values. Its label, writer and animation count.
                    collect(event)
                    continue
                case .reply:
                    askedAt = nil
                    continue
                }
                break
            }
        }
        throw .limit("the structure of \(pattern) changes too often to be read")
    }

    private func update(_ description: Value?, _ result: Value) throws(ClientError) {
        guard case .int(let number)? = result.map?["revision"], let values = result.map?["values"]?.map else {
            throw .malformed("get was answered without revision and values")
        }
        var new = SiteTree()
        if let description {
            var open: [(node: [String], description: Value)] = [([], description)]
            while let (node, description) = open.popLast() {
                var ids: [String] = []
                for child in description.map?["children"]?.list ?? [] {
                    guard let id = child.map?["id"]?.string else { continue }
                    ids.append(id)
                    open.append((node + [id], child))
                }
                new.children[node] = ids
                for (name, attribute) in description.map?["attributes"]?.map ?? ValueMap() {
                    guard let name = name.string, let definition = Publisher.definition(attribute) else { continue }
                    new.definitions[Transaction.Place(node: node, attribute: name)] = definition
                }
            }
        }
        for (path, content) in values {
            guard let place = place(path.string ?? ""), new.children[place.node] != nil else { continue }
            new.contents[place] = try Content(result: content, typed: true)
        }
        var changes = new.changes(since: tree)
        if let known = collected?.changes {
            (changes.label, changes.writer, changes.isConflated) = (known.label, known.writer, known.isConflated)
            (changes.animation, changes.begun) = (known.animation, known.begun)
        }
        collected = nil
        tree = new
        queue(changes, UInt64(clamping: number))
    }

    private static func definition(_ description: Value) -> Transaction.Definition? {
        guard let description = description.map, let type = description["type"]?.string else { return nil }
        return Transaction.Definition(
            type: type, mayFail: description["kind"] != "state", rule: description["rule"]?.string)
    }

    // MARK: NATS

    /// Does what is due towards NATS after a round. A failure is tried again after a pause.
    private func serveNATS() {
        pulse.beat()
        let now = MonotonicTime.now
        if now >= nextSamples { report(now) }
        attemptNATS { () throws(NATSError) in
            if !hasStreams {
                try nats.makeStreams()
                if acknowledgments == nil {
                    inbox = try NATS.newInbox()
                    acknowledgments = try nats.listen("\(inbox).*")
                }
                hasStreams = true
            }
            try takeAcknowledgments()
            // Another link may publish the site meanwhile.
            guard isSubscribed else {
                writes = nil
                return lease.release(nats)
            }
            try lease.keep(nats)
            if let other = lease.otherHolder {
                log.report("lease", "'\(other)' publishes this site; waiting for its lease to lapse")
            }
            guard lease.isValid else {
                writes = nil
                return
            }
            if writes == nil { writes = try nats.listen(site.writes) }
            // Another owner may have published in an earlier term.
            if snapshotPosition?.term != lease.term { snapshotPosition = nil }
            if snapshotPosition == nil || sentSinceSnapshot >= Publisher.snapshotAfter
                || sentSinceSnapshot > 0 && now > snapshotTime + settings.snapshotTime
            {
                try sendSnapshot()
            }
            if needsAnnouncement {
                try send(Transaction(), after: acknowledged, to: acknowledged)
                needsAnnouncement = false
            }
            try sendPending()
            // A daemon that has not answered for a while may hang.
            if now >= nextHeartbeat, askedAt.map({ now < $0 + Publisher.heartbeatTime }) ?? true {
                nextHeartbeat = now + Publisher.heartbeatTime
                let frame = Frame(position: position(acknowledged), after: acknowledged)
                let heartbeat: Value = [
                    "owner": .string(holder), "time": .double(WallTime.now), "clock": .double(WallTime.sinceStart),
                ]
                try nats.send("agd.live.\(site.tokens)", Array((frame.line + heartbeat.jsonText).utf8))
            }
            if let old = oldSnapshots.first, now > old.due {
                oldSnapshots.removeFirst()
                try nats.purge(NATS.snapshots, site.snapshot(old.id))
            }
            backoff.reset()
        }
        if isUnflushed, nats.isConnected {
            isUnflushed = false
            nats.flush()
        }
    }

    private func attemptNATS(_ body: () throws(NATSError) -> Void) {
        guard MonotonicTime.now >= nextTry, nats.isConnected || nats.isClosed else { return }
        do throws(NATSError) { try body() } catch {
            log.report("nats", nats.describe(error))
            hasStreams = false
            nextTry = MonotonicTime.now + backoff.pause()
            counts[.failures, default: 0] += 1
            recall()
            if nats.isDeaf || nats.isClosed { changeServer() }
        }
    }

    private func changeServer() {
        guard let other = nats.successor(&log) else { return }
        (nats, acknowledgments, writes) = (other, nil, nil)
    }

    /// Tells the main thread what the file of metrics shows.
    private func report(_ now: Double) {
        nextSamples = now + 1
        counts[.natsConnected] = nats.isConnected ? 1 : 0
        counts[.daemonConnected] = isSubscribed ? 1 : 0
        counts[.leaseHeld] = lease.isValid ? 1 : 0
        counts[.messagesUnderWay] = Double(window.count)
        pulse.samples = counts.map { Sample(metric: $0.key, line: "publish \(site)", site: nil, value: $0.value) }
    }

    /// Makes the pending changes of all that has not been acknowledged. NATS may have some of it, and mirrors may have
    /// applied it. They reach the same tree.
    private func recall() {
        attempt += 1
        // Only an announcement changes nothing.
        if window.lastRevision == acknowledged { needsAnnouncement = true }
        guard var whole = window.recall() else { return }
        if let pending { whole.merge(pending) }
        pending = whole
    }

    private func position(_ revision: UInt64) -> Position {
        Position(term: lease.term, epoch: epoch, revision: revision)
    }

    private var messageLimit: Int { min(nats.maximumPayload, 1 << 20) - 1024 }

    private func sendPending() throws(NATSError) {
        guard let changes = pending, window.hasRoom else { return }
        pending = nil
        let last = window.lastRevision ?? acknowledged
        if changes.isEmpty, revision == last { return }
        try send(changes, after: last, to: revision)
        sentSinceSnapshot += 1
    }

    /// Does not wait for the acknowledgment.
    private func send(_ changes: Transaction, after: UInt64, to revision: UInt64) throws(NATSError) {
        let messages = Frame.messages(changes.json, position: position(revision), after: after, limit: messageLimit)
        let bytes = messages.reduce(0) { $0 + $1.bytes.count }
        // First, so that changes are not lost if a call fails.
        var number = window.add(changes, revision, messages: messages.count, bytes: bytes)
        counts[.transactionsPublished, default: 0] += 1
        counts[.bytesPublished, default: 0] += Double(bytes)
        for (frame, bytes) in messages {
            try nats.publish(
                subject, bytes, header: ("Nats-Msg-Id", frame.messageID(attempt: attempt)),
                replyTo: "\(inbox).\(number)")
            number += 1
        }
        isUnflushed = true
    }

    private func takeAcknowledgments() throws(NATSError) {
        while let message = try acknowledgments?.next() {
            if message.isNoResponders { throw lost("no server stores it") }
            guard let number = message.number else { continue }
            do throws(Failure) {
                try message.bytes.withUnsafeBufferPointer { (bytes) throws(Failure) in
                    let answer = try parser.parse(bytes)
                    if let error = answer["error"] {
                        throw Failure(.unavailable, error["description"]?.string ?? "refused")
                    }
                    nextSequence = max(nextSequence, UInt64(clamping: answer["seq"]?.int ?? 0) + 1)
                }
            } catch { throw lost(error.message) }
            switch window.acknowledge(number) {
            case .acknowledged(let revision): acknowledged = revision
            case .waiting: break
            case .lost: throw lost("the message before the acknowledged one is lost")
            }
        }
        if let oldest = window.oldest, MonotonicTime.now > oldest + NATS.patience {
            throw NATSError(call: "publish to \(site.transactions)", status: NATS_TIMEOUT)
        }
    }

    private func lost(_ reason: String) -> NATSError {
        NATSError(call: "publish to \(site.transactions): \(reason)", status: NATS_ERR)
    }

    private func sendSnapshot() throws(NATSError) {
        let position = position(revision)
        let isFirst = snapshotPosition == nil
        counts[.snapshotsPublished, default: 0] += 1
        let id = "\(position.term)-\(position.revision)-\(UInt64.random(in: 0...0xFFFF_FFFF))"
        let body = tree.snapshot.json
        let messages = Frame.messages(body, position: position, after: position.revision, limit: messageLimit)
        for (_, bytes) in messages { _ = try nats.publish(site.snapshot(id), bytes) }
        let manifest = Manifest(
            position: position, snapshot: id, parts: messages.count, bytes: body.count, next: nextSequence)
        // This takes the place of all earlier manifests.
        _ = try nats.publish(site.manifest, manifest.json, header: ("Nats-Rollup", "sub"))
        if let snapshotID { oldSnapshots.append((snapshotID, MonotonicTime.now + settings.snapshotTime)) }
        (snapshotID, snapshotPosition, snapshotTime, sentSinceSnapshot) = (id, position, MonotonicTime.now, 0)
        guard isFirst else { return }
        _ = window.recall()
        (pending, acknowledged, needsAnnouncement) = (nil, revision, true)
    }
}
