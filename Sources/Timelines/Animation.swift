/// The way from a displayed value to a new value: a curve, and modifiers in the order in which they were written.
///
/// Two animations are equal if they are written the same way, apart from default arguments: `spring(duration: 0.5)`
/// equals `spring(duration: 0.5, bounce: 0)` but not `smooth`, though both move alike. Copying an animation is cheap.
public struct Animation: Hashable, Sendable {
    public let curve: Curve
    public let modifiers: [Modifier]
    let plan: AnimationPlan

    /// - Throws: `AnimationError` for values outside `AnimationLimits`, and for combinations that never advance, such
    ///   as a repetition of something without length.
    public init(_ curve: Curve, modifiers: [Modifier] = []) throws(AnimationError) {
        // It is checked as its written form is.
        try self.init([curve.call] + modifiers.map(\.call))
    }

    init(unchecked curve: Curve, _ modifiers: [Modifier]) {
        self.curve = curve
        self.modifiers = modifiers
        plan = AnimationPlan(curve: curve, modifiers: modifiers)
    }

    public static func == (left: Animation, right: Animation) -> Bool {
        left.plan === right.plan || (left.curve == right.curve && left.modifiers == right.modifiers)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(curve)
        hasher.combine(modifiers)
    }

    /// The spring of 0.5 s without bounce.
    public static let `default` = Animation(unchecked: .spring(.standard), [])
    public static let smooth = Animation(unchecked: .spring(SpringCurve(.smooth, .duration(0.5, bounce: 0))), [])
    public static let snappy = Animation(unchecked: .spring(SpringCurve(.snappy, .duration(0.5, bounce: 0))), [])
    public static let bouncy = Animation(unchecked: .spring(SpringCurve(.bouncy, .duration(0.5, bounce: 0))), [])
    public static let linear = Animation(unchecked: .timing(.linear, duration: 0.35), [])
    public static let easeInOut = Animation(unchecked: .timing(.easeInOut, duration: 0.35), [])

    /// This animation with one more modifier, which applies to all of it.
    public func adding(_ modifier: Modifier) throws(AnimationError) -> Animation {
        try Animation(curve, modifiers: modifiers + [modifier])
    }
}

extension Animation {
    /// Seconds from the start to logical completion: the length of a curve, or the `response` of a spring. Infinite for
    /// an endless repetition.
    public var logicalDuration: Double { plan.logical }

    /// Seconds from the start until a step from rest is over: the length of a curve, or the settling time of a spring.
    /// May be infinite.
    public var duration: Double { plan.length }

    /// How a change continues a running motion, if the animation specifies it.
    public var retargeting: Timeline.Retargeting? { plan.retargeting }

    /// True if the animation takes over a moving value as a spring does, by continuing its oscillation.
    public var isSpring: Bool { plan.freeSpring != nil }

    /// The spring and its speed factor, if the animation is a spring with no modifier except `speed`.
    public var freeSpring: (spring: Spring, speed: Double)? { plan.freeSpring.map { ($0, plan.freeSpeed) } }

    /// Progress (0 at the start, 1 at the target) and its rate per second, for a step from rest. Springs are not cut
    /// where they settle.
    public func progress(at time: Double) -> (value: Double, velocity: Double) {
        let (value, slope) = plan.progress(at: time)
        return (value, slope)
    }
}
