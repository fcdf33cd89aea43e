import CChecksum

/// CRC-32C (Castagnoli; RFC 3720, appendix B.4): detects every burst of up to 32 damaged bits. It processes eight bytes
/// at a time: with the processor's instruction, or with eight tables ("slicing by 8"), which is about five times as
/// fast as byte by byte.
struct Checksum {
    private var state: UInt32 = .max
    private let isFast: Bool

    private static let isFast = cchecksum_is_fast()

    init() { isFast = Checksum.isFast }

    /// For tests.
    init(withTables: Void) { isFast = false }

    /// Eight tables of 256 entries: table n has the effect of a byte that is followed by n bytes.
    private static let tables: [UInt32] = {
        var tables = (0..<256).map { byte in
            (0..<8).reduce(UInt32(byte)) { value, _ in value >> 1 ^ (value & 1 == 1 ? 0x82f6_3b78 : 0) }
        }
        for position in 256..<2048 {
            let before = tables[position - 256]
            tables.append(before >> 8 ^ tables[Int(before & 0xff)])
        }
        return tables
    }()

    var value: UInt32 { ~state }

    mutating func add(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let start = bytes.baseAddress else { return }
        if isFast { state = cchecksum_add(state, start, bytes.count) } else { addWithTables(bytes) }
    }

    private mutating func addWithTables(_ bytes: UnsafeBufferPointer<UInt8>) {
        Checksum.tables.withUnsafeBufferPointer { tables in
            guard let table = tables.baseAddress, let start = UnsafeRawPointer(bytes.baseAddress) else { return }
            var sum = state
            let whole = bytes.count & ~7
            var position = 0
            // Plain operations: without optimisation, each call in this loop is as long as the rest of it.
            while position < whole {
                let loaded = UInt64(littleEndian: start.loadUnaligned(fromByteOffset: position, as: UInt64.self))
                let word = Int(truncatingIfNeeded: loaded) ^ Int(truncatingIfNeeded: sum)
                let first = table[0x700 | word & 0xff] ^ table[0x600 | word &>> 8 & 0xff]
                let second = table[0x500 | word &>> 16 & 0xff] ^ table[0x400 | word &>> 24 & 0xff]
                let third = table[0x300 | word &>> 32 & 0xff] ^ table[0x200 | word &>> 40 & 0xff]
                let fourth = table[0x100 | word &>> 48 & 0xff] ^ table[word &>> 56 & 0xff]
                sum = first ^ second ^ third ^ fourth
                position &+= 8
            }
            while position < bytes.count {
                sum =
                    table[Int(truncatingIfNeeded: (sum ^ UInt32(truncatingIfNeeded: bytes[position])) & 0xff)] ^ sum
                    &>> 8
                position &+= 1
            }
            state = sum
        }
    }

    mutating func add(_ number: Int64) {
        withUnsafeBytes(of: number.littleEndian) { add($0.bindMemory(to: UInt8.self)) }
    }

    /// Adds the length first, so that moving bytes between neighbouring texts changes the sum.
    mutating func add(text: UnsafeBufferPointer<UInt8>) {
        add(Int64(text.count))
        add(text)
    }

    mutating func add(_ text: String) {
        var text = text
        text.withUTF8 { add(text: $0) }
    }
}

extension StateStore {
    /// The checksum of some bytes.
    package static func checksum(of bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
        var sum = Checksum()
        sum.add(bytes)
        return sum.value
    }

    /// A short text that identifies a text: its length and checksum.
    public static func digest(of text: String) -> String {
        var sum = Checksum()
        sum.add(text)
        return "\(text.utf8.count)-\(String(sum.value, radix: 16))"
    }
}
