import AttributeValues
import NIOHTTP1

/// The complete answer to a request.
struct Answer {
    var status: HTTPResponseStatus
    var type = "application/json"
    var body: [UInt8]
    var headers: [(String, String)] = [("Cache-Control", "no-store")]

    static func json(_ status: HTTPResponseStatus, _ value: Value) -> Answer {
        Answer(status: status, body: Array((value.jsonText + "\n").utf8))
    }

    static func refusal(_ status: HTTPResponseStatus, _ message: String, code: String? = nil, hint: String? = nil)
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
        let status: HTTPResponseStatus =
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
    subscript(_ key: String) -> Value? { map?[key] }
}
