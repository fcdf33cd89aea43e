import AttributeValues
import Testing
@testable import WireProtocol

@Suite("paths of requests")
struct RequestPathTests {
    private let decoder = RequestDecoder()

    private func path(_ text: String) throws -> RequestPath {
        var found: RequestPath?
        let line = Array(#"{"jsonrpc":"2.0","method":"set","params":{"path":"\#(text)","value":1}}"#.utf8)
        line.withUnsafeBufferPointer { line in
            decoder.decode(line) { incoming in
                if case .call(_, .set(let mutation, _)) = incoming { found = mutation.target }
            }
        }
        return try #require(found)
    }

    @Test("requests that name the same path share it, whatever comes between") func shared() throws {
        let texts =
            (0..<300).map { "/host/cpu\($0).load" } + ["/a.b", "/a.c", "/" + String(repeating: "n", count: 200) + ".x"]
        let first = try texts.map(path)
        let again = try texts.map(path)
        #expect(first.map(\.text) == texts)
        #expect(zip(first, again).allSatisfy { $0 === $1 })
        #expect(Set(first.map(ObjectIdentifier.init)).count == texts.count)
    }

    @Test("a very long one is not kept, and none is when memory is given back") func forgotten() throws {
        let long = "/" + String(repeating: "n", count: 300) + ".x"
        #expect(try path(long) !== path(long) && path(long).text == long)
        let known = try path("/a.b")
        decoder.giveBack()
        #expect(try path("/a.b") !== known)
    }
}
