import AGClient
import AttributeValues
import LinkProtocol
import WireProtocol

/// Reads one subtree of the daemon: its state at a revision, and its changes.
final class SiteReader {
    /// Requests for structure in a row, if the structure changes during each of them.
    private static let attempts = 16
    /// Seconds between two questions to the daemon.
    private static let questionTime = 0.5

    let root: [Name]
    private let rootPath: String
    private(set) var epoch = ""
    private(set) var tree = SiteTree()
    private(set) var revision: UInt64 = 0
    /// False while there is no connection.
    var isSubscribed = false
    /// When the daemon was asked for a sign of life; nil if it has answered. Monotonic seconds.
    private(set) var askedAt: Double?
    private var nextQuestion = 0.0
    /// Changes of one revision whose turn has not ended.
    private var collected: (revision: UInt64, changes: Transaction)?
    private var structureChanged = false
    /// Gets the changes that have led to `revision`.
    var onChanges: (Transaction) -> Void = { _ in }

    init(root: [Name]) {
        self.root = root
        rootPath = AttributePath.describe(nodes: root)
    }

    private var pattern: String { rootPath + "/**" }

    func subscribe(_ connection: Connection) throws(ClientError) {
        let result = try connection.call(
            .subscribe(
                .init(
                    patterns: [pattern], events: [.update, .structure], initial: false, typed: true, bookmarks: true,
                    writers: true)))
        guard let epoch = result.map?["epoch"]?.string else { throw .malformed("subscribe was answered without epoch") }
        (self.epoch, collected, askedAt) = (epoch, nil, nil)
    }

    /// Takes what the daemon has sent.
    /// - Parameter patience: seconds to wait for the first message.
    func receive(_ connection: Connection, atMost count: Int, patience: Double, interrupt: Int32) throws(ClientError) {
        var patience = patience
        for _ in 0..<count {
            guard let message = try connection.receive(timeout: patience, interrupt: interrupt) else { return }
            patience = 0
            try take(message)
            // A large subtree takes a while, and the lease must not lapse meanwhile.
            if structureChanged { return try readAll(connection) }
        }
    }

    /// Asks for a sign of life, if it is time.
    /// - Throws: `timedOut` if the daemon has not answered within `patience` seconds: one that hangs keeps its
    ///   connections, and its mirrors must not be live.
    func probe(_ connection: Connection, patience: Double) throws(ClientError) {
        let now = MonotonicTime.now
        if let askedAt {
            if now > askedAt + patience { throw .timedOut(seconds: patience) }
        } else if now >= nextQuestion {
            connection.send(.ping)
            (askedAt, nextQuestion) = (now, now + SiteReader.questionTime)
        }
    }

    /// Takes all that the daemon has committed up to now. It sends events before the reply to a later request.
    func catchUp(_ connection: Connection) throws(ClientError) {
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
            guard let timeline = change.timeline, let animation = SiteReader.animation(timeline) else { continue }
            transaction.motions[animation, default: []].insert(place)
            if transaction.begun == nil {
                let start = timeline["start"]?.number ?? MonotonicTime.now
                transaction.begun = WallTime.sinceStart - (MonotonicTime.now - start)
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
        guard path.utf8.starts(with: rootPath.utf8) else { return nil }
        let rest = path.utf8.dropFirst(rootPath.utf8.count)
        guard rest.first == UInt8(ascii: ".") || rest.first == UInt8(ascii: "/") else { return nil }
        return Transaction.Place(path: String(Substring(rest)))
    }

    /// All changes of the collected revision have come. If the structure has changed too, `readAll` publishes them.
    private func finish() {
        guard let (revision, changes) = collected, !structureChanged else { return }
        collected = nil
        tree.apply(changes)
        report(changes, revision)
    }

    private func report(_ changes: Transaction, _ revision: UInt64) {
        if changes.isEmpty, revision == self.revision { return }
        self.revision = revision
        onChanges(changes)
    }

    /// Reads the whole subtree at one revision, and reports what has changed.
    ///
    /// The daemon sends events before a reply that includes them. So without an event of structure between the two
    /// requests and their replies, both replies describe the same nodes.
    func readAll(_ connection: Connection) throws(ClientError) {
        for _ in 0..<SiteReader.attempts {
            structureChanged = false
            let describe = connection.send(.describe(path: rootPath, depth: nil))
            let get = connection.send(.get(.init(paths: [pattern], typed: true)))
            var (description, result): (Value?, Value?)
            while result == nil {
                switch try connection.receiveAnswer() {
                case .reply(describe, let reply):
                    do throws(ClientError) { description = try reply.get() } catch {
                        guard error.failure?.code == .notFound else { throw error }
                    }
                case .reply(get, let reply): result = try reply.get()
                case .reply: askedAt = nil
                case .event(_, .structure): structureChanged = true
                case .event(_, .ended(_, let reason)): throw .ended(reason)
                // The difference has its values. Its label, writer and animation count.
                case .event(_, let event): collect(event)
                }
            }
            if !structureChanged, let result { return try update(description, result) }
        }
        throw .limit("the structure of \(pattern) changes too often to be read")
    }

    private func update(_ description: Value?, _ result: Value) throws(ClientError) {
        guard case .int(let number)? = result.map?["revision"], let values = result.map?["values"]?.map else {
            throw .malformed("get was answered without revision and values")
        }
        var new = SiteTree()
        if let description {
            var open: [(node: [Name], description: Value)] = [([], description)]
            while let (node, description) = open.popLast() {
                var ids: [Name] = []
                for child in description.map?["children"]?.list ?? [] {
                    guard let id = child.map?["id"]?.string else { continue }
                    ids.append(Name(id))
                    open.append((node + [Name(id)], child))
                }
                new.children[node] = ids
                for (name, attribute) in description.map?["attributes"]?.map ?? ValueMap() {
                    guard let name = name.string, let definition = SiteReader.definition(attribute) else { continue }
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
            (changes.motions, changes.begun) = (known.motions, known.begun)
        }
        collected = nil
        tree = new
        report(changes, UInt64(clamping: number))
    }

    private static func definition(_ description: Value) -> Transaction.Definition? {
        guard let description = description.map, let type = description["type"]?.string else { return nil }
        return Transaction.Definition(
            type: type, mayFail: description["kind"] != "state", rule: description["rule"]?.string.map { Name($0) })
    }
}
