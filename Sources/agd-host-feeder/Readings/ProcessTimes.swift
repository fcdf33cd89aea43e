/// The resources that a process has used so far (`/proc/PID/stat`).
struct ProcessTimes: Equatable {
    var id: Int64
    var name: String
    /// Time on a CPU, in clock ticks.
    var ticks: Int64
    /// The start time, in clock ticks since the machine started. It distinguishes a process from a later one with the
    /// same id.
    var start: Int64
    /// Bytes of memory that are not swapped out.
    var resident: Int64

    static func read(_ stat: SystemText, pageSize: Int64) -> ProcessTimes? {
        var stat = stat
        // 14 and 15: user and system time; 22: start; 24: resident pages. The name is in brackets and may contain
        // brackets.
        guard let id = stat.text(upTo: UInt8(ascii: "(")).flatMap({ Int64($0.dropLast()) }),
            let name = stat.text(upToLast: UInt8(ascii: ")"))
        else { return nil }
        stat.skip(11)
        guard let user = stat.number(), let system = stat.number() else { return nil }
        stat.skip(6)
        guard let start = stat.number(), stat.word() != nil, let pages = stat.number() else { return nil }
        return ProcessTimes(id: id, name: name, ticks: user + system, start: start, resident: pages * pageSize)
    }
}
