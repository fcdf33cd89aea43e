/// The motion of a value from the displayed value at a moment to its new value: a pure function of time.
///
/// It is complete by itself: `from` and `velocity` are the exact state at `start`, so drawing it needs no earlier data.
/// Only the retargeting modes `additive` and `chain` include the timeline below.
public struct Timeline: Equatable {
    /// The meaning of the components.
    public let space: Space
    public let from: Components
    public let to: Components
    /// At `start`, in units per second.
    public let velocity: Components
    public let animation: Animation
    /// Seconds on a monotonic clock. A delay follows it.
    public let start: Double
    /// How the motion continues the one before it.
    public let joint: Joint
    /// Seconds from `start` until the value has reached `to`: a curve's length; for a spring when every component stays
    /// within a thousandth of its distance. Infinite if it never does.
    public let settle: Double
    let under: Under?

    public enum Joint: String, Hashable, Sendable {
        /// The plain curve: nothing moved before it.
        case start
        /// Continues value and velocity: a spring by itself, any other curve with a bump that fades.
        case smooth
        /// The timeline below runs on; this one adds the difference between the targets.
        case additive
        /// Moves from the current value of the timeline below to the target (SwiftUI's rule for timing curves).
        case chain
    }

    /// The timeline below an additive or chained one.
    final class Under: Equatable {
        let timeline: Timeline
        let depth: Int
        init(_ timeline: Timeline) {
            self.timeline = timeline
            depth = 1 + (timeline.under?.depth ?? 0)
        }
        static func == (left: Under, right: Under) -> Bool { left === right || left.timeline == right.timeline }
    }

    /// A value that leaves `from` at `start`.
    /// - Parameter velocity: its velocity at that moment; default zero. Every curve continues it.
    /// - Precondition: `from`, `to` and `velocity` have the same number of components.
    public init(
        space: Space = .scalar, from: Components, to: Components, velocity: Components? = nil, animation: Animation,
        start: Double
    ) {
        let velocity = velocity ?? .zero(count: from.count)
        self.init(space, from, to, velocity, animation, start, velocity.isZero ? .start : .smooth, nil)
    }

    init(
        _ space: Space, _ from: Components, _ to: Components, _ velocity: Components, _ animation: Animation,
        _ start: Double, _ joint: Joint, _ under: Under?
    ) {
        precondition(
            from.count == to.count && from.count == velocity.count,
            "from, to and velocity have the same number of components")
        self.space = space
        self.from = from
        self.to = to
        self.animation = animation
        self.start = start
        self.joint = joint
        self.under = under
        let plan = animation.plan
        if joint == .start, plan.initialVelocity != 0 {
            self.velocity = from.map(to) { ($1 - $0) * plan.initialVelocity * plan.freeSpeed }
        } else {
            self.velocity = velocity
        }
        settle = Timeline.settle(
            from: from, to: to, velocity: self.velocity, plan: plan, joint: joint, start: start, under: under)
    }

    /// Seconds from `start` until the change counts as complete (SwiftUI's logical completion). May be infinite.
    public var logical: Double { animation.plan.logical }

    public var logicalCompletion: Double { start + logical }

    /// The moment from which the value is `to`.
    public var end: Double { start + settle }

    public func isFinished(at time: Double) -> Bool { time >= end }
}

extension Timeline {
    private static func settle(
        from: Components, to: Components, velocity: Components, plan: AnimationPlan, joint: Joint, start: Double,
        under: Under?
    ) -> Double {
        var longest = 0.0
        if let spring = plan.freeSpring {
            let speed = plan.freeSpeed
            for i in 0..<from.count {
                let v = velocity[i] / speed
                if v != 0 {
                    longest = max(longest, spring.settlingTime(from: from[i], to: to[i], velocity: v) / speed)
                } else if from[i] != to[i] {
                    longest = max(longest, plan.springSettling)
                }
            }
        } else if from != to || !velocity.isZero {
            longest = plan.length
        }
        if joint == .additive, let under { longest = max(longest, under.timeline.end - start) }
        return longest
    }
}
