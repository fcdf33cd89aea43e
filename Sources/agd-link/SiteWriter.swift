import AGClient
import AttributeValues
import CNATS

/// Sends the changes of a site to NATS while this process has the lease.
///
/// Changes that NATS has not acknowledged are merged into one transaction, so the size of the subtree bounds them.
final class SiteWriter {
    private static let heartbeatTime = 1.0
    private static let snapshotAfter = 10_000

    private let settings: Configuration
    private let site: SiteName
    private let subject: String
    private let source: SiteReader
    private let pulse: Pulse
    private let holder: String
    private var nats: NATS
    private var lease: Lease
    private var log: Log
    private var hasStreams = false
    /// Changes that have not been sent.
    private var pending: Transaction?
    private var window = Window()
    /// Writes of other sites. Nil without a lease.
    private var writes: Inbox?
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
    private var nextHeartbeat = 0.0
    private var nextTry = 0.0
    private var backoff = Backoff(first: 0.1)
    private var counts: [Metric: Double] = [:]
    private var nextSamples = 0.0

    init(
        _ site: SiteName, _ source: SiteReader, _ settings: Configuration, holder: String, pulse: Pulse
    ) throws(NATSError) {
        self.settings = settings
        self.site = site
        subject = site.transactions
        self.source = source
        self.pulse = pulse
        self.holder = holder
        nats = try NATS(settings, isCollecting: true)
        lease = Lease(site: site, holder: holder, time: settings.leaseTime)
        log = Log(subject: "\(site)")
    }

    var hasPending: Bool { pending != nil }

    /// Revisions of different epochs cannot be compared, and mirrors order them by term.
    func endTerm() { lease.endTerm() }

    func release() { lease.release(nats) }

    /// Adds changes of the site, and sends them if nothing else is due first.
    func add(_ changes: Transaction) {
        if pending == nil {
            pending = changes
        } else {
            pending?.merge(changes)
            counts[.transactionsMergedTotal, default: 0] += 1
        }
        attemptNATS { () throws(NATSError) in
            guard source.isSubscribed, lease.isValid, snapshotPosition?.term == lease.term else { return }
            if !window.hasRoom { try takeAcknowledgments() }
            try sendPending()
        }
    }

    // MARK: Writes of other sites

    /// The next write, and the subject of its answer.
    func nextWrite() -> (call: [UInt8], sender: String)? {
        while let message = (try? writes?.takeNext()) ?? nil {
            guard let sender = message.reply else { continue }
            counts[.writesPerformedTotal, default: 0] += 1
            return (message.bytes, sender)
        }
        return nil
    }

    func answer(_ sender: String, _ result: Result<ValueMap, Failure>) {
        let reply =
            switch result {
            case .success(let result): ForwardedReply(result: result, position: position(source.revision))
            case .failure(let failure): ForwardedReply(failure: failure)
            }
        do throws(NATSError) { try nats.send(sender, reply.json) } catch { log.report("nats", nats.describe(error)) }
    }

    func flush() { nats.flush() }

    // MARK: Rounds

    /// Does what is due towards NATS after a round. A failure is tried again after a pause.
    func serve() {
        pulse.beat()
        let now = MonotonicTime.now
        if now >= nextSamples { report(now) }
        attemptNATS { () throws(NATSError) in
            if !hasStreams {
                try nats.makeStreams()
                try nats.makeLeases()
                if acknowledgments == nil {
                    inbox = try NATS.newInbox()
                    acknowledgments = try nats.listen("\(inbox).*")
                }
                hasStreams = true
            }
            try takeAcknowledgments()
            // Another link may publish the site meanwhile.
            guard source.isSubscribed else {
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
            if snapshotPosition == nil || sentSinceSnapshot >= SiteWriter.snapshotAfter
                || sentSinceSnapshot > 0 && now > snapshotTime + settings.snapshotTime
            {
                try sendSnapshot()
            }
            try sendPending()
            // A daemon that has not answered for a while may hang.
            if now >= nextHeartbeat, source.askedAt.map({ now < $0 + SiteWriter.heartbeatTime }) ?? true {
                nextHeartbeat = now + SiteWriter.heartbeatTime
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
            counts[.failuresTotal, default: 0] += 1
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
        counts[.daemonConnected] = source.isSubscribed ? 1 : 0
        counts[.leaseHeld] = lease.isValid ? 1 : 0
        counts[.messagesUnderWay] = Double(window.count)
        pulse.samples = counts.map { Sample(metric: $0.key, line: "publish \(site)", site: nil, value: $0.value) }
    }

    /// Makes the pending changes of all that has not been acknowledged. NATS may have some of it, and mirrors may have
    /// applied it. They reach the same tree.
    private func recall() {
        attempt += 1
        guard var whole = window.recall() else { return }
        if let pending { whole.merge(pending) }
        pending = whole
    }

    private func position(_ revision: UInt64) -> Position {
        Position(term: lease.term, epoch: source.epoch, revision: revision)
    }

    private var messageLimit: Int { min(nats.maximumPayload, 1 << 20) - 1024 }

    private func sendPending() throws(NATSError) {
        guard let changes = pending, window.hasRoom else { return }
        pending = nil
        try send(changes, after: window.lastRevision ?? acknowledged, to: source.revision)
        sentSinceSnapshot += 1
    }

    /// Does not wait for the acknowledgment.
    private func send(_ changes: Transaction, after: UInt64, to revision: UInt64) throws(NATSError) {
        let messages = Frame.messages(changes.json, position: position(revision), after: after, limit: messageLimit)
        let bytes = messages.reduce(0) { $0 + $1.bytes.count }
        // First, so that changes are not lost if a call fails.
        var number = window.add(changes, revision, messages: messages.count, bytes: bytes)
        counts[.transactionsPublishedTotal, default: 0] += 1
        counts[.publishedBytesTotal, default: 0] += Double(bytes)
        for (frame, bytes) in messages {
            try nats.send(
                subject, bytes, header: ("Nats-Msg-Id", frame.messageID(attempt: attempt)),
                replyTo: "\(inbox).\(number)")
            number += 1
        }
        isUnflushed = true
    }

    private func takeAcknowledgments() throws(NATSError) {
        while let message = try acknowledgments?.takeNext() {
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
            throw NATSError(call: "publish to \(subject)", status: NATS_TIMEOUT)
        }
    }

    private func lost(_ reason: String) -> NATSError {
        NATSError(call: "publish to \(subject): \(reason)", status: NATS_ERR)
    }

    private func sendSnapshot() throws(NATSError) {
        let position = position(source.revision)
        let isFirst = snapshotPosition == nil
        counts[.snapshotsPublishedTotal, default: 0] += 1
        let id = "\(position.term)-\(position.revision)-\(UInt64.random(in: 0...0xFFFF_FFFF))"
        let body = source.tree.snapshot.json
        let messages = Frame.messages(body, position: position, after: position.revision, limit: messageLimit)
        for (_, bytes) in messages { try nats.publish(site.snapshot(id), bytes) }
        let manifest = Manifest(
            position: position, snapshot: id, parts: messages.count, bytes: body.count, next: nextSequence)
        // This takes the place of all earlier manifests.
        try nats.publish(site.manifest, manifest.json, header: ("Nats-Rollup", "sub"))
        if let snapshotID { oldSnapshots.append((snapshotID, MonotonicTime.now + settings.snapshotTime)) }
        (snapshotID, snapshotPosition, snapshotTime, sentSinceSnapshot) = (id, position, MonotonicTime.now, 0)
        guard isFirst else { return }
        _ = window.recall()
        // An empty transaction follows. Mirrors at another revision see a gap in it and read the snapshot.
        (pending, acknowledged) = (Transaction(), source.revision)
    }
}
