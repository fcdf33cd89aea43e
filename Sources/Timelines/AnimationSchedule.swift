/// An animation's modifiers in the one order that events and CSS know: a curve played at a speed, then repeated, then
/// delayed. Delays inside a repetition and repetitions of repetitions do not fit.
struct AnimationSchedule {
    /// Seconds before the first pass.
    var delay = 0.0
    /// How many times as fast as written the curve runs.
    var speed = 1.0
    /// nil without repetition.
    var passes: (count: Double, length: Double, autoreverse: Autoreverse)?

    init?(_ plan: AnimationPlan) {
        for step in plan.steps.reversed() {
            switch step {
            case .delay(let seconds):
                delay += seconds
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
