import AttributeValues
import Testing

@testable import agctl

@Suite("When a rule would have fired")
struct FiringsTests {
    private static let begin = Timestamp("2026-11-28T03:00:00Z") ?? .epoch

    private static func moment(_ seconds: Double) -> Timestamp {
        begin.advanced(by: TimeSpan(nanoseconds: Int64(seconds * 1e9))) ?? begin
    }

    /// Each firing as the seconds of its time, its beginning and its end.
    private func firings(
        _ steps: [(Double, Bool?)], delay: Double = 0, skipsFirst: Bool = false, from: Double = 0
    ) -> [[Double?]] {
        let steps = steps.map { (time: Self.moment($0.0), isTrue: $0.1) }
        return Firings(
            steps, delay: delay, skipsFirst: skipsFirst, from: Self.moment(from), to: Self.moment(100)
        ).all.map { firing in
            [firing.fired, firing.from, firing.until].map { $0?.since(Self.begin)?.seconds }
        }
    }

    @Test("it fires once each time that the rule has been true for long enough") func delay() {
        let steps: [(Double, Bool?)] = [(0, false), (10, true), (14, false), (20, true), (30, false), (98, true)]
        #expect(firings(steps, delay: 5) == [[25, 20, 30]])
        #expect(firings(steps) == [[10, 10, 14], [20, 20, 30], [98, 98, nil]])
        #expect(firings([(0, false), (10, true), (15, false)], delay: 5) == [[15, 10, 15]])
    }

    @Test("what was true at first fires, unless it is to be skipped") func first() {
        #expect(firings([(0, true), (50, false)], delay: 5) == [[5, 0, 50]])
        #expect(firings([(0, true), (50, false), (60, true)], delay: 5, skipsFirst: true) == [[65, 60, nil]])
    }

    @Test("while nothing is known, nothing fires, and what stays true does not fire again") func gaps() {
        #expect(firings([(0, false), (10, true), (12, nil), (40, true), (50, false)], delay: 5) == [[40, 10, 50]])
        #expect(firings([(0, false), (10, true), (20, nil), (40, true), (50, false)], delay: 5) == [[15, 10, 50]])
        #expect(firings([(0, false), (10, true), (12, nil), (40, false)], delay: 5) == [])
        #expect(firings([(0, nil), (10, true)], delay: 5) == [[15, 10, nil]])
    }

    @Test("what would have fired before the time is left out") func before() {
        let steps: [(Double, Bool?)] = [(0, false), (1, true), (7, false), (8, true)]
        #expect(firings(steps, delay: 5, from: 10) == [[13, 8, nil]])
    }
}
