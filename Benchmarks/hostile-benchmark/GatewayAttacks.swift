import BenchmarkSupport
import Glibc
import TestSupport

/// One thing that a client without a token may do to the gateway. `run` is called in a process of its own, which is
/// killed after a while with all its connections.
struct GatewayAttack: Sendable {
    /// Words joined by "-", with "gateway" first.
    var name: String
    var run: @Sendable (GatewayTarget) throws -> Void

    static let all = gatewayAttacks

    /// 4,000 attributes, some of which are long.
    static let scene: String = {
        let text = String(repeating: "x", count: 500)
        let nodes = (0..<1000).map { #"{"id":"n\#($0)","state":{"a":1,"b":2,"c":3,"d":"\#(text)"}}"# }
        return #"{"agd":1,"nodes":[{"id":"page","state":{"x":0}},\#(nodes.joined(separator: ","))]}"#
    }()
}

struct GatewayTarget {
    var socketPath: String

    func connect() throws -> RawConnection { RawConnection(try UnixSocket.connect(socketPath)) }

    static func head(_ method: String, _ target: String, length: Int? = nil) -> String {
        "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + (length.map { "Content-Length: \($0)\r\n" } ?? "") + "\r\n"
    }

    static func post(_ target: String, _ body: String) -> String {
        head("POST", target, length: body.utf8.count) + body
    }
}

/// A connection that sends what it is told. It is closed when this object is freed.
final class RawConnection {
    let descriptor: Int32

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Waits until the bytes are taken.
    /// - Returns: false if the other end has closed.
    @discardableResult
    func send(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var sent = 0
            while sent < bytes.count {
                guard let start = bytes.baseAddress else { return true }
                let count = Glibc.send(descriptor, start + sent, bytes.count - sent, Int32(MSG_NOSIGNAL))
                if count <= 0 { return false }
                sent += count
            }
            return true
        }
    }

    /// The bytes that have come within a time. More may follow.
    func receive(within seconds: Double) -> String? {
        var poller = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&poller, 1, Int32(seconds * 1000)) > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : nil
    }
}

private func many(_ count: Int, _ target: GatewayTarget, _ text: String) throws -> [RawConnection] {
    try (0..<count).map { _ in
        let connection = try target.connect()
        connection.send(text)
        return connection
    }
}

private func rest(_ connections: [RawConnection]) {
    sleep(600)
    withExtendedLifetime(connections) {}
}

/// A body with so many values, and its list, is just not refused.
private let mostValues = 99_000

private let batch =
    "[" + (0..<256).map { #"{"id":\#($0),"method":"get","params":{"path":"/**"}}"# }.joined(separator: ",") + "]"

private let gatewayAttacks = [
    GatewayAttack(name: "gateway-unfinished-bodies") { target in
        let part = String(repeating: "1", count: 1 << 20)
        var connections: [RawConnection] = []
        for _ in 0..<60 {
            let connection = try target.connect()
            connection.send(GatewayTarget.head("POST", "/rpc", length: 15 << 20))
            for _ in 0..<14 where connection.send(part) {}
            connections.append(connection)
        }
        rest(connections)
    },
    GatewayAttack(name: "gateway-values-in-bodies") { target in
        let body = "[" + String(repeating: "[],", count: mostValues) + "[]]"
        var connections: [RawConnection] = []
        for _ in 0..<40 { connections.append(contentsOf: try many(1, target, GatewayTarget.post("/rpc", body))) }
        rest(connections)
    },
    GatewayAttack(name: "gateway-equal-subscriptions") { target in
        let body = #"{"subscriptions":["# + (0..<256).map { _ in #"{"paths":["/**"]}"# }.joined(separator: ",") + "]}"
        rest(try many(100, target, GatewayTarget.post("/watch", body)))
    },
    GatewayAttack(name: "gateway-different-subscriptions") { target in
        var connections: [RawConnection] = []
        for page in 0..<20 {
            let list = (0..<256).map { #"{"paths":["/**"],"maxRate":\#(page * 256 + $0 + 1)}"# }
            let body = #"{"subscriptions":[\#(list.joined(separator: ","))]}"#
            connections += try many(1, target, GatewayTarget.post("/watch", body))
        }
        rest(connections)
    },
    GatewayAttack(name: "gateway-batches-of-gets") { target in
        rest(try many(20, target, GatewayTarget.post("/rpc", batch)))
    },
    GatewayAttack(name: "gateway-unread-answers") { target in
        rest(try many(1500, target, GatewayTarget.head("GET", "/value?path=/**")))
    },
    GatewayAttack(name: "gateway-unread-streams") { target in
        rest(try many(2500, target, GatewayTarget.head("GET", "/watch?path=/**")))
    },
    GatewayAttack(name: "gateway-unread-packed-streams") { target in
        let head = "GET /watch?path=/** HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip\r\n\r\n"
        rest(try many(2000, target, head))
    },
    // All become complete at the same moment.
    GatewayAttack(name: "gateway-bodies-that-end-together") { target in
        let body = "[" + String(repeating: "[],", count: mostValues) + "[]]"
        let text = GatewayTarget.post("/rpc", body)
        while true {
            let connections = try many(40, target, String(text.dropLast()))
            usleep(300_000)
            for connection in connections { connection.send("]") }
            usleep(500_000)
        }
    },
    GatewayAttack(name: "gateway-idle-connections") { target in
        var connections: [RawConnection] = []
        for _ in 0..<6000 { connections.append(try target.connect()) }
        rest(connections)
    },
    GatewayAttack(name: "gateway-slow-heads") { target in
        let connections = try many(3000, target, "GET /healthz HTTP/1.1\r\nHost: localhost\r\n")
        while true { for connection in connections { connection.send("X-A: b\r\n") } }
    },
    GatewayAttack(name: "gateway-closed-pages") { target in
        while true {
            for delay in [0, 0, 1000, 5000] as [UInt32] {
                let pages = try many(20, target, GatewayTarget.head("GET", "/watch?path=/page.x"))
                usleep(delay)
                withExtendedLifetime(pages) {}
            }
        }
    },
    GatewayAttack(name: "gateway-hello") { target in
        while true {
            let connection = try target.connect()
            connection.send(GatewayTarget.post("/rpc", #"{"id":1,"method":"hello","params":{"as":"nobody"}}"#))
            _ = connection.receive(within: 1)
        }
    },
]
