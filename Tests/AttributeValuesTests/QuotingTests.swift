import AttributeValues
import Testing

@Suite("Quoted names in paths")
struct QuotingTests {
    @Test(
        "a quoted name that ends behind a backslash is refused",
        arguments: ["/\"\\", "/a.\"b\\", "/a.b[id=\"\\", "/\""])
    func unfinished(_ path: String) {
        #expect(throws: Failure.self) { try AttributePath(path) }
        #expect(throws: Failure.self) { try PathPattern(path) }
    }

    @Test(
        "a path never has control characters, and means the same when it is read",
        arguments: ["\u{7f}", "a\u{80}b", "\u{9b}31m", "x\u{9f}", "\n", "a b\u{85}\"\\"])
    func controls(name: String) throws {
        let path = AttributePath(
            nodes: [Name(name), "plain"], attribute: "x",
            steps: [.key(name), .element(field: name, value: .string(name))])
        let text = path.description
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 || (0x7f..<0xa0).contains($0.value) }, "\(text)")
        #expect(try AttributePath(text) == path)
    }

    @Test("letters of other scripts need no quotes") func letters() {
        for name in ["K\u{fc}che", "\u{a0}", "\u{c2}", "\u{4e2d}", "\u{1F600}"] {
            #expect(AttributePath.quoteIfNeeded(name) == name)
        }
    }
}
