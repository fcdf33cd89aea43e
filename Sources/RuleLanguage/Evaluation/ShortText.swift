import AttributeValues

/// A string of up to 15 bytes under construction, in the two words of its final form (see `String+Bytes.swift`).
struct ShortText {
    private var low: UInt64 = 0
    private var high: UInt64 = 0
    private var count: UInt64 = 0
    /// 0xe0 while all bytes are ASCII, else 0xa0.
    private var kind: UInt64 = 0xe0

    /// Returns false, and changes nothing, if there is no space.
    @inline(__always)
    mutating func append(_ words: (UInt64, UInt64)) -> Bool {
        let added = words.1 >> 56 & 15
        guard count + added <= 15 else { return false }
        let bytes = words.1 & 0x00ff_ffff_ffff_ffff
        let bits = count * 8
        if count < 8 {
            // Shifts by 64 and more give 0.
            low |= words.0 << bits
            high |= bytes << bits | words.0 >> (64 - bits)
        } else {
            high |= words.0 << (bits - 64)
        }
        kind &= words.1 >> 56
        count += added
        return true
    }

    var string: String { unsafeBitCast((low, high | (kind & 0xf0 | count) << 56), to: String.self) }
}

/// A chain of `+` over strings, concatenated at once.
enum Concatenation {
    @inline(never)
    static func join(_ parts: Arguments, _ meter: inout Meter) throws(Fault) -> Value {
        try meter.charge(parts.count)
        var short = ShortText()
        for number in 0..<parts.count {
            guard let words = parts.pointer(number).shortText, short.append(words) else {
                return try joinLong(parts, &meter)
            }
        }
        try meter.charge(2)
        return .string(short.string)
    }

    private static func joinLong(_ parts: Arguments, _ meter: inout Meter) throws(Fault) -> Value {
        var size = 0
        for number in 0..<parts.count {
            guard case .string(let text) = parts[number] else { return try add(parts, &meter) }
            size += text.utf8.count
        }
        try meter.chargeText(size)
        let joined = String(unsafeUninitializedCapacity: size) { buffer in
            var end = 0
            for number in 0..<parts.count {
                guard case .string(var text) = parts[number] else { continue }
                text.withUTF8 { bytes in
                    _ = UnsafeMutableBufferPointer(rebasing: buffer[end...]).initialize(fromContentsOf: bytes)
                    end += bytes.count
                }
            }
            return end
        }
        return .string(joined)
    }

    /// Adds the operands from the left, if not all of them are strings.
    private static func add(_ parts: Arguments, _ meter: inout Meter) throws(Fault) -> Value {
        var sum = parts[0]
        for number in 1..<parts.count { sum = try Operators.apply(.add, sum, parts[number], mixes: false, &meter) }
        return sum
    }
}
