/// The readings that may take long: file systems, sensors, systemd, and control groups. They are read every five
/// seconds, each by a probe.
final class SlowReadings {
    /// Nanoseconds between two readings.
    static let period: Int64 = 5_000_000_000
    /// A reading that takes longer than this many nanoseconds is reported as silent.
    static let patience: Int64 = 10_000_000_000
    /// Maximum number of file systems, each of which is read in a thread. A file system that is gone counts while its
    /// reading hangs.
    static let mostMounts = 100

    private let machine: Machine
    private let sensors: Probe<Sensors>
    private let units: Probe<[FailedUnit]>
    private let groups: Probe<GroupSample>
    private typealias FileSystems = [(mount: Mount, probe: Probe<FileSystem>)]
    /// In the order of the mounts.
    private var fileSystems: FileSystems = []
    /// File systems that are gone and whose readings hang.
    private var hanging: FileSystems = []
    /// The last two, of which the second is the newer one.
    private var groupSamples: [GroupSample] = []
    private var next = Int64.min
    private var wasSilent: [String] = []

    init(_ machine: Machine) {
        self.machine = machine
        let sys = machine.sys
        sensors = Probe { Sensors(sys) }
        let bus = machine.bus
        units = Probe { FailedUnit.read(over: bus) }
        groups = Probe { GroupSample(sys) }
    }

    /// Begins the readings that are due.
    func begin(at now: Int64) {
        guard now >= next else { return }
        next = now + SlowReadings.period
        // The mounts of the first process are those of the machine: the feeder may run in a part of it.
        let mounts = (machine.proc.text("1/mountinfo") ?? machine.proc.text("self/mountinfo")).map(Mount.read) ?? []
        let root = machine.root
        let before = fileSystems + hanging
        hanging = before.filter { $0.probe.isReading && !mounts.contains($0.mount) }
        fileSystems = mounts.prefix(max(0, SlowReadings.mostMounts - hanging.count)).map { mount in
            before.first { $0.mount == mount } ?? (mount, Probe { FileSystem.read(mount, below: root) })
        }
        for (_, probe) in fileSystems { probe.begin(at: now) }
        sensors.begin(at: now)
        units.begin(at: now)
        groups.begin(at: now)
    }

    /// What is known now; nil if that is the same as at the last call.
    func news(at now: Int64) -> SlowSample? {
        let named: [(name: String, isSilent: Bool)] =
            fileSystems.map { ($0.mount.name, $0.probe.isSilent(at: now)) } + [
                ("sensors", sensors.isSilent(at: now)), ("systemd", units.isSilent(at: now)),
                ("cgroups", groups.isSilent(at: now)),
            ]
        let silent = named.filter(\.isSilent).map(\.name)
        let ends = fileSystems.map { $0.probe.takeEnd() } + [sensors.takeEnd(), units.takeEnd(), groups.takeEnd()]
        guard ends.contains(true) || silent != wasSilent else { return nil }
        wasSilent = silent
        if let groups = groups.reading(at: now), groups.monotonic != groupSamples.last?.monotonic {
            groupSamples = groupSamples.suffix(1) + [groups]
        }
        return present(at: now)
    }

    /// What is known now.
    func present(at now: Int64) -> SlowSample {
        SlowSample(
            fileSystems: fileSystems.compactMap { $0.probe.reading(at: now) },
            sensors: sensors.reading(at: now) ?? Sensors(),
            failedUnits: units.reading(at: now) ?? [], groupsBefore: groupSamples.first, groups: groupSamples.last,
            silent: wasSilent)
    }
}

/// Readings of `SlowReadings`.
struct SlowSample {
    var fileSystems: [FileSystem] = []
    var sensors = Sensors()
    var failedUnits: [FailedUnit] = []
    /// The sample before `groups`, or itself if that is the first one.
    var groupsBefore: GroupSample?
    var groups: GroupSample?
    /// Names of the readings that have not answered in time: mount points, `sensors`, `systemd` and `cgroups`.
    var silent: [String] = []
}
