extension Timeline {
    /// The displayed value: `from` before the start, and exactly `to` from the end on.
    public func value(at time: Double) -> Components {
        if isFinished(at: time) { return to }
        return exactState(at: time).value
    }

    /// The displayed value and its velocity. The velocity is zero where a curve is vertical.
    public func state(at time: Double) -> (value: Components, velocity: Components) {
        if isFinished(at: time) { return (to, .zero(count: to.count)) }
        var state = exactState(at: time)
        if !state.velocity.isFinite { state.velocity = .zero(count: to.count) }  // on a vertical tangent
        return state
    }

    /// The displayed value of a timeline with one component; allocates nothing.
    public func firstComponent(at time: Double) -> Double {
        if isFinished(at: time) { return to.first }
        return component(0, weights(at: time), time).value
    }

    /// Writes the displayed components into `output` from `offset` on; allocates nothing.
    public func write(at time: Double, into output: inout [Double], from offset: Int = 0) {
        let finished = isFinished(at: time)
        let w = finished ? AnimationPlan.Weights(f: 1, df: 0, g: 0, dg: 0) : weights(at: time)
        for i in 0..<to.count { output[offset + i] = finished ? to[i] : component(i, w, time).value }
    }

    /// Value and velocity by the formula alone, also after a spring has settled. Used for drawing and testing curves.
    public func exactState(at time: Double) -> (value: Components, velocity: Components) {
        let w = weights(at: time)
        if to.count == 1 {
            let (value, velocity) = component(0, w, time)
            return (Components(value), Components(velocity))
        }
        var value = Components.zero(count: to.count)
        var velocity = value
        for i in 0..<to.count { (value[i], velocity[i]) = component(i, w, time) }
        return (value, velocity)
    }

    private func weights(at time: Double) -> AnimationPlan.Weights {
        animation.plan.weights(at: time - start, joined: joint == .smooth)
    }

    private func component(_ i: Int, _ w: AnimationPlan.Weights, _ time: Double) -> (value: Double, velocity: Double) {
        guard let under else {
            let distance = to[i] - from[i]
            if w.f == 1, w.g == 0 { return (to[i], distance * w.df + velocity[i] * w.dg) }
            return (from[i] + (distance * w.f + velocity[i] * w.g), distance * w.df + velocity[i] * w.dg)
        }
        let below = under.timeline.component(i, under.timeline.weights(at: time), time)
        if joint == .additive {
            let distance = to[i] - under.timeline.to[i]
            return (below.value + distance * w.f, below.velocity + distance * w.df)
        }
        let distance = to[i] - below.value
        if w.f == 1 { return (to[i], below.velocity * (1 - w.f) + distance * w.df) }
        return (below.value + distance * w.f, below.velocity * (1 - w.f) + distance * w.df)
    }
}
