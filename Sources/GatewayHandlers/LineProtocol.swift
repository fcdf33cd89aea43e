import AttributeValues
import Glibc

/// The line protocol of InfluxDB: `cpu,host=a usage_idle=95.2,count=3i 1700000000000000000`.
///
/// Each series, which is the measurement with its tags as they are written, is an entry, and its fields are the parts
/// of the entry. Times are left out: the graph has what is true now.
struct LineProtocol {
    private let text: UnsafeBufferPointer<UInt8>
    private var position = 0
    private var line = 1
    private var fieldCount = 0

    /// The entries of a body.
    /// - Parameter limit: fields.
    /// - Throws: `invalid` with the line that is none, `limit`.
    static func entries(of body: [UInt8], limit: Int) throws(Failure) -> ValueMap {
        try body.withUnsafeBufferPointer { (bytes) throws(Failure) in
            var reader = LineProtocol(text: bytes)
            return try reader.readAll(limit)
        }
    }

    private init(text: UnsafeBufferPointer<UInt8>) { self.text = text }

    private mutating func readAll(_ limit: Int) throws(Failure) -> ValueMap {
        var entries = ValueMap()
        while position < text.count {
            skip { $0 == 32 || $0 == 9 || $0 == 13 }
            guard let first = next, first != UInt8(ascii: "\n"), first != UInt8(ascii: "#") else {
                endLine()
                continue
            }
            let series = try read(until: { $0 == 32 }, "a space and fields")
            guard let measurement = series.utf8.first, measurement != UInt8(ascii: ",") else {
                throw fault("a measurement is missing")
            }
            var fields = entries[series]?.map ?? ValueMap()
            repeat {
                position += 1
                let name = unescaped(try read(until: { $0 == UInt8(ascii: "=") }, "a field as name=value"))
                position += 1
                fields[name] = try readValue()
                fieldCount += 1
                guard fieldCount <= limit else {
                    throw Failure(.limit, "a request has at most \(limit) fields", hint: "send it in parts")
                }
            } while next == UInt8(ascii: ",")
            entries[series] = .map(fields)
            try skipTime()
        }
        return entries
    }

    private var next: UInt8? { position < text.count ? text[position] : nil }

    private mutating func skip(_ isSkipped: (UInt8) -> Bool) {
        while let byte = next, isSkipped(byte) { position += 1 }
    }

    private mutating func endLine() {
        skip { $0 != UInt8(ascii: "\n") }
        position += 1
        line += 1
    }

    private func fault(_ message: String) -> Failure { Failure(.invalid, "line \(line): \(message)") }

    /// The text up to a byte that no backslash precedes.
    private mutating func read(until isEnd: (UInt8) -> Bool, _ wanted: String) throws(Failure) -> String {
        let start = position
        while let byte = next, byte != UInt8(ascii: "\n") {
            if isEnd(byte) {
                guard let read = String(validating: text[start..<position], as: UTF8.self) else {
                    throw fault("it is not UTF-8")
                }
                if read.isEmpty { break }
                return read
            }
            position += byte == UInt8(ascii: "\\") && position + 1 < text.count && text[position + 1] != 10 ? 2 : 1
        }
        throw fault("expected \(wanted)")
    }

    private func unescaped(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "\\")) else { return text }
        return text.replacing("\\,", with: ",").replacing("\\=", with: "=").replacing("\\ ", with: " ")
    }

    private mutating func readValue() throws(Failure) -> Value {
        if next == UInt8(ascii: "\"") { return try readText() }
        let start = position
        skip { $0 != UInt8(ascii: ",") && $0 != 32 && $0 != UInt8(ascii: "\n") && $0 != 13 }
        let word = String(decoding: text[start..<position], as: UTF8.self)
        switch word {
        case "t", "T", "true", "True", "TRUE": return .bool(true)
        case "f", "F", "false", "False", "FALSE": return .bool(false)
        default: break
        }
        if word.hasSuffix("i"), let number = Int64(word.dropLast()) { return .int(number) }
        if word.hasSuffix("u"), let number = UInt64(word.dropLast()) { return .uint(number) }
        guard let first = word.utf8.first, first != UInt8(ascii: "0") || !word.hasPrefix("0x"),
            let number = Double(word), number.isFinite
        else { throw fault("'\(word.prefix(40))' is no value of a field") }
        return .double(number)
    }

    /// A text between quotes, which may have line feeds.
    private mutating func readText() throws(Failure) -> Value {
        position += 1
        var bytes: [UInt8] = []
        while let byte = next, byte != UInt8(ascii: "\"") {
            position += 1
            if byte == UInt8(ascii: "\\"), let escaped = next, escaped == UInt8(ascii: "\"") || escaped == byte {
                bytes.append(escaped)
                position += 1
            } else {
                if byte == UInt8(ascii: "\n") { line += 1 }
                bytes.append(byte)
            }
        }
        guard next != nil, let read = String(validating: bytes, as: UTF8.self) else {
            throw fault("a text has no end, or is not UTF-8")
        }
        position += 1
        return .string(read)
    }

    private mutating func skipTime() throws(Failure) {
        skip { $0 == 32 || $0 == 13 }
        skip { (48...57).contains($0) || $0 == UInt8(ascii: "-") }
        skip { $0 == 32 || $0 == 13 }
        guard next == nil || next == UInt8(ascii: "\n") else { throw fault("expected a time, or the end of the line") }
        endLine()
    }
}
