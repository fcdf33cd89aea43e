import TestSupport
import Testing

/// Tests that ask a gateway over HTTP.
protocol GatewayTest {
    var port: UInt16 { get }
}

extension GatewayTest {
    /// Starts a gateway of a daemon, with the dashboard, on a free port.
    static func start(_ daemon: Daemon, _ options: [String]) throws -> (gateway: Program, port: UInt16) {
        let (ours, theirs) = try Descriptor.pair()
        let arguments = ["--socket", daemon.socket, "--port", "0", "--pages", Project.file("dashboard")] + options
        let gateway = try Program("agd-gateway", arguments, folder: daemon.folder, standardOutput: theirs)
        let line = try Client(socket: ours).line() ?? ""
        return (gateway, try #require(line.split(separator: ":").last.flatMap { UInt16($0) }))
    }

    /// - Parameter host: nil: the gateway's own name.
    func ask(
        _ target: String, method: String = "GET", host: String? = nil, headers: [String] = [], body: String = ""
    ) throws -> Client {
        let connection = Client(socket: try TCP.connect(port: port))
        let length = body.isEmpty ? [] : ["Content-Length: \(body.utf8.count)"]
        let host = host ?? "localhost:\(port)"
        let lines = ["\(method) \(target) HTTP/1.1", "Host: \(host)", "Connection: close"] + length + headers
        // The client ends what it sends with a line feed.
        try connection.send(lines.joined(separator: "\r\n") + "\r\n\r" + (body.isEmpty ? "" : "\n" + body))
        return connection
    }

    /// The whole answer, head and all, in lines.
    func lines(
        _ target: String, method: String = "GET", host: String? = nil, headers: [String] = [], body: String = ""
    ) throws -> [String] {
        let connection = try ask(target, method: method, host: host, headers: headers, body: body)
        var lines: [String] = []
        while let line = try connection.line() { lines.append(line.filter { $0 != "\r" && $0 != "\r\n" }) }
        return lines
    }
}
