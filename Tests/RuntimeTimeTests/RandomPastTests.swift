import AttributeValues
import TestSupport
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// Operators over time in a running graph, beside a model that knows every change. The runtime is woken only when it
/// asks for it. Times are quarters of a second, so that sums of them are exact.
@Suite("Operators over time, at random")
struct RandomPastTests {
    private static let scene = """
        nodes:
          - id: n
            state: { x: 0, y: 0 }
            computed:
              isHigh: x > 5
              before: previous(x)
              since: changed(x)
              alarm: held(isHigh, duration('3s'))
              top: greatest(x, duration('4s'))
              low: least(x, duration('2500ms'))
              calm: debounced(x, duration('2s'))
        """

    /// Each change of x, with seconds since the start.
    private struct Model {
        var changes: [(time: Double, value: Int64)] = [(0, 0)]

        mutating func set(_ value: Int64, _ now: Double) {
            if changes.last?.value != value { changes.append((now, value)) }
        }

        private func end(_ at: Int, _ now: Double) -> Double { at + 1 < changes.count ? changes[at + 1].time : now }

        private func values(_ now: Double, within span: Double) -> [Int64] {
            changes.indices.filter { $0 == changes.count - 1 || end($0, now) > now - span }.map { changes[$0].value }
        }

        func expected(_ now: Double) -> [String: Value] {
            let last = changes[changes.count - 1]
            let firstHigh = changes.lastIndex { $0.value <= 5 }.map { $0 + 1 } ?? 0
            let settled = changes.indices.last { end($0, now) - changes[$0].time >= 2 } ?? 0
            return [
                "before": .int(changes.count > 1 ? changes[changes.count - 2].value : last.value),
                "since": .timestamp(
                    Timestamp.epoch.advanced(by: TimeSpan(nanoseconds: Int64(last.time * 1e9))) ?? .epoch),
                "alarm": .bool(firstHigh < changes.count && now - changes[firstHigh].time >= 3),
                "top": .int(values(now, within: 4).max() ?? -1),
                "low": .int(values(now, within: 2.5).min() ?? -1),
                "calm": .int(changes[settled].value),
            ]
        }
    }

    @Test("subscribers see each result at its moment, over refused transactions and restarts", arguments: freshSeeds(4))
    func play(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        var graph = try Harness(RandomPastTests.scene)
        var model = Model()
        var now = 0.0
        var shown: [String: Content] = [:]
        func note() { shown.merge(graph.changes) { $1 } }
        func check(_ step: Int) {
            for (name, value) in model.expected(now) {
                #expect(shown["/n.\(name)"] == .value(value), "\(name) at \(now), step \(step)")
            }
        }
        _ = try graph.subscribe(["/n.*"], initial: true)
        note()
        for step in 0..<250 {
            let wait = Double(Int.random(in: 0...(step % 20 == 0 ? 40 : 8), using: &random)) / 4
            if step % 50 == 49 {
                graph.end()
                graph = try graph.restarted(RandomPastTests.scene, after: wait)
                now += wait
                _ = try graph.subscribe(["/n.*"], initial: true)
                note()
                check(step)
                continue
            }
            let target = graph.now.monotonic + wait
            while let deadline = graph.runtime.nextDeadline, deadline <= target {
                let left = deadline - graph.now.monotonic
                graph.advance(left)
                now += left
                note()
                check(step)
            }
            let left = target - graph.now.monotonic
            // Nothing is due before then, so waking the runtime changes nothing.
            graph.advance(left)
            now += left
            #expect(graph.changes == [:])
            let value = Int64.random(in: 0...9, using: &random)
            if Int.random(in: 0..<4, using: &random) == 0 {
                #expect(
                    refusal {
                        try graph.transact([
                            Mutation(operation: .set, path: "/n.x", value: .int(value)),
                            Mutation(operation: .toggle, path: "/n.y", value: .null),
                        ])
                    } != nil)
            } else {
                try graph.set("/n.x", .int(value))
                note()
                model.set(value, now)
            }
            check(step)
        }
    }
}
