import AttributeValues
import TestSupport
import Testing

@testable import DaemonServer

@Suite("Bytes into lines")
struct InputBufferTests {
    private func fill(_ buffer: inout InputBuffer, _ bytes: some Collection<UInt8>) {
        var rest = Array(bytes)[...]
        while !rest.isEmpty {
            let memory = buffer.freeMemory()
            let piece = rest.prefix(memory.count)
            memory.copyBytes(from: piece)
            buffer.didFill(piece.count)
            rest = rest.dropFirst(piece.count)
        }
    }

    private func lines(_ buffer: inout InputBuffer) -> [String] {
        var lines: [String] = []
        while let line = buffer.takeLine() { lines.append(String(decoding: line, as: UTF8.self)) }
        return lines
    }

    @Test("however bytes are cut, the lines are the same", arguments: freshSeeds(4))
    func cutting(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let pool = InputPool()
        var buffer = InputBuffer(pool: pool, user: 0)
        var text: [UInt8] = []
        for _ in 0..<300 {
            let length = random.below(10) == 0 ? random.below(200_000) : random.below(100)
            text += (0..<length).map { UInt8(97 + $0 % 26) } + [0x0a]
        }
        var found: [String] = []
        var at = 0
        while at < text.count {
            let count = min(text.count - at, random.below(random.below(2) == 0 ? 50 : 100_000) + 1)
            fill(&buffer, text[at..<at + count])
            at += count
            if random.below(3) == 0 { found += lines(&buffer) }
            buffer.releaseIfEmpty()
        }
        found += lines(&buffer)
        #expect(
            found
                == String(decoding: text.dropLast(), as: UTF8.self).split(
                    separator: "\n", omittingEmptySubsequences: false
                ).map(String.init), "seed \(seed)")
        buffer.releaseIfEmpty()
        #expect(pool.total == 0)
    }

    @Test("an unfinished line is no line, and can be dropped without the finished ones") func unfinished() {
        var buffer = InputBuffer(pool: InputPool(), user: 0)
        fill(&buffer, Array("one\ntwo\nthr".utf8))
        #expect(buffer.hasLine && buffer.incompleteCount == 3)
        buffer.dropIncomplete()
        #expect(buffer.incompleteCount == 0)
        fill(&buffer, Array("four\n".utf8))
        #expect(lines(&buffer) == ["one", "two", "four"])
        #expect(!buffer.hasLine && buffer.takeLine() == nil)
    }

    @Test("an unwanted line passes by up to its newline, behind lines that wait") func unwanted() {
        var buffer = InputBuffer(pool: InputPool(), user: 0)
        fill(&buffer, Array("one\nxx".utf8))
        buffer.discardLine()
        fill(&buffer, Array("xxxx".utf8))
        #expect(buffer.isDiscarding && buffer.count == 4)
        fill(&buffer, Array("xx\ntwo\nthr".utf8))
        #expect(!buffer.isDiscarding)
        fill(&buffer, Array("ee\n".utf8))
        #expect(lines(&buffer) == ["one", "two", "three"])
    }

    @Test("memory grows with what is held, and goes back when nothing is") func memory() {
        let pool = InputPool()
        var buffer = InputBuffer(pool: pool, user: 0)
        #expect(pool.total == 0)
        fill(&buffer, [UInt8](repeating: 65, count: 1_000_000))
        #expect(pool.total >= 1_000_000 && pool.total <= 3_000_000)
        fill(&buffer, [0x0a])
        #expect(buffer.takeLine()?.count == 1_000_000)
        buffer.releaseIfEmpty()
        #expect(pool.total == 0)
    }
}
