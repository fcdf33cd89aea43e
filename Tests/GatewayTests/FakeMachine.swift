import AttributeValues
@testable import agd_gateway

/// A machine without sockets and clocks: a test moves its time, and plays the daemon.
final class FakeMachine: Machine {
    private final class FakeAlarm: Alarm {
        let time: Double
        var action: (() -> Void)?

        init(_ time: Double, _ action: @escaping () -> Void) { (self.time, self.action) = (time, action) }

        func cancel() { action = nil }
    }

    private(set) var now = 1000.0
    var date: Double { now + 1.7e9 }
    private var alarms: [FakeAlarm] = []
    let daemon = FakeDaemon()

    func after(_ seconds: Double, _ action: @escaping () -> Void) -> any Alarm {
        let alarm = FakeAlarm(now + seconds, action)
        alarms.append(alarm)
        return alarm
    }

    func connect(to path: String, _ delegate: any DaemonLineDelegate) -> (any DaemonLine)? {
        daemon.connect(delegate)
    }

    func advance(_ seconds: Double) {
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
final class FakeDaemon {
    final class Line: DaemonLine {
        weak var delegate: (any DaemonLineDelegate)?
        unowned let daemon: FakeDaemon
        /// Requests that the daemon has not read.
        var requests: [Value] = []
        var isClosed = false
        var subscriptions: Set<Int64> = []

        init(_ delegate: any DaemonLineDelegate, _ daemon: FakeDaemon) {
            (self.delegate, self.daemon) = (delegate, daemon)
        }

        func send(_ message: ByteBuffer) {
            guard !isClosed else { return }
            for line in message.text.split(separator: "\n") {
                if let request = try? JSONParser.parseOnce(line.utf8) { requests.append(request) }
            }
        }

        func close() { (isClosed, subscriptions) = (true, []) }

        /// The message comes in two parts.
        func write(_ text: String) {
            let bytes = Array((text + "\n").utf8)
            for part in [bytes.prefix(bytes.count / 2), bytes.dropFirst(bytes.count / 2)] where !isClosed {
                Array(part).withUnsafeBufferPointer { delegate?.line(self, didRead: $0) }
            }
        }
    }

    /// False: nobody listens at the socket.
    var isThere = true
    private(set) var lines: [Line] = []
    private(set) var values: [String: Int64] = ["/a/0.x": 0, "/a/1.x": 0]
    private(set) var epoch = "e1"
    private(set) var revision: Int64 = 1
    private var lives = 1
    private var lastSubscription: Int64 = 0
    /// Answers `subscribe` with this error, as long as it is set.
    var refusal: Value?
    /// Requests that were read, but `ping`.
    private(set) var methods: [String] = []

    func connect(_ delegate: any DaemonLineDelegate) -> Line? {
        guard isThere else { return nil }
        let line = Line(delegate, self)
        lines.append(line)
        return line
    }

    var hasRequests: Bool { lines.contains { !$0.isClosed && !$0.requests.isEmpty } }

    /// Reads a request and answers it.
    func answer(_ line: Line) {
        guard !line.isClosed, !line.requests.isEmpty else { return }
        let request = line.requests.removeFirst()
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

    func write(_ members: Value, to request: Value, on line: Line) {
        // The members stand in the daemon's order.
        line.write("{\"jsonrpc\":\"2.0\",\"id\":\((request["id"] ?? .null).jsonText),\(members.jsonText.dropFirst())")
    }

    func answerAll() {
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
    func set(_ path: String, _ value: Int64?) {
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
    func stop(isNew: Bool) {
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

extension Value {
    subscript(_ key: String) -> Value? { map?[key] }
}
