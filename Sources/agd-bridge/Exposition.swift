import AttributeValues
import Glibc

/// Prometheus' text format, and OpenMetrics: a sample a line, as `node_load1 0.4` or `http_requests{code="200"} 5`.
enum Exposition {
    /// - Parameter body: gets the name with its labels, as they stand there, and the value. They are valid only inside.
    /// - Throws: `invalid` with the line that is no sample.
    static func forEachSample(
        _ text: UnsafeBufferPointer<UInt8>,
        _ body: (_ series: UnsafeBufferPointer<UInt8>, _ value: Double) throws(Failure) -> Void
    ) throws(Failure) {
        var number = 0
        var start = 0
        while start < text.count {
            number += 1
            let end = lineEnd(text, from: start)
            let line = trimmed(UnsafeBufferPointer(rebasing: text[start..<end]))
            start = end + 1
            guard let first = line.first, first != UInt8(ascii: "#") else { continue }
            guard let length = seriesLength(line), let value = value(behind: length, in: line) else {
                throw Failure(.invalid, "line \(number) is no sample of Prometheus' text format")
            }
            try body(trimmed(UnsafeBufferPointer(rebasing: line[..<length])), value)
        }
    }

    private static func lineEnd(_ text: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        guard let base = text.baseAddress, let found = memchr(base + start, 10, text.count - start) else {
            return text.count
        }
        return UnsafeRawPointer(found) - UnsafeRawPointer(base)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 9 || byte == 13 }

    private static func trimmed(_ text: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8> {
        var (first, end) = (0, text.count)
        while first < end, isSpace(text[first]) { first += 1 }
        while end > first, isSpace(text[end - 1]) { end -= 1 }
        return UnsafeBufferPointer(rebasing: text[first..<end])
    }

    /// The length of the name with its labels; nil if it does not end.
    private static func seriesLength(_ line: UnsafeBufferPointer<UInt8>) -> Int? {
        var position = 0
        while position < line.count, !isSpace(line[position]), line[position] != UInt8(ascii: "{") { position += 1 }
        let name = position
        while position < line.count, isSpace(line[position]) { position += 1 }
        guard position < line.count, line[position] == UInt8(ascii: "{") else { return name > 0 ? name : nil }
        var isQuoted = false
        while position < line.count {
            switch line[position] {
            case UInt8(ascii: "\\") where isQuoted: position += 1
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: "}") where !isQuoted: return position + 1
            default: break
            }
            position += 1
        }
        return nil
    }

    /// The number behind the series. A time stamp and an exemplar may follow.
    private static func value(behind length: Int, in line: UnsafeBufferPointer<UInt8>) -> Double? {
        var first = length
        while first < line.count, isSpace(line[first]) { first += 1 }
        var end = first
        while end < line.count, !isSpace(line[end]) { end += 1 }
        guard first < end, end - first < 64 else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { copy in
            for position in first..<end { copy[position - first] = CChar(bitPattern: line[position]) }
            copy[end - first] = 0
            guard let base = copy.baseAddress else { return nil }
            var rest: UnsafeMutablePointer<CChar>?
            let number = strtod(base, &rest)
            return rest == base + (end - first) ? number : nil
        }
    }
}

/// The samples of an exporter, and what the daemon has of them.
///
/// An exporter prints the same series in the same order each time, so a series is first looked for behind the last one.
struct SeriesTable {
    private struct Row {
        let series: String
        var value: Double
        /// What the daemon has; nil: nothing.
        var sent: UInt64?
        /// The scrape that had it last.
        var scrape: UInt64
    }

    let limit: Int
    private var rows: [Row] = []
    /// Made when the order first differs.
    private var positions: [String: Int] = [:]
    private var scrape: UInt64 = 0

    init(limit: Int) { self.limit = limit }

    var count: Int { rows.count }

    /// Takes the samples of a scrape.
    /// - Throws: `invalid` for a text in another format, `limit` for too many series. Then nothing has changed for the
    ///   daemon.
    mutating func take(_ text: UnsafeBufferPointer<UInt8>) throws(Failure) {
        scrape += 1
        var next = 0
        try Exposition.forEachSample(text) { (series, value) throws(Failure) in
            if next < rows.count, rows[next].series.isEqual(to: series) {
                rows[next].value = value
                rows[next].scrape = scrape
                next += 1
                return
            }
            if positions.count != rows.count {
                positions = Dictionary(rows.enumerated().map { ($1.series, $0) }) { first, _ in first }
            }
            let name = String(decoding: series, as: UTF8.self)
            if let position = positions[name] {
                rows[position].value = value
                rows[position].scrape = scrape
                next = position + 1
                return
            }
            guard rows.count < limit else {
                throw Failure(.limit, "there are more than \(limit) samples (the setting 'entries' is the limit)")
            }
            positions[name] = rows.count
            rows.append(Row(series: name, value: value, sent: nil, scrape: scrape))
            next = rows.count
        }
    }

    /// What the daemon has to be told: the new value of each series that has another one, and null for those that have
    /// gone. NaN and the infinities are no values.
    /// - Parameter isWhole: tells values that have stayed, too.
    mutating func takeChanges(isWhole: Bool) -> ValueMap {
        var changes = ValueMap()
        var hasGone = false
        for position in rows.indices {
            let isPresent = rows[position].scrape == scrape && rows[position].value.isFinite
            let value = isPresent ? rows[position].value.bitPattern : nil
            if value != rows[position].sent || isWhole && isPresent {
                changes.add(.string(rows[position].series), isPresent ? .double(rows[position].value) : .null)
                rows[position].sent = value
            }
            if rows[position].scrape != scrape { hasGone = true }
        }
        if hasGone {
            rows.removeAll { $0.scrape != scrape }
            positions = [:]
        }
        return changes
    }

    mutating func forgetSent() { for position in rows.indices { rows[position].sent = nil } }
}

extension String {
    fileprivate func isEqual(to bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        guard utf8.count == bytes.count else { return false }
        let same = utf8.withContiguousStorageIfAvailable { own in
            guard let one = own.baseAddress, let other = bytes.baseAddress else { return true }
            return memcmp(one, other, bytes.count) == 0
        }
        return same ?? utf8.elementsEqual(bytes)
    }
}
