import AttributeValues
import TestSupport
import Testing

@Suite("Values")
struct ValueTests {
    @Test("a value fits three words") func layout() {
        #expect(MemoryLayout<Value>.stride <= 24)
    }

    @Test(
        "JSON text reads back as the value that wrote it",
        arguments: [
            "null", "true", "-9223372036854775808", "18446744073709551615", "1.5", "1.0", "1e+16",
            "\"a\\\"\\n\\u0001é\"",
            "[1,[2.0,[]],{\"a\":{},\"b\":[null]}]",
        ])
    func roundTrip(text: String) throws {
        #expect(try JSONParser.parseOnce(text.utf8).jsonText == text)
    }

    @Test("content is equal only with its type") func equality() {
        #expect(Value.int(1) != .double(1))
        #expect(Value.double(.nan) == .double(.nan))
        #expect(Value.double(0) != .double(-0.0))
        #expect(Value.string("\u{e9}") != .string("e\u{301}"))
    }

    @Test("map keys are found losslessly across number types, in small and large maps", arguments: [3, 40])
    func mapKeys(count: Int) {
        let map = ValueMap((0..<count).map { (.int(Int64($0)), .int(Int64($0 * 10))) })
        #expect(map[.uint(2)] == 20)
        #expect(map[.double(2)] == 20)
        #expect(map[.double(1.5)] == nil)
        #expect(map[.bool(true)] == nil)
        #expect(map[.int(Int64(count))] == nil)
    }

    @Test("a copy of a map does not see later writes to the other") func mapCopies() {
        var a: ValueMap = ValueMap([("x", 1), ("y", 2)].map { (.string($0), $1) })
        let b = a
        a["x"] = nil
        a["z"] = 3
        #expect(b.keys == ["x", "y"])
        #expect(a.keys == ["y", "z"])
        #expect(a["y"] == 2)
    }

    @Test("typed JSON loses nothing") func typed() throws {
        let values: [Value] = [
            .null, true, 5, .uint(7), 1.5, .double(.nan), "x", .bytes([0, 255]), [1, 2.0],
            .map(ValueMap([(.int(1), "a"), (.bool(true), .uint(2))])), .type("int"), .optional(nil), .optional(3),
            .duration(TimeSpan(nanoseconds: -1_500_000_000)),
            .timestamp(try #require(Timestamp(seconds: -1, nanoseconds: 5))),
        ]
        for value in values {
            let text = value.typedJSON.jsonText
            #expect(try Value(typedJSON: JSONParser.parseOnce(text.utf8)) == value)
        }
    }

    @Test(
        "typed JSON that is none is refused",
        arguments: [
            "1", "[]", "{}", #"{"int":"5","x":1}"#, #"{"int":true}"#, #"{"list":{"int":"5"}}"#, #"{"list":[5]}"#,
            #"{"map":[[{"int":"5"}]]}"#,
            #"{"map":[[{"double":"5"},{"int":"5"}]]}"#, #"{"map":[[{"int":"5"},6]]}"#, #"{"optional":7}"#,
            #"{"nothing":"5"}"#,
        ])
    func noTypedJSON(text: String) throws {
        func refusal(_ read: () throws -> Value) -> String? {
            do { return "read as \(try read())" } catch { return (error as? Failure)?.code.rawValue }
        }
        #expect(refusal { try Value(typedJSON: JSONParser.parseOnce(text.utf8)) } == "invalid")
    }

    @Test("typed JSON of any value reads back as the value", arguments: freshSeeds(20))
    func anyTyped(seed: UInt64) throws {
        var random = RandomValues(seed: seed)
        for _ in 0..<200 {
            let value = random.value(depth: 3)
            let text = value.typedJSON.jsonText
            #expect(try Value(typedJSON: JSONParser.parseOnce(text.utf8)) == value, "\(text)")
            #expect(value == value && value.hashValue == value.hashValue)
            let buffer = ByteBuffer()
            buffer.appendTypedJSON(value)
            #expect(buffer.text == text)
            // Counted without escapes, so never too high; for numbers and words too low by their lengths.
            var budget = buffer.count
            value.draw(from: &budget, isTyped: true)
            #expect(budget >= 0, "\(text)")
            #expect(throws: Never.self) { try JSONParser.parseOnce(value.jsonText.utf8) }
        }
    }

    @Test("a double is written as its shortest text, with few decimals and with many") func doubles() {
        var generator = SeededGenerator(seed: freshSeed())
        var numbers = [0.001, -0.001, 0.0009, 0.1 + 0.2, 1_000_000_000.5, 999_999_999_999.999, 1e12, 0.005, 1.005]
        for scale in [1.0, 10, 100, 1000, 10_000, 7] {
            for bound in [100.0, 1e6, 1e9, 1e12, 1e14] {
                for _ in 0..<300 {
                    let number = Double.random(in: -bound...bound, using: &generator)
                    numbers += [(number * scale).rounded() / scale, number, number.nextUp]
                }
            }
        }
        for number in numbers {
            let buffer = ByteBuffer()
            buffer.appendJSON(number)
            #expect(buffer.text == number.description)
        }
    }

    @Test("a key that rules do not admit is written as a string, and refused in typed JSON") func keys() throws {
        for key: Value in [.double(.nan), 1.5, .null, ["a", "\""], .timestamp(.epoch), .bytes([1])] {
            let map = Value.map(ValueMap([(key, Value.int(1))]))
            let read = try JSONParser.parseOnce(map.jsonText.utf8)
            #expect(read.map?.count == 1 && read.map?.values == [1])
            #expect(throws: Failure.self) { try Value(typedJSON: map.typedJSON) }
        }
    }

    @Test(
        "a time is carried from any number of nanoseconds, or refused",
        arguments: [
            (.min, -9_223_372_037, 145_224_192), (-1, -1, 999_999_999), (0, 0, 0), (.max, 9_223_372_036, 854_775_807),
        ] as [(Int64, Int64, Int32)])
    func nanoseconds(given: Int64, seconds: Int64, rest: Int32) throws {
        let time = try #require(Timestamp(seconds: 0, nanoseconds: given))
        #expect(time.seconds == seconds && time.nanoseconds == rest)
    }

    @Test("documents nested beyond the limit are refused") func depth() {
        let deep = String(repeating: "[", count: 1000) + String(repeating: "]", count: 1000)
        #expect(throws: Failure.self) { try JSONParser.parseOnce(deep.utf8) }
    }

    @Test("base64 reads what it writes and refuses the rest") func base64() {
        for count in 0..<10 {
            let bytes = (0..<count).map { UInt8($0 * 37 & 255) }
            #expect(Base64.decode(Base64.encode(bytes)) == bytes)
        }
        #expect(Base64.decode("aGk") == Array("hi".utf8))
        #expect(Base64.decode("a") == nil)
        #expect(Base64.decode("a*==") == nil)
    }
}

@Suite("Instants")
struct InstantTests {
    @Test(
        "timestamps print as they were read",
        arguments: [
            "1970-01-01T00:00:00Z", "2026-02-28T23:59:59.5Z", "0001-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999Z",
            "2000-02-29T12:00:00.000000001Z",
        ])
    func timestamps(text: String) { #expect(Timestamp(text)?.description == text) }

    @Test("offsets are applied and impossible dates refused") func offsets() {
        #expect(Timestamp("2026-01-01T01:30:00+01:30")?.description == "2026-01-01T00:00:00Z")
        for bad in [
            "2025-02-29T00:00:00Z", "2025-01-01t00:00:00Z", "2025-01-01T00:00:60Z", "2025-01-01T00:00:00",
            "0000-01-01T00:00:00Z",
        ] {
            #expect(Timestamp(bad) == nil, "\(bad)")
        }
    }

    @Test(
        "durations read units and print seconds",
        arguments: [
            ("1h30m", "5400s"), ("31d", "2678400s"), ("1d12h", "129600s"), ("-1.5h", "-5400s"), ("0", "0s"),
            ("1.000000001s", "1.000000001s"), ("100ms", "0.1s"),
            ("2us3ns", "0.000002003s"),
        ])
    func durations(text: String, printed: String) { #expect(TimeSpan(text)?.description == printed) }

    @Test(
        "malformed or too long durations are refused",
        arguments: ["", "1", "s", "1w", "d", "1D", "200000d", "1s ", "9223372037s", "-"])
    func badDurations(text: String) { #expect(TimeSpan(text) == nil) }
}

@Suite("Paths")
struct PathTests {
    @Test(
        "a path prints as it was read",
        arguments: [
            "/", "/.x", "/player.isPlaying", "/player/playButton.episode.title", "/app.items[0].done",
            "/app.items[id=\"x\"].done",
            "/hosts/\"web-01.example.com\".load", "/a.b[\"odd key\"]",
        ])
    func roundTrip(text: String) throws { #expect(try AttributePath(text).description == text) }

    @Test(
        "a malformed path says where",
        arguments: [
            ("player", 1), ("/a..b", 4), ("/a.b[", 6), ("/a.b[-1]", 8), ("/a b", 3), ("/a.b[x=]", 8), ("/\"open", 7),
        ])
    func faults(text: String, column: Int) {
        let failure = #expect(throws: Failure.self) { try AttributePath(text) }
        #expect(failure?.code == .invalid)
        #expect(failure?.message.contains("column \(column)") == true, "\(failure?.message ?? "")")
    }

    @Test(
        "patterns name the nodes that they say",
        arguments: [
            ("/hosts/*.load", ["hosts", "a"], true), ("/hosts/*.load", ["hosts"], false),
            ("/fleet/**.status", ["fleet"], true),
            ("/fleet/**.status", ["fleet", "a", "b"], true), ("/**", [], true), ("/**/x.v", ["a", "b", "x"], true),
            ("/**/x.v", ["x", "y"], false), ("/a/**/b/*", ["a", "b", "c"], true),
        ] as [(String, [String], Bool)])
    func patterns(text: String, nodes: [String], matches: Bool) throws {
        #expect(try PathPattern(text).matches(nodes: nodes.names) == matches)
    }

    @Test(
        "types print as they were read",
        arguments: ["int", "double?", "list(int)", "map(string, list(double))", "vector(3)", "Library?"])
    func types(text: String) { #expect(ValueType(text)?.description == text) }

    @Test("types accept what they should and widen int to double") func accepts() {
        #expect(ValueType.double.accept(1) == 1.0)
        #expect(ValueType.int.accept(1.5) == nil)
        #expect(ValueType.nullable(.int).accept(.null) == .null)
        #expect(ValueType.list(.double).accept([1, 2.5]) == [1.0, 2.5])
        #expect(ValueType.duration.accept("2s") == .duration(TimeSpan(nanoseconds: 2_000_000_000)))
        #expect(ValueType.string.accept(1) == nil)
    }
}
