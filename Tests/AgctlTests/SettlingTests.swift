import AttributeValues
import Testing
import WireProtocol

@testable import agctl

@Suite("watch --settled")
struct SettlingTests {
    private func update(_ revision: UInt64, isInitial: Bool = false, _ value: Value? = nil, moves: Bool = false)
        -> Event
    {
        let change = value.map { Change(path: "/a.v", content: .value($0), timeline: moves ? ValueMap() : nil) }
        return .update(
            revision: revision, from: nil, label: nil, isInitial: isInitial, changes: change.map { [$0] } ?? [],
            typed: false)
    }

    private func completion(_ transaction: UInt64, _ phase: String) -> Event {
        .completion(revision: 9, transaction: transaction, phase: phase, paths: ["/a.v"])
    }

    /// By event: true if it ends the watch.
    private func ends(_ events: [Event]) -> [Bool] {
        var settling = Settling()
        return events.map { settling.isOver(after: $0) }
    }

    @Test("a watch ends with the change that it has shown, and not with an earlier one")
    func earlier() {
        let events = [
            update(4, isInitial: true), completion(3, "removed"), update(5), completion(4, "removed"),
            completion(5, "logical"), completion(5, "removed"),
        ]
        #expect(ends(events) == [false, false, false, false, false, true])
    }

    @Test("a change whose motion another one has taken over does not end a watch, the other one does")
    func replaced() {
        let events = [
            update(5), completion(5, "replaced"), update(6), completion(5, "removed"), completion(6, "removed"),
        ]
        #expect(ends(events) == [false, false, false, false, true])
    }

    /// By event: true if it ends the watch, where the connection is lost before the last snapshot.
    private func endsResumed(_ before: [Event], _ after: [Event]) -> [Bool] {
        var settling = Settling()
        let first = before.map { settling.isOver(after: $0) }
        settling.resume()
        return first + after.map { settling.isOver(after: $0) }
    }

    @Test("a change whose completion came while the connection was lost ends the watch when it is back")
    func lostWhileMoving() {
        let before = [update(4, isInitial: true, 0), update(5, 1, moves: true)]
        #expect(endsResumed(before, [update(2, isInitial: true, 1)]) == [false, false, true])
    }

    @Test("a motion that outlives a lost connection ends the watch when it is complete")
    func stillMoving() {
        let before = [update(4, isInitial: true, 0), update(5, 1, moves: true)]
        let after = [update(6, isInitial: true, 1, moves: true), completion(5, "removed")]
        #expect(endsResumed(before, after) == [false, false, false, true])
    }

    @Test("a change during a lost connection ends the watch, and a lost connection without one does not")
    func changedMeanwhile() {
        #expect(endsResumed([update(4, isInitial: true, 0)], [update(2, isInitial: true, 1)]) == [false, true])
        #expect(endsResumed([update(4, isInitial: true, 0)], [update(2, isInitial: true, 0)]) == [false, false])
        #expect(endsResumed([], [update(2, isInitial: true, 1)]) == [false], "it does not know what was before")
    }
}
