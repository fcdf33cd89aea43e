import AttributeValues

/// Phases laid out on a time axis. Each takes over value and velocity of the one before.
struct PhaseTrack: Sendable {
    struct Leg: Sendable {
        var start: Double
        var from: Double
        var to: Double
        var velocity: Double
        var joined: Bool
        var plan: AnimationPlan
    }

    let legs: [Leg]
    /// The time of the last phase's logical completion, in seconds.
    let logical: Double
    /// The time at which the last phase has ended or settled.
    let duration: Double

    init(_ phases: [Phase]) {
        var legs: [Leg] = []
        var clock = 0.0
        var end = 0.0
        var value = 0.0
        var velocity = 0.0
        for phase in phases {
            let plan = phase.animation.plan
            let leg = Leg(
                start: clock, from: value, to: phase.progress, velocity: velocity, joined: !legs.isEmpty, plan: plan)
            legs.append(leg)
            end = clock + leg.settlingTime
            clock += plan.logical
            (value, velocity) = leg.sample(at: plan.logical)
        }
        self.legs = legs
        logical = clock
        duration = max(end, clock)
    }

    func sample(at time: Double) -> (value: Double, velocity: Double) {
        guard time >= 0 else { return (0, 0) }
        let low = max(0, legs.partitioningIndex { $0.start > time } - 1)
        let leg = legs[low]
        if low == legs.count - 1, time >= duration { return (leg.to, 0) }
        return leg.sample(at: time - leg.start)
    }
}

extension PhaseTrack.Leg {
    func sample(at time: Double) -> (value: Double, velocity: Double) {
        let w = plan.weights(at: time, joined: joined)
        return (from + ((to - from) * w.f + velocity * w.g), (to - from) * w.df + velocity * w.dg)
    }

    var settlingTime: Double {
        guard let spring = plan.freeSpring else { return plan.length }
        return spring.settlingTime(from: from, to: to, velocity: velocity / plan.freeSpeed) / plan.freeSpeed
    }
}
