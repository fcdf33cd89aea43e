import AttributeValues

/// The members of a JSON-RPC request, found in one pass. Other members are ignored, as JSON-RPC requires.
struct Envelope: ~Copyable {
    private(set) var id: RequestID?
    private(set) var method: JSONElement?
    private(set) var parameters: JSONElement?
    /// The reason why this is not a request; nil if `method` can be called.
    private(set) var fault: Failure?

    // Names in the form of `shortName`.
    private static let (id, method) = (UInt64(name: "id"), UInt64(name: "method"))
    private static let (parameters, version) = (UInt64(name: "params"), UInt64(name: "jsonrpc"))

    init(_ message: JSONElement) {
        guard message.isObject else {
            fault = Failure(
                .invalid, "a request is an object", hint: "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}")
            return
        }
        var version: JSONElement?
        var writtenID: JSONElement?
        message.forEachMember { name, element in
            switch name.shortName {
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

extension UInt64 {
    /// A name of up to seven bytes as a word, with its length in the highest byte.
    fileprivate init(name: StaticString) {
        self = UInt64(name.utf8CodeUnitCount) << 56
        for place in 0..<name.utf8CodeUnitCount { self |= UInt64(name.utf8Start[place]) << UInt64(8 * place) }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// The same for a string of the parser; 0 for a longer one.
    @inline(__always)
    fileprivate var shortName: UInt64 {
        guard count < 8, let baseAddress else { return 0 }
        let word = UnsafeRawPointer(baseAddress).loadUnaligned(as: UInt64.self)
        return word & (1 &<< UInt64(count * 8) &- 1) | UInt64(count) << 56
    }

    /// True if these bytes equal the text.
    @inline(__always)
    func isText(_ text: StaticString) -> Bool {
        guard count == text.utf8CodeUnitCount else { return false }
        for place in 0..<count where self[place] != text.utf8Start[place] { return false }
        return true
    }
}
