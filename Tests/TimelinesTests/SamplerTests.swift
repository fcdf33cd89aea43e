import TestSupport
import Testing
@testable import Timelines

@Suite("The frame sampler")
struct SamplerTests {
    @Test(
        "frames are the closed form to rounding, at uneven times, for every kind of timeline, through inserts and removals"
    )
    func exact() throws {
        let seed = freshSeed()
        var random = SeededGenerator(seed: seed)
        var sampler = FrameSampler()
        var running: [FrameSampler.Handle: Timeline] = [:]
        var time = 0.0
        var worst = 0.0
        let animations = try [
            "bouncy", "smooth", "snappy.speed(2)", "easeInOut(duration: 1)", "easeOut", "linear",
            "circularEaseInOut(duration: 1)", "timingCurve(0, 0.75, 0, 1, duration: 0.5)", "bouncy.delay(0.2)",
            "spring(duration: 3, bounce: -0.5)",
        ].map { try Animation($0) }
        for frame in 0..<4000 {
            time += random.real(0.001...0.03)
            while running.count < 60 {
                let count = Int.random(in: 1...4, using: &random)
                let from = Components((0..<count).map { _ in random.real(-1...1) })
                let to = Components((0..<count).map { _ in random.real(-1...1) })
                let velocity = Components((0..<count).map { _ in random.real(-3...3) })
                let timeline = Timeline(
                    space: .vector, from: from, to: to, velocity: velocity, animation: random.pick(animations),
                    start: time - random.real(0...0.1))
                running[sampler.insert(timeline)] = timeline
            }
            sampler.sample(at: time)
            for handle in sampler.finished {
                let timeline = running.removeValue(forKey: handle)
                #expect(timeline?.isFinished(at: time) == true, "seed \(seed), frame \(frame)")
            }
            for (handle, timeline) in running {
                #expect(!timeline.isFinished(at: time), "seed \(seed), frame \(frame)")
                let slot = try #require(sampler.slot(of: handle))
                let exact = timeline.value(at: time)
                for i in 0..<exact.count { worst = max(worst, (sampler.values[slot + i] - exact[i]).magnitude) }
            }
            if frame % 7 == 0, let victim = running.keys.sorted().first {
                sampler.remove(victim)
                running[victim] = nil
            }
            #expect(sampler.count == running.count)
        }
        #expect(worst < 1e-12, "seed \(seed): \(worst)")
    }

    @Test("a finished timeline is reported once, with exactly its target as its value")
    func finishes() throws {
        var sampler = FrameSampler()
        let timeline = Timeline(space: .vector, from: [0, 1, 2], to: [0.1, 0.2, 0.3], animation: .bouncy, start: 0)
        let handle = sampler.insert(timeline)
        let slot = try #require(sampler.slot(of: handle))
        sampler.sample(at: 0.1)
        #expect(sampler.finished.isEmpty)
        sampler.sample(at: timeline.end)
        #expect(sampler.finished == [handle])
        #expect(Array(sampler.values[slot..<slot + 3]) == [0.1, 0.2, 0.3])
        sampler.sample(at: timeline.end + 1)
        #expect(sampler.finished.isEmpty && sampler.count == 0)
    }

    @Test("springs stepped for an hour stay on the closed form")
    func drift() throws {
        var sampler = FrameSampler()
        let timeline = Timeline(from: 0, to: 1, animation: try Animation("spring(duration: 0.7, bounce: 1)"), start: 0)
        let handle = sampler.insert(timeline)
        var worst = 0.0
        for frame in 1...216_000 {
            let time = Double(frame) / 60
            sampler.sample(at: time)
            worst = max(
                worst, (sampler.values[sampler.slot(of: handle) ?? 0] - timeline.firstComponent(at: time)).magnitude)
        }
        #expect(worst < 1e-11, "\(worst)")
    }
}
