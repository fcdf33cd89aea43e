/// CRC-32C (Castagnoli; RFC 3720, appendix B.4), computed bytewise: it finds every burst of up to 32 damaged bits.
struct Checksum {
    private var state: UInt32 = .max

    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value >> 1 ^ (value & 1 == 1 ? 0x82f6_3b78 : 0) }
    }

    var value: UInt32 { ~state }

    mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
        Checksum.table.withUnsafeBufferPointer { table in
            for byte in bytes { state = table[Int(UInt8(truncatingIfNeeded: state) ^ byte)] ^ state >> 8 }
        }
    }

    mutating func add(_ number: Int64) {
        withUnsafeBytes(of: number.littleEndian) { add($0.bindMemory(to: UInt8.self)) }
    }

    /// With its length, so that neighbouring texts cannot trade bytes.
    mutating func add(_ text: String) {
        var text = text
        add(Int64(text.utf8.count))
        text.withUTF8 { add($0) }
    }
}

extension StateStore {
    /// A short text that is another one for another text: its length and checksum.
    public static func digest(of text: String) -> String {
        var sum = Checksum()
        sum.add(text)
        return "\(text.utf8.count)-\(String(sum.value, radix: 16))"
    }
}
