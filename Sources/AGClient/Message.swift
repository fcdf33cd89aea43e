public import AttributeValues
public import WireProtocol

public enum Message {
    /// `id` is nil if the daemon could not read the request's id.
    case reply(id: Int64?, Reply)
    case event(subscription: Int64, Event)
}

/// The answer to a request.
public enum Reply {
    case result(Value)
    case fault(RequestFault)

    /// - Throws: `refused`.
    public func get() throws(ClientError) -> Value {
        switch self {
        case .result(let value): return value
        case .fault(let fault): throw .refused(fault)
        }
    }
}

/// A message as it arrived, without its newline: bytes that can be passed between threads and are decoded later.
public struct EncodedMessage: Sendable {
    public let bytes: [UInt8]

    init(_ line: UnsafeBufferPointer<UInt8>) { bytes = Array(line) }
}

/// The parts of an event that a subscription needs for its position.
struct EventSummary: Equatable {
    var method: String
    var revision: UInt64?
    var isInitial: Bool
    /// The reason of an `ended` event.
    var reason: String?
}

/// Decodes messages from the daemon. It reuses a parser, so only one thread may use it at a time.
public final class MessageDecoder {
    /// Large, because a deep tree is described as a deeply nested object.
    private static let maximumDepth = 2048
    private let parser = JSONParser(maximumDepth: MessageDecoder.maximumDepth)

    public init() {}

    /// - Parameter typed: true if values of attributes are typed JSON.
    /// - Throws: `malformed`.
    public func decode(_ message: EncodedMessage, typed: Bool = false) throws(ClientError) -> Message {
        try message.bytes.withUnsafeBufferPointer { line throws(ClientError) in
            try decode(line, isPadded: false, typed: typed)
        }
    }

    /// - Parameter read: makes the value of a result.
    func decode(
        _ line: UnsafeBufferPointer<UInt8>, isPadded: Bool, typed: Bool,
        _ read: (JSONElement) throws(ClientError) -> Value = { $0.value }
    ) throws(ClientError) -> Message {
        let message = try parse(line, isPadded)
        if let method = message["method"]?.string {
            guard let parameters = message["params"], let subscription = parameters["subscription"]?.int else {
                throw .malformed("the event \(method) names no subscription")
            }
            return .event(subscription: subscription, try Event(method, parameters, typed))
        }
        let id = message["id"]?.int
        if let fault = message["error"] { return .reply(id: id, .fault(RequestFault(fault))) }
        guard let result = message["result"] else { throw .malformed("neither a reply nor an event") }
        return .reply(id: id, .result(try read(result)))
    }

    /// - Returns: nil for a reply.
    func summarize(_ line: UnsafeBufferPointer<UInt8>) throws(ClientError) -> EventSummary? {
        let message = try parse(line, true)
        guard let method = message["method"]?.string else { return nil }
        let parameters = message["params"]
        return EventSummary(
            method: method, revision: parameters?["revision"]?.int.flatMap { UInt64(exactly: $0) },
            isInitial: parameters?["initial"]?.bool ?? false, reason: parameters?["reason"]?.string)
    }

    private func parse(_ line: UnsafeBufferPointer<UInt8>, _ isPadded: Bool) throws(ClientError) -> JSONElement {
        do { return try parser.parse(line, isPadded: isPadded) } catch { throw .malformed(error.message) }
    }
}

extension Event {
    init(_ method: String, _ parameters: JSONElement, _ typed: Bool) throws(ClientError) {
        func text(_ name: StaticString) -> String { parameters[name]?.string ?? "" }
        func number(_ name: StaticString) -> UInt64? { parameters[name]?.int.flatMap { UInt64(exactly: $0) } }
        func texts(_ name: StaticString) -> [String] {
            var texts: [String] = []
            parameters[name]?.forEachElement { if let text = $0.string { texts.append(text) } }
            return texts
        }
        let revision = number("revision") ?? 0
        switch method {
        case "update":
            var changes: [Change] = []
            try parameters["changes"]?.forEachElement { (change) throws(ClientError) in
                changes.append(
                    Change(
                        path: change["path"]?.string ?? "", content: try Content(change, typed: typed),
                        timeline: change["timeline"]?.value.map, reported: change["reported"]?.number))
            }
            self = .update(
                revision: revision, from: number("from"), label: parameters["label"]?.string,
                writer: parameters["writer"]?.string,
                isInitial: parameters["initial"]?.bool ?? false, changes: changes, typed: typed)
        case "invalidate": self = .invalidate(revision: revision, paths: texts("paths"))
        case "structure":
            self = .structure(
                revision: revision, added: texts("added"), removed: texts("removed"), moved: texts("moved"),
                details: StructureDetails(
                    timeline: parameters["timeline"]?.value.map,
                    transitions: parameters["transitions"]?.value.map ?? ValueMap(),
                    shown: parameters["shown"]?.value.map ?? ValueMap()))
        case "frames":
            var values: [(path: String, value: Value)] = []
            parameters["values"]?.forEachMember { name, value in
                values.append((String(decoding: name, as: UTF8.self), value.value))
            }
            self = .frames(time: parameters["time"]?.number ?? 0, values: values)
        case "completion":
            self = .completion(
                revision: revision, transaction: number("transaction") ?? 0, phase: text("phase"), paths: texts("paths")
            )
        case "bookmark": self = .bookmark(epoch: text("epoch"), revision: revision)
        case "forward":
            self = .forward(
                number: parameters["forward"]?.int ?? 0, method: text("call"),
                parameters: parameters["arguments"]?.value.map ?? ValueMap(),
                principal: parameters["principal"]?.string, user: UInt32(clamping: parameters["user"]?.int ?? 0))
        case "ended": self = .ended(ErrorCode(rawValue: text("code")) ?? .removed, reason: text("reason"))
        default: throw .malformed("an event of the unknown kind \(method)")
        }
    }
}

extension Content {
    /// Reads `{value}` or `{error}`, as in replies and events.
    public init(_ element: JSONElement, typed: Bool = false) throws(ClientError) {
        if let failure = element["error"] {
            self = .failure(Failure(failure.value.map ?? ValueMap()))
            return
        }
        guard let value = element["value"]?.value else { throw .malformed("neither value nor error") }
        self = .value(try Value.read(value, typed: typed))
    }

    /// Reads the same from a decoded result.
    public init(result: Value, typed: Bool = false) throws(ClientError) {
        guard let map = result.map else { throw .malformed("a result that is no object") }
        if let error = map["error"]?.map {
            self = .failure(Failure(error))
        } else if let value = map["value"] {
            self = .value(try Value.read(value, typed: typed))
        } else {
            throw .malformed("neither value nor error")
        }
    }
}

extension Value {
    static func read(_ value: Value, typed: Bool) throws(ClientError) -> Value {
        guard typed else { return value }
        do { return try Value(typedJSON: value) } catch { throw .malformed(error.message) }
    }
}

extension RequestFault {
    init(_ error: JSONElement) {
        let code = Int(clamping: error["code"]?.int ?? Int64(RequestFault.refused))
        let message = error["message"]?.string ?? ""
        self.init(code: code, failure: Failure(error["data"]?.value.map ?? ValueMap(), message: message))
    }
}
