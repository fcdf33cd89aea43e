import AGClient
import AttributeValues
import Testing
import WireProtocol

@Suite("requests as lines")
struct RequestEncodingTests {
    static var options: TransactionOptions {
        TransactionOptions(animation: "spring", disablesAnimations: true, label: "a \"label\"")
    }

    static func requests() -> [Request] {
        [
            .hello(client: "me"), .hello(client: nil), .hello(client: "me", principal: "web"), .ping,
            .get(.init(paths: ["/a.b"], isSingle: true)),
            .get(.init(paths: ["/a.b", "/c.d"], presentation: true, typed: true)),
            .set(Mutation(operation: .set, path: "/a.b", value: .null), TransactionOptions()),
            .set(Mutation(operation: .set, path: "/a.b", value: ["x": [1, 2.5, "é\n"]]), options),
            .transact(
                [
                    Mutation(operation: .toggle, path: "/a.b"),
                    Mutation(operation: .insert, path: "/a.c", value: "x", index: 2),
                    Mutation(operation: .remove, path: "/a.c[0]"),
                    Mutation(operation: .test, path: "/a.d", value: .null),
                ], options),
            .onDisconnect([Mutation(operation: .set, path: "/a.b", value: false)], TransactionOptions()),
            .apply(.init(document: "nodes: []", at: "/x", mode: .merge, dryRun: true, options: options)),
            .remove(path: "/a", options), .move(path: "/a", to: "/b", index: 3, TransactionOptions()),
            .subscribe(
                .init(
                    patterns: ["/**"], events: [.update, .frames, .completion], initial: false,
                    since: .init(epoch: "e", revision: 7), maxRate: 2.5, frameRate: 30, css: true, typed: true,
                    bookmarks: true)),
            .subscribe(
                .init(
                    patterns: ["/a.b"], events: .invalidate, initial: false, since: nil, maxRate: nil, frameRate: nil,
                    css: false,
                    typed: false, bookmarks: false)),
            .unsubscribe(subscription: 4), .describe(path: nil, depth: nil), .describe(path: "/a", depth: 0),
            .board(path: "/", panel: ValueMap()), .board(path: "/a.b", panel: ValueMap([("kind", "bar")])),
            .explain(path: "/a.b", revision: 3), .history(path: "/a.b"), .dump(path: "/", format: .dot),
            .dump(path: "/a", format: .scene, layer: "board"),
            .stats(format: .openmetrics),
            .trace(enable: nil), .trace(enable: false),
            .eval(expression: "x + 1", bindings: ValueMap([("x", 1)]), at: "/a", typed: false),
        ]
    }

    private func line(_ request: Request) -> String {
        let buffer = ByteBuffer()
        buffer.appendRequest(request, id: 1)
        return buffer.text
    }

    @Test("the daemon reads every request as it was meant", arguments: 0..<requests().count)
    func roundTrip(_ position: Int) throws {
        let written = line(Self.requests()[position])
        #expect(written.hasSuffix("}\n") && !written.dropLast().contains("\n"))
        var read: Request?
        let bytes = Array(written.utf8.dropLast())
        bytes.withUnsafeBufferPointer { (line: UnsafeBufferPointer<UInt8>) in
            RequestDecoder().decode(line) { incoming in
                switch incoming {
                case .call(let id, let request):
                    #expect(id == .int(1))
                    read = request
                case .fault(_, let fault): Issue.record("\(fault.failure.message): \(written)")
                case .batchBegins, .batchEnds: Issue.record("a batch: \(written)")
                }
            }
        }
        let again = line(try #require(read))
        // Typed values are turned into typed JSON when they are written, so only the first writing is compared.
        #expect(again == written)
    }

    @Test("parameters that are nil are not written")
    func defaults() {
        #expect(
            line(.set(Mutation(operation: .set, path: "/a.b", value: 1), TransactionOptions()))
                == #"{"jsonrpc":"2.0","id":1,"method":"set","params":{"path":"/a.b","value":1}}"# + "\n")
    }

    @Test("values of a typed request are written in typed JSON")
    func typed() {
        let text = line(
            .transact([Mutation(operation: .set, path: "/a.b", value: .uint(5))], TransactionOptions(typed: true)))
        #expect(text.contains(#""value":{"uint":"5"}"#) && text.contains(#""typed":true"#))
    }

    @Test("a notification has no id")
    func notification() {
        let buffer = ByteBuffer()
        buffer.appendRequest(.hello(client: "me"), id: nil)
        #expect(buffer.text == #"{"jsonrpc":"2.0","method":"hello","params":{"client":"me"}}"# + "\n")
    }
}
