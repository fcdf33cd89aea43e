import AttributeValues
import Foundation
import TestSupport
import Testing

/// The example that `make run` starts, with its feeder.
@Suite("Host monitor")
struct HostMonitorTests {
    private func daemon() throws -> Daemon { try Daemon(sceneFiles: ["Examples/host-monitor.yaml"]) }

    /// A daemon with the scene, in which figures are stale after another time than 3 seconds, and gauges beyond a
    /// threshold are wrong at once.
    private func daemon(patience: String) throws -> Daemon {
        let text = try Project.text("Examples/host-monitor.yaml")
        let changed = text.replacingOccurrences(
            of: "duration('3s')) == feed.time", with: "duration('\(patience)')) == feed.time"
        ).replacingOccurrences(of: "held(isHigh, duration('30s'))", with: "held(isHigh, duration('10ms'))")
            .replacingOccurrences(of: "import: ", with: "import: \(Project.file("Examples/"))")
        try #require(changed != text)
        return try Daemon(scenes: [changed])
    }

    private func feeder(_ daemon: Daemon, _ arguments: String...) throws -> Program {
        try Program("agd-host-feeder", ["--socket", daemon.socket] + arguments, folder: daemon.folder)
    }

    @Test("before it is fed, everything is stale, and nothing fails")
    func unfed() throws {
        let daemon = try daemon()
        let client = try daemon.client()
        try client.call("subscribe", ["paths": ["/host/**"]])
        let changes = try client.event()["changes"]?.list ?? []
        #expect(changes.count > 30)
        #expect(changes.filter { $0["error"] != nil } == [])
        #expect(try client.get("/host.status") == "stale")
    }

    @Test("fed from this machine's /proc, every figure comes to life in transactions of the feeder's")
    func fed() throws {
        let daemon = try daemon()
        let client = try daemon.client()
        try client.call("subscribe", ["paths": ["/host/**"]])
        _ = try client.event()
        let feeder = try feeder(daemon, "--interval", "0.2")
        #expect(try client.value(of: "/host.isStale") { $0 == false } == false)
        let status = try #require(try client.get("/host.status")?.string)
        #expect(["ok", "warn", "critical"].contains(status))

        let tree = try client.call("describe", ["path": "/host/cpu/cores"])
        let cores = tree["children"]?.list?.compactMap { $0["id"]?.string } ?? []
        #expect(cores.first == "cpu0")
        for core in cores {
            let percent = try #require(try client.get("/host/cpu/cores/\(core).percent")?.number)
            #expect((0.0...100).contains(percent))
        }
        let worst = try #require(try client.get("/host/cpu.worst"))
        #expect(cores.contains(worst["id"]?.string ?? ""))
        let memory = try #require(try client.get("/host/memory.percent")?.number)
        #expect(memory > 0 && memory < 100)
        #expect(try client.get("/host/load.average.one")?.number != nil)
        #expect(try client.get("/host/processes.count")?.int ?? 0 > 1)
        #expect(try client.get("/host/machine.name")?.string?.isEmpty == false)
        #expect(try client.get("/host/machine.clock.error")?.number != nil)
        let featured = try #require(try client.get("/host.featured")?.list)
        #expect(featured.contains("CPU") && featured.contains("Memory"))

        // Sample after sample comes in, and nothing fails but what has gone: processes come and go.
        var samples = 0
        while samples < 5 {
            let update = try client.event()
            if update["label"] == "sample" { samples += 1 }
            let codes = (update["changes"]?.list ?? []).compactMap { $0["error"]?["code"] }
            #expect(codes.filter { $0 != "removed" } == [])
        }
        // A container may have no file system that fills up; the others have the root at least.
        let mounts = try #require(try client.get("/host/filesystems.mounts")?.list)
        for mount in mounts {
            let used = try #require(mount["used"]?.int), size = try #require(mount["size"]?.int)
            #expect(used >= 0 && used <= size)
        }
        feeder.signal(SIGTERM)
        #expect(try feeder.wait() == 0)
    }

    @Test("a recorded machine, with names of any characters: all of it becomes nodes, and nothing fails")
    func recorded() throws {
        let daemon = try daemon(patience: "1h")
        let client = try daemon.client()
        try client.call("subscribe", ["paths": ["/host/**"]])
        _ = try client.event()
        let server = Project.file("Tests/HostFeederTests/Fixtures/server")
        let root = daemon.folder.file("root")
        let mounts = ["/run", "/", "/dev/shm", "/boot/efi", "/srv/data disk", "/srv/old"]
        for mount in mounts {
            try FileManager.default.createDirectory(atPath: root + mount, withIntermediateDirectories: true)
        }
        let feeder = try feeder(
            daemon, "--interval", "0.1", "--proc", server + "/proc", "--sys", server + "/sys", "--root", root)
        let containers = [
            "container abababababab", "lxc mail", "machine qemu-1-build box", "docker 4f4f4f4f4f4f",
            "podman c0c0c0c0c0c0",
        ]
        var found: Set<String> = []
        let sought =
            (mounts.map { "/host/filesystems/mounts/\"\($0)\".percent" }
                + containers.map { "/host/containers/all/\"\($0)\".memory" })
        while !found.isSuperset(of: sought) {
            let changes = try client.event()["changes"]?.list ?? []
            #expect(changes.filter { $0["error"] != nil } == [])
            found.formUnion(changes.compactMap { $0["path"]?.string })
        }
        #expect(try client.get("/host/network/interfaces.elements") == ["enp3s0", "docker0", "* #2"])
        #expect(try client.get("/host/network/interfaces/enp3s0.errors") == 10)
        #expect(try client.get("/host/temperatures/sensors/\"nvme Composite #2\".limit") == 84.85)
        #expect(try client.get("/host/fans/sensors/\"nct6798 CPU fan\".speed") == 1132)
        #expect(try client.get("/host/machine.facts.kernel") == "6.1.0-28-amd64")
        feeder.signal(SIGTERM)
        #expect(try feeder.wait() == 0)
    }

    @Test("the board has its panels without the library of panels") func board() throws {
        let daemon = try Daemon(sceneFiles: ["Examples/host-monitor.yaml"])
        let client = try daemon.client()
        let board = try daemon.control(["apply", "--merge", Project.file("Examples/dashboards/host.yaml")])
        #expect(board.code == 0, "\(board.text)")
        let shown = try daemon.control(["dash", "/host", "--json"]).text
        for title in [
            "This machine", "What is wrong", "Processor", "Memory", "File systems", "Processes", "Network",
        ] {
            #expect(shown.contains("\"\(title)\""), "\(title): \(shown)")
        }
        #expect(try client.get("/host.status") == "stale")
    }

    @Test("when the feeder dies, the daemon says so for it at once")
    func feederDies() throws {
        let daemon = try daemon()
        let client = try daemon.client()
        try client.call("subscribe", ["paths": ["/host.status", "/host.feed.isLive", "/host/cpu/gauge.status"]])
        _ = try client.event()
        let feeder = try feeder(daemon, "--interval", "0.2")
        #expect(try client.value(of: "/host.feed.isLive") { $0 == true } == true)
        feeder.signal(SIGKILL)
        #expect(try client.value(of: "/host/cpu/gauge.status") { $0 == "stale" } == "stale")
        #expect(try client.get("/host.feed.isLive") == false)
        #expect(try client.get("/host.status") == "stale")
    }

    @Test("a feeder that is there but silent is noticed, without a clock")
    func silentFeeder() throws {
        let daemon = try daemon(patience: "100ms")
        let client = try daemon.client()
        try client.call("subscribe", ["paths": ["/host.isStale"]])
        #expect(try client.event()["changes"]?[0]?["value"] == true)
        try client.call(
            "transact",
            [
                "mutations": [
                    ["op": "set", "path": "/host.feed.isLive", "value": true],
                    ["op": "set", "path": "/host.feed.time", "value": "2026-01-01T00:00:00Z"],
                ]
            ])
        #expect(try client.event()["changes"]?[0]?["value"] == false)
        // The feeder writes nothing more.
        #expect(try client.event()["changes"]?[0]?["value"] == true)
        #expect(try client.get("/host.feed.isLive") == true)
    }

    /// Two samples as the feeder sends them, with the CPUs so many percent busy between them.
    private func feed(_ client: Client, cpu: Int64, memory: Int64 = 10) throws {
        var (busy, total): (Int64, Int64) = (0, 0)
        if let last = try client.get("/host/cpu.all")?.map {
            (busy, total) = (last["busy"]?.int ?? 0, last["total"]?.int ?? 0)
        }
        if total == 0 {
            (busy, total) = (100, 1000)
            try sample(client, busy, total, memory)
        }
        try sample(client, busy + cpu, total + 100, memory)
    }

    private func sample(_ client: Client, _ busy: Int64, _ total: Int64, _ memory: Int64) throws {
        let counters: [(Value, Value)] = [(.string("busy"), .int(busy)), (.string("total"), .int(total))]
        let core = ValueMap([(.string("id"), .string("cpu0"))] + counters)
        try client.call(
            "transact",
            [
                "mutations": [
                    ["op": "set", "path": "/host.feed.isLive", "value": true],
                    ["op": "set", "path": "/host.feed.time", "value": .string("sample \(total)")],
                    ["op": "set", "path": "/host/cpu.all", "value": .map(ValueMap(counters))],
                    ["op": "set", "path": "/host/cpu.cores", "value": [.map(core)]],
                    [
                        "op": "set", "path": "/host/memory.bytes",
                        "value": [
                            "total": 100, "available": .int(100 - memory), "cached": 0, "swapTotal": 0, "swapFree": 0,
                        ],
                    ],
                ]
            ])
    }

    @Test("the percentage of the CPU is recorded") func history() throws {
        let daemon = try daemon(patience: "1h")
        let client = try daemon.client()
        try feed(client, cpu: 85)
        let recorded = try client.call("history", ["path": "/host/cpu.percent"])
        #expect(recorded["span"] == 600.0)
        #expect(recorded["greatest"]?.list?.last == 85.0)
        #expect(recorded["least"]?.list?.first == 0.0)
    }

    @Test("thresholds come down the environment, and the memory's own override holds for the memory alone")
    func thresholds() throws {
        let daemon = try daemon(patience: "1h")
        let client = try daemon.client()
        try client.call("subscribe", ["paths": ["/host.status"]])
        try feed(client, cpu: 85, memory: 85)
        #expect(try client.get("/host/cpu/gauge.status") == "warn")
        #expect(try client.get("/host/memory/gauge.status") == "ok")
        #expect(try client.value(of: "/host.status") { $0 == "warn" } == "warn")
        #expect(try client.get("/host.summary") == "Processor above 75 %")
        try feed(client, cpu: 95, memory: 99)
        #expect(try client.get("/host/cpu/gauge.status") == "critical")
        #expect(try client.get("/host/memory/gauge.status") == "critical")
        #expect(try client.get("/host/cpu.worst") == ["id": "cpu0", "percent": 95.0])
        try feed(client, cpu: 5)
        #expect(try client.get("/host.status") == "ok")
    }

    @Test("panels mark themselves for the first row, and the host reads it of its own subviews alone")
    func featured() throws {
        let daemon = try daemon(patience: "1h")
        let client = try daemon.client()
        try feed(client, cpu: 5)
        #expect(try client.get("/host.featured") == ["CPU", "Memory"])
        try client.call("subscribe", ["paths": ["/host.featured"]])
        try client.set("/host/pressure.resources", [["id": "io", "some": 99.0, "full": 50.0]])
        let featured: Value = ["CPU", "Memory", "Pressure"]
        #expect(try client.value(of: "/host.featured") { $0 == featured } == featured)
    }

    @Test("a gauge swings to its new value on a spring, by the scene's own animation")
    func spring() throws {
        let daemon = try daemon(patience: "1h")
        let client = try daemon.client()
        try feed(client, cpu: 0)
        try client.call("subscribe", ["paths": ["/host/cpu/gauge.percent", "/host/cpu/gauge.status"]])
        _ = try client.event()
        try feed(client, cpu: 80)
        let changes = try client.event()["changes"]?.list ?? []
        let gauge = try #require(changes.first { $0["path"] == "/host/cpu/gauge.percent" })
        #expect(gauge["value"] == 80.0)
        #expect(gauge["timeline"]?["curve"]?["spring"] != nil)
        #expect(gauge["timeline"]?["from"]?.number == 0)
        #expect(changes.first { $0["path"] == "/host/cpu/gauge.status" }?["timeline"] == nil)
    }

    @Test("the feeder waits for its daemon, and finds it again when it has been away")
    func reconnect() throws {
        let folder = try Folder()
        let feeder = try Program(
            "agd-host-feeder", ["--socket", folder.file("agd.sock"), "--interval", "0.1"], folder: folder)
        for _ in 0..<2 {
            let daemon = try Daemon(sceneFiles: ["Examples/host-monitor.yaml"], folder: folder)
            let client = try daemon.client()
            try client.call("subscribe", ["paths": ["/host.feed.isLive"]])
            #expect(try client.value(of: "/host.feed.isLive") { $0 == true } == true)
            #expect(try daemon.stop() == 0)
        }
        #expect(!feeder.isOver(within: 0))
        feeder.signal(SIGINT)
        #expect(try feeder.wait() == 0)
    }

    @Test("the feeder says once that the daemon has no node for it, and waits")
    func noSpace() throws {
        let daemon = try Daemon(sceneFiles: ["Examples/host-monitor.yaml"], configuration: "clients = 2\n")
        let client = try daemon.client()
        try client.call("subscribe", ["paths": ["/host.feed.isLive"]])
        var guest: Client? = try daemon.client()
        try guest?.call("ping")
        let feeder = try feeder(daemon, "--interval", "0.1")
        let deadline = Deadline(Deadline.patience)
        while !feeder.text.contains("trying again") {
            try #require(!feeder.isOver(within: 0.05) && !deadline.isOver, "\(feeder.text)")
        }
        guest = nil
        #expect(try client.value(of: "/host.feed.isLive") { $0 == true } == true)
        feeder.signal(SIGTERM)
        #expect(try feeder.wait() == 0)
        let lines = feeder.text.split(separator: "\n")
        #expect(
            lines.count == 2 && lines[0].contains("clients") && lines[1].hasSuffix("connected to agd"), "\(feeder.text)"
        )
    }

    @Test("a feeder without its scene says what is missing")
    func withoutScene() throws {
        let daemon = try Daemon()
        let feeder = try feeder(daemon)
        #expect(try feeder.wait() != 0)
        #expect(feeder.text.contains("host-monitor.yaml"))
    }
}
