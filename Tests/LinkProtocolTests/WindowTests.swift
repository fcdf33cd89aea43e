import AttributeValues
@testable import agd_link
import Testing

@Suite("Changes on their way to NATS")
struct WindowTests {
    private func change(_ value: Int64) -> Transaction {
        var change = Transaction()
        change.contents[Transaction.Place(path: ".x")] = .value(.int(value))
        return change
    }

    /// A window in which changes to these values are under way, one message each. The value is the revision.
    private func window(_ values: Int64...) -> Window {
        var window = Window()
        for value in values { _ = window.note(change(value), UInt64(value), messages: 1, bytes: 10) }
        return window
    }

    @Test("changes that wait together are sent as one transaction")
    func pending() {
        var window = Window()
        let isMerged = [window.add(change(1)), window.add(change(2))]
        #expect(isMerged == [false, true])
        let sent = window.takePending()
        #expect(sent?.contents.values.first == .value(2))
        #expect(window.pending == nil)
    }

    @Test("what is acknowledged in order counts, and a later message before an earlier one shows a loss")
    func acknowledging() {
        var window = window(1, 2, 3)
        let isInOrder = window.acknowledge(0, sequence: 7)
        #expect(isInOrder && window.acknowledged == 1 && window.lastRevision == 3 && window.nextSequence == 8)
        let isLater = window.acknowledge(2, sequence: 9)
        #expect(!isLater && window.acknowledged == 1)
    }

    @Test("a transaction of several messages counts with the last of them")
    func parts() {
        var window = Window()
        let first = window.note(change(5), 5, messages: 2, bytes: 10)
        _ = window.acknowledge(first, sequence: 1)
        #expect(window.acknowledged == 0)
        _ = window.acknowledge(first + 1, sequence: 2)
        #expect(window.acknowledged == 5 && window.isEmpty)
    }

    @Test("after a failure all that was not acknowledged is pending again, and old acknowledgments do not count")
    func recalling() {
        var window = window(1, 2, 3)
        _ = window.acknowledge(0, sequence: 1)
        _ = window.add(change(4))
        window.recall()
        #expect(window.isEmpty && window.lastRevision == 1)
        #expect(window.pending?.contents.values.first == .value(4) && window.pending?.isConflated == true)
        let isOld = window.acknowledge(1, sequence: 2)
        #expect(isOld && window.acknowledged == 1)
    }

    @Test("behind a snapshot an empty transaction waits, in which mirrors at another revision see a gap")
    func beginning() {
        var window = window(1)
        window.begin(behind: 9)
        #expect(window.acknowledged == 9 && window.lastRevision == 9 && window.pending == Transaction())
    }
}

@Suite("Messages of a mirrored site")
struct SiteFeedTests {
    private let parser = JSONParser()

    private func message(_ after: UInt64, _ revision: UInt64) -> [UInt8] {
        let position = Position(term: 1, epoch: "e", revision: revision)
        return Frame.messages(Transaction().json, position: position, after: after, limit: 1 << 20)[0].bytes
    }

    @Test("a gap asks for a snapshot and retains the message behind it; the snapshot ends that")
    func gap() throws {
        var feed = SiteFeed(limit: 1 << 20)
        #expect(feed.isHealing)
        feed.reached(Position(term: 1, epoch: "e", revision: 3))
        feed.endHealing()
        let (frame, changes) = try #require(try feed.read(message(7, 8), parser))
        #expect(feed.step(frame) == .heal)
        feed.noteGap(before: frame, changes)
        #expect(feed.healTime == 0 && feed.gap?.0 == frame)
        feed.retryHealing(in: 1)
        #expect(feed.isHealing && feed.gap?.0 == frame)
        feed.reached(Position(term: 1, epoch: "e", revision: 7))
        #expect(feed.step(frame) == .apply)
        feed.endHealing()
        #expect(!feed.isHealing && feed.gap == nil)
    }

    @Test("a snapshot that is asked for already is not asked for earlier")
    func waiting() {
        var feed = SiteFeed(limit: 1)
        feed.needSnapshot(in: 100)
        #expect(feed.healTime == 0)
        feed.endHealing()
        feed.needSnapshot(in: 100)
        let time = feed.healTime
        feed.needSnapshot()
        #expect(feed.healTime == time)
    }
}
