import AttributeValues
import Testing
import WireProtocol

@Suite("Lines into requests")
struct RequestDecoderTests {
    @Test(
        "an id comes back as it was written",
        arguments: [
            "1", "-7", "18446744073709551615", "1.5", "\"a \\\"b\\\"\"", "null",
        ])
    func ids(id: String) {
        #expect(pieces(#"{"jsonrpc":"2.0","id":\#(id),"method":"ping"}"#) == [.call(id, "ping")])
    }

    @Test("a request without id is a notification, even with a fault in it") func notifications() {
        #expect(pieces(#"{"jsonrpc":"2.0","method":"ping"}"#) == [.call(nil, "ping")])
        #expect(pieces(#"{"jsonrpc":"2.0","method":"pong"}"#) == [.fault(nil, -32601, .notFound)])
        #expect(pieces(#"{"jsonrpc":"2.0","method":"set","params":{}}"#) == [.fault(nil, -32602, .invalid)])
    }

    @Test(
        "lines that are not JSON, no request, or of no known method have their own codes",
        arguments: [
            ("", []), (" \t\r", []),
            ("nonsense", [.fault("null", -32700, .invalid)]),
            (#"{"jsonrpc":"2.0","id":1,"method":"ping""#, [.fault("null", -32700, .invalid)]),
            (#"{"jsonrpc":"2.0","id":1,"method":"ping"} {}"#, [.fault("null", -32700, .invalid)]),
            ("\"\u{0}\"", [.fault("null", -32700, .invalid)]),
            ("17", [.fault("null", -32600, .invalid)]),
            (#"{"id":1,"method":"ping"}"#, [.fault("1", -32600, .invalid)]),
            (#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, [.fault("1", -32600, .invalid)]),
            (#"{"jsonrpc":"2.0","id":1}"#, [.fault("1", -32600, .invalid)]),
            (#"{"jsonrpc":"2.0","id":1,"method":5}"#, [.fault("1", -32600, .invalid)]),
            (#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, [.fault("null", -32600, .invalid)]),
            (#"{"jsonrpc":"2.0","id":1,"method":"sett"}"#, [.fault("1", -32601, .notFound)]),
        ] as [(String, [Piece])])
    func malformed(line: String, expected: [Piece]) {
        #expect(pieces(line) == expected)
    }

    @Test("an unknown method is answered with the nearest one") func nearMethod() throws {
        #expect(try fault("sett", "{}").failure.hint?.contains("set") == true)
        #expect(try fault("subscrbe", "{}").failure.hint?.contains("subscribe") == true)
    }

    @Test("a batch is framed; each of its calls stands or falls alone") func batches() {
        let line =
            #"[{"jsonrpc":"2.0","id":1,"method":"ping"},7,{"jsonrpc":"2.0","method":"ping"},{"jsonrpc":"2.0","id":2,"method":"no"}]"#
        #expect(
            pieces(line) == [
                .batchBegins(4), .call("1", "ping"), .fault("null", -32600, .invalid), .call(nil, "ping"),
                .fault("2", -32601, .notFound), .batchEnds,
            ])
    }

    @Test("an empty batch and one beyond the limit are refused as one") func batchLimits() {
        #expect(pieces("[]") == [.fault("null", -32600, .invalid)])
        let decoder = RequestDecoder(maximumBatch: 3)
        #expect(pieces("[1,1,1]", decoder).count == 5)
        #expect(pieces("[1,1,1,1]", decoder) == [.fault("null", -32600, .limit)])
    }

    @Test("a message of more values than the limit is refused under its id, and a text of any length is one value")
    func values() {
        let decoder = RequestDecoder(maximumValues: 1000)
        func set(_ value: String) -> String {
            #"{"jsonrpc":"2.0","id":1,"method":"set","params":{"path":"/a.b","value":\#(value)}}"#
        }
        func list(_ count: Int) -> String { "[" + Array(repeating: "1", count: count).joined(separator: ",") + "]" }
        func map(_ count: Int) -> String { "{" + (0..<count).map { #""k\#($0)":1"# }.joined(separator: ",") + "}" }
        #expect(pieces(set(list(900)), decoder) == [.call("1", "set")])
        #expect(pieces(set(list(1100)), decoder) == [.fault("1", -32600, .limit)])
        #expect(pieces(set(map(450)), decoder) == [.call("1", "set")])
        #expect(pieces(set(map(600)), decoder) == [.fault("1", -32600, .limit)])
        #expect(pieces(set("\"" + String(repeating: "[1,{:", count: 5000) + "\""), decoder) == [.call("1", "set")])
        #expect(pieces(set(list(900)), decoder) == [.call("1", "set")])
    }

    @Test("nesting ends where the limit says, and the next line is read") func depth() {
        let decoder = RequestDecoder(maximumDepth: 16)
        func nested(_ depth: Int) -> String {
            let value = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
            return #"{"jsonrpc":"2.0","id":1,"method":"set","params":{"path":"/a.b","value":\#(value)}}"#
        }
        #expect(pieces(nested(12), decoder) == [.call("1", "set")])
        #expect(pieces(nested(17), decoder) == [.fault("1", -32600, .limit)])
        #expect(pieces(nested(100_000), decoder) == [.fault("1", -32600, .limit)])
        #expect(pieces(nested(1), decoder) == [.call("1", "set")])
    }

    @Test(
        "a number out of range is refused under the request's id, wherever that stands",
        arguments: [
            (#"{"jsonrpc":"2.0","id":7,"method":"set","params":{"path":"/a.b","value":1e999}}"#, "7"),
            (
                #"{"params":{"id":3,"value":[99999999999999999999]},"id": "a\"b" ,"method":"set","jsonrpc":"2.0"}"#,
                #""a\"b""#
            ),
            (#"{"method":"set","params":{"value":-9223372036854775809}}"#, "null"),
            (#"[{"id":1,"value":1e999}]"#, "null"),
            (#"{"id":{"id":5},"value":-1e400}"#, "null"),
        ])
    func numbers(line: String, id: String) {
        #expect(pieces(line) == [.fault(id, -32600, .limit)])
    }

    @Test(
        "texts that only look like numbers are not JSON",
        arguments: ["01", "1.", "1e", "-", "{\"id\":1,\"a\":1.2.3}", "+99999999999999999999"])
    func noNumbers(line: String) {
        #expect(pieces(line) == [.fault("null", -32700, .invalid)])
    }

    @Test("every cut of a request is refused, and none is taken for another") func cuts() {
        let line = #"{"jsonrpc":"2.0","id":1,"method":"set","params":{"path":"/a.b","value":[1,{"x":"é"}]}}"#
        let decoder = RequestDecoder()
        for count in 1..<line.utf8.count {
            var found: [Incoming] = []
            Array(line.utf8.prefix(count)).withUnsafeBufferPointer { decoder.decode($0) { found.append($0) } }
            guard found.count == 1, case .fault(.null?, let fault) = found[0] else {
                Issue.record("the first \(count) bytes were not refused")
                return
            }
            #expect(fault.code == RequestFault.parse)
        }
        #expect(pieces(line, decoder) == [.call("1", "set")])
    }
}
