import AttributeValues
import Testing

@Suite("Strings by their words")
struct StringBytesTests {
    private static let alphabet = ["", "a", "b", "1", "é", "e\u{301}", "日", "😀", "\u{0}"]

    /// All strings of up to four of the pieces, in several representations.
    private static var samples: [String] {
        var all = [""]
        for _ in 0..<4 { all += all.flatMap { text in alphabet.map { text + $0 } } }
        let short = Array(Set(all.map { Array($0.utf8) })).map { String(decoding: $0, as: UTF8.self) }
        return Array(short.prefix(300)) + short.prefix(50).map { String(repeating: $0, count: 4) }
    }

    /// The same text with memory of its own, as growing leaves it.
    private static func grown(_ text: String) -> String {
        var grown = String()
        grown.reserveCapacity(64)
        grown += text
        return grown
    }

    @Test("equality by words is equality of the bytes, in every representation")
    func equality() {
        let samples = Self.samples
        for a in samples {
            for b in samples {
                let same = a.utf8.elementsEqual(b.utf8)
                #expect(a.hasSameBytes(as: b) == same)
                #expect(Self.grown(a).hasSameBytes(as: b) == same)
                #expect(a.hasSameBytes(as: Self.grown(b)) == same)
            }
        }
    }

    @Test("the order of strings is that of their bytes, in every representation")
    func order() {
        let samples = Self.samples
        for a in samples {
            for b in samples {
                let precedes = a.utf8.lexicographicallyPrecedes(b.utf8)
                #expect(a.precedesByBytes(b) == precedes)
                #expect(Self.grown(a).precedesByBytes(b) == precedes)
            }
        }
    }

    @Test("a string contains another if its bytes do")
    func containing() {
        let samples = Self.samples
        for a in samples {
            let whole = Array(a.utf8)
            for b in samples.prefix(120) {
                let part = Array(b.utf8)
                let places = 0..<max(0, whole.count - part.count + 1)
                let isInside = places.contains { whole[$0...].starts(with: part) }
                #expect(a.containsBytes(of: b) == isInside)
            }
        }
    }

    @Test("joining by words gives the string that + gives")
    func joining() {
        let samples = Self.samples
        for a in samples.prefix(120) {
            for b in samples {
                let joined = a.joined(to: b)
                #expect(joined.utf8.elementsEqual((a + b).utf8))
                #expect(joined == a + b)
                #expect(joined.hasSameBytes(as: a + b))
                #expect(joined.hashValue == (a + b).hashValue)
            }
        }
    }

    @Test("a beginning by words is a beginning of the bytes")
    func beginnings() {
        let samples = Self.samples
        for a in samples.prefix(120) {
            for b in samples {
                var (text, part) = (Value.string(a + b), Value.string(a))
                withUnsafePointer(to: &text) { text in
                    withUnsafePointer(to: &part) { part in
                        let isShort = (a + b).utf8.count <= 15 && a.utf8.count <= 15
                        #expect(text.shortText(startsWith: part) == (isShort ? true : nil))
                        let reverse = a.utf8.starts(with: (a + b).utf8)
                        #expect(part.shortText(startsWith: text) == (isShort ? reverse : nil))
                        #expect(text.shortText(equals: part) == (isShort ? b.isEmpty : nil))
                    }
                }
            }
        }
    }

    @Test("decimal digits are those of the standard library")
    func digits() {
        var numbers: [Int64] = [.min, .max, 0, -1, 99_999_999_999_999, 100_000_000_000_000, -99_999_999_999_999]
        var power: Int64 = 1
        for _ in 0..<18 {
            numbers += [power, -power, power - 1, power + 7]
            power *= 10
        }
        for number in numbers {
            #expect(String(decimal: number) == String(number))
            #expect(String(decimal: number).hasSameBytes(as: String(number)))
        }
    }

    @Test("a look-up that borrows finds what the map's own finds")
    func borrowing() {
        for count in [0, 1, 7, 8, 9, 100] {
            let keys =
                (0..<count).map { Value.string("key of some length \($0)") } + (0..<count).map { .string("k\($0)") }
            var map = ValueMap()
            for (number, key) in keys.enumerated() { map[key] = .int(Int64(number)) }
            map[.int(1)] = "int"
            var value = Value.map(map)
            for key in keys + ["absent", "absent and longer than that", .int(1)] {
                var key = key
                let found = withUnsafePointer(to: &value) { value in
                    withUnsafePointer(to: &key) { key in value.element(of: key)?.pointee }
                }
                if case .string = key { #expect(found == map[key]) } else { #expect(found == nil) }
            }
            map["k0"] = nil
            map["new"] = 1
            var changed = Value.map(map)
            for key: Value in ["k0", "k1", "new"] {
                var key = key
                let found = withUnsafePointer(to: &changed) { value in
                    withUnsafePointer(to: &key) { key in value.element(of: key)?.pointee }
                }
                #expect(found == map[key])
            }
        }
    }
}

@Suite("Texts that are not UTF-8")
struct UTF8FaultTests {
    @Test(
        "are told by line and column, in characters",
        arguments: [
            ([0xE9], 1, 1), (Array("aé\n日b".utf8) + [0xC3], 2, 3), ([0xEF, 0xBB, 0xBF, 0x61, 0xFF], 1, 2),
            (Array("a\n".utf8) + [0xED, 0xA0, 0x80], 2, 1),
        ] as [([UInt8], Int, Int)])
    func places(bytes: [UInt8], line: Int, column: Int) throws {
        let fault = #expect(throws: UTF8Fault.self) { try String(utf8: bytes) }
        #expect(fault?.line == line && fault?.column == column, "\(fault as Any)")
        #expect(try String(utf8: Array("aé日😀".utf8)) == "aé日😀")
    }

    @Test("a text in JSON is read again as it was, whatever must be escaped and wherever it stands")
    func json() throws {
        var generator = SystemRandomNumberGenerator()
        let pieces = ["a", "bcdefghi", "é", "漢", "\"", "\\", "\n", "\u{1f}", "\u{7f}", " ", "\u{80}", "\0"]
        for length in 0..<300 {
            let text = (0..<length % 40).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let buffer = ByteBuffer()
            buffer.appendJSONString(text)
            #expect(try JSONParser.parseOnce(buffer.text.utf8) == .string(text))
            let isPlain = !text.unicodeScalars.contains { $0.value < 0x20 || $0 == "\"" || $0 == "\\" }
            if isPlain { #expect(buffer.text == "\"\(text)\"") }
        }
    }

    @Test("the scalars are counted that the standard library counts")
    func scalars() {
        var generator = SystemRandomNumberGenerator()
        let scalars = ["a", "é", "e\u{301}", "漢", "👩‍👩‍👧", "\u{10FFFF}", "\r\n", "\0"]
        for length in 0..<200 {
            let text = (0..<length).map { _ in scalars.randomElement(using: &generator) ?? "" }.joined()
            #expect(text.scalarCount == text.unicodeScalars.count)
        }
    }
}
