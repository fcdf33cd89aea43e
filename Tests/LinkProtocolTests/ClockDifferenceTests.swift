import Testing

@testable import LinkProtocol

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

    @Test("a clock that was moved back is followed at the latest when the older measurements are forgotten") func set()
    {
        var clock = ClockDifference()
        for second in 0..<100 { clock.hear(Double(second), at: Double(second)) }
        for second in 100..<100 + ClockDifference.samples { clock.hear(Double(second), at: Double(second) + 50) }
        #expect(clock.elapsed(since: 200, at: 251) == 1)
    }

    /// Hears a message for each second, sent on a clock that is `ahead` of the other one.
    private func hear(_ seconds: Range<Int>, ahead: Double, late: (Int) -> Double, _ clock: inout ClockDifference) {
        for second in seconds { clock.hear(Double(second) + ahead, at: Double(second) + late(second)) }
    }

    @Test("the shortest way counts, and messages that the network kept back do not")
    func shortest() {
        var clock = ClockDifference()
        #expect(clock.elapsed(since: 5, at: 100) == 0)
        hear(0..<30, ahead: 1000, late: { $0 == 7 ? 0.25 : 0.75 }, &clock)
        #expect(clock.elapsed(since: 1029, at: 30.25) == 1)
        // They come together when the network is whole again.
        hear(30..<50, ahead: 1000, late: { 50 - Double($0) }, &clock)
        #expect(clock.elapsed(since: 1049, at: 50.25) == 1)
    }

    @Test("a clock that was moved counts after a few messages, in both directions", arguments: [-3600.0, -8, 8, 3600])
    func steps(_ step: Double) {
        var clock = ClockDifference()
        hear(0..<60, ahead: 1000, late: { _ in 0.01 }, &clock)
        hear(60..<66, ahead: 1000 + step, late: { _ in 0.01 }, &clock)
        #expect(abs(clock.elapsed(since: 1065 + step, at: 67.01) - 2) < 0.001)
    }
}
