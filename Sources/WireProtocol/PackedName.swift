/// A short name as four words. Comparing it with a dozen names costs a few instructions and no allocation.
struct PackedName: Equatable {
    private let words: (UInt64, UInt64, UInt64)
    private let count: Int

    /// Maximum length in bytes.
    static let capacity = 24

    /// nil for a longer name. No name of the protocol is longer.
    /// - Parameter bytes: a string of the parser, so that at least `capacity` readable bytes follow it.
    @inline(__always)
    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count <= PackedName.capacity, let start = bytes.baseAddress else { return nil }
        let all = UnsafeRawPointer(start).loadUnaligned(as: (UInt64, UInt64, UInt64).self)
        words.0 = all.0 & PackedName.mask(bytes.count)
        words.1 = all.1 & PackedName.mask(bytes.count - 8)
        words.2 = all.2 & PackedName.mask(bytes.count - 16)
        count = bytes.count
    }

    /// A mask for the first `count` bytes of a word; 0 for a count below 1.
    private static func mask(_ count: Int) -> UInt64 {
        count >= 8 ? .max : count <= 0 ? 0 : 1 &<< UInt64(truncatingIfNeeded: count &* 8) &- 1
    }

    init(_ name: String) {
        let padded = Array(name.utf8) + [UInt8](repeating: 0, count: PackedName.capacity)
        let packed = padded.withUnsafeBufferPointer {
            PackedName(UnsafeBufferPointer(rebasing: $0[..<name.utf8.count]))
        }
        guard let packed else { preconditionFailure("\(name) is longer than \(PackedName.capacity) bytes") }
        self = packed
    }

    @inline(__always)
    static func == (a: PackedName, b: PackedName) -> Bool {
        a.words.0 == b.words.0 && a.count == b.count && a.words.1 == b.words.1 && a.words.2 == b.words.2
    }
}
