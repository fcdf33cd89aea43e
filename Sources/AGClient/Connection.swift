public import AttributeValues
public import WireProtocol

/// A blocking connection to the daemon, for programs that do one thing at a time. Only one thread may use it. Swift
/// programs with tasks use `Client`.
///
/// The daemon answers requests in order. They may be pipelined: `send` any number, then `receive` their replies.
public final class Connection {
    private let socket: LineSocket
    private let decoder = MessageDecoder()
    private var nextID: Int64 = 1
    /// Messages that arrived while `call` waited for its reply.
    private var waiting: [Message] = []
    /// True if requests made here use typed JSON for the values of attributes.
    public let isTyped: Bool
    /// The release that recorded the moment of the location, if agd-past is of another one.
    package private(set) var recordedBy: String?
    /// Asked each time the timeout has passed without an answer, with the seconds that the call has waited. True lets
    /// it wait as long again.
    package var goesOnWaiting: (Double) -> Bool = { _ in false }

    /// - Parameters:
    ///   - name: the daemon's name for this client in explanations.
    ///   - principal: the principal for which the connection acts. This needs the right *admin*.
    ///   - timeout: maximum seconds of a wait for the daemon; nil waits without limit.
    /// - Throws: `unreachable` with the reason, `timedOut`, `socketPathTooLong`; `refused` if it may not act for the
    ///   principal.
    public init(
        to location: SocketLocation = .find(), name: String? = nil, as principal: String? = nil, typed: Bool = false,
        timeout: Double? = nil
    ) throws(ClientError) {
        socket = try LineSocket(to: location, timeout: timeout)
        isTyped = typed
        // Without its answer the next requests could have more rights than the principal.
        // Without a moment they would be answered from the present.
        if principal != nil || location.time != nil {
            let answer = try call(.hello(client: name, principal: principal, time: location.time))
            recordedBy = answer.map?["recordedBy"]?.string
            return
        }
        // A notification, because nobody needs its answer. It is sent with the first request.
        if let name { socket.output.appendRequest(.hello(client: name), id: nil) }
    }

    /// The socket, which another thread may shut down.
    package var descriptor: Int32 { socket.descriptor }

    /// Appends a request to the output. `flush`, `call` or `receive` send it.
    /// - Returns: the id of its reply.
    @discardableResult
    public func send(_ request: Request) -> Int64 {
        let id = nextID
        nextID += 1
        socket.output.appendRequest(request, id: id)
        return id
    }

    public func flush() throws(ClientError) { try socket.flush() }

    /// Sends what the daemon accepts now, without waiting. A program that uses this does not use `flush`, `receive` and
    /// `call`.
    /// - Returns: whether everything has been sent.
    package func sendNow() throws(ClientError) -> Bool { try socket.sendNow() }

    /// The next message that has arrived, without waiting and without sending.
    package func receiveNow() throws(ClientError) -> Message? { try receiveNew(0, nil) }

    /// The next message. Sends the waiting output first.
    /// - Parameters:
    ///   - timeout: seconds; nil waits without limit.
    ///   - interrupt: a descriptor that ends the wait when it is readable.
    /// - Returns: nil after the timeout or an interrupt.
    /// - Throws: `lost`, `malformed`, `limit`.
    public func receive(timeout: Double? = nil, interrupt: Int32? = nil) throws(ClientError) -> Message? {
        try socket.flush()
        if !waiting.isEmpty { return waiting.removeFirst() }
        return try receiveNew(timeout, interrupt)
    }

    /// The next message, which must arrive within the timeout of the connection.
    /// - Throws: `timedOut`, `lost`, `malformed`, `limit`.
    public func receiveAnswer() throws(ClientError) -> Message {
        var waited = 0.0
        repeat {
            if let message = try receive(timeout: socket.timeout) { return message }
            waited += socket.timeout ?? 0
        } while goesOnWaiting(waited)
        throw .timedOut(seconds: waited)
    }

    private func receiveNew(
        _ timeout: Double?, _ interrupt: Int32?, _ read: (JSONElement) throws(ClientError) -> Value = { $0.value }
    ) throws(ClientError) -> Message? {
        try socket.receive(timeout: timeout, interrupt: interrupt) { line throws(ClientError) in
            try decoder.decode(line, isPadded: true, typed: isTyped, read)
        }
    }

    /// Sends one request and waits for its reply. Other messages that arrive are retained for `receive`.
    /// - Throws: `refused` with the daemon's reason; `timedOut`, `lost`, `malformed`, `limit`.
    public func call(_ request: Request) throws(ClientError) -> Value { try answer(to: send(request)) }

    /// As the other `call`. No other reply may be outstanding.
    /// - Parameter read: makes the value to return of the result, which is valid only inside it. Most of a large result
    ///   need not become values.
    public func call(
        _ request: Request, _ read: (JSONElement) throws(ClientError) -> Value
    ) throws(ClientError) -> Value {
        try answer(to: send(request), read)
    }

    /// Calls a method with parameters that the caller has written as JSON: an object or a list.
    /// - Throws: as the other `call`.
    public func call(_ method: String, _ parameters: Value) throws(ClientError) -> Value {
        let id = nextID
        nextID += 1
        socket.output.appendJSON(["jsonrpc": "2.0", "id": .int(id), "method": .string(method), "params": parameters])
        socket.output.append(UInt8(ascii: "\n"))
        return try answer(to: id)
    }

    /// Waits for the reply of a request that was sent. Other messages that arrive are retained for `receive`.
    /// - Parameter wanted: the requests sent before it must have had their replies.
    /// - Throws: as `call`.
    public func answer(to wanted: Int64) throws(ClientError) -> Value { try answer(to: wanted) { $0.value } }

    private func answer(
        to wanted: Int64, _ read: (JSONElement) throws(ClientError) -> Value
    ) throws(ClientError) -> Value {
        try socket.flush()
        var waited = 0.0
        repeat {
            while let message = try receiveNew(socket.timeout, nil, read) {
                // A reply without an id answers a line that the daemon could not read.
                if case .reply(let id, let reply) = message, id == wanted || id == nil { return try reply.get() }
                waiting.append(message)
            }
            waited += socket.timeout ?? 0
        } while goesOnWaiting(waited)
        throw .timedOut(seconds: waited)
    }
}
