import AttributeValues
import GatewayHandlers

/// A client's connection with one request. The test says when the client reads, and when it goes.
package final class FakeChannel: Channel {
    package private(set) var exchange: Exchange?
    package private(set) var status: Int?
    package private(set) var body: [UInt8] = []
    package private(set) var isStream = false
    /// The gateway or the client has closed the connection.
    package private(set) var isClosed = false
    /// The gateway wants it to be closed.
    package private(set) var isClosing = false
    package var isReading = true
    package private(set) var waiting = 0
    package let peer: String
    /// The client goes during the call of a method, so many calls from now.
    package var callsToLive: Int?
    package var onData: (String) -> Void = { _ in }
    package var onBytes: ([UInt8]) -> Void = { _ in }

    package init(peer: String = "127.0.0.1") { self.peer = peer }

    package var isWritable: Bool { waiting == 0 }

    /// True if the client gets events now.
    package var isOpenStream: Bool { isStream && !isClosed }

    package var json: Value { (try? JSONParser.parseOnce(body)) ?? .null }

    @discardableResult
    package func ask(
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

    package func send(_ part: String) { send(Array(part.utf8)) }

    package func send(_ part: [UInt8]) { part.withUnsafeBytes { exchange?.receive($0) } }

    package func finish() { exchange?.finish() }

    package func leave() {
        guard !isClosed else { return }
        isClosed = true
        exchange?.closed()
        exchange = nil
    }

    /// The other side is gone, without a word.
    package func drop() {
        isClosed = true
        exchange = nil
    }

    private func live() {
        guard let left = callsToLive else { return }
        callsToLive = left - 1
        if left <= 0 { leave() }
    }

    package func answer(_ status: Status, _ headers: [(String, String)], _ body: [[UInt8]]) {
        precondition(self.status == nil, "a request has one answer")
        self.status = status.rawValue
        self.body = Array(body.joined())
        live()
    }

    package func begin(_ headers: [(String, String)]) {
        precondition(status == nil, "a request has one answer")
        status = 200
        isStream = true
        live()
    }

    package func write(_ bytes: [UInt8]) {
        precondition(isStream)
        onBytes(bytes)
        if !isClosed { onData(String(decoding: bytes, as: UTF8.self)) }
        if !isReading { waiting += bytes.count }
        live()
    }

    package func close() {
        isClosing = true
        live()
    }

    /// The client reads all that waits.
    package func read() {
        guard waiting > 0, !isClosed else { return }
        waiting = 0
        exchange?.becameWritable()
    }
}

/// What a page knows of the graph, over all its streams.
package final class FakePage {
    package private(set) var values: [String: Int64] = [:]
    package private(set) var lastID: String?
    private var rest = ""
    package private(set) var isBroken = false
    package private(set) var channel = FakeChannel()

    package func open(_ door: FrontDoor, isReading: Bool, callsToLive: Int?) {
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
