import AttributeValues
import Testing
@testable import Timelines

/// A CSS easing read back from its text.
struct DrawnEasing {
    var stops: [(position: Double, value: Double)] = []

    init?(_ css: String) {
        guard css.hasPrefix("linear("), css.hasSuffix(")") else { return nil }
        let parts = css.dropFirst(7).dropLast().split(separator: ",").map { $0.split(separator: " ") }
        for (i, part) in parts.enumerated() {
            guard let value = Double(part[0]) else { return nil }
            let position = part.count > 1 ? Double(part[1].dropLast()).map { $0 / 100 } : i == 0 ? 0 : 1
            guard let position else { return nil }
            stops.append((position, value))
        }
    }

    func value(at position: Double) -> Double {
        if position >= 1 { return stops.last?.value ?? 0 }
        let next = stops.firstIndex { $0.position > position } ?? stops.count - 1
        let (a, b) = (stops[max(0, next - 1)], stops[next])
        return b.position == a.position
            ? b.value : a.value + (b.value - a.value) * (position - a.position) / (b.position - a.position)
    }
}

private func made(_ animation: Animation) throws -> TimelineCSS {
    var cache = EasingCache()
    let css = cache.css(for: animation)
    return try #require(css)
}

private func made(_ timeline: Timeline) throws -> TimelineCSS {
    var cache = EasingCache()
    let css = cache.css(for: timeline)
    return try #require(css)
}

@Suite("CSS easings")
struct EasingTests {
    private func worstError(_ easing: String, seconds: Double, _ truth: (Double) -> Double) throws -> Double {
        let drawn = try #require(DrawnEasing(easing))
        return (0..<20_000).map { i in  // at the end the value is the target by definition
            let part = Double(i) / 20_000
            return (drawn.value(at: part) - truth(part * seconds)).magnitude
        }.max() ?? .infinity
    }

    @Test(
        "a spring's easing is at most 1e-3 off, with no more than 60 stops up to a bounce of 0.7",
        arguments: [-0.9, -0.5, -0.2, 0, 0.05, 0.15, 0.3, 0.4, 0.5, 0.6, 0.65, 0.7])
    func springs(bounce: Double) throws {
        for duration in [0.1, 0.35, 0.5, 2] {
            let animation = try Animation(.spring(SpringCurve(.spring, .duration(duration, bounce: bounce))))
            let css = try made(animation)
            let spring = Spring(duration: duration, bounce: bounce)
            #expect((css.duration / 1000 - spring.settlingTime()).magnitude <= 1e-6)
            let worst = try worstError(css.easing, seconds: css.duration / 1000) {
                spring.state(from: 0, to: 1, velocity: 0, at: $0).value
            }
            #expect(worst <= 1e-3, "\(worst)")
            let drawn = try #require(DrawnEasing(css.easing))
            #expect(drawn.stops.count <= 60, "\(drawn.stops.count)")
            #expect(drawn.stops.first?.value == 0 && drawn.stops.last?.value == 1)
        }
    }

    @Test("stops stand where the curve bends: an eighth of what equal steps would need")
    func placed() throws {
        let css = try made(.bouncy)
        #expect(try #require(DrawnEasing(css.easing)).stops.count <= 30)
    }

    @Test("Béziers are played as such, with delay and speed")
    func beziers() throws {
        let css = try made(try Animation("easeInOut(duration: 1).speed(2).delay(0.2)"))
        #expect(css == TimelineCSS(duration: 500, delay: 200, easing: "cubic-bezier(0.42, 0, 0.58, 1)"))
        #expect(try made(Animation("linear(duration: 1)")).easing == "linear")
        #expect(css.json.jsonText == #"{"duration":"500ms","easing":"cubic-bezier(0.42, 0, 0.58, 1)","delay":"200ms"}"#)
    }

    @Test("mirrored passes are keyframes there and back, reversed ones alternate")
    func passes() throws {
        let mirror = try made(try Animation("easeIn(duration: 1).repeatCount(3)"))
        #expect(
            mirror.keyframes == [0, 1, 0] && mirror.duration == 2000 && mirror.iterations == 1.5 && !mirror.alternates)
        let reverse = try made(try Animation("easeIn(duration: 1).repeatForever(autoreverses: reverse)"))
        #expect(
            reverse.alternates && reverse.iterations == .infinity && reverse.keyframes == [0, 1]
                && reverse.duration == 1000)
        let spring = try made(try Animation("bouncy.repeatForever"))
        #expect(spring.iterations == .infinity && spring.json.jsonText.contains(#""iterations":"infinite""#))
    }

    @Test(
        "composed and drawn curves stay within 1e-3",
        arguments: [
            "circularEaseInOut(duration: 1)", "circularEaseIn", "linear(duration: 1).delay(0.25).repeatCount(3)",
            "keyframes(linear(0.5, duration: 0.2), cubic(1.2, duration: 0.3), spring(1, duration: 0.5, spring: bouncy))",
            "phases(phase(1.2, animation: easeOut(duration: 0.1)), phase(1, animation: bouncy))",
        ])
    func composed(text: String) throws {
        let animation = try Animation(text)
        let css = try made(animation)
        let worst = try worstError(css.easing, seconds: css.duration / 1000) {
            animation.progress(at: $0 + css.delay / 1000).value
        }
        #expect(worst <= 1e-3, "\(worst)")
    }

    @Test("a timeline with a velocity has it worked into its easing")
    func velocity() throws {
        for text in ["bouncy", "smooth", "easeInOut(duration: 1)", "spring(duration: 0.5, bounce: -0.5).speed(2)"] {
            let first = Timeline(from: 0, to: 1, animation: .bouncy, start: 0)
            let timeline = first.retarget(to: 3, animation: try Animation(text), at: 0.1)
            let css = try made(timeline)
            let distance = timeline.to.first - timeline.from.first
            let worst = try worstError(css.easing, seconds: css.duration / 1000) {
                (timeline.exactState(at: 0.1 + $0).value.first - timeline.from.first) / distance
            }
            #expect(worst <= 1e-3, "\(text): \(worst)")
            #expect(css.velocityEasing == nil)
        }
    }

    @Test("components that move at different paces share two easings, one for the way and one for the velocity")
    func pairs() throws {
        for text in ["bouncy", "easeInOut(duration: 1)", "spring(duration: 0.5, bounce: 0.7)"] {
            let timeline = Timeline(
                space: .vector, from: [0, 4, 1], to: [1, 4, 0], velocity: [2, -6, 5], animation: try Animation(text),
                start: 0)
            let css = try made(timeline)
            let (way, swing) = (
                try #require(DrawnEasing(css.easing)), try #require(DrawnEasing(css.velocityEasing ?? ""))
            )
            for i in 0..<3 {
                let distance = timeline.to[i] - timeline.from[i]
                for step in 0..<2000 {
                    let part = Double(step) / 2000
                    let drawn =
                        timeline.from[i] + distance * way.value(at: part) + timeline.velocity[i] * css.velocityScale
                        * swing.value(at: part)
                    let bound = 1.01e-3 * (distance.magnitude + (timeline.velocity[i] * css.velocityScale).magnitude)
                    #expect((drawn - timeline.exactState(at: part * css.duration / 1000).value[i]).magnitude <= bound)
                }
            }
        }
    }

    @Test(
        "an easing is computed once for its shape, with a handful of samples for each stop, whoever asks and however often"
    )
    func shared() throws {
        var cache = EasingCache()
        let spring = try Animation("spring(duration: 1, bounce: 0.6)")
        let first = cache.css(for: Timeline(from: 0, to: 1, velocity: [2], animation: spring, start: 0))
        let all = cache.samples
        // Three times the distance and the velocity.
        let second = cache.css(for: Timeline(from: 5, to: 8, velocity: [6], animation: spring, start: 7))
        #expect(first != nil && second == first && cache.samples == all)
        let other = cache.css(for: Timeline(from: 0, to: 1, velocity: [3], animation: spring, start: 0))
        let drawn = try #require(DrawnEasing(other?.easing ?? ""))
        let samples = cache.samples - all
        #expect(
            other?.velocityEasing == nil && samples > 0 && samples <= 6 * drawn.stops.count,
            "\(samples) for \(drawn.stops.count)")
    }

    @Test("springs that swing for long are two easings for every velocity, and each new velocity costs no sample")
    func longSwings() throws {
        var cache = EasingCache()
        let spring = try Animation("spring(duration: 1, bounce: 0.96)")
        let first = cache.css(for: Timeline(from: 0, to: 1, velocity: [1], animation: spring, start: 0))
        let all = cache.samples
        for velocity in 2..<500 {
            let css = cache.css(
                for: Timeline(from: 0, to: 1, velocity: [Double(velocity)], animation: spring, start: 0))
            #expect(css == first)
        }
        #expect(first?.velocityEasing != nil && cache.samples == all && all < 20_000, "\(all)")
    }

    @Test("an easing that is searched for has a bounded number of samples")
    func intricate() throws {
        var samples = 0
        let easing = LinearEasing(duration: 1, start: 0, end: 1) { time in
            samples += 1
            return (time * 1e6).truncatingRemainder(dividingBy: 2)
        }
        #expect(easing == nil && samples < 2 * LinearEasing.maximumSamples, "\(samples)")
    }

    @Test("an endless motion that CSS cannot express has no easing")
    func none() throws {
        var cache = EasingCache()
        for text in ["spring(duration: 1, bounce: 1)", "linear.delay(1).repeatForever"] {
            let css = cache.css(for: try Animation(text))
            #expect(css == nil, "\(text)")
        }
        let chained = Timeline(from: 0, to: 1, animation: .linear, start: 0).retarget(
            to: 2, animation: .linear, at: 0.1, mode: .chain)
        let css = cache.css(for: chained)
        #expect(css == nil)
    }
}

@Suite("Timelines as data")
struct EventTests {
    @Test("an event has every number that drawing needs")
    func complete() throws {
        let timeline = Timeline(from: 1.5, to: 1, animation: .bouncy, start: 81_237.120394)
        let event = try Value.map(timeline.event(id: 91, replaces: 88, css: made(timeline)))
        #expect(
            event["id"] == 91 && event["replaces"] == 88 && event["start"] == 81_237.120394 && event["from"] == 1.5
                && event["to"] == 1 && event["velocity"] == 0)
        #expect(
            event["curve"]["spring"].real("mass") == 1
                && (event["curve"]["spring"].real("stiffness") - 157.91367).magnitude < 1e-5)
        #expect(
            event["delay"] == 0 && event["speed"] == 1 && event["repeat"] == .null && event["logical"] == 0.5
                && event["mode"] == "replace")
        #expect((event.real("settle") - 0.8187467).magnitude < 1e-6)
        #expect(
            event["css"]["duration"] == "818.747ms" && event["css"]["easing"].string?.hasPrefix("linear(0, ") == true)
    }

    @Test(
        "the curve of an event is a curve of the JSON form and moves the same way",
        arguments: AnimationTextTests.examples)
    func resolved(text: String) throws {
        let animation = try Animation(text)
        let timeline = Timeline(from: 0, to: 1, animation: animation, start: 0)
        let event = Value.map(timeline.event(id: 1))
        var rebuilt = try Animation(["curve": event["curve"]])
        if event["modifiers"].isNull {
            rebuilt = try rebuilt.adding(.speed(event.real("speed")))
            if !event["repeat"].isNull {
                let mode = try #require(Autoreverse(rawValue: event["repeat"]["autoreverse"].string ?? ""))
                let pass = event["repeat"].real("pass")
                rebuilt = try rebuilt.adding(
                    event["repeat"]["count"].isNull
                        ? .repeatForever(autoreverses: mode, every: pass)
                        : .repeatCount(Int(event["repeat"].real("count")), autoreverses: mode, every: pass))
            }
            rebuilt = try rebuilt.adding(.delay(event.real("delay")))
        } else {
            rebuilt = try Animation(["curve": event["curve"], "modifiers": event["modifiers"]])
        }
        for i in 0...200 {
            let time = Double(i) * 0.017
            #expect(
                (rebuilt.progress(at: time).value - animation.progress(at: time).value).magnitude < 1e-9,
                "\(text) at \(time)")
        }
    }

    @Test("events carry whole times, colours for the browser, and what lies below a chained timeline")
    func spaces() throws {
        let span = try #require(
            Timeline(
                changing: .duration(TimeSpan(nanoseconds: 5)), to: .duration(TimeSpan(nanoseconds: 1_000_000_007)),
                animation: .bouncy, start: 0))
        let event = Value.map(span.event(id: 1))
        #expect(event["space"] == "ns" && event["from"] == 5 && event["to"] == 1_000_000_007)
        let below = Timeline(from: 0, to: 1, animation: .linear, start: 0)
        let chained = Value.map(
            below.retarget(to: 2, animation: .easeInOut, at: 0.1, mode: .chain).event(id: 2, replaces: 1))
        #expect(chained["mode"] == "chain" && chained["under"]["to"] == 1 && chained["under"]["start"] == 0.0)
        let red = try #require(Color(css: "red")), blue = try #require(Color(css: "rgb(0 0 255 / 50%)"))
        let color = try #require(
            Timeline(changing: .opaque(ColorValue(red)), to: .opaque(ColorValue(blue)), animation: .smooth, start: 0))
        let data = try Value.map(color.event(id: 3, css: made(color)))
        #expect(data["space"] == "oklab" && data["from"].reals.count == 4)
        #expect(
            data["css"]["from"] == "oklab(0.6279554 0.2248631 0.1258463)"
                && data["css"]["to"].string?.hasSuffix("/ 0.5)") == true)
    }
}
