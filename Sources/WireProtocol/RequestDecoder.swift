import AttributeValues

/// The parts of a line.
public enum Incoming {
    /// A call; `id` is nil for a notification.
    case call(id: RequestID?, Request)
    /// An invalid call and its fault. `id` is null if the daemon could not read it. It is nil for a notification, which
    /// gets no answer even then.
    case fault(id: RequestID?, RequestFault)
    /// One list answers the calls and faults up to `batchEnds`. If all are notifications, there is no answer.
    case batchBegins(count: Int)
    case batchEnds
}

/// Decodes lines into calls. One decoder serves all connections of a loop: it reuses its parser and its tables.
public final class RequestDecoder {
    private let parser: JSONParser
    private let readers: [CallReader]
    private let parameters = Parameters()
    /// Maximum number of calls in a batch: the error for a call may be longer than the call.
    public let maximumBatch: Int
    /// Maximum number of values in a message; the keys of objects count too. It bounds the time of reading a message.
    public let maximumValues: Int

    public static let defaultMaximumBatch = 1024
    public static let defaultMaximumValues = 500_000
    /// After a message of more bytes, the parser's memory is released.
    private static let keptLength = 1 << 20

    /// - Parameter maximumDepth: maximum nesting of a message, from 1.
    public init(
        maximumDepth: Int = JSONParser.defaultDepth, maximumBatch: Int = defaultMaximumBatch,
        maximumValues: Int = defaultMaximumValues
    ) {
        self.maximumValues = maximumValues
        parser = JSONParser(maximumDepth: maximumDepth)
        readers = (Method.table() + [Method.discover]).map(CallReader.init)
        self.maximumBatch = maximumBatch
    }

    /// Drops the cached paths of earlier calls.
    public func giveBack() { parameters.paths.removeAll() }

    /// Reads one line without its newline and calls `receive` with its parts in order. A blank line has no parts.
    ///
    /// - Parameter isPadded: true if `JSONParser.padding` readable bytes follow the line, so that it need not be
    ///   copied.
    public func decode(_ line: UnsafeBufferPointer<UInt8>, isPadded: Bool = false, _ receive: (Incoming) -> Void) {
        if isPadded, let call = plainSet(line) { return receive(call) }
        if !line.contains(where: { $0 != 0x20 && $0 != 0x0d && $0 != 0x09 }) { return }
        defer { if line.count > RequestDecoder.keptLength { parser.releaseMemory() } }
        let message: JSONElement
        do throws(Failure) {
            // A value takes at least two bytes, so most messages need no count.
            if line.count / 2 > maximumValues, parser.valueCount(line) > maximumValues {
                throw Failure(
                    .limit, "a message of more than \(maximumValues) values",
                    hint: "send less at once, a document as a text; the setting message-values is the limit")
            }
            message = try parser.parse(line, isPadded: isPadded)
        } catch { return receive(unparsed(line, error)) }
        message.isArray ? decodeBatch(message, receive) : receive(call(message))
    }

    /// Reads the most common line (decision 162).
    /// - Returns: nil if the line has another form, names a path for the first time, or has a fault.
    private func plainSet(_ line: UnsafeBufferPointer<UInt8>) -> Incoming? {
        // A value of so few bytes is not nested too deep in the line.
        guard let call = PlainSet(line), call.value.count <= 2 * (parser.maximumDepth - 2),
            line.count / 2 <= maximumValues, let path = parameters.paths.known(call.path), path.isPlain,
            let value = PlainJSON.value(call.value) ?? (try? parser.parse(call.value, isPadded: true).value)
        else { return nil }
        let mutation = Mutation(operation: .set, target: path, value: value)
        return .call(id: .int(call.id), .set(mutation, TransactionOptions()))
    }

    /// The fault for a line that cannot be read as a whole. If the line is a single JSON message, the fault has its id.
    /// The ids of a batch cannot be assigned.
    private func unparsed(_ line: UnsafeBufferPointer<UInt8>, _ failure: Failure) -> Incoming {
        guard failure.code == .limit else {
            return .fault(id: .null, RequestFault(code: RequestFault.parse, failure: failure))
        }
        let isBatch = line.first { $0 != 0x20 && $0 != 0x09 } == UInt8(ascii: "[")
        let id = isBatch ? nil : JSONText.scalar("id", in: line).flatMap { try? JSONParser.parseOnce($0) }
        return .fault(
            id: id?.isRequestID == true ? id : .null, RequestFault(code: RequestFault.invalidRequest, failure: failure))
    }

    private func decodeBatch(_ batch: JSONElement, _ receive: (Incoming) -> Void) {
        var count = 0
        batch.forEachElement { _ in count += 1 }
        guard count > 0, count <= maximumBatch else {
            let failure =
                count == 0
                ? Failure(.invalid, "a batch has at least one call")
                : Failure(.limit, "a batch of \(count) calls; at most \(maximumBatch) are allowed")
            return receive(.fault(id: .null, RequestFault(code: RequestFault.invalidRequest, failure: failure)))
        }
        receive(.batchBegins(count: count))
        batch.forEachElement { receive(call($0)) }
        receive(.batchEnds)
    }

    private func call(_ message: JSONElement) -> Incoming {
        let envelope = Envelope(message)
        let id = envelope.id
        do throws(RequestFault) { return .call(id: id, try request(envelope)) } catch {
            return .fault(id: id ?? (envelope.fault == nil ? nil : .null), error)
        }
    }

    private func request(_ envelope: borrowing Envelope) throws(RequestFault) -> Request {
        if let fault = envelope.fault { throw RequestFault(code: RequestFault.invalidRequest, failure: fault) }
        guard let name = envelope.method?.stringBytes else {
            preconditionFailure("an envelope without fault has a method")
        }
        let packed = PackedName(name)
        guard let reader = readers.first(where: { $0.name == packed }) else {
            throw RequestFault(code: RequestFault.methodNotFound, failure: unknown(name))
        }
        do throws(Failure) {
            return try parameters.request(envelope.parameters, for: reader)
        } catch {
            throw RequestFault(code: RequestFault.invalidParameters, failure: error)
        }
    }

    private func unknown(_ name: UnsafeBufferPointer<UInt8>) -> Failure {
        let name = String(decoding: name.prefix(Shape.maximumQuote), as: UTF8.self)
        return Failure(
            .notFound, "there is no method \"\(name)\"",
            hint: NearestName.hint(name, among: readers.map(\.method.name)) ?? "describe lists them")
    }
}
