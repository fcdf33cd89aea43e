import TestSupport
import Testing
@testable import Timelines

@Suite("Completion of transactions")
struct CompletionTests {
    @Test("without an animation both completions come at once")
    func nothing() {
        var tracker = CompletionTracker()
        #expect(tracker.seal(7, at: 1) == [.logical(7), .removed(7)])
        #expect(tracker.nextDeadline == nil)
    }

    @Test("logical comes when the last animation is logically complete, removed when the last has settled")
    func plain() {
        var tracker = CompletionTracker()
        tracker.start(1, in: 7, logical: 0.5, end: 0.8)
        tracker.start(2, in: 7, logical: 1.0, end: 1.0)
        #expect(tracker.seal(7, at: 0).isEmpty)
        #expect(tracker.nextDeadline == 0.8)
        #expect(tracker.advance(to: 0.9) == [.ended(1)])
        #expect(tracker.advance(to: 5) == [.ended(2), .logical(7), .removed(7)])
        #expect(tracker.nextDeadline == nil && tracker.count == 0)
    }

    @Test("a replaced animation still completes logically at its own time, and removed does not come before")
    func replaced() {
        var tracker = CompletionTracker()
        tracker.start(1, in: 7, logical: 0.5, end: 0.8)
        _ = tracker.seal(7, at: 0)
        #expect(tracker.remove(1, at: 0.1).isEmpty)
        tracker.start(2, in: 8, logical: 0.6, end: 0.9)
        #expect(tracker.seal(8, at: 0.1).isEmpty)
        #expect(tracker.advance(to: 0.5) == [.logical(7), .removed(7)])
        #expect(tracker.advance(to: 0.9) == [.logical(8), .ended(2), .removed(8)])
    }

    @Test("removed waits for all of the transaction's animations")
    func waits() {
        var tracker = CompletionTracker()
        tracker.start(1, in: 7, logical: 0.5, end: 0.8)
        tracker.start(2, in: 7, logical: 0.5, end: 3)
        _ = tracker.seal(7, at: 0)
        _ = tracker.remove(1, at: 0.1)
        #expect(tracker.advance(to: 2) == [.logical(7)])
        #expect(tracker.remove(2, at: 2.5) == [.removed(7)])
    }

    @Test("an endless animation completes when it is replaced or removed with its node")
    func endless() {
        var tracker = CompletionTracker()
        tracker.start(1, in: 7, logical: .infinity, end: .infinity)
        _ = tracker.seal(7, at: 0)
        #expect(tracker.nextDeadline == nil)
        #expect(tracker.advance(to: 1e9).isEmpty)
        #expect(tracker.remove(1, at: 1e9) == [.logical(7), .removed(7)])
    }

    @Test("each event comes exactly once for every transaction, in any order of starts, replacements and time")
    func exactlyOnce() {
        let seed = freshSeed()
        var random = SeededGenerator(seed: seed)
        var tracker = CompletionTracker()
        var time = 0.0
        var running: [UInt64] = []
        var logical: [UInt64: Int] = [:], removed: [UInt64: Int] = [:]
        var last = 0.0
        func take(_ events: [CompletionTracker.Event]) {
            for event in events {
                switch event {
                case .logical(let id): logical[id, default: 0] += 1
                case .removed(let id):
                    #expect(logical[id] == 1, "seed \(seed): removed \(id) before logical")
                    removed[id, default: 0] += 1
                case .ended(let id): running.removeAll { $0 == id }
                }
            }
        }
        var next: UInt64 = 0
        for transaction in UInt64(1)...2000 {
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                next += 1
                let length = random.real(0...1)
                let endless = Int.random(in: 0..<10, using: &random) == 0
                tracker.start(
                    next, in: transaction, logical: endless ? .infinity : time + length,
                    end: endless ? .infinity : time + length + random.real(0...0.5))
                running.append(next)
            }
            take(tracker.seal(transaction, at: time))
            if !running.isEmpty, Bool.random(using: &random) {
                let victim = running.remove(at: Int.random(in: 0..<running.count, using: &random))
                take(tracker.remove(victim, at: time))
            }
            time += random.real(0...0.2)
            take(tracker.advance(to: time))
            #expect((tracker.nextDeadline ?? .infinity) > time && time >= last)
            last = time
        }
        for id in running { take(tracker.remove(id, at: time)) }
        take(tracker.advance(to: .infinity))
        for transaction in UInt64(1)...2000 {
            #expect(logical[transaction] == 1 && removed[transaction] == 1, "seed \(seed), transaction \(transaction)")
        }
        #expect(tracker.count == 0)
    }

    @Test("replacing without end costs bounded memory, and the oldest rules are kept up to the limit")
    func bounded() {
        var tracker = CompletionTracker()
        var completed = 0
        for id in UInt64(1)...200_000 {
            tracker.start(id, in: id, logical: 1e6, end: 1e6)
            _ = tracker.seal(id, at: 0)
            if id > 1 { completed += tracker.remove(id - 1, at: 0).count }
        }
        #expect(tracker.deadlines.count <= 64 + 3 * (CompletionTracker.maximumReplaced + 2))
        #expect(completed / 2 >= 200_000 - CompletionTracker.maximumReplaced - 2)
    }
}
