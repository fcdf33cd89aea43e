import AttributeValues
import Synchronization
import WireProtocol

/// The connection that all requests of a `Client` share. Tasks pass lines to one thread, which sends them and returns
/// the answers. It connects when there is something to send, and again after a loss.
final class RequestChannel: Sendable {
    static let maximumQueuedBytes = 64 << 20

    typealias Answer = Result<EncodedMessage, ClientError>

    private struct Waiting {
        let number: UInt64
        /// nil if no task waits any more, although the reply will still arrive.
        var continuation: CheckedContinuation<Answer, Never>?
    }

    private struct State {
        var outgoing: [UInt8] = []
        /// In the order of their requests. The first `sent` of them have been sent to the daemon.
        var waiting: [Waiting] = []
        var sent = 0
        var nextNumber: UInt64 = 1
        var hasWorker = false
        var isClosed = false
    }

    private let location: SocketLocation
    private let name: String?
    private let state = Mutex(State())
    private let wakeup: Wakeup

    init(to location: SocketLocation, name: String?) throws(ClientError) {
        self.location = location
        self.name = name
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

    /// Sends a request and waits for its reply.
    nonisolated(nonsending) func exchange(_ request: Request) async throws(ClientError) -> EncodedMessage {
        let number = state.withLock { state in
            defer { state.nextNumber += 1 }
            return state.nextNumber
        }
        let line = ByteBuffer()
        line.appendRequest(request, id: Int64(clamping: number))
        let bytes = line.withBytes { Array($0) }
        let answer = await withTaskCancellationHandler {
            await withCheckedContinuation { enqueue(bytes, number, $0) }
        } onCancel: {
            abandon(number)
        }
        return try answer.get()
    }

    private func enqueue(_ line: [UInt8], _ number: UInt64, _ continuation: CheckedContinuation<Answer, Never>) {
        let refusal: ClientError? = state.withLock { state in
            if state.isClosed || Task.isCancelled { return .cancelled }
            guard state.outgoing.count + line.count <= RequestChannel.maximumQueuedBytes else {
                return .limit("more than \(RequestChannel.maximumQueuedBytes) bytes of requests wait to be sent")
            }
            if !state.hasWorker {
                do throws(ClientError) { try Worker.start { self.run() } } catch { return error }
                state.hasWorker = true
            }
            state.outgoing += line
            state.waiting.append(Waiting(number: number, continuation: continuation))
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
        var socket: LineSocket?
        while let batch = takeOutgoing() {
            do throws(ClientError) {
                guard socket != nil || !batch.isEmpty else {
                    wakeup.wait()
                    wakeup.clear()
                    continue
                }
                let connected: LineSocket
                if let socket { connected = socket } else { connected = try connect() }
                socket = connected
                batch.withUnsafeBufferPointer { connected.output.append($0) }
                try connected.flush()
                if let line = try connected.receive(
                    timeout: nil, interrupt: wakeup.descriptor, { line in EncodedMessage(line) })
                {
                    deliver(line)
                } else {
                    wakeup.clear()
                }
            } catch {
                socket = nil
                fail(error)
            }
        }
    }

    private func connect() throws(ClientError) -> LineSocket {
        let socket = try LineSocket(to: location)
        if let name { socket.output.appendRequest(.hello(client: name), id: nil) }
        return socket
    }

    /// nil when the channel is closed.
    private func takeOutgoing() -> [UInt8]? {
        state.withLock { state in
            if state.isClosed { return nil }
            defer { state.outgoing = [] }
            state.sent = state.waiting.count
            return state.outgoing
        }
    }

    private func deliver(_ line: EncodedMessage) {
        let continuation = state.withLock { state -> CheckedContinuation<Answer, Never>? in
            guard state.sent > 0 else { return nil }
            state.sent -= 1
            return state.waiting.removeFirst().continuation
        }
        continuation?.resume(returning: .success(line))
    }

    /// Requests that were sent are lost with their connection. The others will be sent over the next one.
    private func fail(_ error: ClientError) {
        let lost = state.withLock { state in
            let lost = state.waiting.prefix(state.sent)
            state.waiting.removeFirst(state.sent)
            state.sent = 0
            return Array(lost)
        }
        for entry in lost { entry.continuation?.resume(returning: .failure(error)) }
    }
}
