/// The connection over which a request has come, and over which it is answered. One channel has one request.
///
/// No call of its methods calls the exchange, so the state of a caller does not change behind its back.
package protocol Channel: AnyObject {
    /// Begins and ends the answer. Called at most once, and not after `begin`.
    /// - Parameter body: in parts.
    func answer(_ status: Status, _ headers: [(String, String)], _ body: [[UInt8]])
    /// Begins an answer whose body comes in parts and has no end.
    func begin(_ headers: [(String, String)])
    /// Adds a part to the body.
    func write(_ bytes: [UInt8])
    /// False while the client does not read. The exchange is told when this changes.
    var isWritable: Bool { get }
    /// Bytes that wait for the client.
    var waiting: Int { get }
    /// The other end of the connection: an address, or a user of this machine.
    var peer: String { get }
    /// Closes the connection soon.
    func close()
}

/// The head of a request.
package struct RequestHead {
    package var method: String
    /// As it was sent: a path, and possibly a question mark and options. Empty if it is not text.
    package var target: String
    package var headers = Headers()

    package init(method: String, target: String, headers: Headers) {
        (self.method, self.target, self.headers) = (method, target, headers)
    }
}

/// The headers of a request. Their names are compared without case.
package struct Headers {
    private var entries: [(name: String, value: String)] = []

    package init(_ entries: [(String, String)] = []) {
        self.entries = entries.map { ($0.0.lowercased(), $0.1) }
    }

    package mutating func add(_ name: String, _ value: String) { entries.append((name.lowercased(), value)) }

    /// - Parameter name: in lower case.
    package func first(_ name: String) -> String? { entries.first { $0.name == name }?.value }

    package func count(of name: String) -> Int { entries.count { $0.name == name } }

    /// The parts between commas, of all headers with this name.
    package func list(_ name: String) -> [Substring] {
        entries.filter { $0.name == name }.flatMap { $0.value.split(separator: ",") }.map {
            $0.drop { $0 == " " || $0 == "\t" }
        }
    }

    /// The values of all headers with this name.
    package func all(_ name: String) -> [String] { entries.filter { $0.name == name }.map(\.value) }
}

/// A status of HTTP.
package enum Status: Int {
    case ok = 200
    case noContent = 204
    case seeOther = 303
    case notModified = 304
    case badRequest = 400
    case unauthorized = 401
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case conflict = 409
    case payloadTooLarge = 413
    case unsupportedMediaType = 415
    case misdirectedRequest = 421
    case serviceUnavailable = 503
}
