import TestSupport
import Testing

@testable import AttributeValues

@Suite("Plain JSON")
struct PlainJSONTests {
    /// The results of the plain reader and of the parser for a text. Behind it stand bytes that would continue it.
    private func read(_ text: String, before rest: String = "}}\n") -> (plain: Value?, parsed: Value?) {
        var bytes = Array(text.utf8)
        let count = bytes.count
        bytes += Array(rest.utf8) + [UInt8](repeating: UInt8(ascii: "1"), count: JSONParser.padding)
        return bytes.withUnsafeBufferPointer { bytes in
            let text = UnsafeBufferPointer(rebasing: bytes[..<count])
            let parser = JSONParser()
            defer { withExtendedLifetime(parser) {} }
            return (PlainJSON.value(text), try? parser.parse(text).value)
        }
    }

    /// Equal also in type, and in the sign of zero.
    private func areSame(_ a: Value?, _ b: Value?) -> Bool {
        a.map(\.typedJSON.jsonText) == b.map(\.typedJSON.jsonText)
    }

    @Test(
        "values that programs write most are read without the parser",
        arguments: [
            "0", "7", "-7", "123456789012345678", "0.5", "-0.0", "1764052800.123456", "0.1", "123456789012345.6",
            "true",
            "false", "null", #""""#, #""a""#, #""1234567""#, #""12345678""#, #""123456789012345""#, #""a:b""#,
            #"{"id":"0123","v":12.3,"unit":"percent","t":1000000001.5}"#, #"{"":null}"#,
            #"{"a:b:c":1}"#, #"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8}"#,
        ])
    func plain(text: String) {
        let (plain, parsed) = read(text)
        #expect(plain != nil && areSame(plain, parsed), "\(String(describing: plain))")
        for rest in ["", "0", ".5", "e9", "\"", ",\"a\":1}"] {
            #expect(areSame(read(text, before: rest).plain, parsed))
        }
    }

    @Test(
        "everything else is left to the parser",
        arguments: [
            "", "-", "01", "-0", "1.", ".5", "1e5", "1.5E3", "1234567890123456789", "9007199254740993.5",
            "0.1234567890123456789", "tru", "truee", "nul", "True", "[1]", "[]", "{}", #"{"a":{}}"#, #"{"a":[1]}"#,
            #"{"a":1,"a":2}"#, #"{"a":1,}"#, #"{"a":1"#, #"{"a"}"#, #"{"a" :1}"#, #"{ "a":1}"#, #"{"a":1} "#, " 1",
            "1 ",
            #"{"a":1}}"#, #"{"a":1,"b"}"#, #"{1:2}"#, #""1234567890123456""#, #""a\n""#, #""a\"b""#, "\"a\tb\"",
            #""ä""#,
            #""a"#, #""a"b"#, #"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9}"#,
        ])
    func other(text: String) { #expect(read(text).plain == nil) }

    @Test("a map that was read can be changed, alone or shared, and then has longer texts and escapes")
    func changing() throws {
        let long: Value = "a \"quoted\" text of more than fifteen bytes"
        let text = #"{"a":"b","c":1.5,"d":null}"#
        for isShared in [false, true] {
            guard case .map(var map)? = read(text).plain else { return #expect(Bool(false)) }
            #expect(Value.map(map).isShort && Value.map(map).jsonText == text)
            let copy = isShared ? map : ValueMap()
            map["c"] = long
            map["\\"] = ["e": long]
            map["a"] = nil
            let changed: Value = ["c": long, "d": .null, "\\": ["e": long]]
            #expect(!Value.map(map).isShort && .map(map) == changed && Value.map(map).jsonText == changed.jsonText)
            if isShared { #expect(Value.map(copy).isShort && Value.map(copy).jsonText == text) }
        }
        #expect(!long.isShort && !changeable.isShort && Value.string("short").isShort && Value.double(1).isShort)
    }

    /// A map that was not read.
    private var changeable: Value { ["a": 1] }

    @Test("the plain reader and the parser agree on any bytes", arguments: freshSeeds(20))
    func random(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let pieces = [
            "{", "}", "[", "]", ":", ",", "\"", "\\", "-", ".", "e", "0", "1", "9", "12", "345", "000", "true", "false",
            "null", "a", "percent", "12345678", " ", "\"a\":", "\"b\":1.5,", "\"c\":\"d\"", "ü", "\u{1}", "\u{7f}",
        ]
        for _ in 0..<2000 {
            let count = Int.random(in: 1...8, using: &generator)
            let inside = (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            for text in [inside, "{\(inside)}", "\"\(inside)\"", "{\"k\":\(inside)}"] {
                let (plain, parsed) = read(text)
                if let plain { #expect(areSame(plain, parsed), "\(text)") }
            }
        }
    }

    @Test("numbers are those of the parser to the last bit", arguments: freshSeeds(10))
    func numbers(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<5000 {
            let number = UInt64.random(in: 0...UInt64.random(in: 1...UInt64.max, using: &generator), using: &generator)
            var digits = String(number)
            let point = Int.random(in: 0...digits.count, using: &generator)
            if point > 0, point < digits.count {
                digits.insert(".", at: digits.index(digits.startIndex, offsetBy: point))
            }
            if Bool.random(using: &generator) { digits = "-" + digits }
            let (plain, parsed) = read(digits)
            if let plain { #expect(areSame(plain, parsed), "\(digits)") }
        }
    }
}
