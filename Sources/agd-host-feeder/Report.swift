import AttributeValues

/// The feeder's data for the daemon: a sample, as the writes of one transaction.
///
/// Counters are reported unprocessed. The rules of the scene compare them with what they were. Only processes and
/// control groups are compared here, because the feeder reports the busiest ones alone.
struct Report {
    /// Number of reported processes and groups, those with most CPU time between the samples.
    static let busiestCount = 10

    var before: Sample
    var now: Sample
    /// nil if nothing in it is new.
    var slow: SlowSample?
    /// The node of the scene, as `/host`.
    var node: String

    var mutations: [(path: String, value: Value)] {
        var writes: [(path: String, value: Value)] = [
            ("feed.isLive", true),
            ("feed.time", .timestamp(now.wall)),
            ("feed.uptime", .double(now.uptime)),
        ].map { (node + "." + $0.0, $0.1) }
        func write(_ attribute: String, _ value: Value) { writes.append((node + "/" + attribute, value)) }

        write("machine.identity", ["name": .string(now.hostName ?? ""), "kernel": .string(now.kernel ?? "")])
        if let clock = now.clock {
            write(
                "machine.clock",
                [
                    "isSynchronized": .bool(clock.isSynchronized), "offset": .double(clock.offset),
                    "error": .double(clock.error),
                ])
        }
        if let all = now.allCPUs { write("cpu.all", .map(ValueMap(all.entries))) }
        write("cpu.cores", list(now.cpus))
        if let memory = now.memory { write("memory.bytes", memory.value) }
        if let load = now.load {
            write(
                "load.average",
                ["one": .double(load.one), "five": .double(load.five), "fifteen": .double(load.fifteen)])
            write("load.tasks", ["running": .int(load.runningTasks), "total": .int(load.tasks)])
        }
        write("pressure.resources", list(now.pressures))
        write("network.interfaces", list(now.interfaces))
        if let loopback = now.loopback { write("network.loopback", .map(ValueMap(loopback.entries))) }
        write("disks.devices", list(now.disks))
        write("processes.count", .int(Int64(now.processes.count)))
        write("processes.top", .list(busiest))
        if let slow {
            writes.append((node + ".feed.silent", .list(slow.silent.map { .string($0) })))
            write("filesystems.mounts", list(slow.fileSystems))
            write("temperatures.sensors", list(slow.sensors.temperatures))
            write("fans.sensors", list(slow.sensors.fans))
            write("units.failed", list(slow.failedUnits))
            write("groups.top", .list(Report.busiest(slow.groupsBefore, slow.groups)))
            write("containers.all", list((slow.groups?.groups ?? []).filter { $0.container != nil }))
        }
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
        return measured.prefix(Report.busiestCount).map { process, ticks in
            let percent = seconds > 0 ? Report.rounded(Double(ticks) / seconds) : 0
            return [
                "id": .int(process.id), "name": .string(process.name), "percent": .double(percent),
                "resident": .int(process.resident),
            ]
        }
    }

    /// The groups with most CPU time between the samples; of equal ones, those with most memory first.
    private static func busiest(_ before: GroupSample?, _ now: GroupSample?) -> [Value] {
        guard let before, let now else { return [] }
        let seconds = Double(now.monotonic - before.monotonic) / 1e9
        let earlier = Dictionary(before.groups.map { ($0.path, $0.usage) }) { first, _ in first }
        // A group that falls has begun again.
        let measured = now.groups.map { group in (group, max(0, group.usage - (earlier[group.path] ?? group.usage))) }
            .sorted { ($1.1, $1.0.memory ?? 0, $0.0.path) < ($0.1, $0.0.memory ?? 0, $1.0.path) }
        return measured.prefix(busiestCount).map { group, microseconds in
            let percent = seconds > 0 ? rounded(Double(microseconds) / seconds / 1e4) : 0
            return [
                "name": .string(group.id), "path": .string(group.path), "percent": .double(percent),
                "memory": group.memory.map { .int($0) } ?? .null,
            ]
        }
    }

    private static func rounded(_ percent: Double) -> Double { (10 * percent).rounded() / 10 }

    private func list<Reading: ReportEntry>(_ readings: [Reading]) -> Value {
        var ids = EntryIDs()
        return .list(readings.map { .map(ValueMap([(.string("id"), .string(ids.id($0.id)))] + $0.entries)) })
    }
}

/// A reading that is an element of a list.
protocol ReportEntry {
    var id: String { get }
    var fields: [(name: String, value: Value)] { get }
}

extension ReportEntry {
    fileprivate var entries: [(Value, Value)] { fields.map { (.string($0.name), $0.value) } }
}

extension CPUTimes: ReportEntry {
    var fields: [(name: String, value: Value)] { [("busy", .int(busy)), ("total", .int(total))] }
}

extension InterfaceTraffic: ReportEntry {
    var fields: [(name: String, value: Value)] {
        [("received", .int(received)), ("sent", .int(sent)), ("errors", .int(errors)), ("isVirtual", .bool(isVirtual))]
    }
}

extension DiskTraffic: ReportEntry {
    var fields: [(name: String, value: Value)] {
        [
            ("read", .int(read)), ("written", .int(written)), ("reads", .int(reads)), ("writes", .int(writes)),
            ("busy", .int(busy)), ("isVirtual", .bool(isVirtual)),
        ]
    }
}

extension Pressure: ReportEntry {
    var fields: [(name: String, value: Value)] { [("some", .double(some)), ("full", .double(full))] }
}

extension FileSystem: ReportEntry {
    var fields: [(name: String, value: Value)] {
        [
            ("type", .string(type)), ("source", .string(source)), ("size", .int(size)), ("used", .int(used)),
            ("free", .int(free)), ("inodes", .int(inodes)), ("usedInodes", .int(usedInodes)),
        ]
    }
}

extension Sensors.Temperature: ReportEntry {
    var fields: [(name: String, value: Value)] {
        [("celsius", .double(celsius)), ("high", .optional(high)), ("critical", .optional(critical))]
    }
}

extension Sensors.Fan: ReportEntry {
    var fields: [(name: String, value: Value)] { [("speed", .int(speed))] }
}

extension FailedUnit: ReportEntry {
    var fields: [(name: String, value: Value)] {
        [("description", .string(description)), ("since", since.map { .timestamp($0) } ?? .null)]
    }
}

extension ControlGroup: ReportEntry {
    var fields: [(name: String, value: Value)] {
        [
            ("path", .string(path)), ("usage", .int(usage)), ("memory", .optional(memory)), ("limit", .optional(limit)),
            ("tasks", .optional(tasks)),
        ]
    }
}

extension Value {
    fileprivate static func optional(_ number: Double?) -> Value { number.map { .double($0) } ?? .null }
    fileprivate static func optional(_ number: Int64?) -> Value { number.map { .int($0) } ?? .null }
}

extension MemoryUse {
    fileprivate var value: Value {
        [
            "total": .int(total), "available": .int(available), "cached": .int(cached), "swapTotal": .int(swapTotal),
            "swapFree": .int(swapFree),
        ]
    }
}
