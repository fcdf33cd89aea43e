import AttributeGraph
import AttributeValues
import SceneModel
import Testing

@testable import ViewGraph

@Suite("clocks")
struct ClocksTests {
    private let second = ClockSchedule.every(TimeSpan(nanoseconds: 1_000_000_000), start: nil)
    private let minute = ClockSchedule.everyMinute
    private let fast = AttributeID(index: 7, generation: 1)
    private let slow = AttributeID(index: 8, generation: 1)

    private func time(_ milliseconds: Int64) throws -> Timestamp {
        try #require(Timestamp.epoch.advanced(by: TimeSpan(nanoseconds: milliseconds * 1_000_000)))
    }

    private func both() throws -> Clocks {
        var clocks = Clocks(time: try time(1500))
        clocks.add(fast, of: second)
        clocks.add(slow, of: minute)
        return clocks
    }

    @Test("each shows its own last tick") func readings() throws {
        var clocks = try both()
        let whole = try time(1000)
        #expect(clocks.reading(of: second) == whole && clocks.reading(of: minute) == .epoch)
        let advanced = clocks.advance(to: try time(61_900))
        let readings = Dictionary(uniqueKeysWithValues: advanced.map { ($0.vertex, $0.reading) })
        let expected = [fast: try time(61_000), slow: try time(60_000)]
        #expect(readings == expected)
    }

    @Test("only those that are observed tell when they tick next") func nextTick() throws {
        var clocks = try both()
        let uses = UseCounts(begun: 1, ended: 0)
        let ofSlow = clocks.nextTick(uses) { $0 == slow }
        clocks = try both()
        let ofBoth = clocks.nextTick(uses) { _ in true }
        clocks = try both()
        let ofNone = clocks.nextTick(uses) { _ in false }
        let (expectedOfSlow, expectedOfBoth) = (try time(60_000), try time(2000))
        #expect(ofSlow == expectedOfSlow && ofBoth == expectedOfBoth && ofNone == nil)
    }

    @Test("an observed clock is looked up again when a use has ended, another one when a use has begun")
    func lookups() throws {
        var clocks = Clocks(time: .epoch)
        clocks.add(fast, of: second)
        func lookups(_ begun: UInt64, _ ended: UInt64, isObserved: Bool) -> Int {
            let before = clocks.lookups
            _ = clocks.nextTick(UseCounts(begun: begun, ended: ended)) { _ in isObserved }
            return clocks.lookups - before
        }
        let counts = [
            (lookups(1, 1, isObserved: false), 1),
            (lookups(1, 2, isObserved: false), 0),
            (lookups(2, 2, isObserved: true), 1),
            (lookups(3, 2, isObserved: true), 0),
            (lookups(3, 3, isObserved: true), 1),
        ]
        #expect(counts.allSatisfy { $0.0 == $0.1 }, "\(counts)")
    }

    @Test("a vertex that goes takes its schedule along") func removal() throws {
        var clocks = try both()
        clocks.remove(fast)
        clocks.remove(AttributeID(index: 9, generation: 1))
        #expect(clocks.vertex(of: second) == nil && clocks.vertex(of: minute) == slow && !clocks.isEmpty)
        clocks.remove(slow)
        let next = clocks.nextTick(UseCounts(begun: 0, ended: 0)) { _ in true }
        #expect(clocks.isEmpty && next == nil)
    }
}
