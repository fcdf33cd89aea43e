import AGClient
import AttributeValues
import Glibc
import SceneModel
import Testing
import WireProtocol
@testable import agctl

@Suite("Output of agctl")
struct OutputTests {
    static let plain = Style(isOn: false)

    @Test("columns are as wide as their widest cell, numbers stand at the right")
    func table() {
        let table = TextTable(rows: [["a", "1", "x"], ["long", "234", "y"]])
        #expect(table.text(numeric: [1]) == "a       1  x\nlong  234  y\n")
    }

    @Test("mirrors whose names look the same and have other bytes are two") func mirrors() throws {
        let paths = ["/fleet/K\u{FC}che", "/fleet/Ku\u{308}che"]
        let values = paths.flatMap { path in
            MirroredSite.attributes.map { (Value.string("\(path).\($0)"), ["value": .string(path)] as Value) }
        }
        #expect(try MirroredSite.all(in: ValueMap(values)).map { Name($0.path) } == [paths[1], paths[0]].names)
    }

    @Test("no terminal executes what users have written, and JSON means the same without control characters")
    func controlCharactersOfUsers() throws {
        let text = "a\u{1b}[2J\u{9b}31m\u{7f}é\n\tb"
        let terminal = Output(isTerminal: true, style: Self.plain)
        #expect(terminal.userText(text) == "a\\u001b[2J\\u009b31m\\u007fé\n\tb")
        #expect(Output(isTerminal: false, style: Self.plain).userText(text) == text)
        for output in [terminal, Output(isTerminal: false, style: Self.plain)] {
            let value = Value.map(ValueMap([(.string(text), .list([.string(text)]))]))
            output.json(value)
            let line = output.buffer.text
            #expect(line.unicodeScalars.dropLast().allSatisfy { $0.value >= 0x20 && !(0x7f..<0xa0).contains($0.value) })
            #expect(try JSONParser.parseOnce(line.utf8) == value)
            output.buffer.removeAll()
            // A path with quotes.
            let path = "/\"x\u{9b}\".a"
            Array(path.utf8).withUnsafeBufferPointer(output.writeNamed)
            #expect(
                try AttributePath(output.buffer.text) == AttributePath(path) && output.buffer.text == "/\"x\\u009b\".a")
            output.buffer.removeAll()
        }
        let complaint = Complaint(.data, "no \u{1b}]0;x\u{7}", hint: "did you mean '\u{9b}'?").text(Self.plain)
        #expect(complaint == "agctl: no \\u001b]0;x\\u0007\n  hint: did you mean '\\u009b'?\n")
    }

    @Test("wide characters take two columns, and cutting counts columns")
    func width() {
        #expect(DisplayWidth.of("abc") == 3 && DisplayWidth.of("日本") == 4 && DisplayWidth.of("é") == 1)
        #expect(
            DisplayWidth.cut("日本語", to: 5) == "日本…" && DisplayWidth.cut("abc", to: 3) == "abc"
                && DisplayWidth.cut("abc", to: 2) == "a…")
        #expect(DisplayWidth.pad("日", to: 4) == "日  ")
    }

    @Test("of a long line, the part around the caret is printed")
    func caret() {
        #expect(Self.plain.draw(LineExcerpt("\tx + nope", column: 6)) == "  | \tx + nope\n  | \t    ^\n")
        let long = String(repeating: "é", count: 100_000)
        let lines = Self.plain.draw(LineExcerpt(long, column: 50_000)).split(separator: "\n")
        #expect(lines.map(\.count) == [4 + 162, 4 + 102])
    }

    @Test("figures are rounded and grouped")
    func figures() {
        #expect(
            Figure.grouped(1_234_567) == "1 234 567" && Figure.grouped(-1234) == "-1 234" && Figure.grouped(12) == "12")
        #expect(
            Figure.fixed(0.0456, places: 2) == "0.05" && Figure.fixed(-1.25, places: 0) == "-1"
                && Figure.fixed(-0.001, places: 1) == "0.0")
        #expect(Figure.fixed(2, places: 3) == "2.000" && Figure.fixed(.infinity, places: 1) == "inf")
    }

    @Test("rows are path, tab, JSON in a pipe and columns on a terminal")
    func rows() {
        let rows: [(path: String, content: Content)] = [
            ("/a.b", .value("x\ty")), ("/long.c", .failure(Failure(.cycle, "round\nand round"))),
            ("/n.d", .value("\u{7f}é\u{9b}")),
        ]
        let (pipe, terminal) = (false, true)
        func text(_ isTerminal: Bool) -> String {
            let output = Output(isTerminal: isTerminal, style: Self.plain)
            for var row in rows { row.path.withUTF8 { ContentRow.write($0, row.content, width: 7, to: output) } }
            return output.buffer.text
        }
        #expect(text(pipe) == "/a.b\t\"x\\ty\"\n/long.c\terror: round and round\n/n.d\t\"\\u007fé\\u009b\"\n")
        #expect(
            text(terminal)
                == "/a.b     \"x\\ty\"\n/long.c  error: round and round\n/n.d     \"\\u007fé\\u009b\"\n")
    }

    @Test("a complaint shows the rule with a caret under the fault, and the hint")
    func complaint() {
        let failure = Failure(
            .ruleSyntax, "unexpected ')'", rule: "1 +\n\tx )", line: 2, column: 4, hint: "a value belongs here")
        let complaint = Complaint(failure, status: .data)
        #expect(
            complaint.text(Self.plain) == "agctl: unexpected ')'\n  | \tx )\n  | \t  ^\n  hint: a value belongs here\n")
    }

    @Test("lines are found and shown without their ends, be they LF or CR LF")
    func carriageReturns() {
        #expect("a\r\n\nb\n\r\nc\rd\r\n".lines == ["a", "", "b", "", "c\rd", ""])
        let complaint = Complaint(
            Failure(.ruleSyntax, "unexpected ')'", rule: "1 +\r\nx )", line: 2, column: 3), status: .data)
        #expect(complaint.text(Self.plain) == "agctl: unexpected ')'\n  | x )\n  |   ^\n")
        let faulty = DocumentFaults.makeComplaint(
            Failure(.invalid, "document:2:3: odd"), text: "agd: 1\r\n- x\r\n", file: "x.yaml", Self.plain)
        #expect(faulty.text(Self.plain) == "x.yaml:2:3: error: odd\n  | - x\n  |   ^\n")
    }

    @Test("a document's faults get the file's name and the line they stand in")
    func documentFaults() {
        let text = "agd: 1\nnodes:\n  - id: 7\n"
        let failure = Failure(
            .invalid, "the document has 2 faults:\ndocument:3:9: an id is a string\ndocument:1:1: odd (why)")
        let complaint = DocumentFaults.makeComplaint(failure, text: text, file: "x.yaml", Self.plain)
        #expect(
            complaint.text(Self.plain) == """
                the document has 2 faults:
                x.yaml:3:9: error: an id is a string
                  |   - id: 7
                  |         ^
                x.yaml:1:1: error: odd (why)
                  | agd: 1
                  | ^

                """)
        #expect(complaint.status == .data)
    }

    @Test("check and apply draw the line of a fault alike", arguments: [false, true])
    func drawnFaults(isColored: Bool) throws {
        let text = "nodes: [{ id: a, state: { x: 1 }, computed: { y: x + nope } }]\n"
        let faults = try #require(throws: SceneFaults.self) { try SceneReader.read(text: text) }
        let style = Style(isOn: isColored)
        let applied = DocumentFaults.makeComplaint(faults.failure, text: text, file: "x.yaml", style).text(style)
        let checked = faults.draw(style.draw)
        let drawn = style.draw(LineExcerpt(text.lines[0], column: 54))
        #expect(applied.contains(drawn) && checked.contains(drawn), "\(applied)\(checked)")
    }

    @Test("faults that apply is told of are listed as check lists them")
    func listedFaults() throws {
        let text = "nodes:\r\n  - id: a\r\n    state: { n: 1 }\r\n    computed: { b: m + 1, c: n + }\r\n"
        let faults = try #require(throws: SceneFaults.self) { try SceneReader.read(text: text) }
        let complaint = DocumentFaults.makeComplaint(faults.failure, text: text, file: "x.yaml", Self.plain)
        #expect(complaint.scene?.faults == faults.faults && faults.faults.count == 2)
        #expect(complaint.message == "the document has 2 faults")
        #expect(complaint.json.map?["error"]?.map?["faults"] == .list(faults.faults.map { $0.json(file: "x.yaml") }))
    }

    @Test("a fault that only the daemon can find is listed with what it tells of it")
    func daemonsFault() throws {
        let failure = Failure(
            .notFound, "document:1:8: no attribute 'n' here", rule: "n + 1", hint: "did you mean 'm'?")
        let complaint = DocumentFaults.makeComplaint(failure, text: "nodes: []", file: "x.yaml", Self.plain)
        #expect(complaint.message == "no attribute 'n' here" && complaint.code == "notFound")
        #expect(
            complaint.scene?.faults.map { $0.json(file: "x.yaml") } == [
                [
                    "file": "x.yaml", "code": "notFound", "message": "no attribute 'n' here", "line": 1, "column": 8,
                    "rule": "n + 1",
                    "hint": "did you mean 'm'?",
                ]
            ])
    }

    @Test("a refusal that concerns no place of the document is told as it is")
    func otherRefusal() {
        let complaint = DocumentFaults.makeComplaint(
            Failure(.conflict, "/a exists already"), text: "", file: "x.yaml", Self.plain)
        #expect(complaint.text(Self.plain) == "agctl: /a exists already\n")
    }

    @Test("text that clients wrote cannot control the terminal")
    func controlCharacters() {
        let explanation: Value = [
            "path": "/a.b", "error": ["message": "bad \u{1b}[2J"],
            "changed": [
                "revision": 1, "label": "x\ny\u{1b}]0;z\u{7}", "client": ["name": "\u{9b}31m", "pid": 1, "uid": 2],
            ],
        ]
        #expect(
            ExplanationText(style: Self.plain).text(explanation.map ?? ValueMap()) == """
                /a.b  error: bad \\u001b[2J
                  changed   revision 1 'x\\ny\\u001b]0;z\\u0007' by \\u009b31m (pid 1, uid 2)

                """)
        #expect(ContentRow.describe(.failure(Failure(.ruleFailed, "a\nb\u{1b}c"))) == "error: a b\\u001bc")
        #expect(FieldList.text(ValueMap([("value", "a\u{1b}b")]), Self.plain) == "value  a\\u001bb\n")
        #expect("tab\té".printable == "tab\\té")
    }

    @Test("colours are only used where they are on")
    func style() {
        #expect(Style(isOn: true).paintValue("1", of: 1) == "\u{1b}[36m1\u{1b}[0m")
        #expect(Self.plain.paintValue("1", of: 1) == "1")
    }
}

@Suite("exit statuses")
struct ExitStatusTests {
    @Test(
        "each kind of failure has its number",
        arguments: [
            (ErrorCode.notFound, Int32(66)), (.removed, 66), (.denied, 77), (.limit, 75), (.unavailable, 75),
            (.typeMismatch, 65),
            (.ruleSyntax, 65), (.conflict, 65), (.readOnly, 65), (.invalid, 65),
        ])
    func refusals(_ code: ErrorCode, _ status: Int32) {
        let fault = RequestFault(code: RequestFault.refused, failure: Failure(code, "x"))
        #expect(ExitStatus(ClientError.refused(fault)).rawValue == status)
    }

    @Test("an attribute's own error, an unreachable daemon and a locked socket are told apart")
    func others() {
        #expect(ExitStatus(ClientError.attribute(Failure(.notFound, "x"))).rawValue == 2)
        #expect(ExitStatus(ClientError.unreachable(SocketLocation(path: "/x"), errno: ENOENT)).rawValue == 69)
        #expect(ExitStatus(ClientError.unreachable(SocketLocation(path: "/x"), errno: EACCES)).rawValue == 77)
        #expect(ExitStatus(ClientError.lost("x")).rawValue == 69)
        #expect(ExitStatus(ClientError.malformed("x")).rawValue == 70)
    }

    @Test("a recorded past has spaces where nobody knows the value") func gaps() throws {
        func text(_ seconds: [Int], _ values: [Double]) throws -> HistoryText {
            let times = seconds.map { "\"2026-01-31T12:00:0\($0)Z\"" }.joined(separator: ", ")
            let json = "{\"step\": 2, \"times\": [\(times)], \"least\": \(values), \"greatest\": \(values)}"
            return HistoryText(try #require(try JSONParser.parseOnce(json.utf8).map))
        }
        #expect(try text([0, 2, 4], [1, 2, 3]).drawSparkline(width: 10) == "▁▅█")
        #expect(try text([0, 2, 8], [1, 2, 3]).drawSparkline(width: 10) == "▁▅  █")
        #expect(try text([0, 2, 8], [1, 2, 3]).drawSparkline(width: 2) == "▅█")
        #expect(try text([], []).drawSparkline(width: 10) == "")
        #expect(try text([4], [1]).drawSparkline(width: 0) == "")
    }
}
