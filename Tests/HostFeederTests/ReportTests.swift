import AttributeValues
import Testing

@testable import agd_host_feeder

@Suite("Reports of the feeder")
struct ReportTests {
    private func value(_ path: String, _ before: Sample, _ now: Sample) -> Value? {
        Report(before: before, now: now, node: "/host").mutations.first { $0.path == path }?.value
    }

    @Test("counters are reported as they are")
    func counters() {
        var now = Sample()
        now.allCPUs = CPUTimes(id: "cpu", busy: 15, total: 110)
        now.cpus = [CPUTimes(id: "cpu0", busy: 15, total: 110)]
        now.disks = [DiskTraffic(id: "sda", read: 600, written: 10, reads: 6, writes: 1, busy: 4)]
        now.loopback = InterfaceTraffic(id: "lo", received: 5, sent: 5, errors: 0)
        #expect(value("/host/cpu.all", Sample(), now) == ["busy": 15, "total": 110])
        #expect(value("/host/cpu.cores", Sample(), now) == [["id": "cpu0", "busy": 15, "total": 110]])
        #expect(
            value("/host/disks.devices", Sample(), now) == [
                ["id": "sda", "read": 600, "written": 10, "reads": 6, "writes": 1, "busy": 4, "isVirtual": false]
            ])
        #expect(value("/host/network.loopback", Sample(), now)?.map?["received"] == 5)
    }

    @Test("the busiest processes come first, at most ten, and a reused id counts from nothing")
    func processes() throws {
        var before = Sample()
        var now = Sample()
        for id in Int64(1)...20 {
            before.processes[id] = ProcessTimes(id: id, name: "p\(id)", ticks: 100, start: 1, resident: 5)
            now.processes[id] = ProcessTimes(id: id, name: "p\(id)", ticks: 100 + id % 10, start: 1, resident: 5)
        }
        now.processes[19]?.start = 2
        now.monotonic = 2_000_000_000
        let top = try #require(value("/host/processes.top", before, now)?.list)
        #expect(top.count == Report.busiestCount)
        #expect(top.compactMap { $0.map?["id"] } == [9, 8, 18, 7, 17, 6, 16, 5, 15, 4])
        #expect(top.first == ["id": 9, "name": "p9", "percent": 4.5, "resident": 5])
        #expect(value("/host/processes.count", before, now) == 20)
    }

    @Test("values that the machine does not show are not written, and lists become empty")
    func absent() {
        let report = Report(before: Sample(), now: Sample(), node: "/host")
        let paths = report.mutations.map(\.path)
        #expect(!paths.contains("/host/memory.bytes"))
        #expect(!paths.contains("/host/load.average"))
        #expect(value("/host/pressure.resources", Sample(), Sample()) == [])
        #expect(value("/host/network.interfaces", Sample(), Sample()) == [])
    }

    @Test("ids are what a list takes, whatever the system calls things") func ids() {
        var ids = EntryIDs()
        #expect(ids.id("eth0") == "eth0")
        #expect(ids.id("eth0") == "eth0 #2")
        #expect(ids.id("eth0") == "eth0 #3")
        #expect(ids.id("eth0 #2") == "eth0 #2 #2")
        #expect(ids.id("") == " #2" && ids.id("*") == "* #2" && ids.id("**") == "** #2")
        #expect(ids.id("a\tb\n\u{7f}") == "a␉b␊␡")
        // Equal to people, but not to the daemon, which compares bytes.
        #expect(ids.id("\u{e9}") == "\u{e9}" && Array(ids.id("e\u{301}").utf8) == [0x65, 0xcc, 0x81])
        let long = String(repeating: "é", count: 2000)
        let (first, second) = (ids.id(long), ids.id(long))
        #expect(first != second && first.utf8.count <= 255 && second.utf8.count <= 255)
    }

    @Test("slow readings are written when there is news, and the busiest groups first") func slow() throws {
        func group(_ path: String, _ usage: Int64, memory: Int64? = nil) -> ControlGroup {
            ControlGroup(path: path, usage: usage, memory: memory)
        }
        var news = SlowSample()
        news.silent = ["/srv/nas"]
        news.fileSystems = [
            FileSystem(id: "/", type: "ext4", source: "/dev/a", size: 10, used: 4, free: 5, inodes: 8, usedInodes: 2)
        ]
        news.failedUnits = [FailedUnit(id: "a.service", description: "A", since: Timestamp("2026-01-01T00:00:00Z"))]
        news.groupsBefore = GroupSample(monotonic: 0, groups: [group("a", 100), group("b", 1_000_000), group("c", 9)])
        news.groups = GroupSample(
            monotonic: 5_000_000_000,
            groups: [group("a", 100, memory: 7), group("b", 3_500_000), group("c", 5, memory: 9), group("new", 77)])
        let report = Report(before: Sample(), now: Sample(), slow: news, node: "/host")
        let written = Dictionary(report.mutations.map { ($0.path, $0.value) }) { first, _ in first }
        #expect(written["/host.feed.silent"] == ["/srv/nas"])
        #expect(written["/host/filesystems.mounts"]?.list?.first?.map?["free"] == 5)
        #expect(
            written["/host/units.failed"]?.jsonText
                == #"[{"id":"a.service","description":"A","since":"2026-01-01T00:00:00Z"}]"#)
        let top = try #require(written["/host/groups.top"]?.list)
        #expect(top.compactMap { $0.map?["path"] } == ["b", "c", "a", "new"])
        #expect(top.first?.map?["percent"] == 50.0)
        let paths = Report(before: Sample(), now: Sample(), node: "/host").mutations.map(\.path)
        #expect(!paths.contains("/host/units.failed") && !paths.contains("/host/groups.top"))
    }

    @Test("shares of processes are measured on the clock that nobody sets")
    func shares() throws {
        var before = Sample()
        before.monotonic = 5_000_000_000
        before.wall = Timestamp("2026-01-01T00:00:10Z") ?? .epoch
        before.processes[1] = ProcessTimes(id: 1, name: "a", ticks: 100, start: 1, resident: 5)
        var now = Sample()
        now.monotonic = 6_500_000_000
        now.wall = Timestamp("2026-01-01T00:00:00Z") ?? .epoch
        now.processes[1] = ProcessTimes(id: 1, name: "a", ticks: 130, start: 1, resident: 5)
        #expect(value("/host/processes.top", before, now)?.list?.first?.map?["percent"] == 20.0)
        #expect(value("/host.feed.time", before, now)?.jsonText == "\"2026-01-01T00:00:00Z\"")
    }
}
