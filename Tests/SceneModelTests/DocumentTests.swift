import AttributeValues
import SceneModel
import TestSupport
import Testing

@Suite("YAML and JSON")
struct DocumentTests {
    private func value(_ text: String) throws -> Value { try SceneReader.value(text: text) }

    @Test("scalars without quotes mean what YAML 1.2's core schema says")
    func scalars() throws {
        let text =
            "[~, null, Null, true, TRUE, False, 12, -7, +3, 0x1f, 0o17, 1.5, -1e3, .5, 1., .inf, -.INF, 9223372036854775808, yes, no, on, 1.2.3, 1-2, -, ., 1e, 0x, 08, 2026-01-01, 'true', \"1\"]"
        #expect(
            try value(text) == [
                .null, .null, .null, true, true, false, 12, -7, 3, 31, 15, 1.5, -1000.0, 0.5, 1.0, .double(.infinity),
                .double(-.infinity), .uint(9_223_372_036_854_775_808), "yes", "no", "on", "1.2.3", "1-2", "-",
                ".", "1e", "0x", 8, "2026-01-01", "true", "1",
            ])
    }

    @Test(
        "a key is a text, a whole number or a bool",
        arguments: ["{1.5: x}", "{.nan: x}", "{~: x}", "{!!binary aGk=: x}", "{[a]: x}"])
    func keys(text: String) throws {
        #expect(throws: SceneFaults.self) { try value(text) }
        #expect(try value("{1: a, true: b, '1.5': c}").map?.count == 3)
    }

    @Test("JSON is read as JSON, with whatever characters its strings hold and keys of any length")
    func json() throws {
        #expect(
            try value(#"{"a": "\ud83d\ude00\u00e9\n\/\"", "b": [1, 2.0, null, true], "c": {"d": -1e-2}}"#) == [
                "a": "😀é\n/\"", "b": [1, 2.0, .null, true], "c": ["d": -0.01],
            ])
        #expect(try value("{\n\t\"tabs\":\t[\n\t\t1\n\t]\n}") == ["tabs": [1]])
        #expect(try value(#"{"backslash": "\\ud83d"}"#) == ["backslash": "\\ud83d"])
    }

    @Test("JSON may hold what YAML refuses or folds")
    func beyondYAML() throws {
        let key = String(repeating: "k", count: 3000)
        #expect(
            try value("{\"\(key)\":\"\u{7f}\u{85} \u{2028} \u{fffe}\u{feff}\"}") == [
                key: "\u{7f}\u{85} \u{2028} \u{fffe}\u{feff}"
            ])
        #expect(try value(#"{"a": "\ud83d\ude00\u0000\u2029\b\f\r\t\"\\"}"#) == ["a": "😀\0\u{2029}\u{8}\u{c}\r\t\"\\"])
    }

    @Test("a document that only starts like JSON is YAML")
    func almostJSON() throws {
        #expect(try value("{a: 1, 'b': [x y, 2,]} # a comment") == ["a": 1, "b": ["x y", 2]])
        #expect(try value("[1, 2]\n# a comment\n") == [1, 2])
        #expect(try value("[\"a\": 1]") == [["a": 1]])
    }

    @Test("faults of JSON stand at their places")
    func jsonPlaces() {
        #expect(onlyFault("{\r\n\t\"nodes\": [{\"id\": \"é😀\", \"idd\": 1}]\r\n}").hasPrefix("2:25 "))
        #expect(onlyFault("{\"nodes\": [{\"id\": \"a\", \"id\": \"b\"}]}") == "1:24 the key 'id' is written twice")
        #expect(onlyFault("{\"nodes\": [{\"id\": \"a\", \"computed\": {\"x\": \"\\u0031 + y\"}}]}").hasPrefix("1:52 "))
        #expect(onlyFault("{\"nodes\": [{\"id\": \"a\"}]").contains("not YAML"))
        #expect(
            onlyFault(String(repeating: "[", count: 300) + String(repeating: "]", count: 300)).contains("nested deeper")
        )
    }

    @Test("keys are told apart by their bytes, however many there are")
    func similarKeys() throws {
        var map = ValueMap((0..<20).map { (.string("k\($0)"), .int(Int64($0))) })
        map["é"] = 1
        map["e\u{301}"] = 2
        #expect(try value(DocumentWriter.yaml(.map(map))) == .map(map) && value(Value.map(map).jsonText) == .map(map))
    }

    @Test("a byte order mark before the text counts for nothing")
    func byteOrderMark() throws {
        #expect(try value("\u{feff}agd: 1\n") == ["agd": 1] && value("\u{feff}{\"agd\": 1}") == ["agd": 1])
        #expect(onlyFault("\u{feff}{\"nodes\": [{\"idd\": 1}]}").hasPrefix("1:13 "))
    }

    @Test("aliases stand for what they name, << brings in the keys that a map lacks")
    func aliases() throws {
        let text =
            "base: &b { x: 1, y: 2 }\nmore: &m { z: 3 }\none: { <<: *b, y: 5 }\ntwo: { <<: [*b, *m] }\nthree: *b\n"
        #expect(
            try value(text) == [
                "base": ["x": 1, "y": 2], "more": ["z": 3], "one": ["y": 5, "x": 1], "two": ["x": 1, "y": 2, "z": 3],
                "three": ["x": 1, "y": 2],
            ])
    }

    @Test("tags choose a type, blocks keep or fold their lines")
    func tags() throws {
        #expect(
            try value("a: !!str 1\nb: !!binary aGk=\nc: |\n  x\n  y\nd: >-\n  x\n  y\n") == [
                "a": "1", "b": .bytes([104, 105]), "c": "x\ny\n", "d": "x y",
            ])
    }

    @Test("keys that are numbers stay numbers in literals")
    func numberKeys() throws {
        let read = try value("{1: a, '2': b}")
        #expect(read.map?[.int(1)] == "a")
        #expect(read.map?["2"] == "b")
    }

    @Test("a random text is read or refused, and never anything else", arguments: freshSeeds(40))
    func randomTexts(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let parts = [
            "{", "}", "[", "]", ": ", "- ", "\n", "  ", "nodes", "id", "a", "=x", "$y", "'", "\"", "&a ", "*a ", "|",
            "<<",
            "# ", "!!str ", ",", "children", "\t", "%", "\\u12", "é",
        ]
        for _ in 0..<200 {
            let text = (0..<Int.random(in: 1..<40, using: &random)).map { _ in parts.randomElement(using: &random) ?? ""
            }
            .joined()
            do {
                _ = try SceneReader.read(text: text)
            } catch {
                #expect(!error.faults.isEmpty, "seed \(seed): \(text)")
                #expect(!error.description.isEmpty)
            }
        }
    }

    @Test("a right document with one part damaged is checked to its end", arguments: freshSeeds(20))
    func damaged(_ seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let whole = try SceneReader.value(text: specificationScene)
        for _ in 0..<50 {
            let damaged = Self.damage(whole, &random)
            do { _ = try SceneReader.read(value: damaged) } catch {
                #expect(!error.faults.isEmpty, "seed \(seed): \(damaged)")
            }
        }
    }

    /// The value with something else somewhere inside.
    private static func damage(_ value: Value, _ random: inout SeededGenerator) -> Value {
        let others: [Value] = [
            .null, true, 5, 1.5, "", "=", "$", "x y", [], [[]], .map(ValueMap()), ["a": 1], "=1 +", "$a[",
        ]
        if Int.random(in: 0..<6, using: &random) == 0 { return others.randomElement(using: &random) ?? .null }
        switch value {
        case .list(var elements) where !elements.isEmpty:
            let at = Int.random(in: 0..<elements.count, using: &random)
            elements[at] = damage(elements[at], &random)
            return .list(elements)
        case .map(var map) where !map.isEmpty:
            let (key, inner) = map.entry(at: Int.random(in: 0..<map.count, using: &random))
            map[key] = damage(inner, &random)
            return .map(map)
        default: return others.randomElement(using: &random) ?? .null
        }
    }
}
