import AttributeValues
@testable import LinkProtocol
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

@Suite("Messages that wait for their site's turn")
struct MessageQueueTests {
    @Test("messages come out in their order, and a queue without room forgets all of them")
    func order() {
        var queue = MessageQueue(limit: 10_000)
        for number in 0..<5000 { queue.add([UInt8(number & 255), 1]) }
        for number in 0..<4000 { #expect(queue.takeFirst() == [UInt8(number & 255), 1]) }
        queue.add([7])
        for number in 4000..<5000 { #expect(queue.takeFirst() == [UInt8(number & 255), 1]) }
        #expect(queue.takeFirst() == [7] && queue.isEmpty && queue.takeFirst() == nil)
        queue.add([UInt8](repeating: 0, count: 9000))
        queue.add([UInt8](repeating: 1, count: 2000))
        #expect(queue.takeFirst()?.first == 1, "the older message has been dropped")
        #expect(queue.isEmpty)
        for _ in 0..<20_001 { queue.add([]) }
        #expect(queue.takeFirst() != nil && queue.isEmpty)
    }

    @Test("the subject for acknowledgments has a message's number, with a domain and without")
    func numbers() {
        #expect(StreamReading.consumerSequence("$JS.ACK.AGD_TX.c1.1.700.3.1690000000000.5") == 3)
        #expect(StreamReading.consumerSequence("$JS.ACK.hub.ACC.AGD_TX.c1.1.700.4.1690000000000.5") == 4)
        #expect(StreamReading.consumerSequence("$JS.ACK._.ACC.AGD_TX.c1.1.700.4.1690000000000.5.x9") == 4)
        for other in ["", "_INBOX.1", "$JS.ACK.AGD_TX", "$JS.FC.a.b.c.d.e.f.g"] {
            #expect(StreamReading.consumerSequence(other) == nil)
        }
    }

    @Test("the two snapshots of a site take turns, also over processes")
    func snapshots() {
        func manifest(_ id: String) -> Manifest {
            Manifest(
                position: Position(term: 2, epoch: "e", revision: 1), snapshot: id, parts: 1, bytes: 1, next: 1)
        }
        var sent = SentSnapshots(interval: 60)
        #expect(sent.isDue(in: 2) && sent.nextID == "0")
        sent.note(earlier: manifest("0"))
        #expect(sent.nextID == "1" && sent.isDue(in: 2))
        sent.note(manifest("1"))
        #expect(sent.nextID == "0" && !sent.isDue(in: 2) && sent.isDue(in: 3))
        for _ in 0..<20_000 { sent.noteTransaction() }
        #expect(!sent.isDue(in: 2), "mirrors may still read the one before")
        sent.renewSoon()
        #expect(sent.isDue(in: 2))
    }
}
