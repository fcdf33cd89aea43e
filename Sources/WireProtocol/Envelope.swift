import AttributeValues

/// The members of a JSON-RPC request, found in one pass. Other members are ignored, as JSON-RPC requires.
struct Envelope: ~Copyable {
    private(set) var id: RequestID?
    private(set) var method: JSONElement?
    private(set) var parameters: JSONElement?
    /// The reason why this is not a request; nil if `method` can be called.
    private(set) var fault: Failure?

    private static let (id, method) = (PackedName("id"), PackedName("method"))
    private static let (parameters, version) = (PackedName("params"), PackedName("jsonrpc"))

    init(_ message: JSONElement) {
        guard message.isObject else {
            fault = Failure(
                .invalid, "a request is an object", hint: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}")
            return
        }
        var version: JSONElement?
        var writtenID: JSONElement?
        message.forEachMember { name, element in
            switch PackedName(name) {
            case Envelope.id: writtenID = element
            case Envelope.method: method = element
            case Envelope.parameters: parameters = element
            case Envelope.version: version = element
            default: break
            }
        }
        if let given = writtenID?.value {
            if given.isRequestID {
                id = given
            } else {
                fault = Failure(.invalid, "an id is a string, a number or null")
            }
        }
        if !(version?.stringBytes?.isText("2.0") ?? false) {
            fault = Failure(.invalid, "the member \"jsonrpc\" must be \"2.0\"")
        } else if method?.isString != true {
            fault = Failure(.invalid, "the member \"method\" must be a string")
        }
    }
}

extension Value {
    /// True if JSON-RPC allows the value as the id of a request.
    var isRequestID: Bool {
        switch self {
        case .null, .int, .uint, .double, .string: true
        default: false
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// True if these bytes equal the text.
    @inline(__always)
    func isText(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        for position in 0..<count where self[position] != text.utf8Start[position] { return false }
        return true
    }
}
