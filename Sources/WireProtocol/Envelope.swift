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
        if let writtenID {
            id = RequestID(writtenID)
            if id == nil { fault = Failure(.invalid, "an id is a string, a number or null") }
        }
        if !(version?.stringBytes?.isText("2.0") ?? false) {
            fault = Failure(.invalid, "the member \"jsonrpc\" must be \"2.0\"")
        } else if method?.isString != true {
            fault = Failure(.invalid, "the member \"method\" must be a string")
        }
    }
}

extension RequestID {
    /// nil if JSON-RPC does not allow the element as an id.
    init?(_ element: JSONElement) {
        if let number = element.int {
            self = .int(number)
            return
        }
        if element.isObject || element.isArray { return nil }
        self.init(element.value)
    }

    init?(_ value: Value) {
        switch value {
        case .int(let number): self = .int(number)
        case .uint(let number): self = .uint(number)
        case .double(let number): self = .double(number)
        case .string(let text): self = .string(text)
        case .null: self = .null
        default: return nil
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// True if these bytes equal the text.
    @inline(__always)
    func isText(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        for place in 0..<count where self[place] != text.utf8Start[place] { return false }
        return true
    }
}
