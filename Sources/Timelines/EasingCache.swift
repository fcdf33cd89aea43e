/// Makes the CSS of timelines and remembers it per animation, where it does not depend on the timeline's velocity.
public struct EasingCache {
    private var plain: [Animation: TimelineCSS?] = [:]
    private var pairs: [Animation: TimelineCSS?] = [:]
    /// Animations remembered; when there are more, all are forgotten.
    public static let capacity = 1024
    /// Stops of an easing that has a velocity worked in; above, the pair is used.
    private static let bakedStops = 200

    public init() {}

    /// How a browser plays the timeline; nil if it cannot: undamped springs, endless passes of delayed ones, easings of more
    /// than `LinearEasing.maximumStops`, and timelines that run on top of another.
    public mutating func css(for timeline: Timeline) -> TimelineCSS? {
        guard timeline.under == nil, timeline.settle > 0 else { return nil }
        if timeline.joint != .smooth, timeline.velocity.isZero { return css(for: timeline.animation) }
        if let ratio = timeline.velocityRatio, let baked = EasingCache.baked(timeline, ratio) { return baked }
        if pairs.count >= EasingCache.capacity { pairs.removeAll() }
        if let known = pairs[timeline.animation] { return known }
        let made = EasingCache.pair(timeline.animation)
        pairs[timeline.animation] = .some(made)
        return made
    }

    /// How a browser plays the animation from rest.
    public mutating func css(for animation: Animation) -> TimelineCSS? {
        if let known = plain[animation] { return known }
        if plain.count >= EasingCache.capacity { plain.removeAll() }
        let made = EasingCache.make(animation)
        plain[animation] = .some(made)
        return made
    }


    // MARK: From rest

    private static func make(_ animation: Animation) -> TimelineCSS? {
        let plan = animation.plan
        guard let schedule = AnimationSchedule(plan) else { return sampled(plan) }
        let speed = schedule.speed
        let pass = schedule.passes?.length ?? plan.curveLength / speed
        guard pass > 0, pass < .infinity else { return nil }
        var css: TimelineCSS
        switch plan.base {
        case .timing(let function, let duration) where function.css != nil && (pass - duration / speed).magnitude <= 1e-12 * pass:
            css = TimelineCSS(duration: pass * 1000, delay: 0, easing: function.css ?? "linear")
        default:
            guard let easing = LinearEasing(duration: upToMicrosecond(pass), start: 0, end: 1, { time in
                AnimationPlan.progress(plan.base, [], at: time * speed).value
            }) else { return nil }
            css = TimelineCSS(duration: upToMicrosecond(pass) * 1000, delay: 0, easing: easing.css)
        }
        css.delay = schedule.delay * 1000
        if let passes = schedule.passes {
            css.iterations = passes.count
            switch passes.autoreverse {
            case .none: break
            case .reverse: css.alternates = true
            case .mirror:
                // `alternate` would run the easing backwards; mirrored passes are keyframes there and back.
                css.keyframes = [0, 1, 0]
                css.duration *= 2
                css.iterations /= 2
            }
        }
        return css
    }

    /// All of a composed animation as one easing.
    private static func sampled(_ plan: AnimationPlan) -> TimelineCSS? {
        guard plan.length > 0, plan.length < .infinity,
              let easing = LinearEasing(duration: upToMicrosecond(plan.length), start: 0, end: 1, { plan.progress(at: $0).value }) else { return nil }
        return TimelineCSS(duration: upToMicrosecond(plan.length) * 1000, delay: 0, easing: easing.css)
    }

    /// Durations are printed to the microsecond. Rounding up keeps a spring's rest within the tolerance.
    private static func upToMicrosecond(_ seconds: Double) -> Double { (seconds * 1e6).rounded(.up) / 1e6 }

    // MARK: With a velocity

    private static func baked(_ timeline: Timeline, _ ratio: Double) -> TimelineCSS? {
        let length = upToMicrosecond(timeline.settle)
        guard length > 0, length < .infinity else { return nil }
        let plan = timeline.animation.plan
        guard let easing = LinearEasing(duration: length, start: 0, end: 1, { time in
            let w = plan.weights(at: time, joined: true)
            return w.f + ratio * w.g
        }), easing.stops.count <= bakedStops else { return nil }
        return TimelineCSS(duration: length * 1000, delay: 0, easing: easing.css)
    }

    private static func pair(_ animation: Animation) -> TimelineCSS? {
        let plan = animation.plan
        var length = plan.length
        var scale = plan.fadeLength * 4 / 27   // the bump's height
        if let spring = plan.freeSpring {
            // Q is greatest where Q′ = 0, in the first half period; it must settle too.
            let peak = (1...256).lazy.map { spring.basis(at: spring.response * Double($0) / 256).q }.max() ?? 0
            let settling = spring.settlingTime(displacement: 0, velocity: 1, tolerance: Spring.settlingTolerance * peak)
            length = max(length, settling / plan.freeSpeed)
            scale = peak / plan.freeSpeed
        }
        length = upToMicrosecond(length)
        guard length > 0, length < .infinity, scale > 0,
              let easing = LinearEasing(duration: length, start: 0, end: 1, { plan.weights(at: $0, joined: true).f }),
              let velocity = LinearEasing(duration: length, start: 0, end: 0, { plan.weights(at: $0, joined: true).g / scale }) else { return nil }
        var css = TimelineCSS(duration: length * 1000, delay: 0, easing: easing.css)
        css.velocityEasing = velocity.css
        css.velocityScale = scale
        return css
    }
}

extension Timeline {
    /// Velocity in distances per second, if it is the same for all components; nil if not, or without a distance.
    var velocityRatio: Double? {
        var ratio: Double?
        for i in 0..<to.count {
            let distance = to[i] - from[i]
            if distance == 0 {
                guard velocity[i] == 0 else { return nil }
                continue
            }
            let own = velocity[i] / distance
            guard (ratio ?? own) == own, own.isFinite else { return nil }
            ratio = own
        }
        return ratio
    }
}
