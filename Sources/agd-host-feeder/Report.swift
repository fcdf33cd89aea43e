import AttributeValues

/// The feeder's data for the daemon: two samples, as the writes of one transaction.
///
/// Counters are reported unprocessed in pairs, `before` and `now`. The rules of the scene interpret them. So usage and
/// rates always come from numbers of the same moments, whichever rule computes them and whenever.
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
            ("feed.interval", .double(Double(now.monotonic - before.monotonic) / 1e9)),
            ("feed.uptime", .double(now.uptime)),
        ].map { (node + "." + $0.0, $0.1) }
        func write(_ attribute: String, _ value: Value) { writes.append((node + "/" + attribute, value)) }

        if let all = now.allCPUs { write("cpu.all", pair(before.allCPUs ?? all, all).without("id")) }
        write("cpu.cores", pairs(before.cpus, now.cpus))
        if let memory = now.memory { write("memory.bytes", memory.value) }
        if let load = now.load {
            write(
                "load.average",
                ["one": .double(load.one), "five": .double(load.five), "fifteen": .double(load.fifteen)])
            write("load.tasks", ["running": .int(load.runningTasks), "total": .int(load.tasks)])
        }
        write("pressure.resources", .list(now.pressures.map(\.value)))
        write("network.interfaces", pairs(before.interfaces, now.interfaces))
        write("disks.devices", pairs(before.disks, now.disks))
        write("processes.count", .int(Int64(now.processes.count)))
        write("processes.top", .list(busiest.map { pair($0.before, $0.now) }))
        return writes
    }

    /// The processes with most CPU time between the samples; of equal ones, the older first.
    private var busiest: [(before: ProcessTimes, now: ProcessTimes)] {
        now.processes.values
            .map { process in
                let earlier = before.processes[process.id]
                // The same id with another start time is another process.
                return (before: earlier?.start == process.start ? earlier ?? process : process, now: process)
            }
            .sorted { ($1.now.ticks - $1.before.ticks, $0.now.id) < ($0.now.ticks - $0.before.ticks, $1.now.id) }
            .prefix(Report.processCount)
            .map { $0 }
    }

    private func pairs<Reading: CounterReading>(_ earlier: [Reading], _ later: [Reading]) -> Value {
        .list(later.map { reading in pair(earlier.first { $0.id == reading.id } ?? reading, reading) })
    }

    /// `{id, before: {…}, now: {…}}`. If a counter has decreased, it has begun anew, and there is nothing to compare.
    private func pair<Reading: CounterReading>(_ earlier: Reading, _ later: Reading) -> Value {
        let isContinued = zip(earlier.counters, later.counters).allSatisfy { $0.value <= $1.value }
        var entries: [(String, Value)] = [("id", later.idValue)]
        entries += later.facts
        entries += [("before", (isContinued ? earlier : later).counterMap), ("now", later.counterMap)]
        return .map(ValueMap(entries.map { (.string($0.0), $0.1) }))
    }
}

/// A reading of counters that only grow.
protocol CounterReading {
    associatedtype ID: Equatable
    var id: ID { get }
    var idValue: Value { get }
    var counters: [(name: String, value: Int64)] { get }
    /// Present values that are reported besides the counters.
    var facts: [(String, Value)] { get }
}

extension CounterReading {
    var facts: [(String, Value)] { [] }
    fileprivate var counterMap: Value { .map(ValueMap(counters.map { (.string($0.name), .int($0.value)) })) }
}

extension CounterReading where ID == String {
    var idValue: Value { .string(id) }
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

extension ProcessTimes: CounterReading {
    var idValue: Value { .int(id) }
    var counters: [(name: String, value: Int64)] { [("ticks", ticks)] }
    var facts: [(String, Value)] { [("name", .string(name)), ("resident", .int(resident))] }
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

extension Value {
    fileprivate func without(_ key: String) -> Value {
        guard case .map(var map) = self else { return self }
        map[key] = nil
        return .map(map)
    }
}
