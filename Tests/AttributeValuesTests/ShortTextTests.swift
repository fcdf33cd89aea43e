import AttributeValues
import Testing

@Suite("short texts as JSON")
struct ShortTextTests {
    private func text(_ value: String) -> String {
        let buffer = ByteBuffer(capacity: 16)
        buffer.appendJSONString(value)
        return buffer.text
    }

    @Test("values of each length with each sign at each place are read back unchanged", arguments: 0...20)
    func signs(_ length: Int) throws {
        for byte in UInt8(0)..<128 {
            for place in 0..<max(1, length) {
                var bytes = [UInt8](repeating: UInt8(ascii: "x"), count: length)
                if place < length { bytes[place] = byte }
                let value = String(decoding: bytes, as: UTF8.self)
                let written = text(value)
                #expect(try JSONParser.parseOnce(written.utf8) == .string(value))
                let isEscaped = length > 0 && (byte < 0x20 || byte == 0x22 || byte == 0x5c)
                #expect(isEscaped != (written == "\"\(value)\""))
            }
        }
    }

    @Test("values with other letters are written unchanged") func letters() {
        for value in ["é", "ééééééé", "日本語日本", "x😀", "ÿ"] { #expect(text(value) == "\"\(value)\"") }
    }

    @Test("are read from objects as keys and values of each length; of equal keys the last one counts") func objects()
        throws
    {
        for length in 0...20 {
            let name = String(repeating: "k", count: length)
            let json = "{\"\(name)\":\"\(name)é\",\"b\":1,\"b\":2}"
            guard case .map(let map) = try JSONParser.parseOnce(json.utf8) else { return #expect(Bool(false)) }
            #expect(map.count == 2 && map[name] == .string(name + "é") && map["b"] == 2)
        }
    }
}
