/// The contents of a file in `/proc`, read from front to back by line and word.
///
/// The kernel adds to its formats only at the end of a line, so a reader takes the words that it knows and ignores the
/// rest.
struct ProcText {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: ArraySlice<UInt8>) { rest = bytes }
    init(_ bytes: [UInt8]) { self.init(bytes[...]) }
    init(_ text: String) { self.init(Array(text.utf8)) }

    /// The next line, without its end; nil after the last.
    mutating func line() -> ProcText? {
        guard !rest.isEmpty else { return nil }
        let line = rest.prefix { $0 != UInt8(ascii: "\n") }
        rest = rest.dropFirst(line.count + 1)
        return ProcText(line)
    }

    /// The next run of bytes other than space, tab and newline; nil if there is none.
    mutating func word() -> String? {
        let start = rest.drop { ProcText.isSpace($0) }
        let word = start.prefix { !ProcText.isSpace($0) }
        rest = start.dropFirst(word.count)
        return word.isEmpty ? nil : String(decoding: word, as: UTF8.self)
    }

    mutating func number() -> Int64? { word().flatMap { Int64($0) } }
    mutating func decimal() -> Double? { word().flatMap { Double($0) } }

    mutating func skip(_ words: Int) {
        for _ in 0..<words { _ = word() }
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
