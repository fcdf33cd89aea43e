extension Timeline {
    /// What a new change does with a running timeline.
    public enum Retargeting: String, Hashable, Sendable {
        /// Starts from the displayed value with its velocity. Springs and timing curves alike are continuous in both.
        case merge
        /// Lets the running timeline end and adds the difference between the targets.
        case additive
        /// Goes from the running timeline's value, which moves on, to the new target: SwiftUI's rule for timing curves.
        case chain
    }

    /// How many timelines may lie below an additive or chained one; the next retarget merges.
    public static let maximumDepth = 8

    /// The timeline of a new change at `time`, which replaces this one.
    ///
    /// Merged timelines need no history: however many retargets there are, each starts from the exact displayed state.
    /// - Parameters:
    ///   - animation: of the new change.
    ///   - mode: what it does with this timeline; left out, what the animation says, else it merges.
    /// - Precondition: `to` has as many components as this timeline; the space is the same.
    public func retarget(to target: Components, animation: Animation, at time: Double, mode: Retargeting? = nil) -> Timeline {
        retarget(to: target, in: space, shift: nil, animation: animation, at: time, mode: mode ?? animation.retargeting ?? .merge)
    }

    /// - Parameter shift: added to the displayed components, for a space whose origin moves with the target.
    func retarget(to target: Components, in space: Space, shift: Double?, animation: Animation, at time: Double, mode: Retargeting) -> Timeline {
        if time <= start, let under {
            return under.timeline.retarget(to: target, in: space, shift: shift, animation: animation, at: time, mode: mode)
        }
        // Replaced before it moved, it leaves what it found, not the slope with which its curve would have begun.
        var (value, velocity) = time <= start ? (from, self.velocity) : state(at: time)
        if let shift { value.first += shift }
        if time <= start {
            return Timeline(space, value, target, joint == .start ? .zero(count: value.count) : velocity, animation, time, joint, nil)
        }
        if isFinished(at: time) {
            return Timeline(space, value, target, velocity, animation, time, .start, nil)
        }
        if mode != .merge, (under?.depth ?? 0) < Timeline.maximumDepth, shift == nil || shift == 0 {
            return Timeline(space, value, target, velocity, animation, time, mode == .additive ? .additive : .chain, Under(self))
        }
        return Timeline(space, value, target, velocity, animation, time, .smooth, nil)
    }

    /// As `retarget`, but from the formulas' state: a spring that has settled, and shows its target, still has what is left of
    /// its motion. What starts anew then starts anew here too, from the exact value.
    func exactRetarget(to target: Components, animation: Animation, at time: Double, mode: Retargeting) -> Timeline {
        guard isFinished(at: time), time > start else { return retarget(to: target, animation: animation, at: time, mode: mode) }
        let (value, velocity) = exactState(at: time)
        if value == to, velocity.isZero || !velocity.isFinite { return retarget(to: target, animation: animation, at: time, mode: mode) }
        if mode != .merge, (under?.depth ?? 0) < Timeline.maximumDepth {
            return Timeline(space, value, target, velocity, animation, time, mode == .additive ? .additive : .chain, Under(self))
        }
        let continues = animation.isSpring && animation.plan.initialVelocity == 0
        return Timeline(space, value, target, continues ? velocity : .zero(count: value.count), animation, time, continues ? .smooth : .start, nil)
    }
}
