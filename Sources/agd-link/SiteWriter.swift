import AGClient
import AttributeValues
import CNATS
import LinkProtocol

/// Sends the changes of a site to NATS while this process has the lease.
///
/// Changes that NATS has not acknowledged are merged into one transaction, so the size of the subtree bounds them.
final class SiteWriter {
    private static let heartbeatTime = 1.0

    private let settings: Configuration
    private let site: SiteName
    private let source: SiteReader
    private let pulse: Pulse
    private let holder: String
    private var nats: NATS
    private var lease: Lease
    private var log: Log
    private var hasStreams = false
    private var window = Window()
    /// True if transactions wait for `NATS.flush`.
    private var isUnflushed = false
    private var acknowledgments: Acknowledgments?
    private var snapshots: SentSnapshots
    /// Writes of other sites. Nil without a lease.
    private var writes: Inbox?
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
        self.source = source
        self.pulse = pulse
        self.holder = holder
        nats = try NATS(settings, isCollecting: true)
        lease = Lease(site: site, holder: holder, time: settings.leaseTime)
        log = Log(subject: "\(site)")
        snapshots = SentSnapshots(interval: settings.snapshotTime)
    }

    var hasPending: Bool { window.pending != nil }

    /// Revisions of different epochs cannot be compared, and mirrors order them by term.
    func endTerm() { lease.endTerm() }

    func release() { lease.release(nats) }

    /// Adds changes of the site, and sends them if nothing else is due first.
    func add(_ changes: Transaction) {
        if window.add(changes) { counts[.transactionsMergedTotal, default: 0] += 1 }
        attemptNATS { () throws(NATSError) in
            guard source.isSubscribed, lease.isValid, snapshots.has(term: lease.term) else { return }
            if !window.hasSpace { try takeAcknowledgments() }
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
        nats.report(&log)
        attemptNATS { () throws(NATSError) in
            if !hasStreams {
                try nats.makeStreams()
                try nats.makeLeases()
                if acknowledgments == nil { acknowledgments = try Acknowledgments(nats) }
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
            if snapshots.isDue(in: lease.term) { try sendSnapshot() }
            try sendPending()
            // A daemon that has not answered for a while may hang.
            if now >= nextHeartbeat, source.askedAt.map({ now < $0 + SiteWriter.heartbeatTime }) ?? true {
                nextHeartbeat = now + SiteWriter.heartbeatTime
                let frame = Frame(position: position(window.acknowledged), after: window.acknowledged)
                let heartbeat: Value = ["owner": .string(holder), "clock": .double(WallTime.sinceStart)]
                try nats.send("agd.live.\(site.tokens)", Array((frame.line + heartbeat.jsonText).utf8))
            }
            backoff.reset()
            if window.isEmpty, !hasPending {
                log.report("nats", "published; NATS has acknowledged everything", .info)
            }
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
            snapshots.renewSoon()
            window.recall()
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

    private func position(_ revision: UInt64) -> Position {
        Position(term: lease.term, epoch: source.epoch, revision: revision)
    }

    private var messageLimit: Int { min(nats.maximumPayload, 1 << 20) - 1024 }

    private func sendPending() throws(NATSError) {
        let last = window.lastRevision
        guard window.hasSpace, let changes = window.takePending() else { return }
        try send(changes, after: last, to: source.revision)
        snapshots.noteTransaction()
    }

    /// Does not wait for the acknowledgment.
    private func send(_ changes: Transaction, after: UInt64, to revision: UInt64) throws(NATSError) {
        let messages = Frame.messages(changes.json, position: position(revision), after: after, limit: messageLimit)
        let bytes = messages.reduce(0) { $0 + $1.bytes.count }
        // First, so that changes are not lost if a call fails.
        var number = window.note(changes, revision, messages: messages.count, bytes: bytes)
        counts[.transactionsPublishedTotal, default: 0] += 1
        counts[.publishedBytesTotal, default: 0] += Double(bytes)
        for (_, bytes) in messages {
            // Without `Nats-Msg-Id`: another site could have used the id, and the stream would drop the message.
            try nats.send(site.transactions, bytes, replyTo: acknowledgments?.subject(of: number))
            number += 1
        }
        isUnflushed = true
    }

    private func takeAcknowledgments() throws(NATSError) {
        while let (number, sequence) = try acknowledgments?.takeNext() {
            guard window.acknowledge(number, sequence: sequence) else {
                throw Acknowledgments.refusal("the message before the acknowledged one is lost")
            }
        }
        if let oldest = window.oldest, MonotonicTime.now > oldest + NATS.patience {
            throw NATSError(call: "publish to \(site.transactions)", status: NATS_TIMEOUT)
        }
    }

    private func sendSnapshot() throws(NATSError) {
        let position = position(source.revision)
        let isFirst = !snapshots.has(term: lease.term)
        counts[.snapshotsPublishedTotal, default: 0] += 1
        if snapshots.newest == nil, let last = try nats.readLast(NATS.heads, site.manifest) {
            snapshots.note(earlier: try? Manifest(json: last.bytes))
        }
        let id = snapshots.nextID
        let body = source.tree.snapshot.json
        let messages = Frame.messages(body, position: position, after: position.revision, limit: messageLimit)
        for (frame, bytes) in messages { try nats.publish(site.snapshot(id, part: "\(frame.part)"), bytes) }
        let manifest = Manifest(
            position: position, snapshot: id, parts: messages.count, bytes: body.count, next: window.nextSequence)
        try nats.publish(site.manifest, manifest.json)
        snapshots.note(manifest)
        if isFirst { window.begin(behind: position.revision) }
    }
}
