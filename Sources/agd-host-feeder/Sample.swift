import AttributeValues
import Glibc

/// The readings that the kernel gives at once, at one moment. Readings that the kernel (or a container) does not show
/// are nil or empty.
struct Sample: Equatable {
    var wall = Timestamp.epoch
    /// Nanoseconds on the monotonic clock.
    var monotonic: Int64 = 0
    /// Seconds since the machine started.
    var uptime: Double = 0
    var hostName: String?
    /// The kernel's release.
    var kernel: String?
    var clock: ClockState?
    /// All CPUs together.
    var allCPUs: CPUTimes?
    var cpus: [CPUTimes] = []
    var memory: MemoryUse?
    var load: LoadAverage?
    var pressures: [Pressure] = []
    var interfaces: [InterfaceTraffic] = []
    var loopback: InterfaceTraffic?
    var disks: [DiskTraffic] = []
    var processes: [Int64: ProcessTimes] = [:]
}

extension Sample {
    /// Reads everything once: about fifteen files, and one for each process.
    init(_ machine: Machine) {
        let proc = machine.proc
        let (seconds, nanoseconds) = Sample.time(CLOCK_REALTIME)
        wall = Timestamp(seconds: seconds, nanoseconds: nanoseconds) ?? .epoch
        monotonic = Sample.monotonicTime
        if var text = proc.text("uptime"), let seconds = text.decimal() { uptime = seconds }
        hostName = proc.line("sys/kernel/hostname")
        kernel = proc.line("sys/kernel/osrelease")
        clock = ClockState()
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
        interfaces = proc.text("net/dev").map(InterfaceTraffic.read) ?? []
        for index in interfaces.indices {
            interfaces[index].isVirtual = !machine.sys.contains(interfaces[index].device)
        }
        loopback = interfaces.first { $0.id == InterfaceTraffic.loopback }
        interfaces.removeAll { $0.id == InterfaceTraffic.loopback }
        disks = proc.text("diskstats").map(DiskTraffic.read) ?? []
        for index in disks.indices { disks[index].isVirtual = !machine.sys.contains(disks[index].device) }
        let pageSize = Int64(sysconf(Int32(_SC_PAGESIZE)))
        for id in proc.names().compactMap({ Int64($0) }) {
            guard let stat = proc.text("\(id)/stat") else { continue }
            processes[id] = ProcessTimes.read(stat, pageSize: pageSize)
        }
    }

    /// Nanoseconds on the clock that nobody sets.
    static var monotonicTime: Int64 {
        let (seconds, nanoseconds) = time(CLOCK_MONOTONIC)
        return seconds * 1_000_000_000 + nanoseconds
    }

    private static func time(_ clock: clockid_t) -> (seconds: Int64, nanoseconds: Int64) {
        var time = timespec()
        guard clock_gettime(clock, &time) == 0 else { preconditionFailure("clocks that Linux always has") }
        return (Int64(time.tv_sec), Int64(time.tv_nsec))
    }
}
