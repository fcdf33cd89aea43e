import AttributeValues

/// The clock on the wall in a time zone, for what happens at local times.
public struct LocalClock {
    private let zone: TimeZoneFile?
    /// Seconds east of Greenwich, of a zone that is an offset.
    private let fixed: Int

    /// nil if there is no such zone: a name of the system's database, `UTC`, an offset, or a rule in POSIX's form.
    public init?(_ name: String) {
        if let offset = TimeLibrary.fixedZone(name) {
            (zone, fixed) = (nil, offset)
            return
        }
        guard let found = TimeZoneFile.find(name) else { return nil }
        (zone, fixed) = (found, 0)
    }

    /// Seconds east of Greenwich.
    public func offset(at seconds: Int64) -> Int { zone?.offset(at: seconds) ?? fixed }

    /// The local date, in days since 1970-01-01.
    public func day(at seconds: Int64) -> Int {
        let local = seconds + Int64(offset(at: seconds))
        return Int((local >= 0 ? local : local - 86_399) / 86_400)
    }

    /// The moment, in seconds since 1970, at which the clock first shows a time of a day. A time that the clock leaves
    /// out comes at the moment at which it is put forward.
    public func instant(day: Int, second: Int) -> Int64 {
        let local = Int64(day) * 86_400 + Int64(second)
        guard zone != nil else { return local - Int64(fixed) }
        let (before, after) = (offset(at: local - 129_600), offset(at: local + 129_600))
        for candidate in [before, after].map({ local - Int64($0) }).sorted()
        where candidate + Int64(offset(at: candidate)) == local {
            return candidate
        }
        // The clock is put forward between these two.
        var (early, late) = (local - Int64(max(before, after)), local - Int64(min(before, after)))
        let start = offset(at: early)
        while late - early > 1 {
            let middle = (early + late) / 2
            if offset(at: middle) == start { early = middle } else { late = middle }
        }
        return late
    }
}
