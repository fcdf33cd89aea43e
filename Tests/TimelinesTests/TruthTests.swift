import AttributeValues
import Testing
@testable import Timelines

/// The largest error of a series, with the place where it occurred.
struct Worst: CustomStringConvertible {
    var ratio = 0.0
    var place = ""
    var count = 0
    mutating func note(_ got: Double, _ truth: Double, bound: Double, _ place: @autoclosure () -> String) {
        count += 1
        let error = got == truth ? 0 : (got - truth).magnitude / bound
        if !(error <= ratio) {
            ratio = error.isNaN ? .infinity : error
            self.place = "\(place()): \(got), truth \(truth)"
        }
    }
    var description: String { "\(count) samples, worst \(ratio) of the bound (\(place))" }
}

@Suite("Against 50-digit arithmetic")
struct TruthTests {
    @Test("the complete reference data are there", .enabled(if: Truth.isComplete, Comment(rawValue: Truth.absence)))
    func complete() throws {
        let truth = try #require(Truth.all)
        #expect(truth["springs"].count >= 60 && truth["retarget"].count >= 19)
    }

    @Test("parameters of springs map into one another to the last digits")
    func mapping() {
        var worst = Worst()
        for truth in Truth.sources {
            for row in truth.root["mapping"]["fromDurationBounce"].list ?? [] {
                let r = row.reals
                let spring = Spring(duration: r[0], bounce: r[1])
                for (got, want) in zip(
                    [spring.dampingFraction, spring.stiffness, spring.damping, spring.angularFrequency, spring.decay],
                    r[2...])
                {
                    worst.note(got, want, bound: 4e-16 * max(1, want.magnitude), "\(r[0]), \(r[1])")
                }
            }
            for row in truth.root["mapping"]["fromMassStiffnessDamping"].list ?? [] {
                let r = row.reals
                let spring = Spring(mass: r[0], stiffness: r[1], damping: r[2])
                for (got, want) in zip([spring.response, spring.dampingFraction, spring.bounce], r[3...]) {
                    worst.note(got, want, bound: 4e-16 * max(1, want.magnitude), "\(r)")
                }
            }
        }
        #expect(worst.count > 20 && worst.ratio <= 1, "\(worst)")
    }

    @Test("Bézier and circular curves are exact to 1e-14, to 1e-9 where they are vertical")
    func unitCurves() throws {
        var values = Worst()
        var slopes = Worst()
        for truth in Truth.sources {
            for curve in truth["unitCurves"] {
                let id = curve["id"].string ?? ""
                let function = try #require(timingFunction(curve))
                let steep = id.contains("vertical") || id.contains("steep")
                for sample in curve["samples"].list ?? [] {
                    let s = sample.reals
                    let (value, slope) = function.sample(at: s[0])
                    values.note(value, s[1], bound: steep ? 1e-9 : 1e-14, "\(id) at \(s[0])")
                    if !steep, s[2].isFinite, s[0] < 0.99 || !id.contains("circular") {
                        slopes.note(slope, s[2], bound: 1e-12 * max(1, s[2].magnitude), "\(id) slope at \(s[0])")
                    }
                    if s[2].isInfinite { #expect(slope == s[2], "\(id) is vertical at \(s[0])") }
                }
            }
        }
        #expect(values.count > 40 && values.ratio <= 1, "\(values)")
        #expect(slopes.count > 20 && slopes.ratio <= 1, "\(slopes)")
    }

    @Test("springs in all regimes with any velocity are exact to 1e-13")
    func springs() throws {
        var values = Worst()
        var velocities = Worst()
        for truth in Truth.sources {
            for entry in truth["springs"] {
                let spring = try #require(oscillator(entry["spec"]))
                let v0 = entry.real("v0")
                let scale = max(1, v0.magnitude / spring.angularFrequency)
                for sample in entry["samples"].list ?? [] {
                    let s = sample.reals
                    let (value, velocity) = spring.state(from: 0, to: 1, velocity: v0, at: s[0])
                    values.note(value, s[1], bound: 1e-13 * scale, "\(entry["id"]) at \(s[0])")
                    velocities.note(
                        velocity, s[2], bound: 1e-13 * scale * spring.angularFrequency,
                        "\(entry["id"]) velocity at \(s[0])")
                }
            }
        }
        #expect(values.count > 60 && values.ratio <= 1, "\(values)")
        #expect(velocities.ratio <= 1, "\(velocities)")
    }

    @Test("a spring without damping keeps its phase however long it swings", arguments: [0.5, 0.35, 0.7])
    func phase(period: Double) {
        for spring in [Spring(duration: period, bounce: 1), Spring(response: period, dampingFraction: 0)] {
            for passes in [1.0, 1e3, 1e6, 1e9] {
                let time = passes * period
                // What the product of the two doubles lost is no fault of the spring's.
                let lost = (-time).addingProduct(passes, period)
                let state = spring.state(from: 0, to: 1, velocity: 0, at: time)
                #expect(
                    (state.value - 0).magnitude < 1e-15 + 0.5 * (spring.angularFrequency * lost)
                        * (spring.angularFrequency * lost))
                #expect(
                    (state.velocity + spring.angularFrequency * spring.angularFrequency * lost).magnitude < 1e-12,
                    "\(passes) of \(period)")
            }
        }
    }

    @Test("settling times are the exact ones, not the envelope's")
    func settling() throws {
        var worst = Worst()
        for truth in Truth.sources {
            for entry in truth["springs"] where !entry["settle"].isNull {
                let spring = try #require(oscillator(entry["spec"]))
                for (key, tolerance) in [("1e-2", 1e-2), ("1e-3", 1e-3), ("1e-4", 1e-4)] {
                    let want = entry["settle"].real(key)
                    let got = spring.settlingTime(displacement: -1, velocity: entry.real("v0"), tolerance: tolerance)
                    worst.note(got, want, bound: 1e-11 * max(1, want), "\(entry["id"]) within \(key)")
                }
                #expect((spring.response - entry.real("logicalDuration")).magnitude <= 1e-15 * max(1, spring.response))
            }
        }
        #expect(worst.count > 10 && worst.ratio <= 1, "\(worst)")
    }

    @Test("composed modifiers act in order of writing")
    func composed() throws {
        var values = Worst()
        for truth in Truth.sources {
            for entry in truth["composed"] {
                let animation = try #require(try composition(entry["spec"]))
                let length = entry.real("length")
                if length.isFinite { #expect((animation.duration - length).magnitude <= 1e-12, "\(entry["id"])") }
                for sample in entry["samples"].list ?? [] {
                    let s = sample.reals
                    let (value, velocity) = animation.progress(at: s[0])
                    values.note(value, s[1], bound: 1e-13, "\(entry["id"]) at \(s[0])")
                    values.note(velocity, s[2], bound: 1e-11, "\(entry["id"]) velocity at \(s[0])")
                    if length.isFinite { #expect((s[0] >= animation.duration) == (s[3] == 1)) }
                }
            }
        }
        #expect(values.count > 40 && values.ratio <= 1, "\(values)")
    }

    @Test("retargeting is exact in every mode")
    func retargeting() throws {
        var values = Worst()
        for truth in Truth.sources {
            for entry in truth["retarget"] {
                let id = entry["id"].string ?? ""
                let a = try #require(try animation(entry["A"]))
                let b = try #require(try animation(entry["B"]))
                let mode: Timeline.Retargeting =
                    switch entry["mode"].string {
                    case "additive": .additive;
                    case "chain": .chain;
                    default: .merge
                    }
                let v0 = entry["v0"].isNull ? 0 : entry.real("v0")
                let first = Timeline(
                    from: Components(entry.real("from")), to: Components(entry.real("to1")), velocity: Components(v0),
                    animation: a, start: 0)
                var timeline = first.retarget(
                    to: Components(entry.real("to2")), animation: b, at: entry.real("interruptAt"), mode: mode)
                var spans = [(0.0, first), (entry.real("interruptAt"), timeline)]
                if !entry["C"].isNull, let c = try animation(entry["C"]) {
                    timeline = timeline.retarget(
                        to: Components(entry.real("to3")), animation: c, at: entry.real("interrupt2At"))
                    spans.append((entry.real("interrupt2At"), timeline))
                }
                let scale = max(1, entry.real("to1").magnitude, entry.real("to2").magnitude)
                for sample in entry["samples"].list ?? [] {
                    let s = sample.reals
                    let running = spans.last { $0.0 <= s[0] }?.1 ?? timeline
                    let (value, velocity) = running.exactState(at: s[0])
                    values.note(value.first, s[1], bound: 1e-13 * scale, "\(id) at \(s[0])")
                    values.note(velocity.first, s[2], bound: 1e-11 * scale, "\(id) velocity at \(s[0])")
                }
                if !entry["settleAfter1e-3OfDistance"].isNull {
                    values.note(timeline.settle, entry.real("settleAfter1e-3OfDistance"), bound: 1e-10, "\(id) settle")
                }
            }
        }
        #expect(values.count > 40 && values.ratio <= 1, "\(values)")
    }

    @Test("keyframe tracks are exact to 1e-13")
    func keyframes() throws {
        var values = Worst()
        for truth in Truth.sources {
            for entry in truth["keyframes"] {
                let track = KeyframeTrack(
                    initialValue: entry.real("initial"),
                    keyframes: try (entry["segments"].list ?? []).map { try #require(keyframe($0)) })
                #expect((track.duration - entry.real("total")).magnitude < 1e-15)
                for (segment, knots) in zip(track.segments, entry["knotVelocities"].list ?? []) {
                    values.note(segment.startVelocity, knots[0].real, bound: 1e-12, "\(entry["id"]) start velocity")
                    values.note(segment.endVelocity, knots[1].real, bound: 1e-12, "\(entry["id"]) end velocity")
                }
                let scale = max(1, entry["segments"].list?.map { $0.real("to").magnitude }.max() ?? 1)
                for sample in entry["samples"].list ?? [] {
                    let s = sample.reals
                    let (value, velocity) = track.sample(at: s[0])
                    values.note(value, s[1], bound: 1e-13 * scale, "\(entry["id"]) at \(s[0])")
                    values.note(velocity, s[2], bound: 1e-11 * scale, "\(entry["id"]) velocity at \(s[0])")
                }
            }
        }
        #expect(values.count > 20 && values.ratio <= 1, "\(values)")
    }

    @Test("colours mix in Oklab as in CSS Color 4, to 1e-12")
    func colors() {
        var worst = Worst()
        func note(_ got: (red: Double, green: Double, blue: Double), _ want: [Double], _ place: String) {
            for (g, w) in zip([got.red, got.green, got.blue], want) { worst.note(g, w, bound: 1e-12, place) }
        }
        for truth in Truth.sources {
            for row in truth.root["colors"]["toOklab"].list ?? [] {
                let c = row["srgb"].reals
                let lab = Color(red: c[0], green: c[1], blue: c[2]).oklab
                for (g, w) in zip([lab.lightness, lab.a, lab.b], row["oklab"].reals) {
                    worst.note(g, w, bound: 1e-14, "Oklab of \(c)")
                }
            }
            for row in truth.root["colors"]["mix"].list ?? [] {
                let (f, t) = (row["from"].reals, row["to"].reals)
                let from = Color(red: f[0], green: f[1], blue: f[2], alpha: f[3])
                let to = Color(red: t[0], green: t[1], blue: t[2], alpha: t[3])
                let (a, b, moment) = (from.oklabComponents, to.oklabComponents, row.real("t"))
                let mixed = Color(oklab: Components((0..<4).map { a[$0] + (b[$0] - a[$0]) * moment }))
                worst.note(mixed.alpha, row.real("alpha"), bound: 1e-15, "alpha")
                if mixed.alpha > 0 { note(mixed.encoded, row["oklab"].reals, "\(f) to \(t) at \(moment)") }
            }
        }
        #expect(worst.count > 20 && worst.ratio <= 1, "\(worst)")
    }
}

// Reading the reference file's descriptions.

private func timingFunction(_ curve: Value) -> TimingFunction? {
    switch curve["kind"].string {
    case "circularEaseIn": .circularEaseIn
    case "circularEaseOut": .circularEaseOut
    case "circularEaseInOut": .circularEaseInOut
    default: bezier(curve["p"])
    }
}

private func bezier(_ points: Value) -> TimingFunction? {
    let p = points.reals
    return p.count == 4 ? .bezier(CubicBezier(p[0], p[1], p[2], p[3])) : nil
}

private func springCurve(_ spec: Value) -> SpringCurve? {
    if !spec["bounce"].isNull {
        return SpringCurve(.spring, .duration(spec.real("duration"), bounce: spec.real("bounce")))
    }
    if !spec["response"].isNull {
        return SpringCurve(.spring, .response(spec.real("response"), dampingFraction: spec.real("dampingFraction")))
    }
    if !spec["mass"].isNull {
        return SpringCurve(
            .spring,
            .physical(mass: spec.real("mass"), stiffness: spec.real("stiffness"), damping: spec.real("damping")))
    }
    return nil
}

private func oscillator(_ spec: Value) -> Spring? { springCurve(spec)?.spring }

private func animation(_ spec: Value) throws -> Animation? {
    var modifiers: [Modifier] = []
    if !spec["delay"].isNull { modifiers.append(.delay(spec.real("delay"))) }
    if !spec["speed"].isNull { modifiers.append(.speed(spec.real("speed"))) }
    if !spec["p"].isNull, let function = bezier(spec["p"]) {
        return try Animation(.timing(function, duration: spec.real("duration")), modifiers: modifiers)
    }
    return try springCurve(spec).map { try Animation(.spring($0), modifiers: modifiers) }
}

private func composition(_ spec: Value) throws -> Animation? {
    var modifiers: [Modifier] = []
    var spec = spec
    while !spec["base"].isNull {
        switch spec["kind"].string {
        case "delay": modifiers.append(.delay(spec.real("delay")))
        case "speed": modifiers.append(.speed(spec.real("speed")))
        default:
            let reverse = Autoreverse(rawValue: spec["autoreverse"].string ?? "") ?? .none
            let cut = spec["base"]["cut"].isNull ? nil : spec["base"].real("cut")
            modifiers.append(
                spec["count"].isNull
                    ? .repeatForever(autoreverses: reverse, every: cut)
                    : .repeatCount(Int(spec.real("count")), autoreverses: reverse, every: cut))
        }
        spec = spec["base"]
    }
    modifiers.reverse()
    switch spec["kind"].string {
    case "linear": return try Animation(.timing(.linear, duration: spec.real("duration")), modifiers: modifiers)
    case "bezier":
        return try bezier(spec["p"]).map {
            try Animation(.timing($0, duration: spec.real("duration")), modifiers: modifiers)
        }
    default: return try springCurve(spec).map { try Animation(.spring($0), modifiers: modifiers) }
    }
}

private func keyframe(_ segment: Value) -> Keyframe? {
    func optional(_ key: String) -> Double? { segment[key].isNull ? nil : segment.real(key) }
    let to = segment.real("to")
    switch segment["kind"].string {
    case "linear":
        return .linear(to: to, duration: segment.real("duration"), timing: bezier(segment["curve"]) ?? .linear)
    case "cubic":
        return .cubic(
            to: to, duration: segment.real("duration"), startVelocity: optional("startVelocity"),
            endVelocity: optional("endVelocity"))
    case "spring":
        return springCurve(segment["spring"]).map {
            .spring(to: to, duration: optional("duration"), spring: $0, startVelocity: optional("startVelocity"))
        }
    default: return .move(to: to)
    }
}
