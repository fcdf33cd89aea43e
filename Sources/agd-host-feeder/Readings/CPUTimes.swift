/// The work of a CPU since the machine started, in clock ticks (proc_stat(5)).
struct CPUTimes: Equatable {
    var id: String
    var busy: Int64
    /// Busy, idle, and waiting for a disk.
    var total: Int64

    /// The line `cpu` (all together) and the lines `cpu0`, `cpu1`, … of `/proc/stat`.
    static func read(_ stat: SystemText) -> [CPUTimes] {
        var stat = stat
        var times: [CPUTimes] = []
        while var line = stat.line() {
            guard let id = line.word(), id.hasPrefix("cpu") else { break }
            // user nice system idle iowait irq softirq steal. The time of guests is already included in user and nice.
            guard let ticks = line.numbers(8) else { continue }
            let total = ticks.reduce(0, +)
            times.append(CPUTimes(id: id, busy: total - ticks[3] - ticks[4], total: total))
        }
        return times
    }
}
