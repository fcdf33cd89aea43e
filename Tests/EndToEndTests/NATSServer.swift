import AttributeValues
import Foundation
import TestSupport

/// A real NATS server with JetStream, on a free port of this machine.
final class NATSServer {
    static let path = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    let address: String
    let folder: Folder
    let port: UInt16
    private let configuration: String?
    private let hasJetStream: Bool
    private(set) var program: Program

    /// - Parameters:
    ///   - configuration: the text of a file for the server.
    ///   - folder: for the server's files.
    ///   - jetStream: whether it has streams.
    init(_ configuration: String? = nil, folder: Folder? = nil, jetStream: Bool = true) throws {
        hasJetStream = jetStream
        self.folder = try folder ?? Folder()
        port = try TCP.freePort()
        address = "nats://127.0.0.1:\(port)"
        self.configuration = try configuration.map { [folder = self.folder] in
            try folder.write($0, to: "nats.conf")
        }
        program = try NATSServer.start(self.folder, port, self.configuration, jetStream)
    }

    /// Starts it again with the files that it had.
    /// - Parameter jetStream: nil as before.
    func restart(jetStream: Bool? = nil) throws {
        program = try NATSServer.start(folder, port, configuration, jetStream ?? hasJetStream)
    }

    private static func start(
        _ folder: Folder, _ port: UInt16, _ configuration: String?, _ hasJetStream: Bool
    ) throws -> Program {
        let file = configuration.map { ["-c", $0] } ?? []
        let streams = hasJetStream ? ["-js", "-sd", folder.file("js")] : []
        return try Program(
            path ?? "", file + streams + ["-a", "127.0.0.1", "-p", "\(port)"], folder: folder)
    }
}

/// A client of a NATS server that sends what it likes.
final class NATSClient {
    private let socket: Descriptor
    private var input: [UInt8] = []
    private var inboxes = 0
    /// The texts of messages to its subscriptions, other than answers.
    private(set) var heard: [String] = []

    /// - Parameter options: JSON members of the request to connect, as `"user":"mirror","pass":"change-me"`.
    init(_ server: NATSServer, _ options: String = "") throws {
        socket = try TCP.connect(port: server.port)
        let more = options.isEmpty ? "" : "," + options
        try send("CONNECT {\"verbose\":false,\"pedantic\":false,\"headers\":true\(more)}\r\nPING\r\n")
        while try line() != "PONG" {}
    }

    private func send(_ text: String) throws { try send(Array(text.utf8)) }

    private func send(_ bytes: [UInt8]) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(socket.number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { throw Trouble(call: "send to NATS") }
            rest = rest.dropFirst(count)
        }
    }

    private func fill() throws {
        guard socket.isReadable(within: Deadline.patience) else { throw Trouble("NATS does not answer") }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(socket.number, &buffer, buffer.count, 0)
        guard count > 0 else { throw Trouble("NATS has closed the connection") }
        input += buffer[..<count]
    }

    private func line() throws -> String {
        while true {
            if let end = input.firstIndex(of: 10) {
                let text = String(decoding: input[..<end], as: UTF8.self).trimmingCharacters(in: .whitespaces)
                input.removeFirst(end + 1)
                return text.trimmingCharacters(in: .newlines)
            }
            try fill()
        }
    }

    private func bytes(_ count: Int) throws -> [UInt8] {
        while input.count < count { try fill() }
        defer { input.removeFirst(count) }
        return Array(input[..<count])
    }

    func publish(_ subject: String, _ text: String, header: String? = nil, replyTo reply: String = "") throws {
        let body = Array(text.utf8)
        if let header {
            let head = "NATS/1.0\r\n\(header)\r\n\r\n"
            try send("HPUB \(subject) \(reply) \(head.utf8.count) \(head.utf8.count + body.count)\r\n\(head)")
        } else {
            try send("PUB \(subject) \(reply) \(body.count)\r\n")
        }
        try send(body + [13, 10])
    }

    func subscribe(_ subject: String) throws {
        inboxes += 1
        try send("SUB \(subject) \(inboxes)\r\n")
    }

    /// Waits until the server has read everything, and takes what it has sent.
    func ping() throws {
        try send("PING\r\n")
        while try takeMessage(until: "PONG") != nil {}
    }

    /// - Returns: nil after a line that begins with `end`.
    private func takeMessage(until end: String) throws -> (number: Int, text: String)? {
        while true {
            let line = try line()
            if line.hasPrefix(end) { return nil }
            if line == "PING" { try send("PONG\r\n") }
            let words = line.split(separator: " ")
            guard let length = words.last.flatMap({ Int($0) }), words[0] == "MSG" || words[0] == "HMSG" else {
                continue
            }
            let whole = try bytes(length + 2).dropLast(2)
            let head = words[0] == "HMSG" ? Int(words[words.count - 2]) ?? 0 : 0
            let text = String(decoding: whole.dropFirst(head), as: UTF8.self)
            if !words[1].hasPrefix("_INBOX.test.") { heard.append(text) }
            return (Int(words[2]) ?? 0, text)
        }
    }

    /// - Returns: the answer; an error of the server begins with `-ERR`.
    func request(_ subject: String, _ text: String = "", header: String? = nil) throws -> String {
        let inbox = "_INBOX.test.\(getpid()).\(inboxes + 1)"
        try subscribe(inbox)
        let number = inboxes
        try publish(subject, text, header: header, replyTo: inbox)
        while let (of, text) = try takeMessage(until: "-ERR") { if of == number { return text } }
        return "-ERR"
    }
}

/// All values and the structure of a site, in a form that does not name its root.
struct SiteImage: Equatable {
    private static let own = ["isLive", "lag", "term", "revision", "seen", "failures", "owner"].map { "." + $0 }
    private var values: [String: Value] = [:]
    private var nodes: [String] = []

    init(_ client: Client, _ root: String) throws {
        let result = try client.call("get", ["paths": [.string(root + "/**")], "typed": true])
        for (path, content) in result["values"]?.map ?? ValueMap() {
            let name = String((path.string ?? "").dropFirst(root.count))
            // A mirror has null in place of an error.
            if !SiteImage.own.contains(name) { values[name] = content["value"] ?? ["null": .null] }
        }
        var open = [(path: "", description: try client.call("describe", ["path": .string(root)]))]
        while let (path, description) = open.popLast() {
            nodes.append(path)
            for child in description["children"]?.list ?? [] {
                open.append((path + "/" + (child["id"]?.string ?? ""), child))
            }
        }
    }

    func differences(_ other: SiteImage) -> String {
        let paths = Set(values.keys).union(other.values.keys).filter { values[$0] != other.values[$0] }.sorted()
        let lines = paths.prefix(5).map { path in
            let texts = [values[path], other.values[path]].map {
                $0.map { String($0.jsonText.prefix(60)) } ?? "nothing"
            }
            return "\(path): \(texts[0]) ≠ \(texts[1])"
        }
        return (lines + (nodes == other.nodes ? [] : ["\(nodes) ≠ \(other.nodes)"])).joined(separator: "; ")
    }
}
