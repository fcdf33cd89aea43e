/// Keys for the order of siblings: texts that are compared byte by byte. There is always another key between two keys,
/// so a node gets its position without a change to other nodes.
///
/// A node that a scene, template or component makes has the key of its position there, unless it was moved. Keys that
/// begin with `~` come after all of these, and keys that begin with `-` before them.
enum OrderKey {
    private static let digits = Array("-0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz~".utf8)
    private static let values: [Int] = {
        var values = [Int](repeating: 0, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = value }
        return values
    }()
    /// Digits of a whole number in base 62.
    private static let width = 5
    /// If a key is longer, all siblings get new keys, which are short.
    static let longest = 48

    /// The key of a place in a scene, template or component.
    static func implied(_ position: Int) -> String { key(of: position) }

    /// - Parameter sign: what the key begins with.
    private static func key(_ sign: UInt8? = nil, of number: Int) -> String {
        String(unsafeUninitializedCapacity: 1 + width) { key in
            let start = sign == nil ? 0 : 1
            if let sign { key.initializeElement(at: 0, to: sign) }
            var rest = number
            for position in (start..<start + width).reversed() {
                key.initializeElement(at: position, to: digits[1 + rest % 62])
                rest /= 62
            }
            return start + width
        }
    }

    private static func number(in key: some Collection<UInt8>) -> Int {
        key.prefix(width).reduce(0) { $0 * 62 + max(0, values[Int($1)] - 1) }
    }

    /// A key between two others.
    /// - Parameters:
    ///   - low: nil: before all others.
    ///   - high: nil: behind all others. Greater than `low`.
    static func makeKey(_ low: String?, _ high: String?) -> String {
        guard let high = high.map({ Array($0.utf8) }) else {
            // Behind all: the next whole number.
            var low = low ?? ""
            return key(
                digits[63], of: low.withUTF8 { $0.first == digits[63] ? number(in: $0.dropFirst()) + 1 : 1 })
        }
        let low = low.map { Array($0.utf8) } ?? []
        if low.isEmpty {
            let next = high.first == digits[0] ? number(in: high.dropFirst()) - 1 : 916_132_831
            if next > 0 { return key(digits[0], of: next) }
        }
        var key: [UInt8] = []
        var isBounded = true
        for position in 0... {
            let least = position < low.count ? values[Int(low[position])] : 0
            let most = isBounded && position < high.count ? values[Int(high[position])] : 64
            if most - least > 1 {
                key.append(digits[(least + most) / 2])
                break
            }
            key.append(digits[least])
            if least < most { isBounded = false }
        }
        // Not the key of a place that a node of a layer below may have.
        if key.count == width { key.append(digits[32]) }
        return String(decoding: key, as: UTF8.self)
    }
}
