import AttributeValues
import NIOCore
import NIOPosix

/// The gateway's connection to the daemon: the requests of all pages, and their shared subscriptions. After a loss it
/// reconnects. Requests that wait for an answer then get an error.
///
/// Everything here happens on one event loop.
final class DaemonLink {
    /// The reason why the daemon has not answered a request.
    struct Unavailable: Error { let reason: String }
    typealias Answer = (Result<Value, Unavailable>) -> Void

    /// Called with every event of a subscription, until the connection is lost.
    typealias Listener = (_ method: String, _ parameters: Value) -> Void

    private static let clientName = "agd-gateway"
    private static let longestPause = TimeAmount.seconds(2)

    private let path: String
    private let loop: NIOIsolatedEventLoop
    private enum State {
        case connecting
        case up(Channel)
        /// Until the next attempt.
        case resting(NIOCore.Scheduled<Void>)
    }
    private var state: State?
    /// Requests to send as soon as there is a connection.
    private var queued: [(method: String, parameters: Value, answer: Answer)] = []
    private var waiting: [Int64: Answer] = [:]
    private var lastID: Int64 = 0
    private var listeners: [Int64: Listener] = [:]
    private var pause = TimeAmount.milliseconds(50)
    /// Called when the connection is made, and when it is lost.
    var onChange: (Bool) -> Void = { _ in }

    /// Does not connect yet.
    init(path: String, loop: NIOIsolatedEventLoop) {
        self.path = path
        self.loop = loop
    }

    var isUp: Bool { if case .up = state { true } else { false } }

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

    private func didConnect(_ channel: Channel) {
        state = .up(channel)
        pause = .milliseconds(50)
        send("hello", ["client": .string(DaemonLink.clientName)]) { _ in }
        onChange(true)
        let queued = self.queued
        self.queued = []
        for (method, parameters, answer) in queued { send(method, parameters, answer: answer) }
    }

    /// A new request does not wait for the next scheduled attempt.
    private func retry() {
        state = .resting(loop.scheduleTask(in: pause) { self.connect() })
        pause = min(pause * 2, DaemonLink.longestPause)
        let queued = self.queued
        self.queued = []
        for (_, _, answer) in queued { answer(.failure(Unavailable(reason: "no daemon answers at \(path)"))) }
    }

    fileprivate func didClose() {
        guard isUp else { return }
        listeners = [:]
        let answers = waiting.values
        waiting = [:]
        retry()
        onChange(false)
        for answer in answers { answer(.failure(Unavailable(reason: "the daemon closed the connection"))) }
    }

    // MARK: Messages

    /// - Parameter answer: called once, with the complete reply.
    func send(_ method: String, _ parameters: Value, answer: @escaping Answer) {
        guard case .up(let channel) = state else {
            queued.append((method, parameters, answer))
            // A request starts an attempt at once.
            if case .resting(let task) = state {
                task.cancel()
                connect()
            }
            return
        }
        lastID += 1
        waiting[lastID] = answer
        let message: Value = [
            "jsonrpc": "2.0", "id": .int(lastID), "method": .string(method), "params": parameters,
        ]
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
            waiting.removeValue(forKey: id)?(.success(.map(message)))
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

    func channelInactive(context: ChannelHandlerContext) { link.didClose() }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
