@testable import AGClient
import AttributeValues
import Testing
import WireProtocol

@Suite("messages from the daemon")
struct MessageDecoderTests {
    private func decode(_ text: String, typed: Bool = false) throws -> Message {
        let bytes = Array(text.utf8)
        return try bytes.withUnsafeBufferPointer { try MessageDecoder().decode(EncodedMessage($0), typed: typed) }
    }

    static func events() -> [Event] {
        let failure = Failure(
            .cycle, "a depends on itself", path: "/a.b", rule: "a + 1", line: 1, column: 1, hint: "break it")
        return [
            .update(
                revision: 12, from: 9, label: "x", isInitial: true,
                changes: [
                    Change(path: "/a.b", content: .value(["k": [1, 2.5]]), timeline: ValueMap([("id", 1)])),
                    Change(path: "/a.c", content: .failure(failure)), Change(path: "/a.d", content: .value(.null)),
                ], typed: false),
            .update(revision: 1, from: nil, label: nil, isInitial: false, changes: [], typed: false),
            .invalidate(revision: 3, paths: ["/a.b", "/\"x y\".c"]),
            .structure(revision: 4, added: ["/a"], removed: ["/b"], moved: ["/c"]),
            .frames(time: 1.25, values: [("/a.b", 0.5), ("/a.c", [1.0, 2.0])]),
            .completion(revision: 5, transaction: 4, phase: "logical", paths: ["/a.b"]),
            .bookmark(epoch: "e", revision: 6), .ended(.denied, reason: "all gone"),
        ]
    }

    private func line(_ event: Event) -> String {
        let buffer = ByteBuffer()
        buffer.appendHead(of: event)
        buffer.append(Int64(7))
        buffer.appendTail(of: event)
        return String(buffer.text.dropLast())
    }

    @Test("every kind of event is read as the daemon wrote it", arguments: 0..<events().count)
    func readBack(_ position: Int) throws {
        let written = line(Self.events()[position])
        guard case .event(7, let event) = try decode(written) else {
            return #expect(Bool(false), "no event: \(written)")
        }
        #expect(line(event) == written)
    }

    @Test("a revision that is none is passed over", arguments: ["-1", "1.5", "\"x\""])
    func impossibleRevision(_ revision: String) throws {
        let text = "{\"method\":\"update\",\"params\":{\"subscription\":1,\"revision\":\(revision),\"changes\":[]}}"
        let padded = Array(text.utf8) + [UInt8](repeating: 0, count: JSONParser.padding)
        let summary = try padded.withUnsafeBufferPointer { bytes in
            try MessageDecoder().summarize(UnsafeBufferPointer(rebasing: bytes[..<text.utf8.count]))
        }
        #expect(summary == EventSummary(method: "update", revision: nil, isInitial: false))
    }

    @Test("typed values lose nothing")
    func typed() throws {
        let time = try #require(Timestamp("2024-05-06T07:08:09.5Z"))
        let event = Event.update(
            revision: 1, from: nil, label: nil, isInitial: false,
            changes: [Change(path: "/a.b", content: .value([.uint(5), .timestamp(time)]))], typed: true)
        guard case .event(_, .update(_, _, _, _, _, let changes, _)) = try decode(line(event), typed: true) else {
            return #expect(Bool(false), "no update")
        }
        #expect(changes.first?.content.value == [.uint(5), .timestamp(time)])
    }

    @Test("a refusal keeps code, place and hint")
    func refusal() throws {
        let failure = Failure(
            .ruleSyntax, "unexpected ')'", path: "/a.b", rule: "1 + )", line: 1, column: 5, hint: "a value")
        let buffer = ByteBuffer()
        buffer.appendReply(.fault(RequestFault(code: RequestFault.refused, failure: failure)), to: .int(3))
        guard case .reply(3, .fault(let fault)) = try decode(buffer.text) else {
            return #expect(Bool(false), "no refusal")
        }
        #expect(fault.code == RequestFault.refused && fault.failure == failure)
    }

    @Test("an error code of a newer daemon is kept in the message")
    func unknownCode() throws {
        let text = #"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"no","data":{"code":"tooShiny"}}}"#
        guard case .reply(1, .fault(let fault)) = try decode(text) else { return #expect(Bool(false), "no refusal") }
        #expect(fault.failure.code == .invalid && fault.failure.message == "no [tooShiny]")
    }

    @Test(
        "lines that are not of the protocol are refused",
        arguments: [
            "", "{", "[]", "7", #"{"jsonrpc":"2.0","id":1}"#, #"{"method":"update"}"#,
            #"{"method":"nonsense","params":{"subscription":1}}"#,
        ])
    func malformed(_ text: String) {
        #expect { try decode(text) } throws: { error in
            if case ClientError.malformed = error { true } else { false }
        }
    }
}
