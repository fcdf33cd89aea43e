import AttributeValues
import TestSupport
import Testing
@testable import Timelines

@Suite("Timelines")
struct TimelineTests {
    @Test("a timeline ends exactly at its target and not before it has settled")
    func ends() throws {
        for text in [
            "bouncy", "spring(duration: 0.5, bounce: -0.5)", "easeInOut", "linear.delay(1).repeatCount(2)",
            "keyframes(linear(0.3, duration: 1))",
        ] {
            let timeline = Timeline(from: 3, to: 0.1, animation: try Animation(text), start: 100)
            #expect(!timeline.isFinished(at: timeline.end - 1e-6) && timeline.isFinished(at: timeline.end))
            #expect(timeline.value(at: timeline.end) == 0.1 && timeline.state(at: timeline.end).velocity == 0)
            #expect(timeline.value(at: 50) == 3 && timeline.value(at: 100) == 3)
        }
    }

    @Test("thousands of retargets keep value and velocity continuous, whatever the curves")
    func continuity() throws {
        let seed = freshSeed()
        var random = SeededGenerator(seed: seed)
        var time = 0.0
        var timeline = Timeline(space: .vector, from: [0, 5], to: [1, 5], animation: .bouncy, start: time)
        for step in 0..<5000 {
            time += random.real(0.0...0.3)
            let before = timeline.state(at: time)
            let animation = try randomAnimation(&random, repeats: false)
            let next = timeline.retarget(
                to: [random.real(-10...10), random.real(-10...10)], animation: animation, at: time)
            let after = next.state(at: time)
            #expect(after.value == before.value, "seed \(seed), step \(step)")
            if !timeline.isFinished(at: time) {
                #expect(after.velocity == before.velocity, "seed \(seed), step \(step), \(animation)")
            }
            // And just after: the velocity does not jump between here and there either.
            let h = 1e-10
            let soon = next.exactState(at: time + h)
            for i in 0..<2 {
                let speed = max(1, next.velocity[i].magnitude, (next.to[i] - next.from[i]).magnitude)
                #expect(
                    (soon.value[i] - after.value[i]).magnitude <= 1e-5 * speed,
                    "seed \(seed), step \(step), \(animation)")
                let plan = next.animation.plan
                if !plan.initialSlope.isInfinite, next.joint == .smooth {
                    // easeOut begins with an infinite acceleration: its velocity changes like a square root. A first
                    // phase or keyframe may be much shorter than the whole.
                    var length = plan.fadeLength
                    if case .phases(let track) = plan.base {
                        length = min(length, track.legs[0].plan.fadeLength / plan.freeSpeed)
                    }
                    if case .keyframes(let track) = plan.base {
                        length = min(length, track.segments[0].duration / plan.freeSpeed)
                    }
                    let pace = speed * max(1, 1 / length)
                    #expect(
                        (soon.velocity[i] - before.velocity[i]).magnitude <= 1e-3 * pace,
                        "seed \(seed), step \(step), \(animation)")
                }
            }
            timeline = next
        }
        #expect(timeline.value(at: timeline.end) == timeline.to)
    }

    @Test("velocity is the derivative of value at every time, for every curve and joint")
    func derivative() throws {
        let seed = freshSeed()
        var random = SeededGenerator(seed: seed)
        for _ in 0..<400 {
            let animation = try randomAnimation(&random)
            let first = Timeline(
                from: 0, to: 1, velocity: Components(random.real(-5...5)), animation: try randomAnimation(&random),
                start: 0)
            let timeline = first.retarget(
                to: Components(random.real(-2...2)), animation: animation, at: 0.1,
                mode: random.pick([Timeline.Retargeting.merge, .additive, .chain]))
            for _ in 0..<10 {
                let (t, h) = (random.real(0.1...2), 1e-6)
                let (a, b, c) = (
                    timeline.exactState(at: t - h), timeline.exactState(at: t), timeline.exactState(at: t + h)
                )
                // Not across the kinks of linear pieces, passes and ends.
                let bend = (c.velocity.first - a.velocity.first).magnitude
                guard bend < 1e-2 else { continue }
                let slope = (c.value.first - a.value.first) / (2 * h)
                #expect((slope - b.velocity.first).magnitude < 2e-2, "seed \(seed): \(animation) at \(t)")
            }
        }
    }

    @Test("a value that is where it goes but moves comes back to rest")
    func returns() {
        let timeline = Timeline(from: 2, to: 2, velocity: 10, animation: .bouncy, start: 0)
        #expect(timeline.settle > 0.5 && timeline.settle < 3)
        #expect(timeline.firstComponent(at: 0.05) > 2.2)
        #expect(timeline.value(at: timeline.end) == 2)
        #expect(Timeline(from: 2, to: 2, animation: .bouncy, start: 0).settle == 0)
    }

    @Test("a settling spring stays within a thousandth of its distance, in any unit")
    func relativeSettling() {
        for unit in [1e-9, 1, 1e12] {
            let timeline = Timeline(from: 0, to: Components(unit), animation: .bouncy, start: 0)
            #expect((timeline.settle - 0.8187467173831086).magnitude < 1e-10)
        }
    }

    @Test("nothing overflows or becomes NaN at the ends of the number line")
    func extremes() throws {
        for text in AnimationTextTests.examples {
            let timeline = Timeline(from: 0, to: 1, velocity: 3, animation: try Animation(text), start: 0)
            for time in [
                -1e300, -1, 0, .leastNonzeroMagnitude, 1e-300, 1, 1e3, 1e9, 1e18, 1e300, Double.greatestFiniteMagnitude,
            ] {
                let state = timeline.state(at: time)
                #expect(state.value.isFinite && state.velocity.isFinite, "\(text) at \(time)")
            }
        }
        let spring = Spring(mass: 1, stiffness: 1e12, damping: 1e12)
        #expect(spring.state(from: 1, to: 0, velocity: 1e9, at: 1e15).value.isFinite)
        #expect(spring.basis(at: .infinity).p == 0)
    }

    @Test("speed quickens an initial velocity with the spring that it belongs to")
    func initialVelocitySpeed() throws {
        let text = "interpolatingSpring(stiffness: 100, damping: 10, initialVelocity: 3)"
        let plain = Timeline(from: 0, to: 2, animation: try Animation(text), start: 0)
        let fast = Timeline(from: 0, to: 2, animation: try Animation(text + ".speed(4)"), start: 0)
        #expect(plain.velocity.first == 6 && fast.velocity.first == 24)
        for time in [0, 0.05, 0.3, 2.5] {
            let (slow, quick) = (plain.exactState(at: 4 * time), fast.exactState(at: time))
            #expect(
                (slow.value.first - quick.value.first).magnitude < 1e-14
                    && (slow.velocity.first * 4 - quick.velocity.first).magnitude < 1e-13)
        }
    }

    @Test("interpolatingSpring's initial velocity counts only from rest")
    func initialVelocity() throws {
        let animation = try Animation("interpolatingSpring(stiffness: 100, damping: 10, initialVelocity: 3)")
        let timeline = Timeline(from: 1, to: 5, animation: animation, start: 0)
        #expect(timeline.velocity == 12)
        let next = timeline.retarget(to: 0, animation: animation, at: 0.1)
        #expect(next.velocity == timeline.state(at: 0.1).velocity)
        // A delay holds it back with the rest of the spring.
        let delayed = Timeline(from: 1, to: 5, animation: try animation.adding(.delay(1)), start: 0)
        #expect(delayed.velocity == 0 && delayed.state(at: 0.5).velocity == 0)
        for time in [0.05, 0.3] {
            #expect(
                (delayed.exactState(at: 1 + time).value.first - timeline.exactState(at: time).value.first).magnitude
                    < 1e-13)
        }
    }

    @Test("a timeline that is replaced before it moved leaves no trace")
    func sameInstant() throws {
        for text in ["linear", "circularEaseOut", "bouncy"] {
            let first = Timeline(from: 0, to: 1, animation: try Animation(text), start: 5)
            let second = first.retarget(to: 3, animation: .bouncy, at: 5)
            #expect(second == Timeline(from: 0, to: 3, animation: .bouncy, start: 5))
            let chained = first.retarget(to: 3, animation: .linear, at: 5.1, mode: .chain).retarget(
                to: 4, animation: .bouncy, at: 5.1)
            #expect(chained.velocity == first.state(at: 5.1).velocity)
        }
    }

    @Test("an animation can say what its change does with a motion that it meets")
    func ownRetargeting() throws {
        let first = Timeline(from: 0, to: 1, animation: try Animation("linear(duration: 1)"), start: 0)
        for mode in [Timeline.Retargeting.merge, .additive, .chain] {
            let saying = try Animation("easeInOut(duration: 1).retarget(\(mode.rawValue))")
            let (asked, said) = (
                first.retarget(to: 3, animation: .easeInOut, at: 0.5, mode: mode),
                first.retarget(to: 3, animation: saying, at: 0.5)
            )
            #expect(said.joint == asked.joint)
            let plain = first.retarget(to: 3, animation: try Animation("easeInOut(duration: 1)"), at: 0.5, mode: mode)
            for time in [0.5, 0.7, 1.2, 1.5] { #expect(said.value(at: time) == plain.value(at: time)) }
        }
        #expect(first.retarget(to: 3, animation: .bouncy, at: 0.5).joint == .smooth)
    }

    @Test("chained and additive timelines are bounded in depth and then merge")
    func depth() {
        var timeline = Timeline(from: 0, to: 1, animation: .linear, start: 0)
        for i in 1...50 {
            let time = Double(i) * 0.01
            let before = timeline.value(at: time)
            timeline = timeline.retarget(
                to: Components(Double(i)), animation: .easeInOut, at: time, mode: i % 2 == 0 ? .additive : .chain)
            #expect((timeline.value(at: time).first - before.first).magnitude < 1e-12)
        }
        #expect((timeline.under?.depth ?? 0) <= Timeline.maximumDepth)
    }

    @Test("phases hand value and velocity on")
    func phases() throws {
        let animation = try Animation(
            "phases(phase(1.5, animation: bouncy), phase(0.5, animation: smooth), phase(1, animation: easeInOut(duration: 0.2)))"
        )
        #expect((animation.logicalDuration - 1.2).magnitude < 1e-12)
        for knot in [0.5, 1.0] {
            let (before, after) = (animation.progress(at: knot - 1e-9), animation.progress(at: knot + 1e-9))
            #expect((before.value - after.value).magnitude < 1e-6)
            #expect((before.velocity - after.velocity).magnitude < 1e-4)
        }
        #expect(animation.progress(at: animation.duration).value == 1)
    }

    @Test("logical completion is a curve's length or a spring's response, as modified")
    func logical() throws {
        for (text, logical) in [
            ("bouncy", 0.5), ("easeIn(duration: 2).speed(4)", 0.5), ("bouncy.delay(1)", 1.5),
            ("linear(duration: 1).repeatCount(3)", 3),
            ("linear.logicallyComplete(after: 7).delay(1).speed(2)", 4), ("linear.repeatForever", .infinity),
        ] as [(String, Double)] {
            #expect((try Animation(text).logicalDuration) == logical, "\(text)")
        }
    }
}

@Suite("Values that move")
struct ValueTests {
    @Test("whole numbers and times are rounded on the way and exact at the end, however great")
    func wholeNumbers() throws {
        let later = try #require(Timestamp("2026-01-01T00:00:00.000000001Z"))
        let pairs: [(Value, Value)] = [
            (0, 10), (.int(.max), .int(.min)), (.int(9_007_199_254_740_993), .int(9_007_199_254_740_995)),
            (.uint(0), .uint(.max)),
            (.duration(TimeSpan(nanoseconds: 0)), .duration(TimeSpan(nanoseconds: 1_000_000_001))),
            (.timestamp(try #require(Timestamp("2025-01-01T00:00:00Z"))), .timestamp(later)),
            (
                .timestamp(try #require(Timestamp("0001-01-01T00:00:00Z"))),
                .timestamp(try #require(Timestamp("9999-12-31T23:59:59.999999999Z")))
            ),
        ]
        for (from, to) in pairs {
            let timeline = try #require(Timeline(changing: from, to: to, animation: .bouncy, start: 0))
            #expect(timeline.displayed(at: 0).typeName == to.typeName)
            #expect(timeline.displayed(at: timeline.end) == to && timeline.target == to)
            #expect(timeline.displayed(at: 0.1) != from || from == to)
        }
        let timeline = try #require(
            Timeline(changing: 0, to: 10, animation: try Animation("linear(duration: 1)"), start: 0))
        #expect(timeline.displayed(at: 0.26) == 3)
        #expect(timeline.displayed(at: 0) == 0)
    }

    @Test("a moving time keeps its nanoseconds and its velocity over a retarget")
    func retargetedTime() throws {
        let a = try #require(Timestamp("2026-01-01T00:00:00Z")), b = try #require(Timestamp("2026-01-01T00:00:01Z")),
            c = try #require(Timestamp("2026-06-01T00:00:00.123456789Z"))
        let first = try #require(Timeline(changing: .timestamp(a), to: .timestamp(b), animation: .bouncy, start: 0))
        let second = try #require(first.changing(to: .timestamp(c), animation: .smooth, at: 0.125))
        #expect(second.state(at: 0.125).velocity.first == first.state(at: 0.125).velocity.first)
        guard case .timestamp(let shown) = second.displayed(at: 0.125),
            case .timestamp(let before) = first.displayed(at: 0.125)
        else { Issue.record("no times"); return }
        #expect(abs(shown.since(before)?.nanoseconds ?? .max) <= 2)
        #expect(second.displayed(at: second.end) == .timestamp(c))
    }

    @Test("maps of numbers move entry by entry; other keys or other things make them jump")
    func maps() throws {
        let timeline = try #require(
            Timeline(
                changing: ["x": 0, "y": 1.0], to: ["y": 2.0, "x": 10], animation: try Animation("linear(duration: 1)"),
                start: 0))
        #expect(timeline.displayed(at: 0.5) == ["y": 1.5, "x": 5])
        #expect(timeline.displayed(at: 1) == ["y": 2.0, "x": 10])
        #expect(Timeline(changing: ["x": 0], to: ["y": 0], animation: .default, start: 0) == nil)
        #expect(Timeline(changing: ["x": 0], to: ["x": "a"], animation: .default, start: 0) == nil)
        let next = try #require(timeline.changing(to: ["y": 0.0, "x": 0], animation: .bouncy, at: 0.5))
        #expect(next.displayed(at: 0.5) == timeline.displayed(at: 0.5))
        #expect(next.velocity == [1, 10])
    }

    @Test("a value that has arrived is the new one to the last bit, even if the motion is rounded")
    func exactArrival() throws {
        let animation = try Animation("spring(duration: 0.5, bounce: 0.3)")
        let pairs: [(Value, Value)] = [
            (
                .opaque(ColorValue(try #require(Color(css: "red")))),
                .opaque(ColorValue(try #require(Color(css: "blue"))))
            ),
            (
                .opaque(ColorValue(try #require(Color(css: "#12345678")))),
                .opaque(ColorValue(try #require(Color(css: "rgb(1 2 3 / 0.1)"))))
            ),
            (["n": .int(1)], ["n": .int(9_007_199_254_740_993)]),
            (["u": .uint(1), "d": 0.0], ["u": .uint(.max), "d": 0.1]),
            (.opaque(AngleValue(degrees: 0.1)), .opaque(AngleValue(degrees: 0.3))),
            (.opaque(VectorValue([0.1])), .opaque(VectorValue([0.7]))),
        ]
        for (from, to) in pairs {
            let timeline = try #require(Timeline(changing: from, to: to, animation: animation, start: 0))
            #expect(timeline.displayed(at: timeline.end) == to && timeline.target == to)
            let back = try #require(timeline.changing(to: from, animation: .linear, at: 0.1))
            #expect(back.displayed(at: back.end) == from)
            var sheet = FrameSheet()
            _ = sheet.insert(timeline, name: "x")
            let buffer = ByteBuffer()
            sheet.write(at: timeline.end, into: buffer)
            #expect(buffer.text == #""x":"# + to.jsonText)
        }
    }

    @Test("discrete values jump")
    func discrete() {
        let pairs: [(Value, Value)] = [
            ("a", "b"), (true, false), (.null, 1), ([1, 2], [3, 4]), (1.0, .double(.nan)), (.double(.infinity), 1.0),
            (0.0, 1e300), (-1.7e308, 1.7e308),
        ]
        for (from, to) in pairs { #expect(Timeline(changing: from, to: to, animation: .default, start: 0) == nil) }
    }

    @Test("an int widened to a double, angles and vectors move; vectors of different length do not")
    func others() throws {
        let animation = try Animation("linear(duration: 1)")
        #expect(Timeline(changing: 1, to: 2.0, animation: animation, start: 0)?.displayed(at: 0.5) == .double(1.5))
        let angle = try #require(
            Timeline(
                changing: .opaque(AngleValue(degrees: 10)), to: .opaque(AngleValue(degrees: 350)), animation: animation,
                start: 0))
        #expect(angle.displayed(at: 0.5) == .opaque(AngleValue(degrees: 180)))
        let vector = try #require(
            Timeline(
                changing: .opaque(VectorValue([0, 1])), to: .opaque(VectorValue([2, 3])), animation: animation, start: 0
            ))
        #expect(vector.displayed(at: 0.25) == .opaque(VectorValue([0.5, 1.5])))
        #expect(
            Timeline(
                changing: .opaque(VectorValue([0])), to: .opaque(VectorValue([2, 3])), animation: animation, start: 0)
                == nil)
    }
}
