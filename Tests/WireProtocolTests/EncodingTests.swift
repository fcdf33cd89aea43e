import AttributeValues
import Testing
import WireProtocol

@Suite("Replies and events into lines")
struct EncodingTests {
    private func reply(_ result: Answer, _ id: RequestID = .int(1)) -> String {
        let buffer = ByteBuffer()
        buffer.appendReply(result, to: id)
        return buffer.text
    }

    private func line(_ event: Event, _ subscription: Int64 = 7) -> String {
        let buffer = ByteBuffer()
        buffer.appendHead(of: event)
        buffer.append(subscription)
        buffer.appendTail(of: event)
        return buffer.text
    }

    @Test("each result has its form") func results() {
        #expect(reply(.revision(5)) == #"{"jsonrpc":"2.0","id":1,"result":{"revision":5}}"#)
        #expect(
            reply(.content(.value([1, 1.0]), revision: 2, typed: false), .string("a\"b"))
                == #"{"jsonrpc":"2.0","id":"a\"b","result":{"value":[1,1.0],"revision":2}}"#)
        #expect(
            reply(.content(.value(1), revision: 2, typed: true), .null)
                == #"{"jsonrpc":"2.0","id":null,"result":{"value":{"int":"1"},"revision":2}}"#)
        #expect(
            reply(
                .contents(
                    [("/a.b", .value(1)), ("/a.\"c d\"", .failure(Failure(.cycle, "m", path: "/a.c")))], revision: 3,
                    typed: false))
                == #"{"jsonrpc":"2.0","id":1,"result":{"values":{"/a.b":{"value":1},"/a.\"c d\"":{"error":{"code":"cycle","message":"m","path":"/a.c"}}},"revision":3}}"#
        )
        #expect(reply(.value(["x": true])) == #"{"jsonrpc":"2.0","id":1,"result":{"x":true}}"#)
    }

    @Test("a fault tells all that is known, and nothing else") func faults() {
        let whole = Failure(.ruleSyntax, "m", path: "/a", rule: "1 +", line: 1, column: 4, hint: "h")
        #expect(
            reply(.fault(RequestFault(code: -32000, failure: whole)))
                == #"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"m","data":{"code":"ruleSyntax","path":"/a","rule":"1 +","line":1,"column":4,"hint":"h"}}}"#
        )
        #expect(
            reply(.fault(RequestFault(code: -32700, failure: Failure(.invalid, "m"))), .null)
                == #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m","data":{"code":"invalid"}}}"#)
    }

    private var examples: [(event: Event, expected: String)] {
        [
            (
                Event.update(
                    revision: 9, from: 4, label: "l", isInitial: true,
                    changes: [
                        Change(path: "/a.b", content: .value(1), timeline: ValueMap([("id", 3)])),
                        Change(path: "/a.c", content: .failure(Failure(.removed, "gone"))),
                    ], typed: false),
                #""update","params":{"subscription":7,"revision":9,"from":4,"label":"l","initial":true,"changes":[{"path":"/a.b","value":1,"timeline":{"id":3}},{"path":"/a.c","error":{"code":"removed","message":"gone"}}]}"#
            ),
            (
                .update(revision: 9, from: nil, label: nil, isInitial: false, changes: [], typed: true),
                #""update","params":{"subscription":7,"revision":9,"changes":[]}"#
            ),
            (
                .invalidate(revision: 1, paths: ["/a.b", "/c.d"]),
                #""invalidate","params":{"subscription":7,"revision":1,"paths":["/a.b","/c.d"]}"#
            ),
            (
                .structure(revision: 1, added: ["/a"], removed: [], moved: ["/b"]),
                #""structure","params":{"subscription":7,"revision":1,"added":["/a"],"removed":[],"moved":["/b"]}"#
            ),
            (
                .frames(time: 1.5, values: [("/a.b", 0.25)]),
                #""frames","params":{"subscription":7,"time":1.5,"values":{"/a.b":0.25}}"#
            ),
            (
                .completion(revision: 3, transaction: 2, phase: "logical", paths: ["/a.b"]),
                #""completion","params":{"subscription":7,"revision":3,"transaction":2,"phase":"logical","paths":["/a.b"]}"#
            ),
            (.bookmark(epoch: "e", revision: 3), #""bookmark","params":{"subscription":7,"epoch":"e","revision":3}"#),
            (.ended(.limit, reason: "r"), #""ended","params":{"subscription":7,"code":"limit","reason":"r"}"#),
        ]
    }

    @Test("each event is a notification of its name, on a line of its own") func events() {
        for (event, expected) in examples {
            #expect(line(event) == #"{"jsonrpc":"2.0","method":"# + expected + "}\n")
        }
    }

    @Test("every message is JSON on one line, whatever its values hold") func oneLine() throws {
        let odd: Value = .string("line\nfeed \u{2028} tab\t nul\u{0} quote\" back\\ \u{1F600}")
        let event = line(
            .update(
                revision: 1, from: nil, label: "a\nb", isInitial: false,
                changes: [Change(path: "/a.b", content: .value(odd))], typed: false))
        #expect(event.utf8.count { $0 == 0x0a } == 1)
        let message = try JSONParser.parseOnce(event.utf8.dropLast())
        guard case .map(let members) = message, case .map(let parameters)? = members["params"],
            case .list(let changes)? = parameters["changes"], case .map(let change) = changes[0]
        else { throw Unexpected("an update") }
        #expect(change["value"] == odd)
    }
}
