/// Strings made in place: up to 15 bytes of them need no memory, and `String`'s general ways cost several times as much.
enum Text {
    static func concatenate(_ a: String, _ b: String) -> String {
        var (a, b) = (a, b)
        return a.withUTF8 { x in
            b.withUTF8 { y in
                String(unsafeUninitializedCapacity: x.count + y.count) { buffer in
                    guard let base = buffer.baseAddress else { return 0 }
                    if let start = x.baseAddress { base.update(from: start, count: x.count) }
                    if let start = y.baseAddress { (base + x.count).update(from: start, count: y.count) }
                    return x.count + y.count
                }
            }
        }
    }

    static func decimal(_ number: Int64) -> String {
        let magnitude = number.magnitude
        var count = number < 0 ? 2 : 1
        var bound = magnitude
        while bound >= 10 {
            bound /= 10
            count += 1
        }
        return String(unsafeUninitializedCapacity: count) { buffer in
            var rest = magnitude
            for at in ((number < 0 ? 1 : 0)..<count).reversed() {
                buffer[at] = 48 + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
            if number < 0 { buffer[0] = UInt8(ascii: "-") }
            return count
        }
    }
}
