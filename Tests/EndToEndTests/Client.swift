import AttributeValues
import Foundation
import TestSupport

/// A client that speaks the bare protocol: lines out, lines in. Reads only when it is asked to.
final class Client {
    let socket: Descriptor
    private var received: [UInt8] = []
    private var searched = 0
    private var nextID: Int64 = 1
    /// Notifications that came while a reply was waited for.
    private var events: [Value] = []

    init(_ path: String) throws { socket = try Descriptor(UnixSocket.connect(path), "connect") }

    /// Over a connection that is there already.
    init(socket: Descriptor) { self.socket = socket }

    // MARK: Lines

    func send(_ text: String) throws { try send(bytes: Array((text + "\n").utf8)) }

    /// Blocks until everything is taken.
    func send(bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes {
                Glibc.send(socket.number, $0.baseAddress.map { $0 + sent }, bytes.count - sent, Int32(MSG_NOSIGNAL))
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw Trouble("send: \(String(cString: strerror(errno)))") }
            sent += count
        }
    }

    /// A whole line that has come; nil if there is none in time.
    func lineIfThere(within seconds: Double) throws -> String? {
        if let line = receivedLine() { return line }
        return socket.isReadable(within: seconds) ? try line() : nil
    }

    private func receivedLine() -> String? {
        guard let end = received[searched...].firstIndex(of: UInt8(ascii: "\n")) else {
            searched = received.count
            return nil
        }
        let line = String(decoding: received[..<end], as: UTF8.self)
        received.removeSubrange(...end)
        searched = 0
        return line
    }

    /// The next line; nil when the daemon has closed the connection.
    func line(within seconds: Double = Deadline.patience) throws -> String? {
        let deadline = Deadline(seconds)
        while true {
            if let line = receivedLine() { return line }
            guard socket.isReadable(within: deadline.seconds) else { throw Trouble("no line within \(seconds) s") }
            var buffer = [UInt8](repeating: 0, count: 1 << 16)
            let count = recv(socket.number, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return nil }
            received.append(contentsOf: buffer[..<count])
        }
    }

    /// The next line as JSON.
    func message(within seconds: Double = Deadline.patience) throws -> Value {
        guard let line = try line(within: seconds) else { throw Trouble("the daemon closed the connection") }
        return try withExtendedLifetime(JSONParser(maximumDepth: 1024)) { parser in
            try Array(line.utf8).withUnsafeBufferPointer { try parser.parse($0).value }
        }
    }

    // MARK: Calls

    /// Sends a request and returns the whole reply. Events that come before it are kept for `event`.
    @discardableResult
    func reply(_ method: String, _ parameters: Value = [:]) throws -> Value {
        let id = nextID
        nextID += 1
        let request: Value = ["jsonrpc": "2.0", "id": .int(id), "method": .string(method), "params": parameters]
        try send(request.jsonText)
        while true {
            let message = try message()
            if message["method"] != nil {
                events.append(message)
            } else {
                guard message["id"] == .int(id) else { throw Trouble("a reply to something else: \(message)") }
                return message
            }
        }
    }

    /// The result of a request that must succeed.
    @discardableResult
    func call(_ method: String, _ parameters: Value = [:]) throws -> Value {
        let reply = try reply(method, parameters)
        guard let result = reply["result"] else { throw Trouble("\(method) was refused: \(reply)") }
        return result
    }

    /// The error of a request that must be refused.
    func refusal(_ method: String, _ parameters: Value = [:]) throws -> Value {
        let reply = try reply(method, parameters)
        guard let error = reply["error"] else { throw Trouble("\(method) was not refused: \(reply)") }
        return error
    }

    /// The parameters of the next notification of a method.
    func event(_ method: String = "update", within seconds: Double = Deadline.patience) throws -> Value {
        let deadline = Deadline(seconds)
        while true {
            if let position = events.firstIndex(where: { $0["method"] == .string(method) }) {
                return events.remove(at: position)["params"] ?? .null
            }
            let message = try message(within: deadline.seconds)
            guard message["method"] != nil else { throw Trouble("a reply nobody asked for: \(message)") }
            events.append(message)
        }
    }

    /// Goes on until an update brings a path to something that `isWanted`.
    /// - Returns: the value that was wanted.
    func value(
        of path: String, within seconds: Double = Deadline.patience, where isWanted: (Value) -> Bool
    ) throws -> Value {
        let deadline = Deadline(seconds)
        var last: Value?
        while !deadline.isOver {
            let update = try event(within: deadline.seconds)
            for change in update["changes"]?.list ?? [] where change["path"] == .string(path) {
                guard let value = change["value"] else { continue }
                last = value
                if isWanted(value) { return value }
            }
        }
        throw Trouble("\(path) stayed at \(last.map(\.description) ?? "nothing")")
    }

    func get(_ path: String) throws -> Value? { try call("get", ["path": .string(path)])["value"] }

    @discardableResult
    func set(_ path: String, _ value: Value) throws -> Value {
        try call("set", ["path": .string(path), "value": value])
    }
}

extension Value {
    subscript(_ key: String) -> Value? { map?[key] }
    subscript(_ index: Int) -> Value? {
        guard let list, list.indices.contains(index) else { return nil }
        return list[index]
    }
    var int: Int64? { if case .int(let number) = self { number } else { nil } }
    var keys: [String] { map?.keys.compactMap(\.string) ?? [] }
}
