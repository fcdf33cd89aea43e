import AttributeValues
import SceneModel
import Testing

@Suite("Faults")
struct FaultTests {
    // MARK: Places

    @Test("of a rule have their place in the file, however the rule is quoted")
    func rulePlaces() {
        func place(_ computed: String) -> String {
            let found = faults("nodes:\n  - id: n\n    computed:\n      a: \(computed)\n")
            return found.map { "\($0.position.line):\($0.position.column)" }.joined(separator: " ")
        }
        #expect(place("1 + nope") == "4:14")
        #expect(place("\"1 + nope\"") == "4:15")
        #expect(place("'size(''ab'') + nope'") == "4:26")
        #expect(place("\"size(\\\"ab\\\") + nope\"") == "4:26")
        #expect(place("=1 + nope") == "4:15")
        #expect(place("|\n        1 +\n          nope") == "6:11")
        // Folded over several lines, a place is no longer known: the rule's beginning stands for it.
        #expect(place(">-\n        1 +\n        nope") == "4:10")
    }

    @Test(
        "of something that is not closed have the place where it was opened",
        arguments: [
            (
                "nodes:\n  - id: n\n    computed: { x: \"1 + 2 }\n  - id: b\n", "3:20",
                "the quote that opens here does not end"
            ),
            ("nodes:\n  - id: é\n    tag: 'b\n", "3:10", "the quote that opens here does not end"),
            ("nodes:\n  - { id: n, state: { x: 1 }\n", "2:5", "the { that opens here is not closed"),
            ("nodes: [\n  { id: n }", "1:8", "the [ that opens here is not closed"),
            (
                "nodes:\n  - { id: a, state: { x: [1, 2 }\n  - id: b\n", "2:32",
                "did not find expected ',' or ']' while parsing a flow sequence"
            ),
        ])
    func open(text: String, place: String, message: String) {
        let found = faults(text).first
        #expect(found.map { "\($0.position.line):\($0.position.column)" } == place)
        #expect(found?.message == "not YAML: " + message)
    }

    @Test("of a document that came as a value are named by their path")
    func paths() throws {
        let value: Value = [
            "nodes": [["id": "a"], ["id": "b", "children": [["id": "c", "computed": ["x": "1 + y"]]]]]
        ]
        let fault = try #require(throws: SceneFaults.self) { try SceneReader.read(value: value) }.faults.first
        #expect(fault?.place == "nodes[1].children[0].computed.x")
        #expect(fault?.position == SourcePosition.none)
        #expect(fault?.rule == "1 + y")
        #expect(fault?.rulePosition == SourcePosition(line: 1, column: 5))
    }

    @Test("a single one keeps its own code as the refusal of a request")
    func codes() throws {
        func code(_ text: String) throws -> ErrorCode {
            try #require(throws: SceneFaults.self) { try SceneReader.read(text: text) }.failure.code
        }
        #expect(try code("nodes: [{ id: a, computed: { x: 1 + } }]") == .ruleSyntax)
        #expect(try code("nodes: [{ id: a, computed: { x: y } }]") == .ruleType)
        #expect(try code("nodes: [{ id: a, state: { x: { initial: 1, type: bool } } }]") == .typeMismatch)
        #expect(try code("nodes: [{ id: a }, { id: a }]") == .conflict)
        #expect(try code("nodes: [{ id: a, inherit: [x] }]") == .notFound)
        #expect(try code("nodes: [{ idd: a }]") == .invalid)
    }

    @Test("a rule's fault carries rule and column as a request's refusal does")
    func ruleFailure() throws {
        let failure = try #require(throws: SceneFaults.self) {
            try SceneReader.read(text: "nodes: [{ id: a, state: { count: 1 }, computed: { x: 1 + cuont } }]")
        }.failure
        #expect(failure.rule == "1 + cuont")
        #expect(failure.column == 5)
        #expect(failure.hint == "did you mean 'count'?")
    }

    @Test("a long line is shown around the caret only")
    func longLines() throws {
        let text = "nodes: [{ id: a, let: { x: '\(String(repeating: "x", count: 4000))' }, computed: { y: nope } }]"
        let shown = try #require(throws: SceneFaults.self) { try SceneReader.read(text: text) }.description
        #expect(shown.utf8.count < 500)
        #expect(shown.contains("y: nope"))
    }

    @Test("of a declaration are told once, not at each use")
    func cascades() {
        let found = faults(
            """
            keys: { environment: { scale: { default: x, type: double } } }
            components: { Label: { let: { text: { type: strng } }, computed: { x: text } } }
            nodes:
              - id: n
                state: { a: { initial: x, type: int } }
                computed: { b: a + nope, c: b, d: env.scale }
                clock: { now: often }
                inherit: { l: locl }
                children:
                  - { id: m, binding: { a: $a }, let: { b: $b, now: $now, l: $l, o: $nope }, computed: { p: o, q: b } }
                  - { id: o, component: Label, let: { text: x } }
            """)
        #expect(found.map(\.position.line) == [1, 2, 5, 6, 7, 8, 10])
    }

    // MARK: Reading

    @Test("a text that is not YAML is reported with its place and a hint")
    func syntax() {
        #expect(
            onlyFault("nodes:\n  - id: a\n    computed:\n      x: a ? b : c\n").hasPrefix(
                "4:16 not YAML: mapping values are not allowed"))
        #expect(onlyFault("nodes: [{ id: a").hasPrefix("1:9 not YAML: the { that opens here is not closed"))
        #expect(onlyFault("nodes:\n\t- id: a\n").contains("spaces, not tabs"))
        #expect(onlyFault("") == "1:1 the document is empty")
        #expect(onlyFault("agd: 1\n---\nagd: 1\n").hasPrefix("3:1 there is more than one document in the text"))
        #expect(onlyFault("- a\n").contains("a scene is a map"))
    }

    @Test("keys that are written twice are all told, with the place of the first")
    func duplicateKeys() throws {
        let found = faults("agd: 1\nagd: 1\nnodes:\n  - { id: a, id: b, state: { x: 1, x: 2 } }\n")
        #expect(
            found.map { "\($0.position.line):\($0.position.column) \($0.message)" } == [
                "2:1 the key 'agd' is written twice", "4:14 the key 'id' is written twice",
                "4:36 the key 'x' is written twice",
            ])
        #expect(
            found.map(\.note?.position) == [
                SourcePosition(line: 1, column: 1), SourcePosition(line: 4, column: 7),
                SourcePosition(line: 4, column: 30),
            ])
    }

    @Test("an unknown alias and an unknown tag are told")
    func aliases() {
        #expect(
            onlyFault("nodes: [{ id: a, state: { x: &big 1, y: *bif } }]")
                == "1:41 no anchor 'bif' | did you mean 'big'?")
        #expect(onlyFault("nodes: [{ id: a, state: { x: !!set 1 } }]").contains("unknown tag set"))
    }

    // MARK: Limits

    @Test("a document that multiplies by its aliases is refused, not expanded")
    func billionLaughs() {
        var text = "l0: &l0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...12 {
            text += "l\(level): &l\(level) [\(Array(repeating: "*l\(level - 1)", count: 10).joined(separator: ", "))]\n"
        }
        #expect(onlyFault(text).contains("the document has more than \(SceneLimits.entries) parts"))
    }

    @Test("components that multiply by their uses are refused, not expanded")
    func multiplyingComponents() {
        var text = "components:\n  C0: {}\n"
        for level in 1...60 {
            text += "  C\(level): { children: [{ component: C\(level - 1) }, { component: C\(level - 1) }] }\n"
        }
        let fault = onlyFault(text + "nodes: [{ id: a, component: C60 }]\n")
        #expect(fault.contains("the scene makes more than \(SceneLimits.nodes) nodes"))
    }

    @Test("components inside components are counted by their levels")
    func deepComponents() {
        var text = "components:\n  C0: {}\n"
        for level in 1...600 { text += "  C\(level): { children: [{ component: C\(level - 1) }] }\n" }
        #expect(onlyFault(text).contains("more than \(SceneLimits.depth) levels of nodes"))
    }

    @Test("nesting beyond the limit is refused where it begins")
    func nesting() {
        let deep = String(repeating: "[", count: 900) + String(repeating: "]", count: 900)
        #expect(
            onlyFault("nodes: \(deep)").hasPrefix(
                "1:\(7 + SceneLimits.nesting) nested deeper than \(SceneLimits.nesting) levels"))
        #expect(faults(String(repeating: "[", count: 100_000)).count == 1)
    }

    @Test("a tree as deep as the nesting allows is checked")
    func deepTree() throws {
        let levels = SceneLimits.nesting / 2 - 1
        var text = "nodes: [" + String(repeating: "{ id: n, children: [", count: levels - 1)
        text += "{ id: n, computed: { x: self.path } }" + String(repeating: "] }", count: levels - 1) + "]"
        var node = try #require(try scene(text).nodes.first)
        var depth = 1
        while let child = node.children.first {
            node = child
            depth += 1
        }
        #expect(depth == levels)
    }

    @Test("components that repeat each other from deep inside are read, and refused where they are too many")
    func deepRepetition() throws {
        func circle(_ count: Int, levels: Int) -> String {
            "components:\n"
                + (0..<count).map { number in
                    "  C\(number): { let: [x], children: [" + String(repeating: "{ children: [", count: levels)
                        + "{ forEach: { in: \"=[x]\", id: self, component: C\((number + 1) % count), let: { x: =element } } }"
                        + String(repeating: "] }", count: levels) + "] }\n"
                }.joined()
        }
        #expect(try scene(circle(2, levels: SceneLimits.repetitionDepth / 2)).declarations.components.count == 2)
        #expect(try scene(circle(20, levels: 3)).declarations.components.count == 20)
        #expect(faults(circle(8, levels: SceneLimits.repetitionDepth / 2)).map(\.code).contains(.limit))
        #expect(faults(circle(30, levels: SceneLimits.nesting / 2 - 6)).map(\.code).contains(.limit))
    }

    @Test("faults beyond the limit are counted")
    func manyFaults() throws {
        let text = "nodes:\n" + (0..<250).map { "  - { id: n\($0), computed: { x: nope } }\n" }.joined()
        let error = try #require(throws: SceneFaults.self) { try SceneReader.read(text: text) }
        #expect(error.faults.count == SceneLimits.faults)
        #expect(error.omitted == 250 - SceneLimits.faults)
        #expect(error.description.hasSuffix("150 more faults"))
    }

    @Test("ids and names have a length")
    func lengths() {
        let long = String(repeating: "n", count: 256)
        #expect(onlyFault("nodes: [{ id: \(long) }]").contains("at most 255 bytes"))
        #expect(onlyFault("nodes: [{ id: a, state: { \(long): 1 } }]").contains("longer than 255 bytes"))
    }
}
