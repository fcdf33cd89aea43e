import AttributeValues
import CSimulatedKernel
import LinkProtocol
import TestSupport

/// A site as a naive model: the child lists and the values of paths below its root.
private struct Site: Equatable {
    var children: [String: [String]] = ["": []]
    var values: [String: Int64] = [:]

    private static let ids = ["a", "b", "c"]

    /// The nodes, the root among them, as `""`, `"/a"`, `"/a/b"`.
    var nodes: [String] { children.keys.sorted() }

    mutating func remove(_ node: String) {
        guard let end = node.lastIndex(of: "/") else { return }
        children[String(node[..<end])]?.removeAll { "/\($0)" == node[end...] }
        for path in children.keys where path == node || path.hasPrefix(node + "/") { children[path] = nil }
        values = values.filter { !$0.key.hasPrefix(node + ".") && !$0.key.hasPrefix(node + "/") }
    }

    mutating func make(_ node: String, at place: Int, _ value: Int64) {
        guard let end = node.lastIndex(of: "/"), children[node] == nil else { return }
        children[String(node[..<end]), default: []].insert(String(node[end...].dropFirst()), at: place)
        children[node] = []
        values[node + ".n"] = value
    }

    /// Some change of it.
    mutating func change(_ generator: inout SeededGenerator, _ value: Int64) {
        let node = generator.pick(nodes)
        switch generator.below(8) {
        case 0:
            let id = generator.pick(Site.ids)
            guard node.utf8.count < 5, children[node + "/" + id] == nil else { return }
            make(node + "/" + id, at: generator.below((children[node]?.count ?? 0) + 1), value)
        case 1: remove(node)
        case 2: children[node]?.shuffle(using: &generator)
        case 3: values[node + "." + generator.pick(["n", "x", "y"])] = nil
        default: values[node + "." + generator.pick(["n", "x", "y"])] = value
        }
    }

    var tree: SiteTree {
        var tree = SiteTree()
        func names(_ node: String) -> [Name] { node.split(separator: "/").map { Name(String($0)) } }
        for (node, ids) in children { tree.children[names(node)] = ids.map { Name($0) } }
        for (path, value) in values {
            let place = Transaction.Place(path: path)
            tree.contents[place] = .value(.int(value))
            tree.definitions[place] = Transaction.Definition(type: "int", mayFail: false)
        }
        return tree
    }

    init() {}

    init(_ tree: SiteTree) {
        children = [:]
        for (node, ids) in tree.children { children[node.map { "/\($0)" }.joined()] = ids.map(\.text) }
        for (place, content) in tree.contents {
            if case .value(.int(let value)) = content { values[place.path] = value }
        }
    }
}

/// What NATS has of the site.
private final class Storage {
    /// The messages of transactions. Their sequences begin at 1.
    var messages: [[UInt8]] = []
    var manifest: [UInt8]?
    var snapshots: [String: [[UInt8]]] = [:]
    var lease: (holder: Int, term: UInt64, end: Double)?
    var claims: UInt64 = 0
}

/// [Fleet] The messages, followers and trees of agd-link between several machines: two that claim the same site, and
/// mirrors. A network loses, delays and repeats. Whatever a mirror has reached, it has what the owner had at that
/// revision, and never goes back; and in the end it has all.
final class Links {
    private let seed: UInt64
    private let isTelling: Bool
    private var generator: SeededGenerator
    private let storage = Storage()
    private var owners: [Owner] = []
    private var mirrors: [Mirror] = []
    /// What each epoch had at each of its revisions.
    private var truth: [String: [UInt64: Site]] = [:]
    private var counter: Int64 = 0
    private var isCalm = false
    private var faults: [String] = []
    private var step = 0
    private var messages = 0

    static let steps = 4000
    private static let leaseTime = 10.0
    /// Bytes of a message: many have several parts.
    private static let messageLimit = 420

    init(seed: UInt64, isTelling: Bool) {
        self.seed = seed
        self.isTelling = isTelling
        generator = SeededGenerator(seed: seed)
        sim_reset(seed)
        sim_set_tick(0)
        owners = [0, 1].map { Owner($0) }
        mirrors = (0..<3).map { Mirror($0) }
        for owner in owners { note(owner) }
    }

    private var now: Double { MonotonicTime.now }
    private func fault(_ text: String) { faults.append("step \(step): [Fleet] \(text)") }
    private func tell(_ text: @autoclosure () -> String) { if isTelling { print("step \(step): \(text())") } }

    func run() -> (faults: [String], messages: Int) {
        for number in 0..<Links.steps where faults.isEmpty {
            step = number
            takeStep()
        }
        isCalm = true
        for _ in 0..<400 where faults.isEmpty {
            sim_advance(250_000_000)
            for owner in owners {
                owner.isStopped = false
                serve(owner)
                deliver(owner, owner.way.count)
            }
            for mirror in mirrors { for _ in 0..<50 { turn(mirror) } }
        }
        if faults.isEmpty { judgeEnd() }
        return (faults, messages)
    }

    private func takeStep() {
        let owner = generator.pick(owners)
        switch generator.below(30) {
        case 0..<10 where !owner.isStopped: change(owner)
        case 10..<18: deliver(owner, 1 + generator.below(6))
        case 18..<22: for _ in 0..<1 + generator.below(5) { turn(generator.pick(mirrors)) }
        case 22: breakOff(owner)
        case 23: sim_advance(Int64(generator.below(4)) * 1_000_000_000)
        case 24 where generator.chance(20):
            owner.isStopped.toggle()
            tell("owner \(owner.number) \(owner.isStopped ? "stands still" : "goes on")")
        case 25 where generator.chance(15): restart(owner)
        case 26 where generator.chance(30): sim_advance(Int64(generator.below(30)) * 1_000_000_000)
        case 27 where generator.chance(30): loseInbox(generator.pick(mirrors))
        default: sim_advance(Int64(generator.below(300)) * 1_000_000)
        }
        for owner in owners where !owner.isStopped { serve(owner) }
        for mirror in mirrors where generator.chance(60) { turn(mirror) }
    }

    // MARK: Owners

    /// The publishing side of a machine, as `SiteWriter` is.
    private final class Owner {
        let number: Int
        var site = Site()
        var tree = SiteTree(snapshot: Transaction())
        var epoch: String
        var revision: UInt64 = 1
        var lives = 0
        var window = Window()
        var snapshots = SentSnapshots(interval: 60)
        var term: UInt64 = 0
        var leaseEnd = -1.0
        var nextHeartbeat = 0.0
        var isStopped = false
        /// Messages on their way to the stream, and acknowledgments on their way back.
        var way: [(number: UInt64, bytes: [UInt8])] = []
        var answers: [(number: UInt64, sequence: UInt64)] = []
        /// Messages that a network has kept back.
        var late: [[UInt8]] = []

        init(_ number: Int) {
            self.number = number
            epoch = "owner\(number)"
        }

        var position: Position { Position(term: term, epoch: epoch, revision: revision) }
    }

    private func note(_ owner: Owner) { truth[owner.epoch, default: [:]][owner.revision] = owner.site }

    private func change(_ owner: Owner) {
        counter += 1
        var changes: Transaction
        let before = owner.tree
        if generator.chance(10), let node = owner.site.nodes.dropFirst().randomElement(using: &generator) {
            // A node is replaced in one transaction.
            owner.site.remove(node)
            let between = owner.site.tree
            changes = between.changes(since: before)
            owner.site.make(node, at: 0, counter)
            changes.merge(owner.site.tree.changes(since: between))
        } else {
            for _ in 0..<1 + generator.below(3) { owner.site.change(&generator, counter) }
            changes = owner.site.tree.changes(since: before)
        }
        owner.tree = owner.site.tree
        owner.revision += 1
        note(owner)
        _ = owner.window.add(changes)
        if owner.leaseEnd > now, owner.snapshots.has(term: owner.term) { sendPending(owner) }
    }

    private func serve(_ owner: Owner) {
        let now = now
        for (number, sequence) in owner.answers {
            guard owner.window.acknowledge(number, sequence: sequence) else { return fail(owner) }
        }
        owner.answers = []
        if let oldest = owner.window.oldest, now > oldest + 5 { return fail(owner) }
        keepLease(owner)
        guard owner.leaseEnd > now else { return }
        if owner.snapshots.isDue(in: owner.term), !sendSnapshot(owner) { return }
        sendPending(owner)
        guard now >= owner.nextHeartbeat else { return }
        owner.nextHeartbeat = now + 1
        let acknowledged = owner.window.acknowledged
        let position = Position(term: owner.term, epoch: owner.epoch, revision: acknowledged)
        for mirror in mirrors where isCalm || generator.chance(80) { hear(mirror, position) }
    }

    private func keepLease(_ owner: Owner) {
        if let lease = storage.lease, lease.end > now {
            guard lease.holder == owner.number else { return owner.leaseEnd = -1 }
            if owner.leaseEnd > now {
                storage.lease?.end = now + Links.leaseTime
                return owner.leaseEnd = now + Links.leaseTime
            }
        }
        storage.claims += 1
        owner.term = storage.claims
        storage.lease = (owner.number, owner.term, now + Links.leaseTime)
        owner.leaseEnd = now + Links.leaseTime
        tell("owner \(owner.number) has the lease, in term \(owner.term)")
    }

    /// - Returns: false if the network breaks off in the middle. Then nothing else is sent.
    private func sendSnapshot(_ owner: Owner) -> Bool {
        let isFirst = !owner.snapshots.has(term: owner.term)
        let position = owner.position
        if owner.snapshots.newest == nil {
            owner.snapshots.note(earlier: storage.manifest.flatMap { try? Manifest(json: $0) })
        }
        let id = owner.snapshots.nextID
        let body = owner.tree.snapshot.json
        let messages = Frame.messages(body, position: position, after: position.revision, limit: Links.messageLimit)
        // Those that an earlier and longer one has left stay.
        var parts = storage.snapshots[id] ?? []
        for (frame, bytes) in messages {
            if frame.part < parts.count { parts[frame.part] = bytes } else { parts.append(bytes) }
            storage.snapshots[id] = parts
            if !isCalm, generator.chance(3) {
                fail(owner)
                return false
            }
        }
        let manifest = Manifest(
            position: position, snapshot: id, parts: messages.count, bytes: body.count, next: owner.window.nextSequence)
        storage.manifest = manifest.json
        owner.snapshots.note(manifest)
        if isFirst { owner.window.begin(behind: position.revision) }
        tell("owner \(owner.number) sends a snapshot of \(position)")
        return true
    }

    private func sendPending(_ owner: Owner) {
        let last = owner.window.lastRevision
        guard owner.window.hasSpace, let changes = owner.window.takePending() else { return }
        let cut = Frame.messages(changes.json, position: owner.position, after: last, limit: Links.messageLimit)
        var number = owner.window.note(
            changes, owner.revision, messages: cut.count, bytes: cut.reduce(0) { $0 + $1.bytes.count })
        for (_, bytes) in cut {
            owner.way.append((number, bytes))
            number += 1
            messages += 1
        }
    }

    private func fail(_ owner: Owner) {
        tell("owner \(owner.number) sends again")
        (owner.answers, owner.way) = ([], [])
        owner.snapshots.renewSoon()
        owner.window.recall()
    }

    /// The stream gets messages, and acknowledges them.
    private func deliver(_ owner: Owner, _ count: Int) {
        for (number, bytes) in owner.way.prefix(count) {
            store(bytes)
            if isCalm || generator.chance(98) { owner.answers.append((number, UInt64(storage.messages.count))) }
        }
        owner.way.removeFirst(min(count, owner.way.count))
        if !isCalm, generator.chance(20), !owner.late.isEmpty { store(owner.late.removeFirst()) }
    }

    private func store(_ bytes: [UInt8]) {
        storage.messages.append(bytes)
        for mirror in mirrors where mirror.isListening {
            if !isCalm, generator.chance(2) { continue }
            mirror.receive(bytes)
            if !isCalm, generator.chance(3) { mirror.receive(bytes) }
        }
    }

    /// The connection to NATS breaks. Some of what was on its way arrives much later.
    private func breakOff(_ owner: Owner) {
        owner.late += owner.way.map(\.bytes).filter { _ in generator.chance(40) }
        fail(owner)
    }

    /// The owner's daemon begins another life.
    private func restart(_ owner: Owner) {
        owner.lives += 1
        owner.epoch = "owner\(owner.number)-\(owner.lives)"
        owner.revision = UInt64(1 + generator.below(1000))
        if generator.chance(50) { owner.site = Site() }
        let before = owner.tree
        owner.tree = owner.site.tree
        note(owner)
        _ = owner.window.add(owner.tree.changes(since: before))
        // Revisions of another epoch need another term.
        owner.leaseEnd = -1
        if storage.lease?.holder == owner.number { storage.lease = nil }
        tell("the daemon of owner \(owner.number) begins \(owner.epoch) at \(owner.revision)")
    }

    // MARK: Mirrors

    /// A mirror of the site, as `Mirror`, `SiteCopy` and `Healing` are.
    private final class Mirror {
        enum Stage {
            case manifest
            case snapshot(Manifest, next: Int)
            case transactions(next: Int, end: Int)
        }

        let number: Int
        let parser = JSONParser(maximumDepth: Transaction.nesting)
        var feed = SiteFeed(limit: 1 << 20)
        var tree = SiteTree(snapshot: Transaction())
        var queue: [[UInt8]] = []
        var healing: (stage: Stage, assembler: Assembler)?
        var isListening = true
        /// When it was last as new as the owner.
        var even = -Double.infinity
        var heard: UInt64 = 0

        init(_ number: Int) { self.number = number }

        func receive(_ bytes: [UInt8]) { if healing != nil || !feed.isHealing { queue.append(bytes) } }
    }

    /// It was not connected for a while.
    private func loseInbox(_ mirror: Mirror) {
        tell("mirror \(mirror.number) reconnects")
        mirror.queue = []
        mirror.healing = nil
        mirror.feed.suspectGap()
    }

    private func hear(_ mirror: Mirror, _ position: Position) {
        if let own = mirror.feed.position, position.term < own.term { return }
        mirror.heard = position.revision
        let reached = mirror.feed.position?.revision ?? 0
        if reached >= mirror.heard { mirror.even = now }
        if reached < mirror.heard, now > mirror.even + 2 { mirror.feed.needSnapshot() }
        if let own = mirror.feed.position, position.term > own.term { mirror.feed.needSnapshot() }
    }

    private func turn(_ mirror: Mirror) {
        do throws(Failure) {
            if mirror.healing != nil { return try heal(mirror) }
            if let due = mirror.feed.healTime, now >= due {
                mirror.feed.retryHealing(in: 1)
                return mirror.healing = (stage: .manifest, assembler: Assembler(limit: 1 << 20))
            }
            while !mirror.queue.isEmpty, !mirror.feed.isHealing {
                guard let (frame, changes) = try mirror.feed.read(mirror.queue.removeFirst(), mirror.parser) else {
                    continue
                }
                if mirror.feed.step(frame) == .heal { return mirror.feed.noteGap(before: frame, changes) }
                apply(mirror, changes, frame.position, isSnapshot: false)
            }
        } catch { fault("mirror \(mirror.number) cannot read a message: \(error.message)") }
    }

    private func heal(_ mirror: Mirror) throws(Failure) {
        guard let (stage, _) = mirror.healing else { return }
        func endAttempt() {
            mirror.healing = nil
            mirror.feed.retryHealing(in: 1)
        }
        func readTransactions(_ manifest: Manifest) {
            mirror.healing?.stage = .transactions(next: Int(manifest.next) - 1, end: storage.messages.count)
        }
        switch stage {
        case .manifest:
            guard let text = storage.manifest else { return endAttempt() }
            let manifest = try Manifest(json: text)
            if mirror.feed.accepts(snapshot: manifest.position) {
                mirror.healing?.stage = .snapshot(manifest, next: 0)
            } else {
                readTransactions(manifest)
            }
        case .snapshot(let manifest, let next):
            let parts = storage.snapshots[manifest.snapshot] ?? []
            guard next < parts.count else { return endAttempt() }
            mirror.healing?.stage = .snapshot(manifest, next: next + 1)
            let (frame, length) = try Frame.read(parts[next])
            guard frame.position == manifest.position,
                let (_, body) = try mirror.healing?.assembler.add(frame, parts[next].dropFirst(length))
            else { return }
            let snapshot = try Transaction(json: body, mirror.parser)
            apply(
                mirror, SiteTree(snapshot: snapshot).changes(since: mirror.tree), manifest.position, isSnapshot: true)
            readTransactions(manifest)
        case .transactions(let next, let end):
            guard next < end else {
                if let (frame, changes) = mirror.feed.gap, mirror.feed.step(frame) == .apply {
                    apply(mirror, changes, frame.position, isSnapshot: false)
                }
                mirror.healing = nil
                return mirror.feed.endHealing()
            }
            mirror.healing?.stage = .transactions(next: next + 1, end: end)
            let bytes = storage.messages[next]
            let (frame, length) = try Frame.read(bytes)
            guard let (whole, body) = try mirror.healing?.assembler.add(frame, bytes.dropFirst(length)),
                mirror.feed.step(whole) == .apply
            else { return }
            apply(mirror, try Transaction(json: body, mirror.parser), whole.position, isSnapshot: false)
        }
    }

    private func apply(_ mirror: Mirror, _ changes: Transaction, _ position: Position, isSnapshot: Bool) {
        if let before = mirror.feed.position, isSnapshot ? position < before : position <= before {
            fault("mirror \(mirror.number) goes from \(before) back to \(position)")
        }
        mirror.feed.reached(position)
        mirror.tree.apply(changes)
        tell("mirror \(mirror.number) has \(position)\(isSnapshot ? ", by a snapshot" : "")")
        guard let wanted = truth[position.epoch]?[position.revision] else {
            return fault("mirror \(mirror.number) has \(position), which was never")
        }
        compare(mirror, wanted, "at \(position)")
    }

    private func compare(_ mirror: Mirror, _ wanted: Site, _ occasion: String) {
        let found = Site(mirror.tree)
        if found == wanted { return }
        fault(
            "mirror \(mirror.number) has \(occasion) \(found.children.sorted { $0.key < $1.key }) \(found.values.sorted { $0.key < $1.key }), and the owner has \(wanted.children.sorted { $0.key < $1.key }) \(wanted.values.sorted { $0.key < $1.key })"
        )
    }

    private func judgeEnd() {
        guard let holder = storage.lease?.holder else { return fault("nobody has the lease in the end") }
        for mirror in mirrors {
            compare(mirror, owners[holder].site, "in the end")
            if mirror.feed.position != owners[holder].position {
                fault(
                    "in the end mirror \(mirror.number) has \(mirror.feed.position.map { "\($0)" } ?? "nothing"), and the owner \(owners[holder].position)"
                )
            }
        }
    }
}
