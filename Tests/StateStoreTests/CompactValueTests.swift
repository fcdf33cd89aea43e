import AttributeValues
@testable import StateStore
import Testing

@Suite("values as the store writes them")
struct CompactValueTests {
    private let reader = ValueReader(maximumDepth: 16)

    private func bytes(_ value: Value) -> [UInt8] {
        let buffer = ByteBuffer()
        buffer.appendCompact(value)
        return buffer.withBytes { Array($0) }
    }

    private func read(_ bytes: [UInt8]) throws(Failure) -> Value {
        try bytes.withUnsafeBufferPointer { (bytes) throws(Failure) in try reader.value(bytes) }
    }

    private static var values: [Value] {
        [
            .null, true, false, .int(.min), .uint(.max), .double(-0.0), .double(.nan), "", "short",
            "é and more than fifteen bytes",
            .bytes([0, 255]), [1, [2.5, "x"]], ["a": 1, "b": ["c": .null]],
            .map(ValueMap([(.int(1), "one"), (.bool(true), 2)])),
            .timestamp(.epoch), .duration(TimeSpan(nanoseconds: -1)), .optional(nil), .optional(3), .type("int"),
            .opaque(AngleValue(degrees: 1.5)),
        ]
    }

    @Test("are read as they were", arguments: 0..<CompactValueTests.values.count) func same(_ place: Int) throws {
        let value = CompactValueTests.values[place]
        #expect(try read(bytes(value)) == value)
    }

    @Test("that are truncated, too long or too deep are refused") func refused() throws {
        let whole = bytes(["key": [1, "two"]])
        for count in 0..<whole.count { #expect(throws: Failure.self) { try read(Array(whole[..<count])) } }
        #expect(throws: Failure.self) { try read(whole + [0]) }
        #expect(throws: Failure.self) { try read([200]) }
        var nested: Value = 1
        for _ in 0..<20 { nested = [nested] }
        #expect(throws: Failure.self) { try read(bytes(nested)) }
    }
}
