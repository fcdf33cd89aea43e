import AttributeValues
import Foundation
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// The rules of `Examples/host-monitor.yaml`, fed by a test in place of the feeder.
@Suite("What the host monitor calls wrong")
struct HostMonitorSceneTests {
    private static let root = #filePath.components(separatedBy: "/Tests/")[0]

    /// A machine that is well, with a feeder that no silence makes stale.
    private func host() throws -> Harness {
        let text = try String(contentsOfFile: Self.root + "/Examples/host-monitor.yaml", encoding: .utf8)
        let scene = text.replacingOccurrences(of: "\nagd: 1\n", with: "\n")
            .replacingOccurrences(of: "duration('3s')) == feed.time", with: "duration('31d')) == feed.time")
            .replacingOccurrences(of: "\nimport: alerts.yaml\n", with: "\n")
        let alerts = try String(contentsOfFile: Self.root + "/Examples/alerts.yaml", encoding: .utf8)
        let host = try Harness(scene, importing: [alerts])
        try host.set("/host.feed.isLive", true)
        try host.set("/host.feed.time", "a moment")
        #expect(try host.value("/host.status") == "ok" && host.value("/host.problems") == [])
        #expect(try host.value("/host.summary") == "All is well")
        return host
    }

    private func words(_ host: Harness) throws -> [String] {
        (try host.value("/host.problems").list ?? []).compactMap { $0.map?["what"]?.string }
    }

    private func hours(from start: Timestamp, to end: Timestamp) throws -> Double {
        Double(try #require(end.since(start)).nanoseconds) / 3600e9
    }

    private func mount(_ id: String, used: Double, free: Double, inodes: Int64 = 0, usedInodes: Int64 = 0) -> Value {
        [
            "id": .string(id), "type": "ext4", "source": "/dev/a", "size": .int(Int64((used + free) * 1e9)),
            "used": .int(Int64(used * 1e9)), "free": .int(Int64(free * 1e9)), "inodes": .int(inodes),
            "usedInodes": .int(usedInodes),
        ]
    }

    @Test("a gauge is wrong when it has been beyond a threshold for half a minute, since it went beyond") func gauges()
        throws
    {
        let host = try host()
        func use(_ available: Int64) throws {
            try host.set(
                "/host/memory.bytes",
                ["total": 100, "available": .int(available), "cached": 0, "swapTotal": 0, "swapFree": 0])
        }
        let since = host.now.wall
        try use(8)
        #expect(try host.value("/host/memory/gauge.status") == "warn")
        #expect(try words(host) == [] && host.value("/host.status") == "ok")
        host.advance(29.5)
        #expect(try words(host) == [])
        host.advance(1)
        #expect(try words(host) == ["Memory above 90 %"] && host.value("/host.status") == "warn")
        #expect(try host.value("/host.since") == .timestamp(since))
        try use(1)
        #expect(try words(host) == ["Memory above 97 %"] && host.value("/host.status") == "critical")
        #expect(try host.value("/host.since") == .timestamp(since))
        try use(50)
        #expect(try words(host) == [] && host.value("/host.status") == "ok")
        #expect(try host.value("/host.since") == .timestamp(host.now.wall))
    }

    @Test("pressure says what is waited for") func pressure() throws {
        let host = try host()
        try host.set("/host/pressure.resources", [["id": "memory", "some": 35.0, "full": 1.0]])
        host.advance(31)
        #expect(try words(host) == ["Waiting for memory above 20 %"])
        #expect(try host.value("/host.featured") == ["CPU", "Memory", "Pressure"])
        try host.set("/host/pressure.resources", [])
        #expect(try words(host) == [] && host.value("/host.featured") == ["CPU", "Memory"])
    }

    @Test("a file system that its trend fills within a day is wrong after an hour of that trend, and before it is full")
    func trend() throws {
        let host = try host()
        var used = 700.0
        var began: Timestamp?
        var told: Timestamp?
        for _ in 0..<(9 * 60) {
            used += 10.0 / 60
            try host.set("/host/filesystems.mounts", [mount("/data", used: used, free: 1000 - used)])
            host.advance(60)
            let instance = "/host/filesystems/mounts/\"/data\""
            if began == nil, try host.value(instance + ".isFilling") == true { began = host.now.wall }
            if told == nil, try words(host) == ["/data fills within a day"] { told = host.now.wall }
        }
        // 24 hours before it is full, 240 are free: after six hours.
        let (first, second) = try (#require(began), #require(told))
        let (filling, toldAfter) = try (hours(from: Harness.start.wall, to: first), hours(from: first, to: second))
        #expect((5.4...6.6).contains(filling))
        #expect((0.95...1.1).contains(toldAfter))
        // In whole hours: 210 GB at 10 GB/h.
        #expect(try host.value("/host/filesystems/mounts/\"/data\".fullIn") == .double(21 * 3600))
        #expect(try words(host) == ["/data fills within a day"] && host.value("/host.status") == "warn")
        // It stops.
        for _ in 0..<60 { host.advance(60) }
        #expect(try words(host) == [])
    }

    @Test("one large file is no trend, and neither is what stands") func burst() throws {
        let host = try host()
        for minute in 0..<600 {
            let used = minute < 400 ? 600.0 : 750.0
            if minute == 0 || minute == 400 {
                try host.set("/host/filesystems.mounts", [mount("/data", used: used, free: 1000 - used)])
            }
            host.advance(60)
            #expect(try words(host) == [])
        }
    }

    @Test("a full file system and one without room for files are wrong, whatever their names") func full() throws {
        let host = try host()
        let names = [
            "/", "/srv/data disk", "/a\"b\\c", "/tab␉and␊line", "/ünï", "* #2", String(repeating: "x", count: 243),
        ]
        try host.set("/host/filesystems.mounts", .list(names.map { mount($0, used: 95, free: 5) }))
        #expect(try words(host) == names.map { $0 + " is more than 90 % full" })
        #expect(try host.children(of: "/host/filesystems/mounts") == names)
        try host.set(
            "/host/filesystems.mounts",
            [mount("/a", used: 1, free: 99, inodes: 1000, usedInodes: 990), mount("/b", used: 99, free: 1)]
        )
        #expect(try words(host) == ["/a has more than 97 % of its files", "/b is more than 97 % full"])
        #expect(try host.value("/host.status") == "critical")
        #expect(try host.value("/host.summary") == "/a has more than 97 % of its files, and 1 more")
    }

    @Test("a failed unit is wrong since it failed, and what does not answer is named; critical things come first")
    func units() throws {
        let host = try host()
        try host.set(
            "/host/units.failed",
            [
                ["id": "nginx.service", "description": "A server", "since": "1969-12-31T22:00:00Z"],
                ["id": "a@b\\x2dc.mount", "description": "", "since": .null],
            ])
        try host.set("/host.feed.silent", ["/srv/nas", "sensors"])
        host.advance(5)
        try host.set("/host/filesystems.mounts", [mount("/", used: 99, free: 1)])
        #expect(
            try words(host) == [
                "/ is more than 97 % full", "/srv/nas does not answer", "sensors does not answer",
                "nginx.service has failed", "a@b\\x2dc.mount has failed",
            ])
        let since = (try host.value("/host.problems").list ?? []).compactMap { $0.map?["since"] }
        #expect(since.map(\.jsonText).contains("\"1969-12-31T22:00:00Z\""))
        try host.set("/host/units.failed", [])
        try host.set("/host.feed.silent", [])
        #expect(try words(host) == ["/ is more than 97 % full"])
    }

    @Test("a clock that nobody sets right is wrong after ten minutes, and one that is off after one") func clock()
        throws
    {
        let host = try host()
        let since = host.now.wall
        try host.set("/host/machine.clock", ["isSynchronized": false, "offset": 0.0, "error": 16.0])
        host.advance(599)
        #expect(try words(host) == [])
        host.advance(2)
        #expect(try words(host) == ["The clock is not synchronised"])
        #expect(try host.value("/host.since") == .timestamp(since))
        try host.set("/host/machine.clock", ["isSynchronized": true, "offset": -0.25, "error": 0.5])
        #expect(try words(host) == [])
        host.advance(61)
        #expect(try words(host) == ["The clock is off by more than 0.1 s"])
        #expect(try host.value("/host/machine.facts").map?["clock"] == "within 0.250 s")
    }

    @Test("a hot sensor is wrong at its own limits, and one without limits never") func sensors() throws {
        let host = try host()
        func sensor(_ id: String, _ celsius: Double, _ high: Value, _ critical: Value) -> Value {
            ["id": .string(id), "celsius": .double(celsius), "high": high, "critical": critical]
        }
        try host.set(
            "/host/temperatures.sensors",
            [sensor("cpu", 85, 80.0, 100.0), sensor("disk", 90, .null, 84.9), sensor("board", 120, .null, .null)])
        #expect(try words(host) == ["disk is at its limit of 85 °C", "cpu is at its limit of 80 °C"])
    }

    @Test("sums of traffic count hardware, or everything where there is none") func traffic() throws {
        let host = try host()
        func feed(_ bytes: Int64, isVirtual: Bool) throws {
            let entries: [Value] = [("eth0", isVirtual), ("docker0", true)].map {
                ["id": .string($0.0), "received": .int(bytes), "sent": 0, "errors": 0, "isVirtual": .bool($0.1)]
            }
            try host.set("/host/network.interfaces", .list(entries))
        }
        for second in 0..<10 {
            try feed(1000 * Int64(second), isVirtual: false)
            host.advance(1)
        }
        #expect(try host.value("/host/network/interfaces/docker0.receives") == 1000.0)
        #expect(try host.value("/host/network.receives") == 1000.0)
        try feed(10000, isVirtual: true)
        #expect(try host.value("/host/network.receives") == 2000.0)
    }

    @Test("without reports of the feeder, that is all that is known to be wrong") func stale() throws {
        let host = try host()
        try host.set("/host/units.failed", [["id": "a.service", "description": "", "since": .null]])
        host.advance(5)
        try host.set("/host.feed.isLive", false)
        #expect(try words(host) == ["The feeder does not report"] && host.value("/host.status") == "stale")
        #expect(try host.value("/host.since") == .timestamp(host.now.wall))
    }

    @Test("people are told of what has been wrong in a part for a minute, and that it is over") func alerts() throws {
        let host = try host()
        try host.subscribe(["/host/alerts/**"], initial: true)
        #expect(try host.children(of: "/host/alerts") == ["feeder", "filesystems", "pressure", "units", "machine"])
        try host.set("/host/units.failed", [["id": "backup.service", "description": "", "since": .null]])
        #expect(try host.value("/host/alerts/units.phase") == "pending")
        host.advance(61)
        #expect(try host.value("/host/alerts/units.phase") == "firing")
        #expect(try host.value("/host/alerts/units.alert.summary") == "backup.service has failed")
        #expect(try host.value("/host/alerts/units.alert.severity") == "warning")
        #expect(try host.value("/host/alerts/machine.phase") == "ok")
        try host.set("/host/units.failed", [])
        host.advance(61)
        #expect(try host.value("/host/alerts/units.phase") == "resolved")
        try host.set("/host.feed.isLive", false)
        host.advance(61)
        #expect(try host.value("/host/alerts/feeder.phase") == "firing")
    }
}
