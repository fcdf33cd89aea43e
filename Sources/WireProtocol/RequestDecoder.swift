import AttributeValues

/// One call of a line, or why it is none.
public enum Call {
    /// `id` is nil for a notification.
    case request(id: RequestID?, Request)
    /// `id` is null where it could not be read, and nil for a notification, which is not answered even so.
    case fault(id: RequestID?, RequestFault)
}

/// What a line held.
public enum Framing: Equatable {
    /// White space only.
    case blank
    case single
    /// So many calls, whose replies are answered as one list (none, when all are notifications).
    case batch(Int)
}

/// Turns lines into calls. One per connection's loop: it reuses its parser and its tables.
public final class RequestDecoder {
    private let parser: JSONParser
    private let methods: [Method]
    private let parameters = Parameters()
    /// Calls that one batch may hold: each may be answered with an error longer than itself.
    public let maximumBatch: Int

    public static let defaultMaximumBatch = 1024

    /// - Parameter maximumDepth: how deeply a message may be nested, from 1.
    public init(maximumDepth: Int = JSONParser.defaultDepth, maximumBatch: Int = defaultMaximumBatch) {
        parser = JSONParser(maximumDepth: maximumDepth)
        methods = Method.table()
        self.maximumBatch = maximumBatch
    }

    /// Reads one line, without its newline, and hands its calls to `receive` in order.
    ///
    /// - Parameter isPadded: `JSONParser.padding` readable bytes stand behind the line, so it need not be copied.
    public func decode(
        _ line: UnsafeBufferPointer<UInt8>, isPadded: Bool = false, _ receive: (Call) -> Void
    ) -> Framing {
        if line.allSatisfy({ $0 == 0x20 || $0 == 0x0d || $0 == 0x09 }) { return .blank }
        let message: JSONElement
        do throws(Failure) {
            message = try parser.parse(line, isPadded: isPadded)
        } catch {
            receive(.fault(id: .null, RequestFault(code: RequestFault.parse, failure: error)))
            return .single
        }
        guard message.isArray else {
            receive(call(message))
            return .single
        }
        return decodeBatch(message, receive)
    }

    private func decodeBatch(_ batch: JSONElement, _ receive: (Call) -> Void) -> Framing {
        var count = 0
        batch.forEachElement { _ in count += 1 }
        guard count > 0, count <= maximumBatch else {
            let failure = count == 0
                ? Failure(.invalid, "a batch holds at least one call")
                : Failure(.limit, "a batch of \(count) calls; at most \(maximumBatch) are allowed")
            receive(.fault(id: .null, RequestFault(code: RequestFault.invalidRequest, failure: failure)))
            return .single
        }
        batch.forEachElement { receive(call($0)) }
        return .batch(count)
    }

    private func call(_ message: JSONElement) -> Call {
        let envelope = Envelope(message)
        let id = envelope.id
        do throws(RequestFault) {
            return .request(id: id, try request(envelope))
        } catch {
            return .fault(id: id ?? (envelope.fault == nil ? nil : .null), error)
        }
    }

    private func request(_ envelope: Envelope) throws(RequestFault) -> Request {
        if let fault = envelope.fault { throw RequestFault(code: RequestFault.invalidRequest, failure: fault) }
        guard let name = envelope.method?.stringBytes else { preconditionFailure("an envelope without fault has a method") }
        guard let method = methods.first(where: { $0.isNamed(name) }) else {
            throw RequestFault(code: RequestFault.methodNotFound, failure: unknown(name))
        }
        do throws(Failure) {
            try parameters.take(envelope.parameters, of: method)
            return try method.read(parameters)
        } catch {
            throw RequestFault(code: RequestFault.invalidParameters, failure: error)
        }
    }

    private func unknown(_ name: UnsafeBufferPointer<UInt8>) -> Failure {
        let name = String(decoding: name.prefix(Shape.maximumQuote), as: UTF8.self)
        return Failure(
            .notFound, "there is no method \"\(name)\"",
            hint: NearestName.hint(name, among: methods.map(\.name)) ?? "describe lists them")
    }
}

extension Method {
    fileprivate func isNamed(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        name.utf8.count == bytes.count && name.utf8.elementsEqual(bytes)
    }
}
