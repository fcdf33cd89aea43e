import AGClient
import AttributeValues
import Glibc
import WireProtocol

/// Mirrors the sites of one `mirror` line below a container of the daemon. It runs on a thread of its own.
final class Mirror {
    /// Seconds between two reports of `seen` and `lag`.
    private static let reportTime = 1.0
    /// Seconds between two looks at which sites live and which need a snapshot.
    private static let lookTime = 0.02
    /// The daemon gets the transactions of a round together.
    private static let messagesPerRound = 64
    /// Seconds of a call after which the daemon is told who lives.
    private static let longCall = 0.1
    /// Seconds between two questions to JetStream while a site is silent.
    private static let probeTime = 5.0

    private let settings: Configuration
    private let mirroring: Configuration.Mirroring
    private let stop: Wakeup
    private let pulse: Pulse
    private var nats: NATS
    private var log: Log
    /// By the tokens of the site, as the next.
    private var copies: [String: SiteCopy] = [:]
    /// Sites whose nodes are to be removed, unless an owner is heard.
    private var retired: [String: SiteName] = [:]
    private var connection: Connection? {
        willSet { pulse.connection = nil }
        didSet { pulse.connection = connection?.descriptor }
    }
    private var nextReport = 0.0
    private var nextLook = 0.0
    private var nextTry = 0.0
    private var nextProbe = 0.0
    private let parser = JSONParser()
    private var forwards = ForwardedWrites()
    // For the metrics.
    private var failures = 0

    init(_ mirroring: Configuration.Mirroring, _ settings: Configuration, stop: Wakeup, pulse: Pulse) throws(NATSError)
    {
        self.settings = settings
        self.pulse = pulse
        self.mirroring = mirroring
        self.stop = stop
        nats = try NATS(settings)
        log = Log(subject: "mirror at \(AttributePath.describe(nodes: mirroring.nodes))")
    }

    func run() {
        var pause = Backoff(first: 0.1)
        while !stop.isSignalled {
            do {
                try mirror()
                pause.reset()
            } catch let error as NATSError {
                report(error)
                if nats.isClosed { changeServer() }
            } catch {
                log.report("daemon", "\(error)")
                connection = nil
                for copy in copies.values { copy.forgetDaemon() }
                forwards.forget()
            }
            pulse.beat()
            stop.wait(pause.pause())
        }
    }

    /// Follows all sites until a call fails, another server is better, or the program ends.
    private func mirror() throws {
        let tokens = mirroring.tokens
        // As they are published: the stream has what this does not bring.
        let transactions = try nats.listen("agd.tx.\(tokens)")
        let heartbeats = try nats.listen("agd.live.\(tokens)")
        var heads: Inbox?
        while !stop.isSignalled {
            pulse.beat()
            nats.report(&log)
            try keepDaemon()
            // Not for each message: there may be thousands of sites.
            if MonotonicTime.now >= nextLook {
                nextLook = MonotonicTime.now + Mirror.lookTime
                try report()
                try probe()
                if nats.isDeaf { return changeServer() }
                if !nats.isConnected { heads = nil } else if heads == nil { heads = follow(tokens) }
                while let head = try heads?.takeNext() { take(head: head) }
                for (tokens, site) in retired { try remove(site, tokens) }
                for copy in copies.values where copy.refusal.isDue(copy.feed.position) { try sendRequests(of: copy) }
                for copy in copies.values {
                    guard heads != nil, let time = copy.feed.healTime, MonotonicTime.now >= time else { continue }
                    try heal(copy)
                }
            }
            var wait = 0.005
            var changed: [String: SiteCopy] = [:]
            for _ in 0..<Mirror.messagesPerRound {
                guard let message = try transactions.takeNext(within: wait) else { break }
                wait = 0
                guard let copy = take(message) else { continue }
                changed[copy.id] = copy
                if copy.feed.gap != nil {
                    nextLook = 0
                    break
                }
            }
            for copy in changed.values { try sendRequests(of: copy) }
            while let heartbeat = try heartbeats.takeNext() { hear(heartbeat) }
            if let connection { try forwards.serve(connection, nats, mirroring.nodes, copies, retire: retire) }
        }
    }

    /// Looks for sites, now and after each loss of the connection.
    private func follow(_ tokens: String) -> Inbox? {
        guard MonotonicTime.now >= nextTry else { return nil }
        nextTry = MonotonicTime.now + 1
        do throws(NATSError) {
            try nats.makeStreams()
            let heads = try nats.subscribe(NATS.snapshots, "agd.head.\(tokens)", from: .lastOfEachSubject)
            // Transactions may have passed meanwhile.
            for copy in copies.values { copy.feed.suspectGap() }
            log.report("nats", "following \(tokens)", .info)
            return heads
        } catch {
            report(error)
            return nil
        }
    }

    /// Asks JetStream something while a site is silent: the server may be cut off from its cluster.
    private func probe() throws {
        guard MonotonicTime.now >= nextProbe, nats.isConnected else { return }
        nextProbe = MonotonicTime.now + Mirror.probeTime
        guard let copy = copies.values.first(where: { !$0.owner.isLive(within: settings.liveTime) }) else { return }
        do throws(Failure) { _ = try newest(copy) } catch {
            log.report("\(copy.site)", "\(copy.site): \(error.message)")
        }
    }

    private func changeServer() {
        guard let other = nats.successor(&log) else { return }
        nats = other
        forwards.forget()
    }

    private func report(_ error: NATSError) {
        log.report("nats", nats.describe(error))
        failures += 1
    }

    /// - Parameter subject: has two tokens before the site's name.
    private static func tokens(of subject: String) -> String? {
        let dot: Character = "."
        return subject.split(separator: dot, maxSplits: 2).last.map(String.init)
    }

    /// - Parameter subject: has two tokens before the site's name.
    private func copy(for subject: String) -> SiteCopy? {
        guard let tokens = Mirror.tokens(of: subject) else { return nil }
        if let copy = copies[tokens] { return copy }
        guard let site = SiteName(tokens: tokens) else { return nil }
        let copy = SiteCopy(site, mirroring, limit: settings.messageSize)
        copies[tokens] = copy
        return copy
    }

    // MARK: Retirement

    /// A manifest says that there is a site, or that it has been retired.
    private func take(head: Inbox.Message) {
        guard let tokens = Mirror.tokens(of: head.subject) else { return }
        retired[tokens] = Manifest.isRetirement(head.bytes) ? SiteName(tokens: tokens) : nil
        if retired[tokens] == nil { _ = copy(for: head.subject) }
    }

    /// Tells NATS, and so all mirrors, that a site has no owner any more.
    private func retire(_ copy: SiteCopy) throws {
        guard !copy.owner.isLive(within: settings.liveTime) else {
            throw Failure(
                .conflict, "\(copy.site) is published by \(copy.owner.name), so nothing was changed",
                hint: "end agd-link there or remove its publish line, and retire the site when it is silent")
        }
        do throws(NATSError) {
            try nats.publish(copy.site.manifest, Manifest.retirement, header: ("Nats-Rollup", "sub"))
            try nats.discard(NATS.snapshots, copy.site.snapshot("*"))
        } catch {
            throw Failure(
                .unavailable, "\(copy.site) is not retired: \(nats.describe(error))",
                hint: "agd-link needs the right to publish \(copy.site.manifest) in NATS")
        }
        try remove(copy.site, copy.site.tokens)
    }

    /// Removes the nodes of a retired site. An earlier life of this link may have made them.
    private func remove(_ site: SiteName, _ tokens: String) throws {
        guard let connection else { return }
        // Its owner lives and will write its manifest again.
        if let copy = copies[tokens], copy.owner.isLive(within: settings.liveTime) { return }
        let path = SiteCopy.path(of: site, mirroring)
        do throws(ClientError) {
            let found = try connection.call(.describe(path: path, depth: 0)).map?["attributes"]?.map
            // Nodes of somebody else stay.
            if let found, SiteCopy.ownAttributes.allSatisfy({ found[.string($0)] != nil }) {
                _ = try connection.call(.remove(path: path, TransactionOptions(label: "\(site) is retired")))
                log.report("\(site)", "\(site) is retired", .info)
            }
        } catch { guard error.failure?.code == .notFound else { throw error } }
        (copies[tokens], retired[tokens]) = (nil, nil)
    }

    // MARK: Messages

    /// - Returns: the site whose requests wait.
    private func take(_ message: Inbox.Message) -> SiteCopy? {
        guard let copy = copy(for: message.subject), !copy.feed.isHealing else { return nil }
        do throws(Failure) {
            guard let (frame, changes) = try copy.feed.read(message.bytes, parser) else { return nil }
            switch copy.feed.step(frame) {
            case .drop: break
            case .heal: copy.feed.noteGap(before: frame, changes)
            case .apply:
                copy.hear(frame.position.revision)
                copy.apply(changes, frame)
            }
        } catch {
            log.report("\(copy.site)", "\(copy.site): \(error.message)")
            copy.feed.needSnapshot(in: 1)
        }
        return copy
    }

    private func hear(_ message: Inbox.Message) {
        guard let copy = copy(for: message.subject), let (frame, length) = try? Frame.read(message.bytes)
        else { return }
        if let position = copy.feed.position, frame.position.term < position.term {
            log.report("term \(copy.name)", "\(copy.site): dropped messages of an owner that has lost its lease")
            return
        }
        let heartbeat = try? JSONParser.parseOnce(message.bytes.dropFirst(length)).map
        if copy.hear(heartbeat, at: frame.position) { nextReport = 0 }
    }

    // MARK: Snapshots

    /// Reads the newest snapshot and the transactions behind it.
    private func heal(_ copy: SiteCopy) throws {
        copy.feed.beginHealing()
        do throws(Failure) {
            guard let manifest = try newest(copy) else { return }
            if copy.feed.accepts(snapshot: manifest.position) {
                guard let snapshot = try snapshot(manifest, copy) else { return }
                copy.apply(snapshot: snapshot, manifest.position)
            }
            try readOn(from: manifest.next, copy)
            if let (frame, changes) = copy.feed.gap, copy.feed.step(frame) == .apply { copy.apply(changes, frame) }
            copy.endHealing()
            log.report("\(copy.site)", "\(copy.site): revision \(copy.revision)", .info)
        } catch { log.report("\(copy.site)", "\(copy.site): \(error.message)") }
        try sendRequests(of: copy)
    }

    /// A site whose state the daemon refuses is silent, and stops no other site.
    private func sendRequests(of copy: SiteCopy) throws(ClientError) {
        guard let connection, copy.refusal.mayTry(copy.feed.position) else { return }
        pulse.beat()
        do throws(ClientError) {
            try copy.flush(connection, &log)
            if copy.told.isApplied { copy.refusal = Refusal() }
        } catch {
            guard case .refused(let fault) = error else { throw error }
            log.report("\(copy.site)", "\(copy.site): the daemon does not take its state: \(error)", .error)
            copy.refusal.note(copy.feed.position)
            try copy.show(refusal: fault.failure, connection)
        }
    }

    private func newest(_ copy: SiteCopy) throws(Failure) -> Manifest? {
        guard let head = try reach({ () throws(NATSError) in try nats.readLast(NATS.snapshots, copy.site.manifest) })
        else {
            return nil
        }
        if Manifest.isRetirement(head.bytes) {
            retired[copy.site.tokens] = copy.site
            return nil
        }
        return try Manifest(json: head.bytes)
    }

    private func snapshot(_ manifest: Manifest, _ copy: SiteCopy) throws(Failure) -> Transaction? {
        let subject = copy.site.snapshot(manifest.snapshot)
        var assembler = Assembler(limit: settings.messageSize)
        let inbox = try reach { () throws(NATSError) in try nats.subscribe(NATS.snapshots, subject, from: .sequence(1))
        }
        for _ in 0..<manifest.parts {
            pulse.beat()
            guard let message = try reach({ () throws(NATSError) in try inbox.takeNext(within: 2) }) else {
                throw Failure(.unavailable, "the snapshot \(manifest.snapshot) lacks parts")
            }
            let (frame, length) = try Frame.read(message.bytes)
            if let (_, body) = try assembler.add(frame, message.bytes.dropFirst(length)) {
                return try Transaction(json: body)
            }
        }
        throw Failure(.unavailable, "the snapshot \(manifest.snapshot) is incomplete")
    }

    /// Applies the transactions that the stream has from a sequence on.
    private func readOn(from sequence: UInt64, _ copy: SiteCopy) throws(Failure) {
        let subject = copy.site.transactions
        guard let last = try reach({ () throws(NATSError) in try nats.readLast(NATS.transactions, subject) }),
            last.sequence >= sequence
        else { return }
        let inbox = try reach { () throws(NATSError) in
            try nats.subscribe(NATS.transactions, subject, from: .sequence(sequence))
        }
        while let message = try reach({ () throws(NATSError) in try inbox.takeNext(within: 2) }) {
            if let (frame, changes) = try copy.feed.read(message.bytes, parser), copy.feed.step(frame) == .apply {
                copy.apply(changes, frame)
            }
            if message.sequence >= last.sequence { return }
        }
        throw Failure(.unavailable, "the transactions after sequence \(sequence) do not come")
    }

    private func reach<T>(_ body: () throws(NATSError) -> T) throws(Failure) -> T {
        let start = MonotonicTime.now
        pulse.beat()
        // Calls to a NATS that hangs take seconds, and mirrors must not look live meanwhile. A daemon that is lost is
        // noticed later, too.
        defer { if MonotonicTime.now > start + Mirror.longCall { try? report() } }
        do throws(NATSError) { return try body() } catch { throw Failure(.unavailable, nats.describe(error)) }
    }

    // MARK: The daemon

    /// Connects to the daemon if there is no connection, and applies all copies.
    private func keepDaemon() throws {
        guard connection == nil else { return }
        let connection = try Connection(
            to: .find(settings.socket), name: "agd-link", typed: true, timeout: max(5, settings.liveTime))
        try makeContainer(connection)
        self.connection = connection
        for copy in copies.values { try sendRequests(of: copy) }
        log.report("daemon", "connected", .info)
    }

    /// Makes the container unless there is one, and declares what its rules can read of each site.
    private func makeContainer(_ connection: Connection) throws(ClientError) {
        let document: Value = [
            "keys": ["container": ["siteIsLive": false, "siteLag": 0.0, "siteRevision": 0]],
            "nodes": [["id": .string(mirroring.nodes.last ?? ""), "kind": "container"]],
        ]
        _ = try connection.call(.apply(document, at: mirroring.nodes.dropLast(), .merge, "agd-link"))
    }

    /// Writes `isLive` where it has changed, and `seen` and `lag` once a second.
    private func report() throws {
        let now = MonotonicTime.now
        let isDue = now >= nextReport
        if isDue {
            nextReport = now + Mirror.reportTime
            count()
        }
        guard let connection else { return }
        var mutations: [Mutation] = []
        for copy in copies.values where copy.told.isApplied {
            let isLive = copy.owner.isLive(within: settings.liveTime)
            if isLive != copy.told.isLive {
                copy.told.isLive = isLive
                mutations.append(copy.mutation("isLive", .bool(isLive)))
                for place in copy.nested {
                    guard let content = copy.tree.contents[place] else { continue }
                    mutations.append(
                        Mutation(operation: .set, path: copy.path + place.path, value: copy.shown(place, content)))
                }
                log.report(
                    "live \(copy.site)", "\(copy.site) is \(isLive ? "live" : "silent")", isLive ? .info : .warning)
            }
            if isDue, copy.owner.hasBeenHeard {
                mutations += [
                    copy.mutation("seen", copy.owner.seenValue),
                    copy.mutation("owner", .string(copy.owner.name)),
                    copy.mutation("lag", .double(copy.owner.lag(of: copy.revision, isLive: isLive))),
                ]
            }
        }
        guard !mutations.isEmpty else { return }
        let options = TransactionOptions(label: "agd-link", typed: true)
        do throws(ClientError) { _ = try connection.call(.transact(mutations, options)) } catch {
            guard case .refused = error else { throw error }
            // Somebody has removed or changed nodes of a site. Each site is told alone, and that one is made again.
            for copy in copies.values where copy.told.isApplied {
                let own = mutations.filter { $0.path.hasPrefix(copy.path + ".") || $0.path.hasPrefix(copy.path + "/") }
                guard !own.isEmpty else { continue }
                do throws(ClientError) { _ = try connection.call(.transact(own, options)) } catch {
                    guard case .refused = error else { throw error }
                    (copy.told.isApplied, copy.told.isDelegated) = (false, false)
                    try sendRequests(of: copy)
                }
            }
        }
    }

    /// Tells the main thread what the file of metrics shows.
    private func count() {
        let line = "mirror \((mirroring.group + [mirroring.last ?? "*"]).joined(separator: "/"))"
        func sample(_ metric: Metric, _ value: Double, _ site: SiteName? = nil) -> Sample {
            Sample(metric: metric, line: line, site: site?.description, value: value)
        }
        var samples = [
            sample(.natsConnected, nats.isConnected ? 1 : 0), sample(.daemonConnected, connection == nil ? 0 : 1),
            sample(.failuresTotal, Double(failures)), sample(.writesForwardedTotal, Double(forwards.count)),
        ]
        for copy in copies.values.sorted(by: { $0.id < $1.id }) {
            let isLive = copy.owner.isLive(within: settings.liveTime)
            let lag = copy.owner.lag(of: copy.revision, isLive: isLive)
            samples += [
                sample(.siteLive, isLive ? 1 : 0, copy.site), sample(.siteLagSeconds, lag, copy.site),
                sample(.transactionsAppliedTotal, Double(copy.applied), copy.site),
                sample(.snapshotsReadTotal, Double(copy.snapshots), copy.site),
            ]
        }
        pulse.samples = samples
    }
}
