import AttributeValues
import WireProtocol

/// The daemon's answer to a request, as it was sent: an answer may be large, and most pages get it unchanged.
struct Reply {
    /// `"result":…}` or `"error":…}`
    let members: [UInt8]

    private static let begin = Array("{\"jsonrpc\":\"2.0\",\"id\":".utf8)

    /// - Returns: nil if the message is no answer to a request with a number, or the daemon writes it in another form.
    static func read(_ message: UnsafeBufferPointer<UInt8>) -> (id: Int64, reply: Reply)? {
        guard message.starts(with: begin), let end = message[begin.count...].firstIndex(of: UInt8(ascii: ",")),
            let id = Int64(String(decoding: message[begin.count..<end], as: UTF8.self))
        else { return nil }
        return (id, Reply(members: Array(message[(end + 1)...])))
    }

    init(members: [UInt8]) { self.members = members }

    /// A refusal in the form of the daemon's.
    init(_ failure: Failure, code: Int = RequestFault.refused) {
        var data = ValueMap([("code", .string(failure.code.rawValue))])
        data["hint"] = failure.hint.map { .string($0) }
        let error: Value = ["code": .int(Int64(code)), "message": .string(failure.message), "data": .map(data)]
        members = Array("\"error\":\(error.jsonText)}".utf8)
    }

    /// The message without its first members.
    var message: ValueMap {
        if let message = try? JSONParser.parseOnce(Array("{".utf8) + members).map { return message }
        return Reply(Failure(.unavailable, "the daemon's answer cannot be understood")).message
    }

    var isRefusal: Bool { members.starts(with: "\"error\"".utf8) }

    /// The message for a client that has sent another id.
    func bytes(id: Value) -> [UInt8] { Reply.begin + Array("\(id.jsonText),".utf8) + members }
}
