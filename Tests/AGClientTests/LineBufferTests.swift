@testable import AGClient
import TestSupport
import Testing

@Suite("lines out of bytes")
struct LineBufferTests {
    private func lines(_ buffer: LineBuffer) throws -> [String] {
        var lines: [String] = []
        while let line = try buffer.withNextLine({ String(decoding: $0, as: UTF8.self) }) { lines.append(line) }
        return lines
    }

    private func feed(_ bytes: ArraySlice<UInt8>, to buffer: LineBuffer) -> Int {
        buffer.fill { space, size in
            let count = min(size, bytes.count)
            space.copyMemory(from: Array(bytes.prefix(count)), byteCount: count)
            return count
        }
    }

    @Test("however the bytes are cut, the same lines come out", arguments: freshSeeds(4))
    func chunks(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let sent = (0..<300).map { _ in
            String(
                repeating: "x", count: Int.random(in: 0..<(Bool.random(using: &random) ? 20 : 30_000), using: &random))
        }
        let bytes = Array(sent.map { $0 + "\n" }.joined().utf8)
        let buffer = LineBuffer()
        var received: [String] = []
        var position = 0
        while position < bytes.count {
            let end = min(bytes.count, position + Int.random(in: 1..<50_000, using: &random))
            position += feed(bytes[position..<end], to: buffer)
            if Bool.random(using: &random) { received += try lines(buffer) }
        }
        received += try lines(buffer)
        #expect(received == sent, "seed \(seed)")
        #expect(buffer.isEmpty)
    }

    @Test("a line beyond the limit is refused while it still grows")
    func limit() throws {
        let buffer = LineBuffer(limit: 1000)
        _ = feed(Array(repeating: 0x78, count: 1000)[...], to: buffer)
        #expect(try lines(buffer).isEmpty)
        _ = feed([0x78], to: buffer)
        #expect { try lines(buffer) } throws: { error in
            if case ClientError.limit = error { true } else { false }
        }
    }
}
