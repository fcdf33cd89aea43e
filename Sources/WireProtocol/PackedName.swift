/// A short name as four words. Comparing it with a dozen names costs a few instructions and no allocation.
struct PackedName: Equatable {
    private let words: (UInt64, UInt64, UInt64)
    private let count: Int

    /// Maximum length in bytes.
    static let capacity = 24

    /// nil for a longer name. No name of the protocol is longer.
    @inline(__always)
    init?(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard bytes.count <= PackedName.capacity else { return nil }
        var words: (UInt64, UInt64, UInt64) = (0, 0, 0)
        withUnsafeMutableBytes(of: &words) { $0.copyMemory(from: UnsafeRawBufferPointer(bytes)) }
        self.words = words
        count = bytes.count
    }

    init(_ name: String) {
        guard let packed = Array(name.utf8).withUnsafeBufferPointer({ PackedName($0) }) else {
            preconditionFailure("\(name) is longer than \(PackedName.capacity) bytes")
        }
        self = packed
    }

    @inline(__always)
    static func == (a: PackedName, b: PackedName) -> Bool {
        a.words.0 == b.words.0 && a.count == b.count && a.words.1 == b.words.1 && a.words.2 == b.words.2
    }
}
