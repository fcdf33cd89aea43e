/// Makes the CSS of timelines, once for each shape. A shape is an animation and the initial velocity relative to the
/// distance. All values and subscribers with the same shape share the text.
public struct EasingCache {
    private var plain: [Animation: TimelineCSS?] = [:]
    private var pairs: [Animation: Pair] = [:]
    private var baked: [Shape: TimelineCSS?] = [:]
    /// Maximum number of cached shapes of one kind. When it is exceeded, the cache is cleared.
    public static let capacity = 4096
    /// Maximum stops of an easing that includes the velocity. Beyond it, a pair of easings is used.
    private static let bakedStops = 200
    /// Number of samples of curves for easings that were not in the cache. Each takes 30 to 100 ns.
    public private(set) var samples = 0

    private struct Shape: Hashable {
        let animation: Animation
        let velocityRatio: Double
    }

    /// The easings of a motion from rest and of its velocity.
    private struct Pair {
        var css: TimelineCSS?
        var hasManyStops = false
    }

    public init() {}

    /// The CSS with which a browser plays the timeline. nil if it cannot: undamped springs, endless passes of delayed
    /// timelines, easings of more than `LinearEasing.maximumStops`, and timelines that run on top of another.
    public mutating func css(for timeline: Timeline) -> TimelineCSS? {
        guard timeline.under == nil, timeline.settle > 0 else { return nil }
        let animation = timeline.animation
        if timeline.joint != .smooth, timeline.velocity.isZero { return css(for: animation) }
        if pairs.count >= EasingCache.capacity { pairs.removeAll() }
        let pair = pairs[animation] ?? makePair(animation)
        pairs[animation] = pair
        guard animation.plan.isSmooth, !pair.hasManyStops, let ratio = timeline.velocityRatio else { return pair.css }
        let shape = Shape(animation: animation, velocityRatio: ratio)
        if baked.count >= EasingCache.capacity { baked.removeAll() }
        let known = baked[shape] ?? bake(timeline, ratio)
        baked[shape] = .some(known)
        return known ?? pair.css
    }

    /// The CSS with which a browser plays the animation from rest.
    public mutating func css(for animation: Animation) -> TimelineCSS? {
        if let known = plain[animation] { return known }
        if plain.count >= EasingCache.capacity { plain.removeAll() }
        let made = make(animation)
        plain[animation] = .some(made)
        return made
    }

    /// Draws an animation from its value and slope per second.
    private mutating func draw(
        _ plan: AnimationPlan, _ duration: Double, end: Double = 1, maximumStops: Int = LinearEasing.maximumStops,
        _ curve: (Double) -> (value: Double, slope: Double)
    ) -> LinearEasing? {
        func counted(_ time: Double) -> (value: Double, slope: Double) {
            samples += 1
            return curve(time)
        }
        if plan.isSmooth {
            // The printed easing may end a microsecond after the curve, where the curve has no slope any more.
            let length = plan.freeSpring == nil ? min(plan.length, duration) : duration
            return LinearEasing(
                duration: duration, start: 0, end: end, maximumStops: maximumStops, smooth: { counted(min($0, length)) }
            )
        }
        return LinearEasing(duration: duration, start: 0, end: end) { counted($0).value }
    }

    // MARK: From rest

    private mutating func make(_ animation: Animation) -> TimelineCSS? {
        let plan = animation.plan
        guard let schedule = AnimationSchedule(plan) else { return sampled(plan) }
        let speed = schedule.speed
        let pass = schedule.passes?.length ?? plan.curveLength / speed
        guard pass > 0, pass < .infinity else { return nil }
        var css: TimelineCSS
        switch plan.base {
        case .timing(let function, let duration)
        where function.css != nil && (pass - duration / speed).magnitude <= 1e-12 * pass:
            css = TimelineCSS(duration: pass * 1000, delay: 0, easing: function.css ?? "linear")
        default:
            let easing = draw(plan, EasingCache.upToMicrosecond(pass)) { time in
                let (value, slope) = AnimationPlan.progress(plan.base, [], at: time * speed)
                return (value, slope * speed)
            }
            guard let easing else { return nil }
            css = TimelineCSS(duration: EasingCache.upToMicrosecond(pass) * 1000, delay: 0, easing: easing.css)
        }
        css.delay = schedule.delay * 1000
        if let passes = schedule.passes {
            css.iterations = passes.count
            switch passes.autoreverse {
            case .none: break
            case .reverse: css.alternates = true
            case .mirror:
                // `alternate` would play the easing backwards. Therefore mirrored passes are keyframes there and back.
                css.keyframes = [0, 1, 0]
                css.duration *= 2
                css.iterations /= 2
            }
        }
        return css
    }

    /// A composed animation as a single easing.
    private mutating func sampled(_ plan: AnimationPlan) -> TimelineCSS? {
        let length = EasingCache.upToMicrosecond(plan.length)
        guard length > 0, length < .infinity, let easing = draw(plan, length, { plan.progress(at: $0) }) else {
            return nil
        }
        return TimelineCSS(duration: length * 1000, delay: 0, easing: easing.css)
    }

    /// Durations are printed to the microsecond. Rounding up keeps a spring's rest within the tolerance.
    private static func upToMicrosecond(_ seconds: Double) -> Double { (seconds * 1e6).rounded(.up) / 1e6 }

    // MARK: With a velocity

    /// One easing that includes the velocity; nil if that takes too many stops.
    private mutating func bake(_ timeline: Timeline, _ ratio: Double) -> TimelineCSS? {
        let length = EasingCache.upToMicrosecond(timeline.settle)
        guard length > 0, length < .infinity else { return nil }
        let plan = timeline.animation.plan
        let easing = draw(plan, length, maximumStops: EasingCache.bakedStops) { time in
            let w = plan.weights(at: time, joined: true)
            return (w.f + ratio * w.g, w.df + ratio * w.dg)
        }
        return easing.map { TimelineCSS(duration: length * 1000, delay: 0, easing: $0.css) }
    }

    private mutating func makePair(_ animation: Animation) -> Pair {
        let plan = animation.plan
        var length = plan.length
        var scale = plan.fadeLength * 4 / 27  // the bump's height
        if let spring = plan.freeSpring {
            // Q has its maximum where Q′ = 0, in the first half period. It must settle too.
            let peak = (1...256).lazy.map { spring.basis(at: spring.response * Double($0) / 256).q }.max() ?? 0
            samples += 256
            let settling = spring.settlingTime(displacement: 0, velocity: 1, tolerance: Spring.settlingTolerance * peak)
            length = max(length, settling / plan.freeSpeed)
            scale = peak / plan.freeSpeed
        }
        length = EasingCache.upToMicrosecond(length)
        guard length > 0, length < .infinity, scale > 0 else { return Pair() }
        let way = draw(plan, length) { time in
            let w = plan.weights(at: time, joined: true)
            return (w.f, w.df)
        }
        guard let way else { return Pair(hasManyStops: true) }
        let swing = draw(plan, length, end: 0) { time in
            let w = plan.weights(at: time, joined: true)
            return (w.g / scale, w.dg / scale)
        }
        let hasManyStops = way.stops.count > EasingCache.bakedStops
        guard let swing else { return Pair(hasManyStops: hasManyStops) }
        var css = TimelineCSS(duration: length * 1000, delay: 0, easing: way.css)
        css.velocityEasing = swing.css
        css.velocityScale = scale
        return Pair(css: css, hasManyStops: hasManyStops)
    }
}

extension Timeline {
    /// Velocity in distances per second; nil if it differs between components, or if the distance is zero.
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
