extension Timeline {
    /// How a new change continues a running timeline.
    public enum Retargeting: String, CaseIterable, Hashable, Sendable {
        /// Starts from the displayed value with its velocity. Springs and timing curves alike are continuous in both.
        case merge
        /// Lets the running timeline finish and adds the difference between the targets.
        case additive
        /// Moves from the running timeline's current value to the new target: SwiftUI's rule for timing curves.
        case chain
    }

    /// Maximum number of timelines below an additive or chained one. After that, the next retarget merges.
    public static let maximumDepth = 8

    /// The timeline of a new change at `time`, which replaces this one.
    ///
    /// Merged timelines need no history: after any number of retargets, each starts from the exact displayed state.
    /// - Parameters:
    ///   - animation: the animation of the new change.
    ///   - mode: how it continues this timeline. The default is the mode that the animation specifies, or merging.
    /// - Precondition: `to` has as many components as this timeline, and the space is the same.
    public func retarget(to target: Components, animation: Animation, at time: Double, mode: Retargeting? = nil)
        -> Timeline
    {
        retarget(
            to: target, in: space, shift: nil, animation: animation, at: time,
            mode: mode ?? animation.retargeting ?? .merge)
    }

    /// - Parameter shift: is added to the displayed components, for a space whose origin moves with the target.
    func retarget(
        to target: Components, in space: Space, shift: Double?, animation: Animation, at time: Double, mode: Retargeting
    ) -> Timeline {
        if time <= start, let under {
            return under.timeline.retarget(
                to: target, in: space, shift: shift, animation: animation, at: time, mode: mode)
        }
        // A timeline that is replaced before it moved passes on the velocity that it took over, not the slope at the
        // start of its curve.
        var (value, velocity) = time <= start ? (from, self.velocity) : state(at: time)
        if let shift { value.first += shift }
        if time <= start {
            return Timeline(
                space, value, target, joint == .start ? .zero(count: value.count) : velocity, animation, time, joint,
                nil)
        }
        if isFinished(at: time) { return Timeline(space, value, target, velocity, animation, time, .start, nil) }
        if mode != .merge, (under?.depth ?? 0) < Timeline.maximumDepth, shift == nil || shift == 0 {
            return Timeline(
                space, value, target, velocity, animation, time, mode == .additive ? .additive : .chain, Under(self))
        }
        return Timeline(space, value, target, velocity, animation, time, .smooth, nil)
    }

    /// As `retarget`, but from the formulas' state. A spring that has settled, and displays its target, still has a
    /// small motion by the formula. A motion that starts anew does so here too, from the exact value.
    func exactRetarget(to target: Components, animation: Animation, at time: Double, mode: Retargeting) -> Timeline {
        guard isFinished(at: time), time > start else {
            return retarget(to: target, animation: animation, at: time, mode: mode)
        }
        let (value, velocity) = exactState(at: time)
        if value == to, velocity.isZero || !velocity.isFinite {
            return retarget(to: target, animation: animation, at: time, mode: mode)
        }
        if mode != .merge, (under?.depth ?? 0) < Timeline.maximumDepth {
            return Timeline(
                space, value, target, velocity, animation, time, mode == .additive ? .additive : .chain, Under(self))
        }
        let continues = animation.isSpring && animation.plan.initialVelocity == 0
        return Timeline(
            space, value, target, continues ? velocity : .zero(count: value.count), animation, time,
            continues ? .smooth : .start, nil)
    }
}
