import AttributeValues

/// The feeder's data for the daemon: a sample, as the writes of one transaction.
///
/// Counters are reported unprocessed. The rules of the scene compare them with what they were. Only the processes are
/// compared here, because the feeder reports the busiest ones alone.
struct Report {
    /// Number of reported processes, those with most CPU time between the samples.
    static let processCount = 8

    var before: Sample
    var now: Sample
    /// The node of the scene, as `/host`.
    var node: String

    var mutations: [(path: String, value: Value)] {
        var writes: [(path: String, value: Value)] = [
            ("feed.isLive", true),
            ("feed.time", .timestamp(now.wall)),
            ("feed.uptime", .double(now.uptime)),
        ].map { (node + "." + $0.0, $0.1) }
        func write(_ attribute: String, _ value: Value) { writes.append((node + "/" + attribute, value)) }

        if let all = now.allCPUs { write("cpu.all", .map(ValueMap(all.counterEntries))) }
        write("cpu.cores", counters(now.cpus))
        if let memory = now.memory { write("memory.bytes", memory.value) }
        if let load = now.load {
            write(
                "load.average",
                ["one": .double(load.one), "five": .double(load.five), "fifteen": .double(load.fifteen)])
            write("load.tasks", ["running": .int(load.runningTasks), "total": .int(load.tasks)])
        }
        write("pressure.resources", .list(now.pressures.map(\.value)))
        write("network.interfaces", counters(now.interfaces))
        write("disks.devices", counters(now.disks))
        write("processes.count", .int(Int64(now.processes.count)))
        write("processes.top", .list(busiest))
        return writes
    }

    /// The processes with most CPU time between the samples; of equal ones, the older first.
    private var busiest: [Value] {
        // Ticks of the kernel's clock per second are percent of one CPU. A report of equal moments has no shares.
        let seconds = Double(now.monotonic - before.monotonic) / 1e9
        let measured = now.processes.values
            .map { process -> (process: ProcessTimes, ticks: Int64) in
                let earlier = before.processes[process.id]
                // The same id with another start time is another process.
                let ticks = earlier?.start == process.start ? process.ticks - (earlier?.ticks ?? 0) : 0
                return (process, max(0, ticks))
            }
            .sorted { ($1.ticks, $0.process.id) < ($0.ticks, $1.process.id) }
        return measured.prefix(Report.processCount).map { process, ticks in
            let percent = seconds > 0 ? (10 * Double(ticks) / seconds).rounded() / 10 : 0
            return [
                "id": .int(process.id), "name": .string(process.name), "percent": .double(percent),
                "resident": .int(process.resident),
            ]
        }
    }

    private func counters<Reading: CounterReading>(_ readings: [Reading]) -> Value {
        .list(readings.map { .map(ValueMap([(.string("id"), .string($0.id))] + $0.counterEntries)) })
    }
}

/// A reading of counters that only grow.
protocol CounterReading {
    var id: String { get }
    var counters: [(name: String, value: Int64)] { get }
}

extension CounterReading {
    fileprivate var counterEntries: [(Value, Value)] { counters.map { (.string($0.name), .int($0.value)) } }
}

extension CPUTimes: CounterReading {
    var counters: [(name: String, value: Int64)] { [("busy", busy), ("total", total)] }
}

extension InterfaceTraffic: CounterReading {
    var counters: [(name: String, value: Int64)] { [("received", received), ("sent", sent)] }
}

extension DiskTraffic: CounterReading {
    var counters: [(name: String, value: Int64)] { [("read", read), ("written", written)] }
}

extension MemoryUse {
    fileprivate var value: Value {
        [
            "total": .int(total), "available": .int(available), "cached": .int(cached), "swapTotal": .int(swapTotal),
            "swapFree": .int(swapFree),
        ]
    }
}

extension Pressure {
    fileprivate var value: Value { ["id": .string(id), "some": .double(some), "full": .double(full)] }
}
