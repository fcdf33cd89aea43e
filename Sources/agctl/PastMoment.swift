import AttributeValues
import Glibc
import WireProtocol

extension PastTime {
    /// As people write it: `03:12` (the last one), `2026-11-28 03:12`, `1h`, RFC 3339, a revision, or EPOCH:REVISION.
    /// - Parameter now: seconds since 1970.
    init(words: String, now: Int = Glibc.time(nil)) throws(Complaint) {
        if let number = UInt64(words) {
            self = .revision(number, epoch: nil)
        } else if let span = TimeSpan(words), words != "0" {
            self = .time(Timestamp(seconds: Int64(now), nanoseconds: 0)?.advanced(by: PastTime.back(span)) ?? .epoch)
        } else if let time = Timestamp(words) {
            self = .time(time)
        } else if let time = PastTime.local(words, now) {
            self = .time(Timestamp(seconds: Int64(time)) ?? .epoch)
        } else if let colon = words.lastIndex(of: ":"), let number = UInt64(words[words.index(after: colon)...]),
            !words[..<colon].allSatisfy(\.isNumber), !words[..<colon].contains(where: { "-: ".contains($0) })
        {
            self = .revision(number, epoch: String(words[..<colon]))
        } else {
            throw Complaint(
                .usage, "'\(words)' is no time and no revision",
                hint: "as 03:12, '2026-11-28 03:12', 1h, 2026-11-28T03:12:00Z, or the number of a revision")
        }
    }

    /// A span is before now, with or without a sign.
    private static func back(_ span: TimeSpan) -> TimeSpan {
        span.nanoseconds > 0 ? TimeSpan(nanoseconds: -span.nanoseconds) : span
    }

    /// A local time: the last one that was, if there is no date.
    private static func local(_ words: String, _ now: Int) -> Int? {
        let parts = words.split(whereSeparator: { $0 == " " || $0 == "T" }).map(String.init)
        guard let clock = parts.last, parts.count <= 2 else { return nil }
        let times = clock.split(separator: ":", omittingEmptySubsequences: false).map { Int32($0) }
        guard times.count == 2 || times.count == 3, let hour = times[0], let minute = times[1],
            (0...23).contains(hour), (0...59).contains(minute)
        else { return nil }
        guard times.count == 2 || times[2].map({ (0...59).contains($0) }) == true else { return nil }
        var present = now
        var date = tm()
        localtime_r(&present, &date)
        (date.tm_hour, date.tm_min, date.tm_sec) = (hour, minute, times.count == 3 ? times[2] ?? 0 : 0)
        date.tm_isdst = -1
        if parts.count == 2 {
            let days = parts[0].split(separator: "-").map { Int32($0) }
            guard days.count == 3, let year = days[0], let month = days[1], let day = days[2],
                (1...12).contains(month), (1...31).contains(day)
            else { return nil }
            (date.tm_year, date.tm_mon, date.tm_mday) = (year - 1900, month - 1, day)
            return mktime(&date)
        }
        let found = mktime(&date)
        guard found > now else { return found }
        date.tm_mday -= 1
        date.tm_isdst = -1
        return mktime(&date)
    }
}
