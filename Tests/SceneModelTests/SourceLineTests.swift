import AttributeValues
import Testing

@testable import SceneModel

@Suite("Places in a text")
struct SourceLineTests {
    /// A line of many characters of all widths.
    private static let long = String(repeating: "aé😀\t", count: 1500)

    @Test(
        "a column far into a line is found as one near its beginning is",
        arguments: [1, 2, 1000, 1024, 1025, 4097, 5990])
    func columns(column: Int) {
        let rule = "x + nope"
        let line = String(SourceLineTests.long.unicodeScalars.prefix(column - 1)) + "\"" + rule + "\""
        let lines = SourceLines("first\r\n" + line + "\r\nlast")
        let start = SourcePosition(line: 2, column: column)
        let node = DocumentNode(.scalar(.string(rule)), text: rule, style: .doubleQuoted, at: start)
        #expect(lines.locate(1, 5, in: node) == SourcePosition(line: 2, column: column + 5))
        let plain = DocumentNode(.scalar(.string(rule)), text: rule, style: .plain, at: start)
        #expect(lines.locate(1, 5, in: plain) == SourcePosition(line: 2, column: column + 4))
        // The line ends before such a column.
        #expect(lines.locate(1, 12, in: plain) == start)
    }

    @Test("escapes count as they are written")
    func escapes() {
        let lines = SourceLines(#"k: "\u0041\té+ nope" # 'it''s + nope'"#)
        let double = DocumentNode(.scalar(.string("")), style: .doubleQuoted, at: SourcePosition(line: 1, column: 4))
        #expect(lines.locate(1, 6, in: double) == SourcePosition(line: 1, column: 16))
        let single = DocumentNode(.scalar(.string("")), style: .singleQuoted, at: SourcePosition(line: 1, column: 24))
        #expect(lines.locate(1, 8, in: single) == SourcePosition(line: 1, column: 33))
    }

    @Test("a line is shown around the place, however long it is, and tabs stay tabs")
    func excerpts() throws {
        let text = "a\tb nope"
        func draw(_ text: String, _ line: Int, _ column: Int) -> String? {
            SourceLines(text).excerpt(at: SourcePosition(line: line, column: column))?.draw()
        }
        #expect(draw(text, 1, 5) == "  | a\tb nope\n  |  \t  ^\n")
        #expect(draw(text, 1, 99) == "  | a\tb nope\n  |  \t      ^\n")
        #expect(draw(text, 2, 1) == nil)
        let shown = try #require(draw(SourceLineTests.long, 1, 3000))
        #expect(shown.unicodeScalars.count < 300)
        #expect(shown.hasSuffix("^\n"))
        #expect(shown == LineExcerpt(SourceLineTests.long, column: 3000).draw())
    }

    @Test("faults beyond the limit are counted and not built")
    func untold() {
        let faults = FaultCollector()
        var made = 0
        func message() -> String {
            made += 1
            return "wrong"
        }
        for _ in 0..<250 { faults.add(.invalid, message()) }
        #expect(made == SceneLimits.faults)
        #expect(faults.omitted == 250 - SceneLimits.faults)
    }
}
