import Testing

@testable import GatewayHandlers

/// The limits of time of a connection, on a test clock.
@Suite("Time of connections")
struct PeerTimeTests {
    private let start = 1000.0

    /// Seconds after `begin` at which the connection is closed, looked at twice a second; nil: not within an hour.
    private func end(_ time: PeerTime, from begin: Double, isWaiting: Bool = false) -> Double? {
        stride(from: 0, through: 3600, by: 0.5).first { time.isOver(at: begin + $0, isWaiting: isWaiting) }
    }

    @Test("a connection has ten seconds for its first head, however often it sends a part, and a minute for the next")
    func heads() {
        var time = PeerTime(at: start)
        #expect(end(time, from: start) == Limits.headTime + 0.5)
        // Parts of a head are not told, so they give no time.
        time.didReadHead(at: start + 1)
        time.didFinish(at: start + 1)
        time.willAnswer(isStream: false, at: start + 2)
        time.didComplete(at: start + 3)
        #expect(end(time, from: start + 3) == Limits.idleTime + 0.5)
    }

    @Test(
        "a body and an answer have ten seconds, and one more for each 16 KiB that come or go", arguments: [true, false])
    func transfers(_ isBody: Bool) {
        var time = PeerTime(at: start)
        time.didReadHead(at: start)
        if !isBody {
            time.didFinish(at: start)
            time.willAnswer(isStream: false, at: start)
        }
        #expect(end(time, from: start) == Limits.transferTime + 0.5)
        time.didMove(32 << 10, at: start + 5)
        #expect(end(time, from: start) == Limits.transferTime + 2.5)
        // A byte a second gains nothing.
        for second in 0..<60 { time.didMove(1, at: start + Double(second)) }
        #expect(end(time, from: start) == Limits.transferTime + 2.5)
    }

    @Test("a request that waits for the daemon is not closed") func waiting() {
        var time = PeerTime(at: start)
        time.didReadHead(at: start)
        time.didFinish(at: start)
        #expect(end(time, from: start) == nil)
    }

    @Test("a stream lasts while its client reads, or nothing waits for it, and half a minute more") func streams() {
        var time = PeerTime(at: start)
        time.didReadHead(at: start)
        time.didFinish(at: start)
        time.willAnswer(isStream: true, at: start)
        #expect(end(time, from: start) == nil)
        #expect(end(time, from: start, isWaiting: true) == Limits.stallTime + 0.5)
        time.didMove(1, at: start + 20)
        #expect(end(time, from: start + 20, isWaiting: true) == Limits.stallTime + 0.5)
    }

    @Test("connections without a complete request make room, those first that wait longest, and no other")
    func evicted() {
        var times: [(name: String, time: PeerTime)] = []
        for number in 0..<200 {
            var time = PeerTime(at: start + Double((number * 7) % 200))
            // A third of them are in the middle of a body.
            if number % 3 == 0 { time.didReadHead(at: start + Double((number * 7) % 200)) }
            times.append(("idle \(number)", time))
        }
        for number in 0..<200 {
            var time = PeerTime(at: start - 100)
            time.didReadHead(at: start - 100)
            time.didFinish(at: start - 100)
            if number % 2 == 0 { time.willAnswer(isStream: number % 4 == 0, at: start - 100) }
            times.append(("busy \(number)", time))
        }
        let gone = PeerTime.evicted(of: times.shuffled(), \.time)
        #expect(gone.count == Limits.evicted && gone.allSatisfy { $0.name.hasPrefix("idle") })
        #expect(gone.map(\.time.since) == (0..<Limits.evicted).map { start + Double($0) })
        #expect(PeerTime.evicted(of: times, over: 200, \.time).count == Limits.evicted)
        #expect(PeerTime.evicted(of: times, over: 201, \.time).isEmpty, "so many may stay")
    }

    @Test("a connection that has got an answer makes room after those that have not")
    func served() {
        var served = PeerTime(at: start)
        served.didReadHead(at: start)
        served.didFinish(at: start)
        served.willAnswer(isStream: false, at: start)
        served.didComplete(at: start)
        let others = (0..<Limits.evicted).map { PeerTime(at: start + Double($0)) }
        let gone = PeerTime.evicted(of: [served] + others.dropLast(), \.self)
        #expect(gone.last?.since == start && gone.dropLast().map(\.since) == others.dropLast().map(\.since))
        #expect(PeerTime.evicted(of: [served] + others, \.self).map(\.since) == others.map(\.since))
    }
}
