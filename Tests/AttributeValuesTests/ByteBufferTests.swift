import AttributeValues
import TestSupport
import Testing

@Suite("Output bytes")
struct ByteBufferTests {
    @Test("messages filled with one number after the other are those that are appended", arguments: freshSeeds(5))
    func filling(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let head = ByteBuffer()
        head.append("{\"number\":")
        for _ in 0..<50 {
            let (tails, filled) = (ByteBuffer(), ByteBuffer())
            var ends: [Int] = []
            for _ in 0...random.below(4) {
                for _ in 0..<random.below(20) { tails.append("x") }
                ends.append(tails.count)
            }
            for _ in 0..<50 {
                var number = Int64(random.below(100))
                for _ in 0..<random.below(17) { number *= 10 }
                if random.below(20) == 0 { number = -number }
                filled.fill(head, number, tails, endingAt: ends)
                let appended = ByteBuffer()
                appended.append(head, number, tails, endingAt: ends)
                #expect(filled.text == appended.text, "seed \(seed)")
            }
        }
    }
}
