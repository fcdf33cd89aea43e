import AttributeValues
import NIOCore
import NIOPosix

/// The gateway's connection to the daemon: the requests of all pages, and their shared subscriptions. After a loss it
/// reconnects. Requests that wait for an answer are then refused, in the form of the daemon's refusals. A daemon that
/// accepts a connection and does not answer is as good as lost: the connection is up when `hello` is answered.
///
/// Everything here happens on one event loop.
final class DaemonLink {
    /// Gets a reply: `{"result": …}` or `{"error": …}`.
    typealias Answer = (ValueMap) -> Void

    /// Called with every event of a subscription, until the connection is lost.
    typealias Listener = (_ method: String, _ parameters: Value) -> Void

    private static let clientName = "agd-gateway"
    private static let longestPause = TimeAmount.seconds(2)

    private let path: String
    /// The principal for which the connection acts; nil for the gateway's own user.
    private let principal: String?
    private let loop: NIOIsolatedEventLoop
    private enum State {
        case connecting
        /// The daemon has yet to answer `hello`.
        case greeting(Channel)
        case up(Channel)
        /// Waiting for the next attempt.
        case resting(NIOCore.Scheduled<Void>)
        case closed
    }
    private var state: State?
    /// Requests to send as soon as there is a connection.
    private var queued: [(method: String, parameters: Value, answer: Answer)] = []
    private var waiting: [Int64: (method: String, answer: Answer)] = [:]
    private var lastID: Int64 = 0
    private var listeners: [Int64: Listener] = [:]
    private var pause = TimeAmount.milliseconds(50)
    /// The reason why the daemon does not let the link act for its principal.
    private var refusal: String?
    /// Called when the connection is made, and when it is lost.
    var onChange: (Bool) -> Void = { _ in }
    /// True while the daemon is known not to answer. Requests are then refused instead of waiting for a connection.
    var isSilent: () -> Bool = { false }

    /// Does not connect yet.
    init(path: String, principal: String?, loop: NIOIsolatedEventLoop) {
        self.path = path
        self.principal = principal
        self.loop = loop
    }

    var isUp: Bool { if case .up = state { true } else { false } }

    /// True if the daemon has accepted the connection and has yet to answer `hello`.
    var isGreeting: Bool { if case .greeting = state { true } else { false } }

    /// True if nobody listens at the daemon's socket.
    var isAway: Bool { if case .resting = state { true } else { false } }

    /// The reason why there is no connection.
    var reason: String { refusal ?? (isSilent() ? DaemonLink.silence : "no daemon answers at \(path)") }

    static let silence = "the daemon does not answer"

    func connect() {
        state = .connecting
        let box = NIOLoopBound(self, eventLoop: loop.nonisolated())
        ClientBootstrap(group: loop.nonisolated())
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(LineReader(link: box.value))
                }
            }
            .connect(unixDomainSocketPath: path)
            .assumeIsolated()
            .whenComplete { result in
                switch result {
                case .success(let channel): self.didConnect(channel)
                case .failure: self.retry()
                }
            }
    }

    /// Ends the connection for good. Requests are refused.
    func close() {
        let before = state
        state = .closed
        switch before {
        case .greeting(let channel), .up(let channel): channel.close(promise: nil)
        case .resting(let task): task.cancel()
        default: break
        }
        listeners = [:]
        refuseAll(DaemonLink.ended)
    }

    /// Gives up the connection to a daemon that does not answer. The next connection is up when the daemon answers.
    func abandon() {
        guard case .up(let channel) = state else { return refuseQueued() }
        state = .connecting
        channel.close(promise: nil)
        listeners = [:]
        onChange(false)
        refuseAll(DaemonLink.silence)
        connect()
    }

    private static let ended = "the token of this principal has been deleted"

    private static func unavailable(_ reason: String) -> ValueMap { Gateway.fault(Failure(.unavailable, reason)) }

    /// Refuses the requests that were not sent.
    private func refuseQueued() {
        let queued = self.queued
        self.queued = []
        for (_, _, answer) in queued { answer(DaemonLink.unavailable(reason)) }
    }

    /// Refuses all requests. A change that was sent may have happened.
    private func refuseAll(_ reason: String) {
        let (queued, waiting) = (self.queued, self.waiting)
        self.queued = []
        self.waiting = [:]
        for (_, _, answer) in queued { answer(DaemonLink.unavailable(reason)) }
        for (method, answer) in waiting.values {
            guard Gateway.writing.contains(method) else {
                answer(DaemonLink.unavailable(reason))
                continue
            }
            let text = "outcome unknown: \(reason); the change may have happened, or may still happen"
            let hint = "the same request with the same 'once' changes the graph only once"
            answer(Gateway.fault(Failure(.unavailable, text, hint: hint)))
        }
    }

    private func didConnect(_ channel: Channel) {
        if case .closed = state { return channel.close(promise: nil) }
        state = .greeting(channel)
        var parameters = ValueMap([("client", .string(DaemonLink.clientName))])
        if let principal { parameters["as"] = .string(principal) }
        write("hello", .map(parameters), on: channel) { [self] message in
            // After a refusal other requests would have the rights of the gateway's own user.
            guard case .greeting = state else { return }
            if let error = message["error"] {
                refusal = "the daemon refuses: \(error["message"]?.string ?? "no reason")"
                channel.close(promise: nil)
            } else {
                refusal = nil
                didGreet(channel)
            }
        }
    }

    private func didGreet(_ channel: Channel) {
        state = .up(channel)
        pause = .milliseconds(50)
        onChange(true)
        let queued = self.queued
        self.queued = []
        for (method, parameters, answer) in queued { send(method, parameters, answer: answer) }
    }

    /// A new request does not wait for the next scheduled attempt.
    private func retry() {
        if case .closed = state { return }
        state = .resting(loop.scheduleTask(in: pause) { self.connect() })
        pause = min(pause * 2, DaemonLink.longestPause)
        refuseQueued()
    }

    fileprivate func didClose(_ closed: Channel) {
        switch state {
        case .greeting(let channel), .up(let channel): guard channel === closed else { return }
        default: return
        }
        let wasUp = isUp
        listeners = [:]
        retry()
        if wasUp { onChange(false) }
        refuseAll("the daemon closed the connection")
    }

    // MARK: Messages

    /// - Parameter answer: called once, with the complete reply.
    func send(_ method: String, _ parameters: Value, answer: @escaping Answer) {
        if case .closed = state { return answer(DaemonLink.unavailable(DaemonLink.ended)) }
        guard case .up(let channel) = state else {
            if isSilent() { return answer(DaemonLink.unavailable(reason)) }
            queued.append((method, parameters, answer))
            // A request starts an attempt at once.
            if case .resting(let task) = state {
                task.cancel()
                connect()
            }
            return
        }
        write(method, parameters, on: channel, answer: answer)
    }

    private func write(_ method: String, _ parameters: Value, on channel: Channel, answer: @escaping Answer) {
        lastID += 1
        waiting[lastID] = (method, answer)
        let message: Value = ["jsonrpc": "2.0", "id": .int(lastID), "method": .string(method), "params": parameters]
        channel.writeAndFlush(NIOCore.ByteBuffer(string: message.jsonText + "\n"), promise: nil)
    }

    /// - Parameter listener: gets the events of a subscription from now on.
    func listen(to subscription: Int64, _ listener: @escaping Listener) { listeners[subscription] = listener }

    func unsubscribe(_ subscription: Int64) {
        listeners[subscription] = nil
        send("unsubscribe", ["subscription": .int(subscription)]) { _ in }
    }

    fileprivate func receive(_ line: some Collection<UInt8>) {
        guard let message = try? JSONParser.parseOnce(line).map else { return }
        if let method = message["method"]?.string {
            guard let parameters = message["params"], case .int(let number)? = parameters.map?["subscription"] else {
                return
            }
            listeners[number]?(method, parameters)
        } else if case .int(let id)? = message["id"] {
            waiting.removeValue(forKey: id)?.answer(message)
        }
    }
}

/// Splits the daemon's output into lines.
private final class LineReader: ChannelInboundHandler {
    typealias InboundIn = NIOCore.ByteBuffer

    private let link: DaemonLink
    private var rest = NIOCore.ByteBuffer()
    /// Bytes of `rest` that contain no end of line.
    private var searched = 0

    init(link: DaemonLink) { self.link = link }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        rest.writeBuffer(&part)
        while let end = rest.readableBytesView.dropFirst(searched).firstIndex(of: UInt8(ascii: "\n")) {
            let line = rest.readableBytesView[..<end]
            link.receive(line)
            rest.moveReaderIndex(to: end + 1)
            searched = 0
        }
        searched = rest.readableBytes
        if searched == 0 { rest.clear() } else { rest.discardReadBytes() }
    }

    func channelInactive(context: ChannelHandlerContext) { link.didClose(context.channel) }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
