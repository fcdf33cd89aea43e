import AttributeValues
import Glibc

/// A time zone of the system's tz database (TZif, RFC 9636): the changes of its offset from Greenwich, and the rule
/// that applies after the last change.
struct TimeZoneFile {
    private var transitions: [Int64] = []
    /// The offset from each transition on.
    private var offsets: [Int] = []
    /// The offset before the first transition.
    private var firstOffset = 0
    private var rule: TimeZoneRule?

    /// Seconds east of Greenwich.
    func offset(at seconds: Int64) -> Int {
        guard let first = transitions.first, let last = transitions.last else {
            return rule?.offset(at: seconds) ?? firstOffset
        }
        if seconds < first { return firstOffset }
        if seconds >= last, let rule { return rule.offset(at: seconds) }
        return offsets[transitions.partitioningIndex { $0 > seconds } - 1]
    }

    /// A zone that has the same rule at all times.
    init(rule: TimeZoneRule) { self.rule = rule }

    /// nil if the bytes are not a TZif file.
    init?(_ bytes: [UInt8]) {
        func number(_ at: Int, _ size: Int) -> Int64 {
            var value: Int64 = size == 8 ? 0 : Int64(Int8(bitPattern: bytes[at])) >> 7
            for byte in bytes[at..<at + size] { value = value << 8 | Int64(byte) }
            return value
        }
        /// The counts of a header, the size of its data, and the position of the data.
        func header(_ at: Int, timeSize: Int) -> (times: Int, types: Int, characters: Int, body: Int, end: Int)? {
            guard at + 44 <= bytes.count, bytes[at..<at + 4].elementsEqual("TZif".utf8) else { return nil }
            let counts = (0..<6).map { Int(number(at + 20 + 4 * $0, 4)) }
            guard counts.allSatisfy({ $0 >= 0 && $0 < 100_000 }) else { return nil }
            let (utc, standard, leaps, times, types, characters) =
                (counts[0], counts[1], counts[2], counts[3], counts[4], counts[5])
            let size = times * (timeSize + 1) + types * 6 + characters + leaps * (timeSize + 4) + standard + utc
            guard at + 44 + size <= bytes.count else { return nil }
            return (times, types, characters, at + 44, at + 44 + size)
        }
        guard var head = header(0, timeSize: 4) else { return nil }
        var timeSize = 4
        if bytes[4] >= UInt8(ascii: "2") {
            guard let second = header(head.end, timeSize: 8) else { return nil }
            head = second
            timeSize = 8
        }
        let typeIndexes = head.body + head.times * timeSize
        let types = typeIndexes + head.times
        guard head.types > 0 else { return nil }
        func offset(_ type: Int) -> Int { type < head.types ? Int(number(types + 6 * type, 4)) : 0 }
        for at in 0..<head.times {
            transitions.append(number(head.body + at * timeSize, timeSize))
            offsets.append(offset(Int(bytes[typeIndexes + at])))
        }
        firstOffset = offset(0)
        if timeSize == 8, head.end + 2 < bytes.count, bytes[head.end] == 10 {
            rule = TimeZoneRule(Array(bytes[(head.end + 1)...].prefix { $0 != 10 }))
        }
    }

    /// The system's folder of time zones.
    static let directory = "/usr/share/zoneinfo"
    /// Maximum bytes of a file.
    private static let maximumSize = 1 << 18

    /// Reads a zone of the system, or a rule in POSIX's form; nil if the name is neither.
    static func find(_ name: String) -> TimeZoneFile? {
        // A rule without dates is an offset. Its sign is the opposite of the usual one, so it is no name here.
        if name.contains(","), name.utf8.count < 128, let rule = TimeZoneRule(Array(name.utf8)) {
            return TimeZoneFile(rule: rule)
        }
        let isPlain = name.utf8.allSatisfy { byte in
            byte.isOfName || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+")
        }
        guard isPlain, !name.isEmpty, name.utf8.count < 64, !name.hasPrefix("/") else { return nil }
        guard let file = fopen("\(directory)/\(name)", "r") else { return nil }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: maximumSize)
        let count = fread(&bytes, 1, maximumSize, file)
        guard count > 0, count < maximumSize else { return nil }
        return TimeZoneFile(Array(bytes[..<count]))
    }
}

/// The zones that an evaluator has read.
final class TimeZoneCache {
    private var zones: [String: TimeZoneFile] = [:]
    /// Maximum number of cached zones, about the number of existing ones.
    private static let maximumCount = 600
    /// Steps for reading a file.
    private static let readingCost = 1000

    func zone(_ name: String, _ meter: inout Meter) throws(Fault) -> TimeZoneFile? {
        if let known = zones[name] { return known }
        try meter.charge(TimeZoneCache.readingCost)
        guard let zone = TimeZoneFile.find(name) else { return nil }
        if zones.count >= TimeZoneCache.maximumCount { zones.removeAll() }
        zones[name] = zone
        return zone
    }
}
