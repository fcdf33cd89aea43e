import AttributeValues
import Glibc

/// The number of decimals that resolve a number's motion to a trillionth of its distance.
struct DecimalPrecision {
    let decimals: Int
    /// 10 to the power of `decimals`.
    let scale: Double

    /// nil for a distance of zero, and for distances so small that decimals do not help.
    init?(distance: Double) {
        guard distance != 0, distance.isFinite else { return nil }
        let decimals = max(0, 12 - Int(log10(distance.magnitude).rounded(.down)))
        guard decimals <= 18 else { return nil }
        self.decimals = decimals
        var scale: UInt64 = 1
        for _ in 0..<decimals { scale *= 10 }
        self.scale = Double(scale)
    }
}

extension ByteBuffer {
    /// Appends a double as JSON with a given number of decimals, without trailing zeros, but with one digit after the
    /// point so that it stays a double. A number that does not fit into 53 bits this way is written exactly instead.
    func append(_ number: Double, _ precision: DecimalPrecision) {
        let scaled = (number.magnitude * precision.scale).rounded()
        guard scaled < 0x1p53 else { return appendJSON(number) }
        let (high, low) = UInt64(scaled).quotientAndRemainder(dividingBy: 100_000_000)
        let (first, last) = (ByteBuffer.digits(high) | ByteBuffer.zeros, ByteBuffer.digits(low) | ByteBuffer.zeros)
        // 24 digits, the first eight of them zeros, with space for a sign before them. The point follows after `whole`
        // of them.
        withUnsafeTemporaryAllocation(byteCount: 80, alignment: 8) { space in
            let start = 8
            space.storeBytes(of: ByteBuffer.zeros, toByteOffset: start, as: UInt64.self)
            space.storeBytes(of: first.littleEndian, toByteOffset: start + 8, as: UInt64.self)
            space.storeBytes(of: last.littleEndian, toByteOffset: start + 16, as: UInt64.self)
            for i in 3..<6 { space.storeBytes(of: ByteBuffer.zeros, toByteOffset: start + 8 * i, as: UInt64.self) }
            let whole = 24 - precision.decimals
            // Moves the digits after the point to make space for it.
            func digits(_ i: Int) -> UInt64 {
                space.loadUnaligned(fromByteOffset: start + whole + 8 * i, as: UInt64.self)
            }
            let behind = (digits(0), digits(1), digits(2))
            space[start + whole] = UInt8(ascii: ".")
            space.storeBytes(of: behind.0, toByteOffset: start + whole + 1, as: UInt64.self)
            space.storeBytes(of: behind.1, toByteOffset: start + whole + 9, as: UInt64.self)
            space.storeBytes(of: behind.2, toByteOffset: start + whole + 17, as: UInt64.self)

            var begin = start + min(leadingZeros(first, last), whole - 1)
            let end = start + whole + 1 + max(1, precision.decimals - trailingZeros(first, last))
            if number < 0, scaled > 0 {
                begin -= 1
                space[begin] = UInt8(ascii: "-")
            }
            append(UnsafeBufferPointer(rebasing: space.bindMemory(to: UInt8.self)[begin..<end]))
        }
    }
}

/// Number of zeros at the front of the 24 digits, of which two words contain the last 16.
private func leadingZeros(_ first: UInt64, _ last: UInt64) -> Int {
    let (first, last) = (first ^ ByteBuffer.zeros, last ^ ByteBuffer.zeros)
    return first != 0 ? 8 + first.trailingZeroBitCount / 8 : 16 + last.trailingZeroBitCount / 8
}

/// Number of zeros at the end of these digits.
private func trailingZeros(_ first: UInt64, _ last: UInt64) -> Int {
    let (first, last) = (first ^ ByteBuffer.zeros, last ^ ByteBuffer.zeros)
    if last != 0 { return last.leadingZeroBitCount / 8 }
    return first != 0 ? 8 + first.leadingZeroBitCount / 8 : 24
}
