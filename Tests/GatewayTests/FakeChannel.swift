import AttributeValues
@testable import agd_gateway

/// A client's connection with one request. The test says when the client reads, and when it goes.
final class FakeChannel: Channel {
    private(set) var exchange: Exchange?
    private(set) var status: Int?
    private(set) var body: [UInt8] = []
    private(set) var isStream = false
    /// The gateway or the client has closed the connection.
    private(set) var isClosed = false
    /// The gateway wants it to be closed.
    private(set) var isClosing = false
    var isReading = true
    private(set) var waiting = 0
    let peer: String
    /// The client goes during the call of a method, so many calls from now.
    var callsToLive: Int?
    var onData: (String) -> Void = { _ in }
    var onBytes: ([UInt8]) -> Void = { _ in }

    init(peer: String = "127.0.0.1") { self.peer = peer }

    var isWritable: Bool { waiting == 0 }

    /// True if the client gets events now.
    var isOpenStream: Bool { isStream && !isClosed }

    var json: Value { (try? JSONParser.parseOnce(body)) ?? .null }

    @discardableResult
    func ask(
        _ door: FrontDoor, _ method: String, _ target: String, _ headers: [(String, String)] = [], _ body: String = "",
        isFinished: Bool = true
    ) -> FakeChannel {
        let all = [("Host", "localhost")] + headers
        let exchange = Exchange(RequestHead(method: method, target: target, headers: Headers(all)), on: self, door)
        if isClosed {
            exchange.closed()
            return self
        }
        self.exchange = exchange
        if !body.isEmpty { send(body) }
        if isFinished { finish() }
        return self
    }

    func send(_ part: String) { Array(part.utf8).withUnsafeBytes { exchange?.receive($0) } }

    func finish() { exchange?.finish() }

    func leave() {
        guard !isClosed else { return }
        isClosed = true
        exchange?.closed()
        exchange = nil
    }

    private func live() {
        guard let left = callsToLive else { return }
        callsToLive = left - 1
        if left <= 0 { leave() }
    }

    func answer(_ status: Status, _ headers: [(String, String)], _ body: [[UInt8]]) {
        precondition(self.status == nil, "a request has one answer")
        self.status = status.rawValue
        self.body = Array(body.joined())
        live()
    }

    func begin(_ headers: [(String, String)]) {
        precondition(status == nil, "a request has one answer")
        status = 200
        isStream = true
        live()
    }

    func write(_ bytes: [UInt8]) {
        precondition(isStream)
        onBytes(bytes)
        if !isClosed { onData(String(decoding: bytes, as: UTF8.self)) }
        if !isReading { waiting += bytes.count }
        live()
    }

    func close() {
        isClosing = true
        live()
    }

    /// The client reads all that waits.
    func read() {
        guard waiting > 0, !isClosed else { return }
        waiting = 0
        exchange?.becameWritable()
    }
}

/// What a page knows of the graph, over all its streams.
final class FakePage {
    private(set) var values: [String: Int64] = [:]
    private(set) var lastID: String?
    private var rest = ""
    private(set) var isBroken = false
    private(set) var channel = FakeChannel()

    func open(_ door: FrontDoor, isReading: Bool, callsToLive: Int?) {
        channel = FakeChannel()
        channel.isReading = isReading
        channel.callsToLive = callsToLive
        rest = ""
        channel.onData = { [unowned self] in take($0) }
        channel.ask(door, "GET", "/watch?path=/a/*.x", lastID.map { [("Last-Event-ID", $0)] } ?? [])
    }

    private func take(_ text: String) {
        rest += text
        while let end = rest.firstRange(of: "\n\n") {
            let lines = rest[..<end.lowerBound].split(separator: "\n")
            rest = String(rest[end.upperBound...])
            var fields: [Substring: Substring] = [:]
            for line in lines {
                let parts = line.split(separator: ":", maxSplits: 1)
                fields[parts[0]] = parts.count > 1 ? parts[1].drop { $0 == " " } : ""
            }
            if let id = fields["id"] { lastID = String(id) }
            guard fields["event"] == "update", let data = fields["data"].flatMap({ try? JSONParser.parseOnce($0.utf8) })
            else { continue }
            if data["initial"] == true { values = [:] }
            for change in data["changes"]?.list ?? [] {
                guard let path = change["path"]?.string else { continue }
                if case .int(let value)? = change["value"] { values[path] = value } else { values[path] = nil }
            }
        }
    }
}
