import AttributeValues
import SceneModel
import TestSupport
import Testing

@Suite("Documents as they are written")
struct WriterTests {
    @Test(
        "YAML reads back as the value it was written from, whatever the texts look like",
        arguments: [
            #"{"a":[],"b":{},"c":null,"d":[[],[1,[2]]],"e":{"f":{"g":{"h":[{"i":1},{"j":[true]}]}}}}"#,
            ##"["true","null","~","12","1.5","0x1f","","yes","- a","a: b","a #b","#","*x","&x","!t","%","@","`","{","[","'","\"","|",">"]"##,
            #"["=a + 1","$a[id=\"x\"]","==","line\nbreak\n"," space","space ","tab\t","ünïcode 😀","\u0000\u001f\u007f","a,b","...","---"]"#,
            #"{"/a/\"b c\".d":1,"true":2,"7":3,"":4,"a b":5,"key: x":6}"#,
            #"[1.0,-0.5,1e300,-9223372036854775808,18446744073709551615]"#,
        ])
    func roundTrip(_ json: String) throws {
        let value = try JSONParser.parseOnce(json.utf8)
        let text = DocumentWriter.yaml(value)
        #expect(try SceneReader.value(text: text) == value, "\(text)")
    }

    @Test("texts and keys of odd characters and any length read back, from YAML and from JSON")
    func randomRoundTrip() throws {
        let seed = freshSeed()
        var random = SeededGenerator(seed: seed)
        for round in 0..<300 {
            let value = random.value(levels: 3)
            for text in [DocumentWriter.yaml(value), value.jsonText] {
                let read = try? SceneReader.value(text: text)
                #expect(
                    read == value,
                    "seed \(seed), round \(round): \(text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined())")
            }
        }
    }

    @Test(
        "a key that is too long for YAML to find its colon stands behind a question mark",
        arguments: [1022, 1024, 1025, 5000])
    func longKeys(_ length: Int) throws {
        let key = String(repeating: "k", count: length)
        let value: Value = [key: [["a": 1], [2]], "b": [[key + " ": 1, "c": ["d": [key: []]]]]]
        let text = DocumentWriter.yaml(value)
        #expect(try SceneReader.value(text: text) == value)
        #expect(text.contains("? k") == (length > 1024))
        #expect(try SceneReader.value(text: value.jsonText) == value)
    }

    @Test("a literal that names its type is that value; one that does not is a fault")
    func typedLiterals() throws {
        let document = try scene(
            "nodes: [{ id: a, state: { u: { $typed: { uint: '5' } }, n: [{ $typed: { double: NaN } }] } }]")
        let attributes = document.nodes[0].attributes
        #expect(attributes.map(\.type) == [.uint, .list(.dyn)])
        guard case .state(.list(let list), _) = attributes[1].role, case .double(let number)? = list.first else {
            Issue.record("\(attributes[1])")
            return
        }
        #expect(number.isNaN)
        #expect(onlyFault("nodes: [{ id: a, state: { u: { $typed: { uint: -1 } } } }]").contains("1:30 $typed"))
        #expect(
            DocumentWriter.yaml(["a": ["$typed": ["bytes": "aGk="]], "b": ["$typed": ["double": "-Infinity"]]])
                == "a: !!binary \"aGk=\"\nb: -.inf\n")
    }

    @Test("short values are on one line, long ones on several")
    func shape() {
        let text = DocumentWriter.yaml([
            "nodes": [["id": "a", "state": ["n": 1, "on": true], "computed": ["t": "n + 1"]]]
        ])
        #expect(text == "nodes:\n  - { id: a, state: { n: 1, on: true }, computed: { t: n + 1 } }\n")
    }

    @Test("values name states by path, and nothing else")
    func values() throws {
        let document = try scene("nodes: [{ id: a, state: { n: 1 } }]\nvalues: { /a.n: 5, '/b/\"c d\".e': { k: [1] } }")
        #expect(document.values.map(\.path.description) == ["/a.n", "/b/\"c d\".e"])
        #expect(document.values.map(\.value) == [5, ["k": [1]]])
        #expect(onlyFault("values: { /a: 1 }").hasPrefix("1:11 '/a' names a node, not a state"))
        #expect(onlyFault("values: { a.n: 1 }").hasPrefix("1:11 'a.n' is not a path"))
    }
}

/// Values of texts that readers and writers have reason to treat apart.
extension SeededGenerator {
    private static let pieces =
        [
            "a", "b1", " ", "  ", ": ", " #", "- ", "? ", "'", "\"", "\\", "\\u0041", "/", ",", "[", "]", "{", "}", "&",
            "*", "!", "|", ">", "%", "@", "`", "~",
        ]
        + [
            "=", "$", "<<", "true", "1", ".5", "---", "...", "\n", "\r", "\r\n", "\t", "\0", "\u{1}", "\u{1f}",
            "\u{7f}", "\u{80}", "\u{85}", "\u{9f}",
        ]
        + [
            "\u{a0}", "\u{301}", "é", "\u{2028}", "\u{2029}", " \u{2028} ", "\u{feff}", "\u{fffd}", "\u{fffe}",
            "\u{ffff}", "\u{d7ff}", "\u{e000}",
        ]
        + ["😀", "\u{1ffff}", "\u{10ffff}", String(repeating: "x", count: 120), String(repeating: "y", count: 1030)]

    fileprivate mutating func text() -> String {
        let count = Int.random(in: 0...6, using: &self)
        return (0..<count).map { _ in Self.pieces.randomElement(using: &self) ?? "" }.joined()
    }

    fileprivate mutating func value(levels: Int) -> Value {
        switch Int.random(in: 0...(levels > 0 ? 4 : 2), using: &self) {
        case 0, 1: return .string(text())
        case 2: return [.null, true, 1, 1.5].randomElement(using: &self) ?? .null
        case 3:
            let count = Int.random(in: 0...4, using: &self)
            return .list((0..<count).map { _ in value(levels: levels - 1) })
        default:
            var map = ValueMap()
            for _ in 0..<Int.random(in: 0...4, using: &self) { map[text()] = value(levels: levels - 1) }
            return .map(map)
        }
    }
}
