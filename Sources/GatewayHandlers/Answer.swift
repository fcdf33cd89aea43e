import AttributeValues

/// The complete answer to a request. It is an error for code that needs a result of the daemon to go on.
struct Answer: Error {
    var status: Status
    var type = "application/json"
    var body: [UInt8]
    /// The rest of the answer, in parts. One large array would be copied.
    var rest: [[UInt8]] = []
    var headers: [(String, String)] = [("Cache-Control", "no-store")]
    /// Identifies the body, so that a client need not fetch a known one.
    var tag: String?
    /// The body, also the compressed one, is in memory anyway.
    var isStored = false
    /// The body in the format gzip. Otherwise the answer is compressed when it is written.
    var packed: [UInt8]?

    /// A weak tag, because it is that of the compressed body, too. The hash is FNV-1a of 64 bits.
    static func tag(of bytes: [UInt8]) -> String {
        let hash = bytes.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x0100_0000_01b3 }
        return "W/\"\(String(hash, radix: 36))\""
    }

    /// - Parameter header: the values of `If-None-Match`.
    func isKnown(_ header: [some StringProtocol]) -> Bool {
        guard let tag, status == .ok else { return false }
        return header.contains { $0 == "*" || $0 == tag || "W/" + $0 == tag }
    }

    /// Shorter bodies are sent as they are: they fit into one packet.
    static let shortestPacked = 1024
    /// Longer bodies are sent as they are: streams would wait for the compression.
    private static let longestPacked = 1 << 20

    /// True if the compressed body is worth its time.
    var isPackable: Bool {
        let isText = type.hasPrefix("text/") || type.hasPrefix("application/") || type.hasPrefix("image/svg")
        return packed != nil
            || isText && rest.isEmpty && body.count >= Answer.shortestPacked && body.count <= Answer.longestPacked
    }

    static func json(_ status: Status, _ value: Value) -> Answer {
        Answer(status: status, body: Array((value.jsonText + "\n").utf8))
    }

    static func refusal(_ status: Status, _ message: String, code: String? = nil, hint: String? = nil)
        -> Answer
    {
        var entries: [(Value, Value)] = []
        if let code { entries.append(("code", .string(code))) }
        entries.append(("message", .string(message)))
        if let hint { entries.append(("hint", .string(hint))) }
        return json(status, ["error": .map(ValueMap(entries))])
    }

    static func unavailable(_ reason: String) -> Answer { refusal(.serviceUnavailable, reason) }

    /// The daemon's refusal, with the corresponding HTTP status.
    static func refusal(_ error: Value) -> Answer {
        let data = error["data"]?.map
        let code = data?["code"]?.string ?? "invalid"
        let status: Status =
            switch code {
            case "notFound", "removed": .notFound
            case "denied": .forbidden
            case "limit", "unavailable": .serviceUnavailable
            case "conflict": .conflict
            default: .badRequest
            }
        return refusal(status, error["message"]?.string ?? "refused", code: code, hint: data?["hint"]?.string)
    }
}

extension Value {
    package subscript(_ key: String) -> Value? { map?[key] }
}
