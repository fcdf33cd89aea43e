import AttributeValues
import Testing
import WireProtocol

@testable import agctl

@Suite("watch --settled")
struct SettlingTests {
    private func update(_ revision: UInt64, isInitial: Bool = false) -> Event {
        .update(revision: revision, from: nil, label: nil, isInitial: isInitial, changes: [], typed: false)
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
}
