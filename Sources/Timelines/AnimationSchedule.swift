/// An animation's modifiers in the only order that events and CSS can express: a curve played at a speed, then
/// repeated, then delayed. Delays inside a repetition and repetitions of repetitions cannot be expressed.
struct AnimationSchedule {
    /// Seconds before the first pass.
    var delay = 0.0
    /// The factor by which the curve runs faster than written.
    var speed = 1.0
    /// nil without repetition.
    var passes: (count: Double, length: Double, autoreverse: Autoreverse)?

    init?(_ plan: AnimationPlan) {
        for step in plan.steps.reversed() {
            switch step {
            case .delay(let seconds): delay += seconds
            case .speed(let factor):
                speed *= factor
                delay /= factor
                passes?.length /= factor
            case .passes(let count, let length, let autoreverse):
                guard passes == nil, delay == 0 else { return nil }
                passes = (count, length, autoreverse)
            }
        }
    }
}
