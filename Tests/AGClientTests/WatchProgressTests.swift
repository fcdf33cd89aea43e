@testable import AGClient
import Testing
import WireProtocol

@Suite("a subscription's place")
struct WatchProgressTests {
    private func subscribe(_ events: EventKinds = .update, initial: Bool = true, since: Request.Position? = nil)
        -> Request.Subscribe
    {
        Request.Subscribe(patterns: ["/**"], events: events, initial: initial, since: since)
    }

    private func event(_ method: String, _ revision: UInt64, initial: Bool = false) -> EventSummary {
        EventSummary(method: method, revision: revision, isInitial: initial, reason: nil)
    }

    @Test("a connection lost between the reply and its snapshot is begun anew, not resumed")
    func beforeSnapshot() {
        var progress = WatchProgress(subscribe())
        progress.subscribed(epoch: "e", revision: 5, resumed: nil)
        #expect(progress.request.since == nil)
        progress.received(event("update", 5, initial: true))
        #expect(progress.request.since?.revision == 5 && progress.request.since?.epoch == "e")
    }

    @Test("updates move the place, and what is only sampled does not")
    func updates() {
        var progress = WatchProgress(subscribe([.update, .frames, .structure]))
        progress.subscribed(epoch: "e", revision: 5, resumed: nil)
        progress.received(event("update", 5, initial: true))
        progress.received(event("update", 8))
        progress.received(event("frames", 9))
        progress.received(event("structure", 9))
        #expect(progress.position?.revision == 8)
    }

    @Test("an update before the snapshot does not stand for all values")
    func early() {
        var progress = WatchProgress(subscribe())
        progress.subscribed(epoch: "e", revision: 5, resumed: nil)
        progress.received(event("update", 5))
        #expect(progress.position == nil)
    }

    @Test("after resuming, the old place holds until the changes since have arrived")
    func resumed() {
        var progress = WatchProgress(subscribe(since: .init(epoch: "e", revision: 3)))
        #expect(progress.request.since?.revision == 3)
        progress.subscribed(epoch: "e", revision: 9, resumed: true)
        #expect(progress.position?.revision == 3)
        progress.received(event("update", 9))
        #expect(progress.position?.revision == 9)
    }

    @Test("a daemon that forgot the place sends a snapshot, and until it has come there is no place")
    func forgotten() {
        var progress = WatchProgress(subscribe(since: .init(epoch: "old", revision: 3)))
        progress.subscribed(epoch: "new", revision: 9, resumed: false)
        #expect(progress.position == nil)
        progress.received(event("update", 9, initial: true))
        #expect(progress.position?.epoch == "new")
    }

    @Test("without a snapshot the reply's revision is the place")
    func noInitial() {
        var progress = WatchProgress(subscribe(initial: false))
        progress.subscribed(epoch: "e", revision: 5, resumed: nil)
        #expect(progress.position?.revision == 5)
    }

    @Test("a subscription without values takes its position from its events")
    func invalidations() {
        var progress = WatchProgress(subscribe(.invalidate, initial: false))
        progress.subscribed(epoch: "e", revision: 5, resumed: nil)
        progress.received(event("invalidate", 7))
        #expect(progress.position?.revision == 7)
    }

    @Test("a subscription that forgets its place gets a snapshot, also if it wanted no initial values")
    func forget() {
        var progress = WatchProgress(subscribe(initial: false))
        progress.subscribed(epoch: "e", revision: 5, resumed: nil)
        progress.forget()
        #expect(progress.request.since == .init(epoch: "", revision: 0))
        progress.subscribed(epoch: "e", revision: 6, resumed: false)
        #expect(progress.position == nil)
        progress.received(event("update", 6, initial: true))
        #expect(progress.position?.revision == 6)
    }
}

@Suite("waiting before the next try")
struct BackoffTests {
    @Test("pauses double up to the longest, and begin anew after a success")
    func pauses() {
        var backoff = Backoff(first: 1, longest: 5)
        let pauses = (0..<4).map { _ in backoff.pause() }
        #expect(pauses == [1, 2, 4, 5])
        backoff.reset()
        let next = backoff.pause()
        #expect(next == 1)
    }
}
