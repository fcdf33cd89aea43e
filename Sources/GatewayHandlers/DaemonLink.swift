import AttributeValues
import WireProtocol

/// The gateway's connection to the daemon: the requests of all pages, and their shared subscriptions. After a loss it
/// reconnects. Requests that wait for an answer are then refused, in the form of the daemon's refusals. A daemon that
/// accepts a connection and does not answer is as good as lost: the connection is up when `hello` is answered.
///
/// Everything here happens on one event loop.
final class DaemonLink {
    typealias Answer = (Reply) -> Void

    /// Called with every event of a subscription, until the connection is lost.
    typealias Listener = (_ method: String, _ parameters: Value) -> Void

    private static let clientName = "agd-gateway"
    private static let firstPause = 0.05
    private static let longestPause = 2.0

    /// The name of the program that listens at the path, for people.
    private let server: String
    private let path: String
    /// The principal for which the connection acts; nil for the gateway's own user.
    private let principal: String?
    private let machine: any Machine
    private enum State {
        /// The daemon has yet to answer `hello`.
        case greeting(any DaemonLine)
        case up(any DaemonLine)
        /// Waiting for the next attempt.
        case resting(any Alarm)
        case closed
    }
    private var state: State?
    /// The connection that was given up. The daemon may have something to write before it reads what was sent, and
    /// would read nothing more from a closed connection. When it has answered on the next connection, it has read.
    private var former: (any DaemonLine)?
    private struct Waiting {
        var method: String
        /// Bytes of the request.
        var size: Int
        var account: Account?
        var answer: Answer
    }
    /// Requests to send as soon as there is a connection.
    private var queued: [(id: Int64, request: Waiting, bytes: ByteBuffer)] = []
    private var waiting: [Int64: Waiting] = [:]
    private var lastID: Int64 = 0
    private var listeners: [Int64: Listener] = [:]
    private var pause = DaemonLink.firstPause
    /// The beginning of a message whose end has yet to come.
    private var rest: [UInt8] = []
    private let restAccount: Account
    /// The message that comes is too large, and was refused.
    private var isDiscarding = false
    /// The reason why the daemon does not let the link act for its principal.
    private var refusal: String?
    /// Called when the connection is made, and when it is lost.
    var onChange: (Bool) -> Void = { _ in }
    /// True while the daemon is known not to answer. Requests are then refused instead of waiting for a connection.
    var isSilent: () -> Bool = { false }

    /// Does not connect yet.
    init(_ server: String = "daemon", path: String, principal: String?, _ memory: Budget, _ machine: any Machine) {
        (self.server, self.path) = (server, path)
        restAccount = Account(memory, Owners(peer: "daemon", principal: principal).names)
        self.principal = principal
        self.machine = machine
    }

    var isUp: Bool { if case .up = state { true } else { false } }

    /// True if the daemon has accepted the connection and has yet to answer `hello`.
    var isGreeting: Bool { if case .greeting = state { true } else { false } }

    /// True if nobody listens at the daemon's socket.
    var isAway: Bool { if case .resting = state { true } else { false } }

    /// The reason why there is no connection.
    var reason: String { refusal ?? (isSilent() ? DaemonLink.silence : "no \(server) answers at \(path)") }

    static let silence = "the daemon does not answer"

    func connect() {
        if let line = machine.connect(to: path, self) { greet(line) } else { retry() }
    }

    /// Ends the connection for good. Requests are refused.
    func close() {
        let before = state
        state = .closed
        former?.close()
        former = nil
        switch before {
        case .greeting(let line), .up(let line): line.close()
        case .resting(let alarm): alarm.cancel()
        default: break
        }
        listeners = [:]
        refuseAll(DaemonLink.ended)
    }

    /// Gives up the connection to a daemon that does not answer. The next connection is up when the daemon answers.
    func abandon() {
        guard case .up(let line) = state else { return refuseQueued() }
        state = nil
        former = line
        listeners = [:]
        onChange(false)
        refuseAll(DaemonLink.silence)
        connect()
    }

    private static let ended = "the token of this principal has been deleted"

    private static func unavailable(_ reason: String) -> Reply { Reply(Failure(.unavailable, reason)) }

    /// Refuses the requests that were not sent.
    private func refuseQueued() {
        let queued = self.queued
        self.queued = []
        for each in queued { each.request.answer(DaemonLink.unavailable(reason)) }
    }

    /// Refuses all requests. A change that was sent may have happened.
    private func refuseAll(_ reason: String) {
        let (queued, waiting) = (self.queued, self.waiting)
        self.queued = []
        self.waiting = [:]
        for each in queued { each.request.answer(DaemonLink.unavailable(reason)) }
        for each in waiting.values {
            guard Gateway.writing.contains(each.method) else {
                each.answer(DaemonLink.unavailable(reason))
                continue
            }
            let text = "outcome unknown: \(reason); the change may have happened, or may still happen"
            let hint = "the same request with the same 'once' changes the graph only once"
            each.answer(Reply(Failure(.unavailable, text, hint: hint)))
        }
    }

    private func greet(_ line: any DaemonLine) {
        state = .greeting(line)
        forgetRest()
        var parameters = ValueMap([("client", .string(DaemonLink.clientName))])
        if let principal { parameters["as"] = .string(principal) }
        let hello = Waiting(method: "hello", size: 0, account: nil) { [self] reply in
            // After a refusal other requests would have the rights of the gateway's own user.
            guard case .greeting = state else { return }
            if let error = reply.message["error"] {
                refusal = refusal(error)
                line.close()
            } else {
                refusal = nil
                didGreet(line)
            }
        }
        lastID += 1
        waiting[lastID] = hello
        line.send(DaemonLink.message("hello", .map(parameters), id: lastID))
    }

    private func refusal(_ error: Value) -> String {
        "the \(server) refuses: \(error["message"]?.string ?? "no reason")"
    }

    private static func message(_ method: String, _ parameters: Value, id: Int64) -> ByteBuffer {
        let message: Value = ["jsonrpc": "2.0", "id": .int(id), "method": .string(method), "params": parameters]
        let bytes = ByteBuffer()
        bytes.append(text: message.jsonText)
        bytes.append("\n")
        return bytes
    }

    private func didGreet(_ line: any DaemonLine) {
        state = .up(line)
        former?.close()
        former = nil
        pause = DaemonLink.firstPause
        onChange(true)
        let queued = self.queued
        self.queued = []
        for (id, request, bytes) in queued {
            waiting[id] = request
            line.send(bytes)
        }
    }

    /// A new request does not wait for the next scheduled attempt.
    private func retry() {
        if case .closed = state { return }
        state = .resting(machine.after(pause) { [self] in connect() })
        pause = min(pause * 2, DaemonLink.longestPause)
        refuseQueued()
    }

    // MARK: Messages

    /// - Parameters:
    ///   - account: pays for the request until it is answered, and then for the answer.
    ///   - answer: called once, with the complete reply.
    func send(_ method: String, _ parameters: Value, _ account: Account? = nil, answer: @escaping Answer) {
        if case .closed = state { return answer(DaemonLink.unavailable(DaemonLink.ended)) }
        if !isUp, isSilent() { return answer(DaemonLink.unavailable(reason)) }
        lastID += 1
        let bytes = DaemonLink.message(method, parameters, id: lastID)
        guard bytes.count <= Limits.message else {
            let text = "a request of \(bytes.count) bytes; the daemon takes \(Limits.message)"
            let hint = "a number may get longer when it is written as the daemon does"
            return answer(Reply(Failure(.limit, text, hint: hint)))
        }
        guard account?.take(bytes.count) != false else { return answer(Reply(DaemonLink.noSpace)) }
        let request = Waiting(method: method, size: bytes.count, account: account, answer: answer)
        if case .up(let line) = state {
            waiting[lastID] = request
            return line.send(bytes)
        }
        queued.append((lastID, request, bytes))
        // A request starts an attempt at once.
        if case .resting(let alarm) = state {
            alarm.cancel()
            connect()
        }
    }

    static let noSpace = Failure(
        .limit, "the requests and answers of this user take too much memory", hint: "try again, or ask for less")

    /// - Parameter listener: gets the events of a subscription from now on.
    func listen(to subscription: Int64, _ listener: @escaping Listener) { listeners[subscription] = listener }

    func unsubscribe(_ subscription: Int64) {
        listeners[subscription] = nil
        send("unsubscribe", ["subscription": .int(subscription)]) { _ in }
    }
}

extension DaemonLink: DaemonLineDelegate {
    func line(_ line: any DaemonLine, didRead bytes: UnsafeBufferPointer<UInt8>) {
        var unread = bytes
        while isCurrent(line), let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
            let part = UnsafeBufferPointer(rebasing: unread[..<end])
            unread = UnsafeBufferPointer(rebasing: unread[(end + 1)...])
            if isDiscarding {
                forgetRest()
            } else if rest.isEmpty {
                receive(part, on: line)
            } else {
                let message = rest + part
                forgetRest()
                message.withUnsafeBufferPointer { receive($0, on: line) }
            }
        }
        guard isCurrent(line), !isDiscarding, !unread.isEmpty else { return }
        let size = rest.count + unread.count
        guard size <= Limits.answer, restAccount.resize(to: size) else { return discard(rest + unread.prefix(200)) }
        rest += unread
    }

    private func forgetRest() {
        rest = []
        isDiscarding = false
        _ = restAccount.resize(to: 0)
    }

    /// Refuses what the message that comes belongs to, and drops the message.
    private func discard(_ beginning: [UInt8]) {
        let begin = String(decoding: beginning.prefix(200), as: UTF8.self)
        forgetRest()
        isDiscarding = true
        func number(after name: String) -> Int64? {
            begin.firstRange(of: name).flatMap { Int64(begin[$0.upperBound...].prefix { $0.isNumber }) }
        }
        let failure = Failure(.limit, "the daemon's answer is too large", hint: "ask for less, or try again")
        if begin.contains("\"method\":"), let subscription = number(after: "\"subscription\":") {
            listeners[subscription]?(DaemonLink.overflow, .map(Reply(failure).message))
        } else if let id = number(after: "\"id\":") {
            waiting.removeValue(forKey: id)?.answer(Reply(failure))
        }
    }

    /// A listener gets this in place of an event that is too large.
    static let overflow = "overflow"

    private func receive(_ message: UnsafeBufferPointer<UInt8>, on line: any DaemonLine) {
        if let (id, reply) = Reply.read(message) {
            guard let each = waiting.removeValue(forKey: id) else { return }
            if let account = each.account {
                _ = account.resize(to: account.amount - each.size)
                guard account.take(reply.members.count) else { return each.answer(Reply(DaemonLink.noSpace)) }
            }
            return each.answer(reply)
        }
        guard let message = try? JSONParser.parseOnce(message).map else { return }
        if let method = message["method"]?.string {
            guard let parameters = message["params"], case .int(let number)? = parameters.map?["subscription"] else {
                return
            }
            listeners[number]?(method, parameters)
            // The daemon gives a number once.
            if method == "ended" { listeners[number] = nil }
        } else if let error = message["error"] {
            refuseUnread(error, on: line)
        }
    }

    /// The daemon has not read a request to its end, so it does not know its id.
    private func refuseUnread(_ error: Value, on line: any DaemonLine) {
        // Each request that it has read is shorter than one that is too long for it.
        guard error["message"]?.string?.hasPrefix("a message of more than") == true,
            let (id, each) = waiting.max(by: { $0.value.size < $1.value.size })
        else {
            // It lets nobody in, and says why.
            if isGreeting { refusal = refusal(error) }
            return line.close()
        }
        waiting[id] = nil
        let message: Value = ["error": error]
        each.answer(Reply(members: Array(message.jsonText.utf8.dropFirst())))
    }

    func lineDidClose(_ line: any DaemonLine) {
        guard isCurrent(line) else { return }
        let wasUp = isUp
        // Requests that come from now on wait for the next connection.
        state = nil
        listeners = [:]
        if wasUp { onChange(false) }
        refuseAll(refusal ?? "the \(server) closed the connection")
        retry()
    }

    /// False for a connection that was given up.
    private func isCurrent(_ line: any DaemonLine) -> Bool {
        switch state {
        case .greeting(let own), .up(let own): own === line
        default: false
        }
    }
}
