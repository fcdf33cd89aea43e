public import AttributeValues
public import WireProtocol

/// A blocking connection to the daemon, for programs that do one thing at a time. For one thread; Swift programs with
/// tasks use `Client`.
///
/// Requests are answered in order. They may be pipelined: `send` as many as wanted, then `receive` their replies.
public final class Connection {
    private let socket: LineSocket
    private let decoder = MessageDecoder()
    private var nextID: Int64 = 1
    /// Messages that came while `call` waited for its reply.
    private var held: [Message] = []
    /// Values of attributes are asked for and sent in typed JSON by the requests made here.
    public let isTyped: Bool

    /// - Parameter name: how the daemon calls this client in explanations.
    /// - Throws: `unreachable` with the reason, `socketPathTooLong`.
    public init(to location: SocketLocation = .find(), name: String? = nil, typed: Bool = false) throws(ClientError) {
        socket = try LineSocket(to: location)
        isTyped = typed
        // A notification: its answer would be of no use, and it goes out with the first request.
        if let name { socket.output.appendRequest(.hello(client: name), id: nil) }
    }

    /// Puts a request at the end of what is to be sent; nothing is sent before `flush`, `call` or `receive`.
    /// - Returns: the id that its reply will carry.
    @discardableResult
    public func send(_ request: Request) -> Int64 {
        let id = nextID
        nextID += 1
        socket.output.appendRequest(request, id: id)
        return id
    }

    /// Puts a line of the caller's own making at the end of what is to be sent; its newline is added.
    public func send(line: String) {
        socket.output.append(text: line)
        socket.output.append(UInt8(ascii: "\n"))
    }

    public func flush() throws(ClientError) { try socket.flush() }

    /// The next message; sends first what waits to be sent.
    /// - Parameters:
    ///   - timeout: seconds; nil waits for ever.
    ///   - interrupt: a descriptor that ends the wait when it is readable.
    /// - Returns: nil when the time is over or the wait was interrupted.
    /// - Throws: `lost`, `malformed`, `limit`.
    public func receive(timeout: Double? = nil, interrupt: Int32? = nil) throws(ClientError) -> Message? {
        try socket.flush()
        if !held.isEmpty { return held.removeFirst() }
        return try receiveNew(timeout, interrupt)
    }

    private func receiveNew(_ timeout: Double?, _ interrupt: Int32?) throws(ClientError) -> Message? {
        try socket.receive(timeout: timeout, interrupt: interrupt) { line throws(ClientError) in
            try decoder.decode(line, isPadded: true, typed: isTyped)
        }
    }

    /// Sends one request and waits for its reply. Whatever else comes meanwhile is kept for `receive`.
    /// - Throws: `refused` with the daemon's reason; `lost`, `malformed`, `limit`.
    public func call(_ request: Request) throws(ClientError) -> Value {
        let wanted = send(request)
        try socket.flush()
        while let message = try receiveNew(nil, nil) {
            // A reply without id answers a line that could not be read at all.
            if case .reply(let id, let reply) = message, id == wanted || id == nil { return try reply.get() }
            held.append(message)
        }
        throw .lost("the wait for a reply was given up")
    }
}
