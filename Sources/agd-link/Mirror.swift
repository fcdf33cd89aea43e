import AGClient
import AttributeValues
import Glibc
import LinkProtocol
import WireProtocol

/// Mirrors the sites of one `mirror` line below a container of the daemon. It runs on a thread of its own.
final class Mirror {
    private static let isLive = Transaction.Place(path: ".isLive")
    /// Attributes that each mirrored root has besides those of the site.
    static let ownAttributes: Set<String> = ["isLive", "lag", "term", "revision", "seen", "failures", "owner"]
    /// Seconds between two reports of `seen` and `lag`.
    private static let reportTime = 1.0
    /// Seconds between two looks at which sites live and which need a snapshot.
    private static let lookTime = 0.02
    /// The daemon gets the transactions of a round together.
    private static let messagesPerRound = 64
    /// Seconds that a mirror may be behind its owner's heartbeats before it reads a snapshot.
    private static let patience = 2.0

    /// One mirrored site.
    private final class Copy {
        let site: SiteName
        var tree = SiteTree()
        var follower = Follower()
        var assembler: Assembler
        /// The path of its root in the daemon.
        let path: String
        /// Monotonic seconds.
        var healTime: Double? = 0
        var heard = -Double.infinity
        /// The last moment at which the mirror was as new as the owner.
        var even = -Double.infinity
        var ownerRevision: UInt64 = 0
        /// The host and the process that publish the site, as heartbeats say.
        var owner = ""
        /// The wall clock at the last message of the owner.
        var seen: Value = .null
        var clock = ClockDifference()
        /// What the daemon was told. Nil before the first report.
        var isLive: Bool?
        /// True if the daemon has the nodes of `tree`.
        var isApplied = false
        var toldTerm: UInt64 = 0
        /// The attributes `isLive` of sites that the owner mirrors itself. They are false while the owner is silent.
        var nested: Set<Transaction.Place> = []
        /// Attributes that the daemon makes false when this link ends.
        var willed: Set<Transaction.Place> = []
        /// The daemon sends writes of others to this connection.
        var isDelegated = false
        /// With rules: those that give other values here than at the owner, because they read something outside of the
        /// site. The owner's values count.
        var withoutRule: Set<Transaction.Place> = []
        /// Values of rules that are not compared with the owner's yet.
        var unverified: Set<Transaction.Place> = []
        /// Requests that the daemon has yet to get, in order.
        var waiting: [Request] = []
        // For the metrics.
        var lag = 0.0
        var applied = 0
        var snapshots = 0

        init(_ site: SiteName, below nodes: [String], limit: Int) {
            self.site = site
            path = AttributePath.describe(nodes: nodes + [site.segments.last ?? ""])
            assembler = Assembler(limit: limit)
        }

        var id: String { site.segments.last ?? "" }
        var revision: UInt64 { follower.position?.revision ?? 0 }
        var term: UInt64 { follower.position?.term ?? 0 }
    }

    private let settings: Configuration
    private let mirroring: Configuration.Mirroring
    private let stop: Wakeup
    private let pulse: Pulse
    private let nats: NATS
    private var log: Log
    private var copies: [String: Copy] = [:]
    private var connection: Connection?
    private var nextReport = 0.0
    private var nextLook = 0.0
    private let parser = JSONParser()
    // For the metrics.
    private var failures = 0
    private var forwarded = 0

    init(_ mirroring: Configuration.Mirroring, _ settings: Configuration, stop: Wakeup, pulse: Pulse)
        throws(NATSError)
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
                log.report("nats", nats.describe(error))
                failures += 1
            } catch {
                log.report("daemon", "\(error)")
                connection = nil
                for copy in copies.values {
                    (copy.isApplied, copy.willed, copy.isDelegated) = (false, [], false)
                }
                forwards = [:]
            }
            pulse.beat()
            stop.wait(pause.pause())
        }
    }

    /// Follows all sites until a call fails or the program ends.
    private func mirror() throws {
        while !nats.isConnected, !stop.isSignalled {
            pulse.beat()
            try keepDaemon()
            try report()
            stop.wait(0.1)
        }
        if stop.isSignalled { return }
        try nats.makeStreams()
        let tokens = mirroring.tokens
        let heads = try nats.subscribe(NATS.snapshots, "agd.head.\(tokens)", from: .lastOfEachSubject)
        let transactions = try nats.subscribe(NATS.transactions, "agd.tx.\(tokens)", from: .new)
        let inbox = try NATS.newInbox()
        let replies = try nats.listen("\(inbox).*")
        let heartbeats = try nats.listen("agd.live.\(tokens)")
        // Messages may have passed while there was no subscription.
        for copy in copies.values { copy.healTime = 0 }
        log.report("nats", "following \(tokens)", level: 6)
        while !stop.isSignalled {
            pulse.beat()
            while let head = try heads.next() { _ = copy(for: head.subject) }
            try keepDaemon()
            // Not for each message: there may be thousands of sites.
            if MonotonicTime.now >= nextLook {
                nextLook = MonotonicTime.now + Mirror.lookTime
                try report()
                for copy in copies.values {
                    guard let time = copy.healTime, MonotonicTime.now >= time else { continue }
                    try heal(copy)
                    // Calls to a NATS that hangs take seconds, and the mirrors of others must not look live meanwhile.
                    try report()
                }
            }
            var wait = 0.005
            var changed: [String: Copy] = [:]
            for _ in 0..<Mirror.messagesPerRound {
                guard let message = try transactions.next(within: wait) else { break }
                wait = 0
                if let copy = take(message) { changed[copy.id] = copy }
            }
            for copy in changed.values { try flush(copy) }
            while let heartbeat = try heartbeats.next() { try hear(heartbeat) }
            while let reply = try replies.next() { try take(reply: reply) }
            try forwardWrites(inbox)
        }
    }

    /// - Parameter subject: has two tokens before the site's name.
    private func copy(for subject: String) -> Copy? {
        let dot: Character = "."
        let tokens = subject.split(separator: dot).dropFirst(2).joined(separator: ".")
        if let copy = copies[tokens] { return copy }
        guard let site = SiteName(tokens: tokens) else { return nil }
        let copy = Copy(site, below: mirroring.nodes, limit: settings.messageSize)
        copies[tokens] = copy
        return copy
    }

    // MARK: Messages

    /// - Returns: the site whose requests wait.
    private func take(_ message: Inbox.Message) -> Copy? {
        guard let copy = copy(for: message.subject), copy.healTime == nil else { return nil }
        do throws(Failure) {
            guard let (frame, changes) = try read(message, copy) else { return nil }
            switch copy.follower.step(frame) {
            case .drop: break
            case .heal: copy.healTime = 0
            case .apply:
                copy.follower.reached(frame.position)
                hear(copy, frame.position.revision)
                apply(changes, to: copy)
            }
        } catch {
            log.report("\(copy.site)", "\(copy.site): \(error.message)")
            copy.healTime = MonotonicTime.now + 1
        }
        return copy
    }

    private func read(_ message: Inbox.Message, _ copy: Copy) throws(Failure) -> (Frame, Transaction)? {
        let (frame, length) = try Frame.read(message.bytes)
        guard let (whole, body) = try copy.assembler.add(frame, message.bytes.dropFirst(length)) else { return nil }
        return (whole, try Transaction(json: body, parser))
    }

    private func hear(_ message: Inbox.Message) throws {
        guard let copy = copy(for: message.subject), let (frame, length) = try? Frame.read(message.bytes)
        else { return }
        let position = copy.follower.position
        // An owner that has lost its lease.
        if let position, frame.position.term < position.term { return }
        let body = try? JSONParser.parseOnce(message.bytes.dropFirst(length)).map
        if let owner = body?["owner"]?.string, owner != copy.owner {
            copy.owner = owner
            nextReport = 0
        }
        if let sent = body?["time"]?.number { copy.clock.hear(sent, at: WallTime.now) }
        hear(copy, frame.position.revision)
        if let position, frame.position.term > position.term, copy.healTime == nil { copy.healTime = 0 }
    }

    private func hear(_ copy: Copy, _ ownerRevision: UInt64) {
        let now = MonotonicTime.now
        copy.heard = now
        copy.seen = Mirror.wallTime()
        copy.ownerRevision = ownerRevision
        if copy.revision >= ownerRevision {
            copy.even = now
        } else if copy.healTime == nil, now > copy.even + Mirror.patience {
            copy.healTime = 0
        }
    }

    private static func wallTime() -> Value {
        let now = WallTime.now
        let nanoseconds = Int64((now - now.rounded(.down)) * 1e9)
        return Timestamp(seconds: Int64(now), nanoseconds: nanoseconds).map { .timestamp($0) } ?? .null
    }

    // MARK: Writes

    /// A write that the owner has been asked to perform.
    private struct Forward {
        var copy: Copy
        /// Monotonic seconds. The daemon has given up long before.
        var end: Double
        var reply: ForwardedReply?
    }

    /// By the daemon's number.
    private var forwards: [Int64: Forward] = [:]
    private static let forwardEnd = 3600.0
    private static let mostForwards = 10_000

    /// Sends writes to their owners, and answers those that the owner has performed and the mirror has.
    private func forwardWrites(_ inbox: String) throws {
        guard let connection else { return }
        while let message = try connection.receive(timeout: 0) {
            guard case .event(_, .forward(let number, let method, let parameters, let principal, let user)) = message
            else { continue }
            do throws(Failure) {
                try forward(number, method, parameters, principal ?? Mirror.name(of: user), inbox)
            } catch { try answer(number, ForwardedReply(failure: error), nil) }
        }
        if forwards.isEmpty { return }
        let now = MonotonicTime.now
        for (number, forward) in forwards {
            guard let reply = forward.reply else {
                if now > forward.end { forwards[number] = nil }
                continue
            }
            if let wanted = reply.position, let position = forward.copy.follower.position, position < wanted { continue }
            forwards[number] = nil
            try answer(number, reply, forward.copy)
        }
    }

    private func forward(
        _ number: Int64, _ method: String, _ parameters: ValueMap, _ principal: String, _ inbox: String
    ) throws(Failure) {
        var target: Copy?
        let call = try ForwardedCall(method: method, parameters: parameters, principal: principal).mapPaths {
            (path) throws(Failure) in
            let copy = copies.values.first { path.nodes.starts(with: mirroring.nodes + [$0.id]) }
            guard let copy, target == nil || target === copy else {
                throw Failure(.conflict, "a transaction changes one site", path: path.description)
            }
            target = copy
            return AttributePath(
                nodes: Array(path.nodes.dropFirst(mirroring.nodes.count + 1)), attribute: path.attribute,
                steps: path.steps)
        }
        guard let copy = target else { throw Failure(.notFound, "no site has this path") }
        guard copy.isLive == true else { throw Mirror.silent(copy) }
        guard forwards.count < Mirror.mostForwards else {
            throw Failure(.limit, "\(Mirror.mostForwards) writes wait for their owners", hint: "try again later")
        }
        try reach { () throws(NATSError) in
            try nats.request(copy.site.writes, call.json, replyTo: "\(inbox).\(number)")
        }
        forwarded += 1
        forwards[number] = Forward(copy: copy, end: MonotonicTime.now + Mirror.forwardEnd)
    }

    private static func silent(_ copy: Copy) -> Failure {
        Failure(
            .unavailable, "\(copy.site) has no owner at present, so nothing was changed",
            hint: "its machine, agd-link there or the network has failed; agctl sites shows when it was heard")
    }

    private func take(reply message: Inbox.Message) throws {
        let dot: Character = "."
        guard let number = message.subject.split(separator: dot).last.flatMap({ Int64($0) }),
            let forward = forwards[number]
        else { return }
        if message.isNoResponders {
            forwards[number]?.reply = ForwardedReply(failure: Mirror.silent(forward.copy))
        } else {
            do throws(Failure) { forwards[number]?.reply = try ForwardedReply(json: message.bytes) } catch {
                forwards[number]?.reply = ForwardedReply(failure: error)
            }
        }
    }

    private func answer(_ number: Int64, _ reply: ForwardedReply, _ copy: Copy?) throws {
        let error = reply.failure
        let result: Value? = error == nil ? .map(reply.result ?? ValueMap()) : nil
        // A refused answer came too late.
        do throws(ClientError) {
            _ = try connection?.call(.answer(forward: number, result: result, error: error))
        } catch {
            guard case .refused = error else { throw error }
        }
    }

    /// The name under which the owner's access lines know a user of this machine.
    private static func name(of user: UInt32) -> String {
        getpwuid(user).map { String(cString: $0.pointee.pw_name) } ?? "\(user)"
    }

    // MARK: Snapshots

    /// Reads the newest snapshot and the transactions behind it.
    private func heal(_ copy: Copy) throws {
        copy.healTime = MonotonicTime.now + 1
        copy.assembler = Assembler(limit: settings.messageSize)
        do throws(Failure) {
            guard let manifest = try newest(copy) else { return }
            if copy.follower.accepts(snapshot: manifest.position) {
                guard let snapshot = try snapshot(manifest, copy) else { return }
                let old = copy.tree
                copy.tree = SiteTree(snapshot: snapshot)
                copy.follower.reached(manifest.position)
                copy.snapshots += 1
                change(copy, from: old, snapshot)
            }
            try readOn(from: manifest.next, copy)
            copy.healTime = nil
            if copy.revision >= copy.ownerRevision { copy.even = MonotonicTime.now }
            log.report("\(copy.site)", "\(copy.site): revision \(copy.revision)", level: 6)
        } catch {
            log.report("\(copy.site)", "\(copy.site): \(error.message)")
        }
        try flush(copy)
    }

    private func newest(_ copy: Copy) throws(Failure) -> Manifest? {
        guard let head = try reach({ () throws(NATSError) in try nats.last(NATS.snapshots, copy.site.manifest) }) else {
            return nil
        }
        return try Manifest(json: head.bytes)
    }

    private func snapshot(_ manifest: Manifest, _ copy: Copy) throws(Failure) -> Transaction? {
        let subject = copy.site.snapshot(manifest.snapshot)
        var assembler = Assembler(limit: settings.messageSize)
        let inbox = try reach { () throws(NATSError) in
            try nats.subscribe(NATS.snapshots, subject, from: .sequence(1))
        }
        for _ in 0..<manifest.parts {
            pulse.beat()
            guard let message = try reach({ () throws(NATSError) in try inbox.next(within: 2) }) else {
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
    private func readOn(from sequence: UInt64, _ copy: Copy) throws(Failure) {
        let subject = copy.site.transactions
        guard let last = try reach({ () throws(NATSError) in try nats.last(NATS.transactions, subject) }),
            last.sequence >= sequence
        else { return }
        let inbox = try reach { () throws(NATSError) in
            try nats.subscribe(NATS.transactions, subject, from: .sequence(sequence))
        }
        while let message = try reach({ () throws(NATSError) in try inbox.next(within: 2) }) {
            if let (frame, changes) = try read(message, copy), copy.follower.step(frame) == .apply {
                copy.follower.reached(frame.position)
                apply(changes, to: copy)
            }
            if message.sequence >= last.sequence { return }
        }
        throw Failure(.unavailable, "the transactions after sequence \(sequence) do not come")
    }

    private func reach<T>(_ body: () throws(NATSError) -> T) throws(Failure) -> T {
        do throws(NATSError) { return try body() } catch { throw Failure(.unavailable, "\(error)") }
    }

    // MARK: The daemon

    private func apply(_ changes: Transaction, to copy: Copy) {
        copy.applied += 1
        guard changes.added.isEmpty, changes.children.isEmpty, changes.definitions.isEmpty,
            let known = indices(of: changes.contents, copy)
        else {
            let old = copy.tree
            copy.tree.apply(changes)
            return change(copy, from: old, changes)
        }
        // The common case costs nothing for the rest of the site.
        var changed: [(key: Transaction.Place, value: Content)] = []
        changed.reserveCapacity(known.count)
        var hasFailures = false
        for (index, (place, content)) in zip(known, changes.contents) {
            let old = copy.tree.contents.values[index]
            if old == content { continue }
            if old.value == nil || content.value == nil { hasFailures = true }
            copy.tree.contents.values[index] = content
            changed.append((place, content))
        }
        write(changed, copy, changes, hasFailures: hasFailures)
    }

    /// Where the tree has the attributes; nil unless it has all of them afterwards, too.
    private func indices(
        of contents: [Transaction.Place: Content], _ copy: Copy
    ) -> [Dictionary<Transaction.Place, Content>.Index]? {
        var indices: [Dictionary<Transaction.Place, Content>.Index] = []
        indices.reserveCapacity(contents.count)
        for (place, content) in contents {
            guard !content.isRemoval, let index = copy.tree.contents.index(forKey: place) else { return nil }
            indices.append(index)
        }
        return indices
    }

    /// Queues the requests that make the mirror in the daemon what the tree is.
    private func change(_ copy: Copy, from old: SiteTree, _ cause: Transaction) {
        copy.withoutRule.subtract(cause.definitions.keys)
        let changed = copy.tree.contents.filter { old.contents[$0.key] != $0.value }
        if connection != nil, copy.isApplied,
            old.children != copy.tree.children || old.definitions != copy.tree.definitions
                || changed.contains(where: { old.contents[$0.key] == nil })
                || old.contents.keys.contains(where: { copy.tree.contents[$0] == nil })
        {
            findNested(copy)
            copy.waiting += structure(copy, from: old, label(copy, cause))
        }
        write(Array(changed), copy, cause, hasFailures: true)
    }

    private func findNested(_ copy: Copy) {
        let contents = copy.tree.contents
        copy.nested = Set(
            contents.keys.filter { place in
                guard !place.isOfRoot, place.path.hasSuffix(Mirror.isLive.path) else { return false }
                let node = place.path.dropLast(Mirror.isLive.path.count)
                return Mirror.ownAttributes.allSatisfy { contents[Transaction.Place(path: "\(node).\($0)")] != nil }
            })
    }

    /// What the daemon gets: the owner's value, unless it says that another site is live and the owner itself is
    /// silent.
    private func value(_ copy: Copy, _ place: Transaction.Place, _ content: Content) -> Value {
        if copy.isLive != true, !copy.nested.isEmpty, copy.nested.contains(place) { return false }
        return content.value ?? .null
    }

    private func label(_ copy: Copy, _ cause: Transaction) -> String {
        let words = [cause.label, cause.writer.map { "by \($0)" }].compactMap { $0 }
        return words.isEmpty ? "\(copy.site)" : "\(copy.site): \(words.joined(separator: " "))"
    }

    /// Queues one transaction.
    private func write(
        _ contents: [(key: Transaction.Place, value: Content)], _ copy: Copy, _ cause: Transaction, hasFailures: Bool
    ) {
        guard connection != nil, copy.isApplied else { return }
        var mutations: [Mutation] = []
        mutations.reserveCapacity(contents.count + 2)
        for (place, content) in contents where !Mirror.isOwn(place) {
            if rule(copy, place) != nil {
                copy.unverified.insert(place)
            } else {
                mutations.append(Mutation(operation: .set, path: path(copy, place), value: value(copy, place, content)))
            }
        }
        if hasFailures { mutations.append(mutation(copy, "failures", Mirror.failures(copy))) }
        if copy.term != copy.toldTerm {
            copy.toldTerm = copy.term
            mutations.append(mutation(copy, "term", .int(Int64(clamping: copy.term))))
        }
        mutations.append(mutation(copy, "revision", .int(Int64(clamping: copy.revision))))
        let isTyped = mutations.contains { $0.value?.isPlainJSON != true }
        var options = TransactionOptions(animation: cause.animation, label: label(copy, cause), typed: isTyped)
        if options.animation != nil, let begun = cause.begun {
            options.elapsed = copy.clock.elapsed(since: begun, at: WallTime.now)
        }
        copy.waiting.append(.transact(mutations, options))
    }

    /// Sends the queued requests. A copy that the daemon does not have yet is applied whole.
    private func flush(_ copy: Copy) throws {
        guard let connection else { return }
        if !copy.isApplied, let position = copy.follower.position {
            (copy.isLive, copy.toldTerm) = (nil, 0)
            copy.waiting = []
            // An earlier link may have left nodes.
            let path = AttributePath.describe(nodes: mirroring.nodes + [copy.id])
            if let description = try? connection.call(.describe(path: path, depth: 0)).map {
                let attributes = description["attributes"]?.map ?? ValueMap()
                // NATS may answer with what it had some time ago. A mirror never goes back.
                if let shown = Position(attributes["term"]?.map?["value"], attributes["revision"]?.map?["value"]),
                    position < shown
                {
                    copy.healTime = copy.healTime ?? MonotonicTime.now + 1
                    return
                }
                let names = attributes.compactMap(\.key.string)
                if !Set(names).subtracting(Mirror.ownAttributes).isSubset(of: Mirror.rootAttributes(copy.tree)) {
                    copy.waiting.append(.remove(path: path, TransactionOptions(label: "\(copy.site)")))
                }
            }
            findNested(copy)
            copy.waiting += structure(copy, from: nil, "\(copy.site)")
            copy.isApplied = true
            write(Array(copy.tree.contents), copy, Transaction(), hasFailures: true)
        }
        // First, because the nodes may be an earlier link's, which the daemon keeps for a link.
        try delegate(copy, connection)
        try send(copy, connection)
        try verify(copy, connection)
        try delegate(copy, connection)
        guard copy.isApplied else { return }
        for place in copy.nested.union([Mirror.isLive]).subtracting(copy.willed) {
            copy.willed.insert(place)
            let options = TransactionOptions(label: "\(copy.site): agd-link has ended", typed: true)
            let mutation = Mutation(operation: .set, path: path(copy, place), value: false)
            _ = try connection.call(.onDisconnect([mutation], options))
        }
    }

    private func send(_ copy: Copy, _ connection: Connection) throws(ClientError) {
        let requests = copy.waiting
        copy.waiting = []
        // Transactions that the daemon has not answered yet.
        var sent: [Int64] = []
        for request in requests {
            if case .transact(_, let options) = request, options.animation == nil {
                sent.append(connection.send(request))
                continue
            }
            // The daemon may refuse these, and they are done in another way then.
            try answers(&sent, connection)
            do throws(ClientError) { _ = try connection.call(request) } catch {
                guard case .refused = error else { throw error }
                switch request {
                case .transact(let mutations, var options):
                    // A curve that this daemon does not know: the values count.
                    (options.animation, options.elapsed) = (nil, 0)
                    _ = try connection.call(.transact(mutations, options))
                case .apply where !rules(copy).isEmpty:
                    log.report("rules of \(copy.site)", "\(copy.site) is mirrored without its rules: \(error)")
                    copy.withoutRule.formUnion(rules(copy))
                    copy.waiting = structure(copy, from: nil, "\(copy.site)")
                    return try send(copy, connection)
                default: throw error
                }
            }
            // The root that is made next is another one.
            if case .remove = request { copy.isDelegated = false }
        }
        try answers(&sent, connection)
    }

    private func answers(_ sent: inout [Int64], _ connection: Connection) throws(ClientError) {
        for id in sent { _ = try connection.answer(to: id) }
        sent = []
    }

    // MARK: Rules

    /// The rule that computes an attribute here, too.
    private func rule(_ copy: Copy, _ place: Transaction.Place) -> String? {
        mirroring.withRules && !copy.withoutRule.contains(place) ? copy.tree.definitions[place]?.rule : nil
    }

    private func rules(_ copy: Copy) -> [Transaction.Place] {
        guard mirroring.withRules else { return [] }
        return copy.tree.contents.keys.filter { !Mirror.isOwn($0) && rule(copy, $0) != nil }
    }

    /// Compares what rules have computed here with the owner's values. Where they differ, the owner's values count from
    /// now on.
    private func verify(_ copy: Copy, _ connection: Connection) throws(ClientError) {
        while !copy.unverified.isEmpty {
            let differing = try differing(copy, connection)
            copy.unverified = []
            if differing.isEmpty { return }
            copy.withoutRule.formUnion(differing)
            copy.waiting = structure(copy, from: nil, "\(copy.site)")
            try send(copy, connection)
        }
    }

    private func differing(_ copy: Copy, _ connection: Connection) throws(ClientError) -> [Transaction.Place] {
        let pattern = AttributePath.describe(nodes: mirroring.nodes + [copy.id]) + "/**"
        let paths = copy.unverified.count > 100 ? [pattern] : copy.unverified.map { path(copy, $0) }
        let result = try connection.call(.get(.init(paths: paths, isSingle: false, presentation: false, typed: true)))
        let values = result.map?["values"]?.map ?? ValueMap()
        var differing: [Transaction.Place] = []
        for place in copy.unverified where rule(copy, place) != nil {
            guard let theirs = copy.tree.contents[place] else { continue }
            var ours: Content?
            if let result = values[path(copy, place)] { ours = try Content(result: result, typed: true) }
            if ours?.value != theirs.value { differing.append(place) }
        }
        return differing
    }

    // MARK: Nodes

    /// Has writes of others to the copy sent to this connection, once the daemon has its root.
    private func delegate(_ copy: Copy, _ connection: Connection) throws {
        guard !copy.isDelegated else { return }
        do throws(ClientError) {
            _ = try connection.call(.delegate(path: AttributePath.describe(nodes: mirroring.nodes + [copy.id])))
            copy.isDelegated = true
        } catch {
            guard case .refused(let fault) = error else { throw error }
            if fault.failure.code != .notFound { log.report("delegate \(copy.site)", "\(error)") }
        }
    }

    /// Connects to the daemon if there is no connection, and applies all copies.
    private func keepDaemon() throws {
        guard connection == nil else { return }
        let connection = try Connection(
            to: .find(settings.socket), name: "agd-link", typed: true, timeout: max(5, settings.liveTime))
        try makeContainer(connection)
        self.connection = connection
        for copy in copies.values { try flush(copy) }
        log.report("daemon", "connected", level: 6)
    }

    /// Makes the container unless there is one, and declares what its rules can read of each site.
    private func makeContainer(_ connection: Connection) throws(ClientError) {
        let document: Value = [
            "keys": ["container": ["siteIsLive": false, "siteLag": 0.0, "siteRevision": 0]],
            "nodes": [["id": .string(mirroring.nodes.last ?? ""), "kind": "container"]],
        ]
        _ = try connection.call(apply(document, at: mirroring.nodes.dropLast(), .merge, "agd-link"))
    }

    private func apply(
        _ document: Value, at nodes: some Sequence<String>, _ mode: Request.ApplyMode, _ label: String
    ) -> Request {
        .apply(
            .init(
                document: document, at: AttributePath.describe(nodes: Array(nodes)), mode: mode, dryRun: false,
                options: TransactionOptions(label: label)))
    }

    private static func isOwn(_ place: Transaction.Place) -> Bool {
        place.isOfRoot && ownAttributes.contains(String(place.path.dropFirst()))
    }

    private static func failures(_ copy: Copy) -> Value {
        var map = ValueMap()
        for (place, content) in copy.tree.contents {
            guard case .failure(let failure) = content else { continue }
            map[place.isOfRoot ? "/" + place.path : place.path] = .string(failure.message)
        }
        return .map(map)
    }

    private func path(_ copy: Copy, _ place: Transaction.Place) -> String {
        copy.path + place.path
    }

    private func mutation(_ copy: Copy, _ attribute: String, _ value: Value) -> Mutation {
        Mutation(
            operation: .set, path: path(copy, Transaction.Place(node: [], attribute: attribute)), value: value)
    }

    /// The requests that make the nodes of a copy, with their present values.
    /// - Parameter old: the tree that the daemon has; nil if that is unknown.
    private func structure(_ copy: Copy, from old: SiteTree?, _ label: String) -> [Request] {
        var states: [[String]: ValueMap] = [:]
        func add(_ node: [String], _ attribute: String, _ type: Value, _ value: Value) {
            states[node, default: ValueMap()][attribute] = [
                "type": type, "initial": ["$typed": value.typedJSON], "transient": true,
            ]
        }
        add([], "isLive", "bool", .bool(copy.isLive ?? false))
        add([], "lag", "double", 0.0)
        add([], "term", "int", .int(Int64(clamping: copy.term)))
        add([], "revision", "int", .int(Int64(clamping: copy.revision)))
        add([], "seen", "dyn", copy.seen)
        add([], "failures", "map", .map(ValueMap()))
        add([], "owner", "string", .string(copy.owner))
        var computed: [[String]: ValueMap] = [:]
        for (place, content) in copy.tree.contents where !Mirror.isOwn(place) {
            let type = Mirror.type(copy.tree.definitions[place], content)
            let (node, attribute) = place.parts
            if let rule = rule(copy, place) {
                copy.unverified.insert(place)
                computed[node, default: ValueMap()][attribute] = ["rule": .string(rule), "type": type]
            } else {
                add(node, attribute, type, value(copy, place, content))
            }
        }
        var documents: [[String]: Value] = [:]
        var children: [Value] = []
        for node in copy.tree.children.keys.sorted(by: { $0.count > $1.count }) {
            children = (copy.tree.children[node] ?? []).compactMap { documents.removeValue(forKey: node + [$0]) }
            guard let id = node.last else { break }
            var document = ValueMap([("id", .string(id)), ("kind", "container")])
            if let states = states[node] { document["state"] = .map(states) }
            if let computed = computed[node] { document["computed"] = .map(computed) }
            if !children.isEmpty { document["children"] = .list(children) }
            documents[node] = .map(document)
        }
        var requests: [Request] = []
        let node = mirroring.nodes + [copy.id]
        let attributes = Mirror.rootAttributes(copy.tree)
        let oldAttributes = old.map(Mirror.rootAttributes)
        func rootDefinitions(_ tree: SiteTree) -> [Transaction.Place: Transaction.Definition] {
            tree.definitions.filter(\.key.isOfRoot)
        }
        // The mode merge removes no attribute, and replace would remove the other sites.
        if let oldAttributes, !oldAttributes.isSubset(of: attributes) {
            requests.append(
                .remove(path: AttributePath.describe(nodes: node), TransactionOptions(label: label)))
        }
        if oldAttributes != attributes || old.map(rootDefinitions) != rootDefinitions(copy.tree) {
            let root: Value = [
                "id": .string(copy.id), "kind": "container", "state": .map(states[[]] ?? ValueMap()),
                "computed": .map(computed[[]] ?? ValueMap()),
                "containerValues": ["siteIsLive": "=isLive", "siteLag": "=lag", "siteRevision": "=revision"],
            ]
            requests.append(apply(["nodes": [root]], at: mirroring.nodes, .merge, label))
        }
        requests.append(apply(["nodes": .list(children)], at: node, .replace, label))
        return requests
    }

    /// Declared types of objects are not known here.
    private static func type(_ definition: Transaction.Definition?, _ content: Content) -> Value {
        guard let definition, let type = ValueType(definition.type), type.objectNames.isEmpty else { return "dyn" }
        if case .nullable = type { return .string(definition.type) }
        let isPlain = type == .dyn || !definition.mayFail && content.value != nil
        return .string(isPlain ? definition.type : definition.type + "?")
    }

    private static func rootAttributes(_ tree: SiteTree) -> Set<String> {
        Set(tree.contents.keys.lazy.filter(\.isOfRoot).map(\.parts.attribute))
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
        for copy in copies.values where copy.isApplied {
            let isLive = now < copy.heard + settings.liveTime
            if isLive != copy.isLive {
                copy.isLive = isLive
                mutations.append(mutation(copy, "isLive", .bool(isLive)))
                for place in copy.nested {
                    guard let content = copy.tree.contents[place] else { continue }
                    mutations.append(
                        Mutation(operation: .set, path: path(copy, place), value: value(copy, place, content)))
                }
                log.report("live \(copy.site)", "\(copy.site) is \(isLive ? "live" : "silent")", level: isLive ? 6 : 4)
            }
            if isDue, copy.heard > -.infinity {
                mutations.append(mutation(copy, "seen", copy.seen))
                mutations.append(mutation(copy, "owner", .string(copy.owner)))
                let lag = copy.revision >= copy.ownerRevision && isLive ? 0 : now - copy.even
                copy.lag = lag.isFinite ? lag : 0
                mutations.append(mutation(copy, "lag", .double(copy.lag)))
            }
        }
        guard !mutations.isEmpty else { return }
        _ = try connection.call(.transact(mutations, TransactionOptions(label: "agd-link", typed: true)))
    }

    /// Tells the main thread what the file of metrics shows.
    private func count() {
        let line = "mirror \((mirroring.group + [mirroring.last ?? "*"]).joined(separator: "/"))"
        func sample(_ metric: Metric, _ value: Double, _ site: SiteName? = nil) -> Sample {
            Sample(metric: metric, line: line, site: site?.description, value: value)
        }
        var samples = [
            sample(.natsConnected, nats.isConnected ? 1 : 0), sample(.daemonConnected, connection == nil ? 0 : 1),
            sample(.failures, Double(failures)), sample(.writesForwarded, Double(forwarded)),
        ]
        for copy in copies.values.sorted(by: { $0.id < $1.id }) {
            samples += [
                sample(.siteLive, copy.isLive == true ? 1 : 0, copy.site), sample(.siteLag, copy.lag, copy.site),
                sample(.transactionsApplied, Double(copy.applied), copy.site),
                sample(.snapshotsRead, Double(copy.snapshots), copy.site),
            ]
        }
        pulse.samples = samples
    }
}
