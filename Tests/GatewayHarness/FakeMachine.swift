import AttributeValues
import GatewayHandlers

/// A machine without sockets and clocks: a test moves its time, and plays the daemon.
package final class FakeMachine: Machine {
    private final class FakeAlarm: Alarm {
        let time: Double
        var action: (() -> Void)?

        init(_ time: Double, _ action: @escaping () -> Void) { (self.time, self.action) = (time, action) }

        func cancel() { action = nil }
    }

    package private(set) var now = 1000.0
    package var date: Double { now + 1.7e9 }
    private var alarms: [FakeAlarm] = []
    package let daemon = FakeDaemon()
    /// agd-past.
    package let past = FakeDaemon()

    package init() {}

    package func after(_ seconds: Double, _ action: @escaping () -> Void) -> any Alarm {
        let alarm = FakeAlarm(now + seconds, action)
        alarms.append(alarm)
        return alarm
    }

    package func connect(to path: String, _ delegate: any DaemonLineDelegate) -> (any DaemonLine)? {
        (path.hasSuffix("past.sock") ? past : daemon).connect(delegate)
    }

    package func hasSocket(at path: String) -> Bool { past.isThere }

    /// The process stands still, and nothing of it runs.
    package func standStill(_ seconds: Double) { now += seconds }

    package func advance(_ seconds: Double) {
        let end = now + seconds
        while let index = alarms.indices.filter({ alarms[$0].time <= end }).min(by: {
            alarms[$0].time < alarms[$1].time
        }) {
            let alarm = alarms.remove(at: index)
            now = max(now, alarm.time)
            alarm.action?()
        }
        now = end
    }
}

/// A daemon with the attributes `/a/0.x`, `/a/1.x`, … whose answers come when the test says so.
package final class FakeDaemon {
    package final class Line: DaemonLine {
        weak var delegate: (any DaemonLineDelegate)?
        unowned let daemon: FakeDaemon
        /// Requests that the daemon has not read.
        package var requests: [Value] = []
        package var isClosed = false
        package var subscriptions: Set<Int64> = []

        package init(_ delegate: any DaemonLineDelegate, _ daemon: FakeDaemon) {
            (self.delegate, self.daemon) = (delegate, daemon)
        }

        package func send(_ message: ByteBuffer) {
            guard !isClosed else { return }
            for line in message.text.split(separator: "\n") {
                requests.append((try? JSONParser.parseOnce(line.utf8)) ?? .null)
            }
        }

        package func close() { (isClosed, subscriptions) = (true, []) }

        /// The message comes in two parts.
        package func write(_ text: String) {
            let bytes = Array((text + "\n").utf8)
            for part in [bytes.prefix(bytes.count / 2), bytes.dropFirst(bytes.count / 2)] where !isClosed {
                Array(part).withUnsafeBufferPointer { delegate?.line(self, didRead: $0) }
            }
        }
    }

    /// False: nobody listens at the socket.
    package var isThere = true
    package private(set) var lines: [Line] = []
    package private(set) var values: [String: Int64] = ["/a/0.x": 0, "/a/1.x": 0]
    package private(set) var epoch = "e1"
    package private(set) var revision: Int64 = 1
    private var lives = 1
    private var lastSubscription: Int64 = 0
    /// Answers `subscribe` with this error, as long as it is set.
    package var refusal: Value?
    /// Requests that were read, but `ping`.
    package private(set) var methods: [String] = []

    package func connect(_ delegate: any DaemonLineDelegate) -> Line? {
        guard isThere else { return nil }
        let line = Line(delegate, self)
        lines.append(line)
        return line
    }

    package var hasRequests: Bool { lines.contains { !$0.isClosed && !$0.requests.isEmpty } }

    /// Reads a request and answers it.
    package func answer(_ line: Line) {
        guard !line.isClosed, !line.requests.isEmpty else { return }
        let request = line.requests.removeFirst()
        if request == .null {
            return line.write(#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no request"}}"#)
        }
        let method = request["method"]?.string ?? ""
        if method != "ping" { methods.append(method) }
        var result: Value = ["pong": true]
        var events: [Value] = []
        switch method {
        case "hello": result = ["epoch": .string(epoch), "revision": .int(revision)]
        case "get": result = ["value": .int(values["/a/0.x"] ?? 0), "revision": .int(revision)]
        case "subscribe":
            if let refusal { return write(["error": refusal], to: request, on: line) }
            lastSubscription += 1
            line.subscriptions.insert(lastSubscription)
            result = ["subscription": .int(lastSubscription), "epoch": .string(epoch), "revision": .int(revision)]
            events = [
                event("update", lastSubscription, [("initial", true), ("changes", changes(of: Array(values.keys)))])
            ]
            events.append(event("bookmark", lastSubscription, [("epoch", .string(epoch))]))
        case "unsubscribe":
            if case .int(let number)? = request["params"]?["subscription"] { line.subscriptions.remove(number) }
        default: break
        }
        write(["result": result], to: request, on: line)
        for event in events { line.write(event.jsonText) }
    }

    package func write(_ members: Value, to request: Value, on line: Line) {
        // The members stand in the daemon's order.
        line.write("{\"jsonrpc\":\"2.0\",\"id\":\((request["id"] ?? .null).jsonText),\(members.jsonText.dropFirst())")
    }

    package func answerAll() {
        while let line = lines.first(where: { !$0.isClosed && !$0.requests.isEmpty }) { answer(line) }
    }

    private func changes(of paths: [String]) -> Value {
        .list(
            ValueList(
                paths.sorted().map { path -> Value in
                    if let value = values[path] { return ["path": .string(path), "value": .int(value)] }
                    return ["path": .string(path), "error": ["code": "removed", "message": "gone"]]
                }))
    }

    private func event(_ method: String, _ subscription: Int64, _ more: [(Value, Value)]) -> Value {
        let parameters = ValueMap([("subscription", .int(subscription)), ("revision", .int(revision))] + more)
        return ["jsonrpc": "2.0", "method": .string(method), "params": .map(parameters)]
    }

    /// - Parameter value: nil removes the attribute.
    package func set(_ path: String, _ value: Int64?) {
        values[path] = value
        revision += 1
        publish([path])
    }

    private func publish(_ paths: [String]) {
        for line in lines where !line.isClosed {
            for subscription in line.subscriptions.sorted() {
                line.write(event("update", subscription, [("changes", changes(of: paths))]).jsonText)
                line.write(event("bookmark", subscription, [("epoch", .string(epoch))]).jsonText)
            }
        }
    }

    /// Ends all connections.
    /// - Parameter isNew: without a store, the next daemon begins a new life with the same attributes.
    package func stop(isNew: Bool) {
        isThere = false
        let ended = lines
        lines = []
        if isNew {
            lives += 1
            (epoch, revision) = ("e\(lives)", 1)
        }
        for line in ended where !line.isClosed {
            line.isClosed = true
            line.delegate?.lineDidClose(line)
        }
    }
}
