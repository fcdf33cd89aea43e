import AttributeValues
import Testing

@testable import DaemonServer

@Suite("The longest turn", .serialized)
struct TurnMeterTests {
    private func figure(_ name: String, _ meter: TurnMeter) -> Double? {
        meter.figures.first { $0.name == name }?.value
    }

    @Test("the longest of all turns is kept, and those over 10 and 100 ms are counted") func longest() {
        var meter = TurnMeter(at: 5)
        for time in [5.001, 5.021, 5.0215, 5.2215, 5.2415] { meter.end(at: time) }
        #expect(abs(meter.longest - 0.2) < 1e-9)
        #expect(figure("turns_over_10ms", meter) == 3 && figure("turns_over_100ms", meter) == 1)
    }

    @Test("stats tells the longest turn") func told() throws {
        let daemon = try TestDaemon()
        let client = try daemon.connect()
        _ = try client.call("ping")
        let stats = try client.call("stats").member("result")
        #expect((stats?.member("longest_turn_seconds")?.number ?? 0) > 0 && stats?.member("turns_over_100ms") != nil)
    }
}
