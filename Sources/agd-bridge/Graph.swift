import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

/// The connection to the daemon. It never waits: `work` does what can be done now.
final class Graph {
    /// Seconds without any answer after which the daemon counts as lost.
    private static let patience = 30.0
    /// Seconds until a node that cannot be made is tried again.
    private static let pause = 10.0
    /// Messages that are handled before other work.
    private static let messagesAtOnce = 256

    private let socket: String?
    let feeds: [Feed]
    private var connection: Connection?
    /// What to do with answers, by request. They come in order.
    private var awaited: [Int64: (Reply) -> Void] = [:]
    private var lastAnswer = 0.0
    private var retryTime = 0.0
    private var backoff = Backoff(first: 0.1, longest: 5)
    private var log = Log(subject: "agd")
    /// Called when a daemon has accepted the connection.
    var didConnect: () -> Void = {}
    /// Called with the events of subscriptions.
    var didReceive: (_ subscription: Int64, Event) -> Void = { _, _ in }

    init(_ feeds: [Feed], socket: String?) { (self.feeds, self.socket) = (feeds, socket) }

    var isConnected: Bool { connection != nil }

    /// What to wait for; nil without a connection.
    var descriptor: Int32? { connection?.descriptor }
    private(set) var hasOutput = false

    /// When there is something to do although nothing arrives.
    func nextTime(_ now: Double) -> Double {
        guard isConnected else { return retryTime }
        let end = awaited.isEmpty ? .infinity : lastAnswer + Graph.patience
        return feeds.lazy.filter { !$0.isReady && !$0.isUnderWay }.map(\.prepareTime).reduce(end) { min($0, $1) }
    }

    func work(_ now: Double) {
        do throws(ClientError) {
            if connection == nil, now >= retryTime { try connect(now) }
            guard let connection else { return }
            for _ in 0..<Graph.messagesAtOnce {
                guard let message = try connection.receiveNow() else { break }
                lastAnswer = now
                handle(message)
            }
            for feed in feeds where !feed.isUnderWay {
                if feed.isReady {
                    if feed.isDirty { send(feed) }
                } else if now >= feed.prepareTime {
                    prepare(feed, now)
                }
            }
            hasOutput = try !connection.sendNow()
            if !awaited.isEmpty, now > lastAnswer + Graph.patience { throw .timedOut(seconds: Graph.patience) }
        } catch { lose(error, now) }
    }

    private func connect(_ now: Double) throws(ClientError) {
        connection = try Connection(to: .find(socket), name: "agd-bridge", timeout: 1)
        lastAnswer = now
        for feed in feeds {
            feed.begin()
            feed.prepareTime = now
        }
        request(.ping, now) { [unowned self] _ in
            backoff.reset()
            log.report("connection", "connected", .info)
        }
        didConnect()
    }

    private func lose(_ error: ClientError, _ now: Double) {
        connection = nil
        awaited = [:]
        hasOutput = false
        // Bridges that lost the same daemon come back one after the other.
        retryTime = now + backoff.pause() * .random(in: 0.5...1.5)
        log.report("connection", "\(error); trying again" + (error.hint.map { " (\($0))" } ?? ""))
        for feed in feeds { feed.begin() }
    }

    /// Sends a request with the next `work`.
    func request(_ request: Request, _ now: Double = MonotonicTime.now, _ done: @escaping (Reply) -> Void) {
        guard let connection else { return }
        if awaited.isEmpty { lastAnswer = now }
        awaited[connection.send(request)] = done
    }

    /// - Parameter done: gets the subscription's number, before its snapshot comes.
    func subscribe(_ request: Request.Subscribe, _ done: @escaping (Result<Int64, Failure>) -> Void) {
        self.request(.subscribe(request)) { reply in
            switch reply {
            case .result(let result):
                if case .int(let number)? = result.map?["subscription"] { done(.success(number)) }
            case .fault(let fault): done(.failure(fault.failure))
            }
        }
    }

    private func handle(_ message: Message) {
        switch message {
        case .reply(let id?, let reply): awaited.removeValue(forKey: id)?(reply)
        case .reply(nil, .fault(let fault)): log.report("fault", fault.failure.message)
        case .reply(nil, .result): break
        case .event(let subscription, let event): didReceive(subscription, event)
        }
    }

    // MARK: Feeds

    private func send(_ feed: Feed) {
        let changes = feed.takeChanges()
        guard !changes.isEmpty else { return }
        request(.transact(changes, TransactionOptions(label: "agd-bridge"))) { reply in
            guard case .fault(let fault) = reply else { return feed.accepted() }
            feed.refused(fault.failure)
            guard fault.failure.code == .notFound || fault.failure.code == .removed else { return }
            // Somebody has removed the node.
            feed.isReady = false
            feed.prepareTime = MonotonicTime.now + 1
        }
    }

    /// Makes what is missing of a feed's node, and leaves a last will for it.
    private func prepare(_ feed: Feed, _ now: Double) {
        let states = feed.states + Feed.health
        feed.prepareTime = now + Graph.pause
        request(.get(.init(paths: states.map { feed.path(of: $0.name) }))) { [unowned self] reply in
            guard case .result(let result) = reply, let values = result.map?["values"]?.map else {
                return refused(feed, reply)
            }
            let missing = states.filter { state in
                let error = values[feed.path(of: state.name)]?.map?["error"]?.map
                return error.map { Failure($0).code == .notFound } ?? false
            }
            if missing.isEmpty { return finish(feed) }
            let document = Graph.document(feed.nodes, ValueMap(missing.map { (.string($0.name), $0.document) }))
            let apply = Request.Apply(
                document: document, at: "/", mode: .merge, dryRun: false,
                options: TransactionOptions(label: "agd-bridge"))
            request(.apply(apply)) { [unowned self] reply in
                if case .fault = reply { return refused(feed, reply) }
                finish(feed)
            }
        }
    }

    private func finish(_ feed: Feed) {
        let will = Mutation(operation: .set, path: feed.path(of: "isLive"), value: false)
        request(.onDisconnect([will], TransactionOptions(label: "agd-bridge gone"))) { [unowned self] reply in
            if case .fault = reply { return refused(feed, reply) }
            feed.isReady = true
        }
    }

    private func refused(_ feed: Feed, _ reply: Reply) {
        guard case .fault(let fault) = reply else { return }
        let hint = fault.failure.hint.map { " (\($0))" } ?? ""
        log.report(feed.path, "cannot make the states at \(feed.path): \(fault.failure.message)\(hint)", .error)
    }

    /// A node with states, in nodes around it that may exist.
    private static func document(_ nodes: [Name], _ states: ValueMap) -> Value {
        var node = ValueMap([(.string("state"), .map(states))])
        for name in nodes.reversed() {
            node["id"] = .string(name.text)
            node = ValueMap([(.string("children"), .list([.map(node)]))])
        }
        return ["nodes": node["children"] ?? []]
    }
}
