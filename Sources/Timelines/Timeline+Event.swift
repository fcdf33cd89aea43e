import AttributeValues

extension Timeline {
    /// The timeline as data. It is complete: with it, any client can draw the value at any time without knowing
    /// anything from before.
    ///
    /// `curve` is a curve of the JSON form with every constant written out. The value at time t after `start` is from +
    /// (to − from)·f + velocity·g. `Documentation/Animation.md` defines f and g for each `mode`.
    /// - Parameters:
    ///   - id: the timeline's number.
    ///   - replaces: the number of the timeline that ran before on the same value.
    ///   - css: from `EasingCache`, if the client asked for it.
    public func event(id: UInt64, replaces: UInt64? = nil, css: TimelineCSS? = nil) -> ValueMap {
        var object = ValueMap(minimumCapacity: 16)
        object["id"] = .int(Int64(clamping: id))
        object["replaces"] = replaces.map { .int(Int64(clamping: $0)) } ?? .null
        object["start"] = .double(start)
        describe(in: &object)
        if let css {
            object["css"] = css.json
            if space.isColor, case .map(var endpoints)? = object["css"] {
                endpoints["from"] = .string(Timeline.oklabCSS(from))
                endpoints["to"] = .string(Timeline.oklabCSS(to))
                object["css"] = .map(endpoints)
            }
        }
        return object
    }

    private func describe(in object: inout ValueMap) {
        let plan = animation.plan
        object["space"] = .string(space.name)
        object["from"] = numbers(from, isVelocity: false)
        object["to"] = numbers(to, isVelocity: false)
        object["velocity"] = numbers(velocity, isVelocity: true)
        object["curve"] = animation.resolvedCurve
        if let schedule = AnimationSchedule(plan) {
            object["delay"] = .wholeOrDouble(schedule.delay)
            object["speed"] = .wholeOrDouble(schedule.speed)
            object["repeat"] =
                schedule.passes.map { passes in
                    [
                        "count": .finite(passes.count), "autoreverse": .string(passes.autoreverse.rawValue),
                        "pass": .double(passes.length),
                    ]
                } ?? .null
        } else {
            object["delay"] = 0
            object["speed"] = 1
            object["repeat"] = .some(.null)
            object["modifiers"] = .list(
                animation.modifiers.compactMap { if case .retarget = $0 { nil } else { Animation.json($0.call) } })
        }
        object["logical"] = .finite(logical)
        object["settle"] = .finite(settle)
        object["mode"] = .string(mode)
        if let under {
            var below = ValueMap()
            below["start"] = .double(under.timeline.start)
            under.timeline.describe(in: &below)
            object["under"] = .map(below)
        }
    }

    private var mode: String {
        switch joint {
        case .start: "replace"
        case .smooth: animation.isSpring ? "replace" : "c1"
        case .additive: "add"
        case .chain: "chain"
        }
    }

    /// Components in the form of events: with their origin added.
    private func numbers(_ components: Components, isVelocity: Bool) -> Value {
        let first = components.first
        switch space {
        case .scalar, .angle: return .wholeOrDouble(first)
        case .vector, .oklab: return .list(components.elements.map(Value.wholeOrDouble))
        case .map(let target):
            return .map(ValueMap(target.keys.enumerated().lazy.map { ($1, .wholeOrDouble(components[$0])) }))
        case .integer(let origin):
            if isVelocity { return .wholeOrDouble(first) }
            return first == 0 ? .int(origin) : .wholeOrDouble(Double(origin) + first)
        case .unsigned(let origin):
            if isVelocity { return .wholeOrDouble(first) }
            return first == 0 ? .uint(origin) : .wholeOrDouble(Double(origin) + first)
        case .duration, .timestamp:
            if isVelocity { return .wholeOrDouble(first) }
            switch space.value(of: components) {
            case .duration(let span): return .int(span.nanoseconds)
            case .timestamp(let timestamp):
                // Since 1970. A double if 64 bits do not suffice.
                return TimeSpan(seconds: timestamp.seconds, nanoseconds: Int64(timestamp.nanoseconds)).map {
                    .int($0.nanoseconds)
                } ?? .double(Double(timestamp.seconds) * 1e9)
            default: return .null
            }
        }
    }

    /// An `oklab()` colour, in which a browser interpolates as this timeline does.
    private static func oklabCSS(_ components: Components) -> String {
        let alpha = components[3]
        let straight = alpha > 0 ? (0..<3).map { components[$0] / alpha } : [0, 0, 0]
        return "oklab(" + straight.map { fixedText($0, decimals: 7) }.joined(separator: " ")
            + (alpha == 1 ? ")" : " / \(fixedText(alpha, decimals: 7)))")
    }
}

extension Animation {
    /// The curve in JSON with all its constants: a spring by mass, stiffness and damping, an easing by control points.
    var resolvedCurve: Value {
        switch curve {
        case .timing(let function, let duration):
            Animation.json(Curve.timing(function.resolved, duration: duration).call)
        case .spring(let spring):
            // A free spring's initial velocity is already in the timeline. Any other spring must state its own.
            Animation.json(spring.resolved(keepsVelocity: plan.freeSpring == nil).fullCall)
        case .keyframes:
            if case .keyframes(let track) = plan.base {
                ["keyframes": .list(track.segments.map(\.json))]
            } else {
                .null
            }
        case .phases: Animation.json(curve.call)
        }
    }
}

extension TimingFunction {
    /// With control points instead of a name.
    fileprivate var resolved: TimingFunction { bezier.map(TimingFunction.bezier) ?? self }
}

extension SpringCurve {
    /// By mass, stiffness and damping.
    fileprivate func resolved(keepsVelocity: Bool) -> SpringCurve {
        let kept = keepsVelocity ? initialVelocity : 0
        let name: Name = kept == 0 ? .spring : .interpolatingSpring
        if case .physical = parameters { return SpringCurve(name, parameters, initialVelocity: kept) }
        return SpringCurve(
            name, .physical(mass: 1, stiffness: spring.stiffness, damping: spring.damping), initialVelocity: kept)
    }

    /// The call with a mass of 1 also written out.
    fileprivate var fullCall: Call {
        var call = call
        if case .physical(1, _, _) = parameters { call.arguments.insert(Argument("mass", .number(1)), at: 0) }
        return call
    }
}

extension KeyframeTrack.Segment {
    /// The keyframe with its duration and its velocities written out.
    fileprivate var json: Value {
        let keyframe: Keyframe =
            switch shape {
            case .hold: .move(to: to)
            case .timing(let function): .linear(to: to, duration: duration, timing: function.resolved)
            case .hermite: .cubic(to: to, duration: duration, startVelocity: startVelocity, endVelocity: endVelocity)
            case .spring(let spring):
                .spring(
                    to: to, duration: duration,
                    spring: SpringCurve(
                        .spring, .physical(mass: 1, stiffness: spring.stiffness, damping: spring.damping)),
                    startVelocity: startVelocity)
            }
        return Animation.json(keyframe.call)
    }
}
