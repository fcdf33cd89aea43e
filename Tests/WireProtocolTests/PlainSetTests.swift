import AttributeValues
import Testing
@testable import WireProtocol

@Suite("the most common line")
struct PlainSetTests {
    private static func line(_ path: String, _ value: String, id: String = "7") -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"set","params":{"path":"\#(path)","value":\#(value)}}"#
    }

    /// What the lines hold: read by one decoder in place, as sessions read, or each by the parser as a whole.
    private func read(_ lines: [String], inPlace: Bool, depth: Int = JSONParser.defaultDepth) -> [String] {
        let decoder = RequestDecoder(maximumDepth: depth)
        return lines.flatMap { line in
            var found: [String] = []
            let bytes = Array(line.utf8) + [UInt8](repeating: 0, count: JSONParser.padding)
            bytes.withUnsafeBufferPointer { bytes in
                let text = UnsafeBufferPointer(rebasing: bytes[..<line.utf8.count])
                decoder.decode(text, isPadded: inPlace) { incoming in
                    switch incoming {
                    case .call(let id, .set(let mutation, let options)):
                        found.append(
                            "\(id.map { "\($0)" } ?? "-") \(mutation.path) \(mutation.operand) \(mutation.hasValue) \(options.isPlain)"
                        )
                    case .fault(let id, let fault): found.append("\(id.map { "\($0)" } ?? "-") \(fault.failure)")
                    default: found.append("\(incoming)")
                    }
                }
            }
            return found
        }
    }

    @Test(
        "is read as every other line is",
        arguments: [
            "5", "-0.5", "1e3", "true", "null", #""text""#, #""\u00e9\n""#, #"{"a":[1,{"b":"}}"}],"c":""}"#, "[]",
            " 5 ",
            "18446744073709551615",
            // Not one value, or none.
            #"5,"label":"x""#, #"5},"method":"get","params":{"path":"/b.c""#, "5}", "", " ", "5 5", "[1", "nul",
            "1e999",
            #""\#u{1}""#,
        ])
    func values(value: String) {
        let lines = [PlainSetTests.line("/a.b", "1"), PlainSetTests.line("/a.b", value)]
        #expect(read(lines, inPlace: true) == read(lines, inPlace: false))
    }

    @Test(
        "has any id and any path",
        arguments: [
            ("0", "/a.b"), ("00", "/a.b"), ("01", "/a.b"), ("-1", "/a.b"), ("999999999999999999", "/a.b"),
            ("9223372036854775808", "/a.b"), ("1.5", "/a.b"), (#""x""#, "/a.b"), ("null", "/a.b"), ("", "/a.b"),
            ("1", #"/a\/b.c"#), ("1", #"/a.b[\"x\"]"#), ("1", #"/a\\b.c"#), ("1", "/ä.b"), ("1", "/a\t.b"), ("1", ""),
        ])
    func names(id: String, path: String) {
        let lines = [PlainSetTests.line(path, "1"), PlainSetTests.line(path, "2", id: id)]
        #expect(read(lines, inPlace: true) == read(lines, inPlace: false))
    }

    @Test("nests no deeper than any other line") func depth() {
        for levels in 1...8 {
            let value = String(repeating: "[", count: levels) + String(repeating: "]", count: levels)
            let lines = [PlainSetTests.line("/a.b", "1"), PlainSetTests.line("/a.b", value)]
            #expect(read(lines, inPlace: true, depth: 6) == read(lines, inPlace: false, depth: 6), "\(levels) levels")
        }
    }

    @Test("is found without the parser once its path is known, and shares it") func parts() throws {
        let text = PlainSetTests.line("/a.b", "[1]", id: "12")
        let bytes = Array(text.utf8)
        try bytes.withUnsafeBufferPointer { line in
            let found = try #require(PlainSet(line))
            #expect(found.id == 12)
            #expect(String(decoding: found.path, as: UTF8.self) == "/a.b")
            #expect(String(decoding: found.value, as: UTF8.self) == "[1]")
            for count in 0..<line.count { #expect(PlainSet(UnsafeBufferPointer(rebasing: line[..<count])) == nil) }
        }
    }
}
