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
        now.disks = [DiskTraffic(id: "sda", read: 600, written: 10)]
        #expect(value("/host/cpu.all", Sample(), now) == ["busy": 15, "total": 110])
        #expect(value("/host/cpu.cores", Sample(), now) == [["id": "cpu0", "busy": 15, "total": 110]])
        #expect(value("/host/disks.devices", Sample(), now) == [["id": "sda", "read": 600, "written": 10]])
    }

    @Test("the busiest processes come first, at most eight, and a reused id counts from nothing")
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
        #expect(top.count == Report.processCount)
        #expect(top.compactMap { $0.map?["id"] } == [9, 8, 18, 7, 17, 6, 16, 5])
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
