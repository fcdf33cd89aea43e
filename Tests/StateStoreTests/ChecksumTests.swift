import Testing

@testable import StateStore

@Suite("Checksums")
struct ChecksumTests {
    private func sum(_ parts: [UInt8]...) -> UInt32 {
        var sum = Checksum()
        for part in parts { part.withUnsafeBufferPointer { sum.add($0) } }
        return sum.value
    }

    @Test("are those of RFC 3720, appendix B.4") func vectors() {
        #expect(sum([UInt8](repeating: 0, count: 32)) == 0x8a91_36aa)
        #expect(sum([UInt8](repeating: 0xff, count: 32)) == 0x62a8_ab43)
        #expect(sum([UInt8](0..<32)) == 0x46dd_794e)
        #expect(sum([UInt8](0..<32).reversed()) == 0x113f_db5c)
        #expect(sum(Array("123456789".utf8)) == 0xe306_9283)
    }

    @Test("are the same with the processor's instruction and with tables") func tables() {
        for count in 0...100 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 * 37) }
            var withTables = Checksum(withTables: ())
            bytes.withUnsafeBufferPointer { withTables.add($0) }
            #expect(withTables.value == sum(bytes))
        }
    }

    @Test("are the same wherever the bytes are divided") func parts() {
        let bytes = (0..<100).map { UInt8(truncatingIfNeeded: $0 * 37) }
        for end in 0...100 {
            for place in 0...end {
                #expect(sum(Array(bytes[..<place]), Array(bytes[place..<end])) == sum(Array(bytes[..<end])))
            }
        }
    }
}
