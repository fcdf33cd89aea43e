import AttributeValues
import Glibc
import Synchronization
import WireProtocol

/// The connection that all requests of a `Client` share. Tasks pass lines to one thread, which sends them and returns
/// the answers. It connects when there is something to send, and again after a loss.
final class RequestChannel: Sendable {
    static let maximumQueuedBytes = 64 << 20
    private static let helloID: Int64 = 0

    typealias Answer = Result<EncodedMessage, ClientError>

    /// A request as it is sent, with a number of its own.
    struct Line: Sendable {
        fileprivate let number: UInt64
        fileprivate let bytes: [UInt8]
    }

    private struct Waiting {
        let number: UInt64
        /// Empty when the request has been sent.
        var line: [UInt8]
        /// Monotonic seconds until which the daemon must answer.
        var deadline: Double?
        /// nil if no task waits any more, although the reply will still arrive.
        var continuation: CheckedContinuation<Answer, Never>?
    }

    private struct State {
        var queuedBytes = 0
        /// In the order of their requests. The first `begun` of them are sent over the present connection.
        var waiting: [Waiting] = []
        var begun = 0
        var nextNumber: UInt64 = 1
        /// Each connection begins with these requests.
        var farewells: [Line] = []
        var hasWorker = false
        var isClosed = false
    }

    private let location: SocketLocation
    private let name: String?
    private let principal: String?
    private let timeout: Double?
    private let state = Mutex(State())
    private let wakeup: Wakeup

    init(to location: SocketLocation, name: String?, as principal: String?, timeout: Double?) throws(ClientError) {
        self.location = location
        self.name = name
        self.principal = principal
        self.timeout = timeout
        wakeup = try Wakeup()
    }

    /// Ends the thread. Waiting tasks get `cancelled`.
    func close() {
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for entry in waiting { entry.continuation?.resume(returning: .failure(.cancelled)) }
        wakeup.signal()
    }

    func encode(_ request: Request) -> Line {
        let number = state.withLock { state in
            defer { state.nextNumber += 1 }
            return state.nextNumber
        }
        let line = ByteBuffer()
        line.appendRequest(request, id: Int64(clamping: number))
        return Line(number: number, bytes: line.withBytes { Array($0) })
    }

    /// The next connections begin with the request.
    func leave(_ line: Line) { state.withLock { $0.farewells.append(line) } }

    /// Sends a request and waits for its reply.
    nonisolated(nonsending) func exchange(_ line: Line) async throws(ClientError) -> EncodedMessage {
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { enqueue(line, $0) }
        } onCancel: {
            abandon(line.number)
        }
        return try answer.get()
    }

    private func enqueue(_ line: Line, _ continuation: CheckedContinuation<Answer, Never>) {
        let refusal: ClientError? = state.withLock { state in
            if state.isClosed || Task.isCancelled { return .cancelled }
            guard state.queuedBytes + line.bytes.count <= RequestChannel.maximumQueuedBytes else {
                return .limit("more than \(RequestChannel.maximumQueuedBytes) bytes of requests wait to be sent")
            }
            if !state.hasWorker {
                do throws(ClientError) { try Worker.start { self.run() } } catch { return error }
                state.hasWorker = true
            }
            state.queuedBytes += line.bytes.count
            state.waiting.append(Waiting(number: line.number, line: line.bytes, continuation: continuation))
            return nil
        }
        if let refusal { return continuation.resume(returning: .failure(refusal)) }
        wakeup.signal()
    }

    private func abandon(_ number: UInt64) {
        let continuation = state.withLock { state -> CheckedContinuation<Answer, Never>? in
            guard let position = state.waiting.firstIndex(where: { $0.number == number }) else { return nil }
            return state.waiting[position].continuation.take()
        }
        continuation?.resume(returning: .failure(.cancelled))
    }

    // MARK: The thread

    private func run() {
        let decoder = MessageDecoder()
        var socket: LineSocket?
        while let hasRequests = begin() {
            do throws(ClientError) {
                guard socket != nil || hasRequests else {
                    wakeup.wait()
                    wakeup.clear()
                    continue
                }
                let connected: LineSocket
                if let socket { connected = socket } else { connected = try connect(decoder) }
                socket = connected
                let end = putRequests(in: connected.output)
                try connected.flush()
                let left = end.map { max(0, $0 - MonotonicTime.now) }
                if let line = try connected.receive(
                    timeout: left, interrupt: wakeup.descriptor, { line in EncodedMessage(line) })
                {
                    deliver(line)
                } else {
                    wakeup.clear()
                    if let timeout, let end, MonotonicTime.now >= end { throw .timedOut(seconds: timeout) }
                }
            } catch {
                socket = nil
                fail(error)
            }
        }
    }

    /// The connection with its first requests, which are answered. No other request may go over a connection that may
    /// not act for the principal.
    private func connect(_ decoder: MessageDecoder) throws(ClientError) -> LineSocket {
        let socket = try LineSocket(to: location, timeout: timeout)
        let hello = Request.hello(client: name, principal: principal, time: location.time)
        do throws(ClientError) {
            if principal != nil || location.time != nil {
                socket.output.appendRequest(hello, id: RequestChannel.helloID)
                _ = try receiveReply(socket, decoder).get()
            } else if name != nil {
                socket.output.appendRequest(hello, id: nil)
            }
            for farewell in state.withLock({ $0.farewells }) {
                farewell.bytes.withUnsafeBufferPointer { socket.output.append($0) }
                guard case .fault(let fault) = try receiveReply(socket, decoder) else { continue }
                // It will not be asked for again, so that the program can mend what is missing.
                state.withLock { state in state.farewells.removeAll { $0.number == farewell.number } }
                refuseFirst(.refused(fault))
            }
        } catch .lost {
            // The requests that wait were not sent.
            throw .unreachable(location, errno: ECONNRESET)
        }
        return socket
    }

    /// - Throws: `refused` if the daemon takes no more clients.
    private func receiveReply(_ socket: LineSocket, _ decoder: MessageDecoder) throws(ClientError) -> Reply {
        try socket.flush()
        let end = timeout.map { MonotonicTime.now + $0 }
        while true {
            let left = end.map { max(0, $0 - MonotonicTime.now) }
            let line = try socket.receive(timeout: left, interrupt: wakeup.descriptor) { EncodedMessage($0) }
            if let line {
                guard case .reply(let id, let reply) = try decoder.decode(line) else { continue }
                if id == nil { _ = try reply.get() }
                return reply
            }
            wakeup.clear()
            if state.withLock({ $0.isClosed }) { throw .cancelled }
            if let timeout, let end, MonotonicTime.now >= end { throw .timedOut(seconds: timeout) }
        }
    }

    /// Every request that waits is from now on one of the present connection, or of the attempt to make it.
    /// - Returns: nil when the channel is closed, else true if there are requests to send.
    private func begin() -> Bool? {
        state.withLock { state in
            if state.isClosed { return nil }
            defer { state.begun = state.waiting.count }
            return state.begun < state.waiting.count
        }
    }

    /// - Returns: the deadline of the oldest request.
    private func putRequests(in output: ByteBuffer) -> Double? {
        state.withLock { state in
            var position = state.begun
            while position > 0, !state.waiting[position - 1].line.isEmpty { position -= 1 }
            for position in position..<state.begun {
                state.waiting[position].line.withUnsafeBufferPointer { output.append($0) }
                state.queuedBytes -= state.waiting[position].line.count
                state.waiting[position].line = []
                state.waiting[position].deadline = timeout.map { MonotonicTime.now + $0 }
            }
            return state.begun > 0 ? state.waiting[0].deadline : nil
        }
    }

    private func deliver(_ line: EncodedMessage) { resumeFirst(.success(line)) }

    /// The first request fails, and is not sent.
    private func refuseFirst(_ error: ClientError) { resumeFirst(.failure(error)) }

    private func resumeFirst(_ answer: Answer) {
        let continuation = state.withLock { state -> CheckedContinuation<Answer, Never>? in
            guard state.begun > 0 else { return nil }
            state.begun -= 1
            let first = state.waiting.removeFirst()
            state.queuedBytes -= first.line.count
            return first.continuation
        }
        continuation?.resume(returning: answer)
    }

    /// Requests of this connection are lost with it. The others will be sent over the next one.
    private func fail(_ error: ClientError) {
        let lost = state.withLock { state in
            let lost = Array(state.waiting.prefix(state.begun))
            state.waiting.removeFirst(state.begun)
            state.queuedBytes -= lost.reduce(0) { $0 + $1.line.count }
            state.begun = 0
            return lost
        }
        for entry in lost { entry.continuation?.resume(returning: .failure(error)) }
    }
}
