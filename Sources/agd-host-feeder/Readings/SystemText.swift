/// The contents of a file of the kernel, read from front to back by line and word.
///
/// The kernel adds to its formats only at the end of a line, so a reader takes the words that it knows and ignores the
/// rest.
struct SystemText {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }
    init(_ bytes: [UInt8]) { self.init(bytes[...]) }
    init(_ text: String) { self.init(Array(text.utf8)) }

    /// What is left, without space around it.
    var text: String {
        let start = rest.drop { SystemText.isSpace($0) }
        let end = start.lastIndex { !SystemText.isSpace($0) }
        return String(decoding: end.map { start[...$0] } ?? [], as: UTF8.self)
    }

    /// The next line, without its end; nil after the last.
    mutating func line() -> SystemText? {
        guard !rest.isEmpty else { return nil }
        let line = rest.prefix { $0 != UInt8(ascii: "\n") }
        rest = rest.dropFirst(line.count + 1)
        return SystemText(line)
    }

    /// The next run of bytes other than space, tab and newline; empty if there is none.
    mutating func bytes() -> ArraySlice<UInt8> {
        let start = rest.drop { SystemText.isSpace($0) }
        let word = start.prefix { !SystemText.isSpace($0) }
        rest = start.dropFirst(word.count)
        return word
    }

    /// The next run of such bytes as text; nil if there is none.
    mutating func word() -> String? {
        let word = bytes()
        return word.isEmpty ? nil : String(decoding: word, as: UTF8.self)
    }

    mutating func number() -> Int64? { Int64(ascii: bytes()) }
    mutating func decimal() -> Double? { word().flatMap { Double($0) } }

    mutating func skip(_ words: Int) {
        for _ in 0..<words { _ = bytes() }
    }

    /// The next words as numbers; nil unless all of them are numbers.
    mutating func numbers(_ count: Int) -> [Int64]? {
        var numbers: [Int64] = []
        numbers.reserveCapacity(count)
        for _ in 0..<count {
            guard let number = number() else { return nil }
            numbers.append(number)
        }
        return numbers
    }

    /// The text before a byte. The reader continues after the byte. If the byte does not occur, the result is nil and
    /// nothing is read.
    mutating func text(upTo end: UInt8) -> String? {
        guard let position = rest.firstIndex(of: end) else { return nil }
        defer { rest = rest[(position + 1)...] }
        return String(decoding: rest[..<position], as: UTF8.self)
    }

    /// The text before the last such byte: a process may have brackets in its name.
    mutating func text(upToLast end: UInt8) -> String? {
        guard let position = rest.lastIndex(of: end) else { return nil }
        defer { rest = rest[(position + 1)...] }
        return String(decoding: rest[..<position], as: UTF8.self)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") || byte == UInt8(ascii: "\n")
    }
}

extension Int64 {
    /// A decimal number, without a text for it: the feeder reads thousands each second.
    fileprivate init?(ascii bytes: ArraySlice<UInt8>) {
        let isNegative = bytes.first == UInt8(ascii: "-")
        let digits = isNegative ? bytes.dropFirst() : bytes
        if digits.isEmpty { return nil }
        var negated: Int64 = 0
        for byte in digits {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            let (shifted, isShiftTooMuch) = negated.multipliedReportingOverflow(by: 10)
            let (next, isTooMuch) = shifted.subtractingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            if isShiftTooMuch || isTooMuch { return nil }
            negated = next
        }
        if !isNegative, negated == .min { return nil }
        self = isNegative ? negated : -negated
    }
}
