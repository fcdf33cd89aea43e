import AttributeValues
import WireProtocol

/// What a line held, for comparison.
enum Piece: Equatable {
    case call(String?, String)
    case fault(String?, Int, ErrorCode)
    case batchBegins(Int)
    case batchEnds
}

/// Reads one line and says what it held; requests by their method, ids as JSON text.
func pieces(_ line: String, _ decoder: RequestDecoder = RequestDecoder()) -> [Piece] {
    incoming(line, decoder).map { incoming in
        switch incoming {
        case .call(let id, let request): .call(id.map(text), name(of: request))
        case .fault(let id, let fault): .fault(id.map(text), fault.code, fault.failure.code)
        case .batchBegins(let count): .batchBegins(count)
        case .batchEnds: .batchEnds
        }
    }
}

func incoming(_ line: String, _ decoder: RequestDecoder = RequestDecoder()) -> [Incoming] {
    var found: [Incoming] = []
    Array(line.utf8).withUnsafeBufferPointer { bytes in decoder.decode(bytes) { found.append($0) } }
    return found
}

/// The request of a method with these parameters, as JSON text.
func request(_ method: String, _ parameters: String) throws -> Request {
    guard
        case .call(_, let request)? = incoming(
            #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(parameters)}"#
        ).first
    else { throw Unexpected("a request of \(method) \(parameters)") }
    return request
}

/// Why a method refuses these parameters.
func fault(_ method: String, _ parameters: String) throws -> RequestFault {
    guard
        case .fault(_, let fault)? = incoming(
            #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(parameters)}"#
        ).first
    else { throw Unexpected("a fault of \(method) \(parameters)") }
    return fault
}

struct Unexpected: Error {
    var wanted: String
    init(_ wanted: String) { self.wanted = wanted }
}

private func text(_ id: RequestID) -> String {
    let buffer = ByteBuffer()
    buffer.appendReply(.value(.null), to: id)
    return String(buffer.text.dropFirst(#"{"jsonrpc":"2.0","id":"#.count).dropLast(#","result":null}"#.count))
}

private func name(of request: Request) -> String {
    String("\(request)".prefix { $0 != "(" })
}
