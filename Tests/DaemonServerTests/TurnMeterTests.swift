import AttributeValues
import Testing

@testable import DaemonServer
@testable import GraphRuntime

@Suite("The longest turn", .serialized)
struct TurnMeterTests {
    private func figure(_ name: String, _ meter: TurnMeter) -> Double? {
        meter.figures.first { $0.name == name }?.value
    }

    @Test("the longest of all turns is kept, and those over 10 and 100 ms are counted") func longest() {
        var meter = TurnMeter(at: 5, 105)
        for time in [5.001, 5.021, 5.0215, 5.2215, 5.2415] {
            meter.end(requests: 0, at: time + 100, processor: time)
        }
        #expect(abs(meter.longest - 0.2) < 1e-9)
        #expect(figure("turns_over_10ms", meter) == 3 && figure("turns_over_100ms", meter) == 1)
    }

    @Test("turns within a millisecond share a reading of the clock, and a long turn behind them counts as long")
    func short() {
        var meter = TurnMeter(at: 0, 100)
        var readings = 0
        func clock(_ time: Double) -> Double {
            readings += 1
            return time
        }
        for turn in 1...9 { meter.end(requests: UInt64(turn), at: 100 + Double(turn) * 1e-4, processor: clock(0)) }
        #expect(readings == 0)
        meter.end(requests: 10, at: 100.0309, processor: clock(0.0309))
        #expect(readings == 1 && abs(meter.longest - 0.03) < 1e-9 && figure("turns_over_10ms", meter) == 1)
        // The loop slept between these two, so each counts with half of the time.
        meter.end(requests: 11, at: 100.0310, processor: clock(0))
        meter.end(requests: 12, at: 200, processor: clock(0.03098))
        meter.end(requests: 13, at: 200.0001, processor: clock(0))
        meter.settle(at: 0.0311)
        #expect(readings == 2 && figure("turns_over_10ms", meter) == 1)
        let text = meter.histograms.map(\.openMetrics).joined()
        #expect(text.contains("agd_turn_seconds_count 13") && text.contains("agd_request_seconds_count 13"))
        #expect(text.contains("agd_turn_seconds_bucket{le=\"0.00005\"} 2"))
    }

    @Test("stats tells the longest turn") func told() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        _ = try client.call("ping")
        let stats = try client.call("stats").member("result")
        #expect((stats?.member("longest_turn_seconds")?.number ?? 0) > 0 && stats?.member("turns_over_100ms") != nil)
    }

    @Test("turns and requests are counted by the length of the turn, for metrics") func histograms() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        for _ in 0..<5 { _ = try client.call("ping") }
        let result = try client.call("stats", #"{"format":"openmetrics"}"#).member("result")
        let text = try #require(result?.member("text")?.string)
        func figure(_ name: String) -> Double? {
            text.split(separator: "\n").first { $0.hasPrefix(name + " ") }.flatMap {
                Double($0.split(separator: " ")[1])
            }
        }
        #expect(figure("agd_request_seconds_count") == 5)
        #expect(figure("agd_request_seconds_bucket{le=\"+Inf\"}") == 5)
        #expect((figure("agd_turn_seconds_count") ?? 0) >= 5 && (figure("agd_turn_seconds_sum") ?? 0) > 0)
        #expect(text.contains("agd_turn_seconds_bucket{le=\"0.00001\"} "))
        let bounds = text.matches(of: /agd_request_seconds_bucket\{le="[^"]*"\} (\d+)/).compactMap { Int($0.1) }
        #expect(bounds.count == 17 && bounds == bounds.sorted())
    }
}
