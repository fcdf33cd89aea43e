import AGClient
import AttributeValues
import Glibc
import LinkProtocol
import WireProtocol

/// Mirrors the sites of one `mirror` line below a container of the daemon. It runs on a thread of its own.
final class Mirror {
    /// Seconds between two reports of `seen` and `lag`.
    private static let reportTime = 1.0
    /// Seconds between two looks at which sites live and which need a snapshot.
    private static let lookTime = 0.02
    /// Messages that are taken from NATS in a round. They wait in the queues of their sites.
    private static let messagesPerRound = 1024
    private static let heartbeatsPerRound = 4096
    private static let headsPerLook = 256
    /// The daemon gets so many transactions of a site together.
    private static let messagesPerTurn = 64
    /// Seconds of a round that sites get together. The turn of one may take longer.
    private static let roundTime = 0.02
    /// Snapshots that are read at the same time. NATS sends up to 32 MB of each before the link has read them.
    private static let mostHealings = 8
    /// Seconds until the nodes of retired sites are removed again that the daemon does not remove.
    private static let removalTime = 5.0
    /// Seconds between two questions to JetStream while a site is silent.
    private static let probeTime = 5.0

    private let settings: Configuration
    private let mirroring: Configuration.Mirroring
    private let stop: Wakeup
    private let pulse: Pulse
    private var nats: NATS
    private var log: Log
    /// By the tokens of the site, as the next two.
    private var copies: [String: SiteCopy] = [:]
    /// Sites with messages, or whose snapshots are read.
    private var active: [String: SiteCopy] = [:]
    /// The least time that an active site has used.
    private var leastUsed = 0.0
    /// Sites whose nodes are to be removed, unless an owner is heard.
    private var retired: [String: SiteName] = [:]
    private var nextRemoval = 0.0
    private var connection: Connection? {
        willSet { pulse.connection = nil }
        didSet { pulse.connection = connection?.descriptor }
    }
    private var nextReport = 0.0
    private var nextLook = 0.0
    private var nextTry = 0.0
    private var nextProbe = 0.0
    private var probing: Question?
    /// The manifests of all sites; nil while there is no connection.
    private var heads: StreamReading?
    /// True if more could be done at once.
    private var isBusy = false
    private let parser = JSONParser(maximumDepth: Transaction.nesting)
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
                log.report("daemon", (error as? ClientError)?.told ?? "\(error)")
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
        (heads, probing, active) = (nil, nil, [:])
        for copy in copies.values {
            copy.healing = nil
            copy.queue.removeAll()
        }
        while !stop.isSignalled {
            pulse.beat()
            nats.report(&log)
            try keepDaemon()
            try hear(heartbeats)
            // Not for each message: there may be thousands of sites.
            if MonotonicTime.now >= nextLook {
                nextLook = MonotonicTime.now + Mirror.lookTime
                try report()
                probe()
                if nats.isDeaf { return changeServer() }
                follow(tokens)
                try removeRetired()
                for copy in copies.values where copy.refusal.isDue(copy.feed.position) { try sendRequests(of: copy) }
                beginHealings()
            }
            var wait = active.isEmpty ? 0.005 : isBusy ? 0 : 0.001
            for _ in 0..<Mirror.messagesPerRound {
                guard let message = try transactions.takeNext(within: wait) else { break }
                wait = 0
                receive(message)
            }
            try serve()
            if let connection {
                try forwards.serve(connection, nats, mirroring.nodes, copies, retire: retire, finish: finishRetirement)
            }
        }
    }

    /// Looks for sites, now and after each loss of the connection.
    private func follow(_ tokens: String) {
        guard nats.isConnected else { return heads = nil }
        do throws(NATSError) {
            if heads == nil {
                guard MonotonicTime.now >= nextTry else { return }
                nextTry = MonotonicTime.now + 1
                heads = try StreamReading(nats, NATS.heads, "agd.head.\(tokens)", from: .lastOfEachSubject)
            }
            let hadBegun = isFollowing
            for _ in 0..<Mirror.headsPerLook {
                guard let head = try heads?.takeNext() else { break }
                take(head)
            }
            guard isFollowing, !hadBegun else { return }
            // Transactions may have passed meanwhile.
            for copy in copies.values { copy.feed.suspectGap() }
            log.report("nats", "following \(tokens)", .info)
        } catch {
            heads = nil
            report(error)
        }
    }

    private var isFollowing: Bool { heads?.hasBegun ?? false }

    /// Asks JetStream something while a site is silent: the server may be cut off from its cluster.
    private func probe() {
        do throws(NATSError) {
            if let question = probing {
                if try question.takeLast(nats) != nil { probing = nil }
            } else if MonotonicTime.now >= nextProbe, nats.isConnected {
                nextProbe = MonotonicTime.now + Mirror.probeTime
                let silent = copies.values.first { !$0.owner.isLive(within: settings.liveTime) }
                probing = try silent.map { copy throws(NATSError) in
                    try .last(nats, NATS.heads, copy.site.manifest)
                }
            }
        } catch {
            probing = nil
            report(error)
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
    private func take(_ head: Inbox.Message) {
        guard let tokens = Mirror.tokens(of: head.subject) else { return }
        retired[tokens] = Manifest.isRetirement(head.bytes) ? SiteName(tokens: tokens) : nil
        if retired[tokens] == nil { copy(for: head.subject)?.retrySoon() }
    }

    /// Tells NATS, and so all mirrors, that a site has no owner any more.
    private func retire(_ copy: SiteCopy) throws(Failure) -> Question {
        guard !copy.owner.isLive(within: settings.liveTime) else {
            throw Failure(
                .conflict, "\(copy.site) is published by \(copy.owner.name), so nothing was changed",
                hint: "end agd-link there or remove its publish line, and retire the site when it is silent")
        }
        do throws(NATSError) { return try .publish(nats, copy.site.manifest, Manifest.retirement) } catch {
            throw notRetired(copy, error)
        }
    }

    /// - Returns: nil if NATS has not answered yet.
    private func finishRetirement(_ copy: SiteCopy, _ question: Question) throws -> Void? {
        do throws(NATSError) {
            if try question.takeAnswer(nats) == nil { return nil }
            try nats.discard(NATS.snapshots, copy.site.snapshot("*"))
        } catch { throw notRetired(copy, error) }
        try remove(copy.site)
        return ()
    }

    private func notRetired(_ copy: SiteCopy, _ error: NATSError) -> Failure {
        Failure(
            .unavailable, "\(copy.site) is not retired: \(nats.describe(error))",
            hint: "agd-link needs the right to publish \(copy.site.manifest) in NATS")
    }

    private func removeRetired() throws {
        guard MonotonicTime.now >= nextRemoval else { return }
        for site in retired.values {
            do { try remove(site) } catch let failure as Failure {
                log.report("\(site)", failure.message)
                nextRemoval = MonotonicTime.now + Mirror.removalTime
            }
        }
    }

    /// Removes the nodes of a retired site, unless its owner lives. An earlier life of this link may have made them.
    ///
    /// The copy stays until the daemon has removed them: it sends requests for these nodes to this link.
    private func remove(_ site: SiteName) throws {
        guard let connection else { return }
        let tokens = site.tokens
        // Its owner will write its manifest again.
        if let copy = copies[tokens], copy.owner.isLive(within: settings.liveTime) { return }
        let path = SiteCopy.path(of: site, mirroring)
        do throws(ClientError) {
            let found = try connection.call(.describe(path: path, depth: 0)).map?["attributes"]?.map
            // Nodes of somebody else stay.
            if let found, SiteCopy.ownAttributes.allSatisfy({ found[.string($0)] != nil }) {
                _ = try connection.call(.remove(path: path, TransactionOptions(label: "\(site) is retired")))
                log.report("\(site)", "\(site) is retired", .info)
            }
        } catch {
            guard let failure = error.failure else { throw error }
            guard failure.code == .notFound else {
                throw Failure(failure.code, "\(site) is retired, but stays: \(error.told)", path: path)
            }
        }
        (copies[tokens], active[tokens], retired[tokens]) = (nil, nil, nil)
    }

    // MARK: Turns

    /// Queues a message until its site's turn. Messages that come before a snapshot is read are in the stream.
    private func receive(_ message: Inbox.Message) {
        guard let copy = copy(for: message.subject), copy.healing != nil || !copy.feed.isHealing else { return }
        copy.queue.add(message.bytes)
        activate(copy)
    }

    private func activate(_ copy: SiteCopy) {
        if active.updateValue(copy, forKey: copy.site.tokens) == nil { copy.used = max(copy.used, leastUsed) }
    }

    /// Serves the active sites, beginning with those that have used least time. So a site that needs much time delays
    /// another one by one turn.
    private func serve() throws {
        isBusy = false
        if active.isEmpty { return }
        let order = active.sorted { $0.value.used < $1.value.used }
        leastUsed = order.first?.value.used ?? leastUsed
        var now = MonotonicTime.now
        let end = now + Mirror.roundTime
        for (tokens, copy) in order {
            try turn(of: copy)
            let begin = now
            now = MonotonicTime.now
            copy.used += now - begin
            if copy.healing == nil, copy.queue.isEmpty || copy.feed.isHealing { active[tokens] = nil }
            if now > end {
                isBusy = true
                break
            }
        }
    }

    private func turn(of copy: SiteCopy) throws {
        pulse.beat()
        do throws(Failure) {
            if copy.healing == nil { try takeQueued(copy) } else { try continueHealing(copy) }
        } catch {
            log.report("\(copy.site)", "\(copy.site): \(error.message)", .error)
            copy.note(fault: error)
        }
        try sendRequests(of: copy)
    }

    private func takeQueued(_ copy: SiteCopy) throws(Failure) {
        for _ in 0..<Mirror.messagesPerTurn {
            guard let message = copy.queue.takeFirst() else { return }
            guard let (frame, changes) = try copy.feed.read(message, parser) else { continue }
            if copy.feed.step(frame) == .heal {
                copy.feed.noteGap(before: frame, changes)
                nextLook = 0
                return
            }
            copy.hear(frame.position.revision)
            copy.apply(changes, frame)
        }
        isBusy = isBusy || !copy.queue.isEmpty
    }

    // MARK: Signs of life

    /// Takes the newest sign of life of each site.
    private func hear(_ heartbeats: Inbox) throws(NATSError) {
        var newest: [String: Inbox.Message] = [:]
        for _ in 0..<Mirror.heartbeatsPerRound {
            guard let heartbeat = try heartbeats.takeNext() else { break }
            newest[heartbeat.subject] = heartbeat
        }
        for message in newest.values { hear(message) }
    }

    private func hear(_ message: Inbox.Message) {
        guard let copy = copy(for: message.subject) else { return }
        do throws(Failure) {
            let (frame, length) = try Frame.read(message.bytes)
            if let position = copy.feed.position, frame.position.term < position.term {
                return log.report(
                    "term \(copy.name)", "\(copy.site): dropped messages of an owner that has lost its lease")
            }
            let heartbeat = try JSONParser.parseOnce(message.bytes.dropFirst(length)).map
            if copy.hear(heartbeat, at: frame.position) { copy.hasNewOwner = true }
        } catch { log.report("\(copy.site)", "\(copy.site): a sign of life is malformed: \(error.message)", .error) }
    }

    // MARK: Snapshots

    /// Begins to read what sites lack, those first that have waited longest.
    private func beginHealings() {
        guard isFollowing else { return }
        let now = MonotonicTime.now
        var (due, running): ([SiteCopy], Int) = ([], 0)
        for copy in copies.values {
            if copy.healing != nil {
                running += 1
            } else if copy.feed.healTime.map({ now >= $0 }) == true {
                due.append(copy)
            }
        }
        guard !due.isEmpty, running < Mirror.mostHealings else { return }
        due.sort { $0.feed.healTime ?? now < $1.feed.healTime ?? now }
        for copy in due.prefix(Mirror.mostHealings - running) {
            copy.feed.retryHealing(in: 1)
            do throws(NATSError) {
                copy.healing = try Healing(copy.site, nats, limit: settings.messageSize)
                activate(copy)
            } catch { report(error, copy) }
        }
    }

    private func continueHealing(_ copy: SiteCopy) throws(Failure) {
        do {
            switch try copy.healing?.advance(copy, nats, parser) {
            case .reading: isBusy = true
            case .done:
                copy.endHealing()
                log.report("\(copy.site)", "\(copy.site): revision \(copy.revision)", .info)
            case .nothing: endAttempt(copy)
            case .retired:
                retired[copy.site.tokens] = copy.site
                endAttempt(copy)
            case .waiting, nil: break
            }
        } catch let error as NATSError {
            report(error, copy)
            endAttempt(copy)
        } catch let failure as Failure { throw failure } catch { preconditionFailure("\(error)") }
    }

    private func endAttempt(_ copy: SiteCopy) {
        copy.healing = nil
        copy.feed.retryHealing(in: 1)
    }

    private func report(_ error: NATSError, _ copy: SiteCopy) {
        log.report("\(copy.site)", "\(copy.site): \(nats.describe(error))")
        failures += 1
    }

    /// A site whose messages are malformed, or whose state the daemon refuses, is silent, and stops no other site.
    private func sendRequests(of copy: SiteCopy) throws(ClientError) {
        guard let connection else { return }
        if let fault = copy.fault {
            if copy.told.fault == fault.message { return }
            return try copy.show("its messages cannot be read", fault, connection)
        }
        guard copy.refusal.mayTry(copy.feed.position) else { return }
        let wasApplied = copy.told.isApplied
        do throws(ClientError) {
            try copy.flush(connection, pulse, &log)
            if copy.told.isApplied { copy.refusal = Refusal() }
        } catch {
            // The others go on first, if it was this state that took too long.
            if case .timedOut = error { copy.refusal.note(nil) }
            guard case .refused(let fault) = error else { throw error }
            // Somebody may have removed or changed nodes of the site. Only a refusal of its whole state counts.
            if wasApplied {
                copy.forgetNodes()
                return try sendRequests(of: copy)
            }
            log.report("\(copy.site)", "\(copy.site): the daemon does not take its state: \(error.told)", .error)
            copy.refusal.note(copy.feed.position)
            try copy.show("this daemon does not take its state", fault.failure, connection)
        }
    }

    // MARK: The daemon

    /// Connects to the daemon if there is no connection, and applies all copies.
    private func keepDaemon() throws {
        guard connection == nil else { return }
        let connection = try settings.connect(as: "agd-link", pulse)
        try makeContainer(connection)
        self.connection = connection
        for copy in copies.values { try sendRequests(of: copy) }
        log.report("daemon", "connected", .info)
    }

    /// Makes the container unless there is one, and declares what its rules can read of each site.
    private func makeContainer(_ connection: Connection) throws(ClientError) {
        let document: Value = [
            "keys": ["container": ["siteIsLive": false, "siteLag": 0.0, "siteRevision": 0]],
            "nodes": [["id": .string(mirroring.nodes.last?.text ?? ""), "kind": "container"]],
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
            if isDue || copy.hasNewOwner, copy.owner.hasBeenHeard {
                copy.hasNewOwner = false
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
                let own = mutations.filter { mutation in
                    [".", "/"].contains { mutation.path.utf8.starts(with: (copy.path + $0).utf8) }
                }
                guard !own.isEmpty else { continue }
                do throws(ClientError) { _ = try connection.call(.transact(own, options)) } catch {
                    guard case .refused = error else { throw error }
                    copy.forgetNodes()
                    try sendRequests(of: copy)
                }
            }
        }
    }

    /// Tells the main thread what the file of metrics shows.
    private func count() {
        let line = "mirror \((mirroring.group + [mirroring.last ?? "*"]).texts.joined(separator: "/"))"
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
