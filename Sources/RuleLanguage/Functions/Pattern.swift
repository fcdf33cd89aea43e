import CRE2

/// A compiled regular expression in RE2's syntax. Owns the C object from `init` to `deinit`; the text's bytes are lent to C
/// for the length of a call only.
final class Pattern {
    /// Good as long as the pattern.
    let handle: OpaquePointer
    let groupCount: Int

    /// Bytes that a compiled pattern may take.
    static let maximumMemory: Int64 = 1 << 20
    /// Bytes of a pattern's text.
    static let maximumLength = 4096

    /// nil for a faulty or too large pattern.
    convenience init?(_ text: String) {
        var reason = ""
        self.init(text, reason: &reason)
    }

    /// - Parameter reason: receives what is wrong with the pattern.
    init?(_ text: String, reason: inout String) {
        guard text.utf8.count <= Pattern.maximumLength else {
            reason = "a pattern of \(text.utf8.count) bytes; at most \(Pattern.maximumLength) are allowed"
            return nil
        }
        var error = [CChar](repeating: 0, count: 256)
        var text = text
        let made = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { agd_re2_new($0.baseAddress, $0.count, Pattern.maximumMemory, &error, 256) }
        }
        guard let made else {
            reason = String(decoding: error.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return nil
        }
        handle = made
        groupCount = Int(agd_re2_group_count(made))
    }

    deinit { agd_re2_free(handle) }

    /// Whether the pattern matches anywhere in the text.
    func matches(_ text: String) -> Bool { Pattern.search(handle, in: text) }

    /// As `matches`, with the handle of a pattern that the caller keeps.
    static func search(_ handle: OpaquePointer, in text: borrowing String) -> Bool {
        let found = text.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.withMemoryRebound(to: CChar.self) { agd_re2_search(handle, $0.baseAddress, $0.count) != 0 }
        }
        // Swift's own strings are contiguous; the others are made so.
        return found ?? search(handle, in: String(decoding: Array(text.utf8), as: UTF8.self))
    }

    /// The matches from left to right, each with its groups, as byte ranges; nil for a group that took no part.
    /// Stops when `body` says no.
    func forEachMatch(_ bytes: UnsafeBufferPointer<UInt8>, _ body: ([Range<Int>?]) -> Bool) {
        var spans = [Int64](repeating: -1, count: 2 * (groupCount + 1))
        var start = 0
        while start <= bytes.count {
            let found = bytes.withMemoryRebound(to: CChar.self) {
                agd_re2_match(handle, $0.baseAddress, $0.count, start, &spans, Int32(groupCount))
            }
            guard found != 0 else { return }
            let ranges = (0...groupCount).map { group -> Range<Int>? in
                spans[2 * group] < 0 ? nil : Int(spans[2 * group])..<Int(spans[2 * group + 1])
            }
            guard let whole = ranges[0], body(ranges) else { return }
            start = whole.upperBound
            if whole.isEmpty {
                // Past one code point, or the same empty match would be found again.
                start += 1
                while start < bytes.count, bytes[start] & 0xc0 == 0x80 { start += 1 }
            }
        }
    }
}
