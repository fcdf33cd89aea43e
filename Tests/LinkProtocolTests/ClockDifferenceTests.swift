import Testing

@testable import agd_link

@Suite("Difference of two clocks")
struct ClockDifferenceTests {
    @Test("a motion is as old as it is at its owner, whatever the clocks say and however late some messages are")
    func elapsed() {
        for ahead in [-7200.0, 0, 3] {
            var clock = ClockDifference()
            #expect(clock.elapsed(since: 100, at: 100 + ahead + 2) == 0)
            for (sent, delay) in [(10.0, 0.5), (11, 0.002), (12, 0.9)] { clock.hear(sent, at: sent + ahead + delay) }
            #expect(abs(clock.elapsed(since: 100, at: 100 + ahead + 2) - 1.998) < 1e-9)
            #expect(clock.elapsed(since: 100, at: 99 + ahead) == 0)
            #expect(clock.elapsed(since: 100, at: 1e9) == ClockDifference.longest)
        }
    }

    @Test("a clock that was set is followed when the older measurements are forgotten") func set() {
        var clock = ClockDifference()
        for second in 0..<100 { clock.hear(Double(second), at: Double(second)) }
        for second in 100..<100 + ClockDifference.samples { clock.hear(Double(second), at: Double(second) + 50) }
        #expect(clock.elapsed(since: 200, at: 251) == 1)
    }
}
