import AttributeValues
import CRE2

/// A compiled regular expression in RE2's syntax. Owns the C object from `init` to `deinit`. C gets the text's bytes
/// only during a call.
final class Pattern {
    /// Valid as long as the pattern.
    let handle: OpaquePointer
    let groupCount: Int
    /// Number of instructions of the compiled pattern.
    let size: Int

    /// Maximum bytes of a compiled pattern: a few thousand instructions.
    static let maximumMemory: Int64 = 1 << 18
    /// Maximum bytes of a pattern's text.
    static let maximumLength = 4096

    /// nil if the pattern is faulty or too large.
    convenience init?(_ text: String) {
        var reason = ""
        self.init(text, reason: &reason)
    }

    /// - Parameter reason: is set to the fault of the pattern.
    init?(_ text: String, reason: inout String) {
        guard text.utf8.count <= Pattern.maximumLength else {
            reason = "a pattern of \(text.utf8.count) bytes; at most \(Pattern.maximumLength) are allowed"
            return nil
        }
        var error = [CChar](repeating: 0, count: 256)
        var text = text
        let made = text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) {
                agd_re2_new($0.baseAddress, $0.count, Pattern.maximumMemory, &error, 256)
            }
        }
        guard let made else {
            reason = String(decoding: error.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return nil
        }
        handle = made
        groupCount = Int(agd_re2_group_count(made))
        size = Int(agd_re2_size(made))
    }

    deinit { agd_re2_free(handle) }

    /// True if the pattern matches anywhere in the text.
    func matches(_ text: String) -> Bool { Pattern.search(handle, in: text) }

    /// As `matches`, with the handle of a pattern that the caller keeps alive.
    static func search(_ handle: OpaquePointer, in text: borrowing String) -> Bool {
        let found = text.utf8.withContiguousStorageIfAvailable { bytes in
            bytes.withMemoryRebound(to: CChar.self) { agd_re2_search(handle, $0.baseAddress, $0.count) != 0 }
        }
        // Swift's own strings are contiguous. Other strings are copied.
        return found ?? search(handle, in: String(decoding: Array(text.utf8), as: UTF8.self))
    }

    /// The first match at or after `start` with its groups, as byte ranges; nil for a group that did not take part.
    func firstMatch(in bytes: UnsafeBufferPointer<UInt8>, from start: Int, _ spans: inout [Int64]) -> Bool {
        bytes.withMemoryRebound(to: CChar.self) {
            agd_re2_match(handle, $0.baseAddress, $0.count, start, &spans, Int32(groupCount)) != 0
        }
    }
}

// The cost of patterns, in steps. RE2 does not report its work, so these are upper bounds. They were measured with the
// slowest patterns.
extension Pattern {
    /// The cost of compiling the text. Repetitions multiply the repeated part until the memory is full; a Unicode class
    /// has hundreds of ranges.
    static func compilationCost(_ text: String) -> Int {
        guard text.utf8.count <= maximumLength else { return 1 }
        var text = text
        return text.withUTF8 { bytes in
            var classes = 0
            var repetitions = 0
            var product = 1
            for (at, byte) in bytes.enumerated() {
                if byte == UInt8(ascii: "p") || byte == UInt8(ascii: "P"), at > 0, bytes[at - 1] == UInt8(ascii: "\\") {
                    classes += 1
                }
                guard byte == UInt8(ascii: "{") else { continue }
                let count = largestCount(bytes[(at + 1)...])
                repetitions += count
                product = min(1000, product * max(1, count))
            }
            let once = bytes.count * 20 + classes * 1600 + (classes > 0 ? firstClass : 0)
            return 40 + once + repetitions * 3 + (product > 1 ? min(fullMemory, (once + classes * 4000) * product) : 0)
        }
    }

    /// Steps for the ranges of the first Unicode class, in addition to the steps of each class.
    private static let firstClass = 6000
    /// Steps until a pattern fills its memory.
    private static let fullMemory = 26_000

    /// The larger of the numbers in `{n,m}`, at most RE2's 1000.
    private static func largestCount(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Int {
        var largest = 0
        var count = 0
        for byte in bytes.prefix(12) {
            if byte.isDigit {
                count = count * 10 + Int(byte - 48)
                largest = max(largest, count)
            } else if byte == UInt8(ascii: ",") {
                count = 0
            } else {
                break
            }
        }
        return min(1000, largest)
    }

    /// The cost of a search in a text: if its automaton becomes too large, RE2 looks at each instruction for each byte.
    static func searchCost(_ length: Int, size: Int) -> Int {
        let (product, overflow) = length.multipliedReportingOverflow(by: size + 3)
        return overflow ? .max / 2 : product / 10
    }

    /// The cost of one of several searches in the rest of a text. The automaton of a small pattern fits into its
    /// memory; then each byte costs one look into a table.
    func repeatedSearchCost(_ rest: Int) -> Int {
        1 + (size <= Pattern.smallSize ? rest / 32 : Pattern.searchCost(rest, size: size))
    }

    private static let smallSize = 15
}
