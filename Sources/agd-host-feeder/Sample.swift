import AttributeValues
import Glibc

/// All readings of the feeder at one moment. Readings that the kernel (or a container) does not show are nil or empty.
struct Sample: Equatable {
    var wall = Timestamp.epoch
    /// Nanoseconds on the monotonic clock.
    var monotonic: Int64 = 0
    /// Seconds since the machine started.
    var uptime: Double = 0
    /// All CPUs together.
    var allCPUs: CPUTimes?
    var cpus: [CPUTimes] = []
    var memory: MemoryUse?
    var load: LoadAverage?
    var pressures: [Pressure] = []
    var interfaces: [InterfaceTraffic] = []
    var disks: [DiskTraffic] = []
    var processes: [Int64: ProcessTimes] = [:]
}

extension Sample {
    /// Reads everything once: about ten files, and one for each process.
    init(_ proc: ProcFolder) {
        let (seconds, nanoseconds) = Sample.time(CLOCK_REALTIME)
        wall = Timestamp(seconds: seconds, nanoseconds: nanoseconds) ?? .epoch
        let elapsed = Sample.time(CLOCK_MONOTONIC)
        monotonic = elapsed.seconds * 1_000_000_000 + elapsed.nanoseconds
        if var text = proc.text("uptime"), let seconds = text.decimal() { uptime = seconds }
        if let stat = proc.text("stat") {
            let times = CPUTimes.read(stat)
            allCPUs = times.first { $0.id == "cpu" }
            cpus = times.filter { $0.id != "cpu" }
        }
        memory = proc.text("meminfo").flatMap(MemoryUse.read)
        load = proc.text("loadavg").flatMap(LoadAverage.read)
        pressures = Pressure.resources.compactMap { id in
            proc.text("pressure/\(id)").flatMap { Pressure.read(id, $0) }
        }
        // The feeder's own view of the network: /proc/net is a link to /proc/self/net.
        if let dev = proc.text("net/dev") { interfaces = InterfaceTraffic.read(dev) }
        if let diskstats = proc.text("diskstats") { disks = DiskTraffic.read(diskstats) }
        let pageSize = Int64(sysconf(Int32(_SC_PAGESIZE)))
        for id in proc.processes() {
            guard let stat = proc.text("\(id)/stat") else { continue }
            processes[id] = ProcessTimes.read(stat, pageSize: pageSize)
        }
    }

    private static func time(_ clock: clockid_t) -> (seconds: Int64, nanoseconds: Int64) {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { preconditionFailure("clocks that Linux always has") }
        return (Int64(time.tv_sec), Int64(time.tv_nsec))
    }
}
