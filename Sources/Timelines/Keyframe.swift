/// One stretch of a keyframe track, named by its kind of motion.
///
/// Values are progress if the track is an animation's curve: 0 is the value before the change, 1 the new value.
public enum Keyframe: Hashable, Sendable {
    /// Along a timing function.
    case linear(to: Double, duration: Double, timing: TimingFunction = .linear)
    /// A cubic with continuous velocity. An omitted velocity is the Catmull–Rom tangent between two cubic keyframes,
    /// the neighbour's velocity beside another kind, and 0 at the track's ends.
    case cubic(to: Double, duration: Double, startVelocity: Double? = nil, endVelocity: Double? = nil)
    /// A spring, cut after `duration` (default: its settling time). It starts with the given or the present velocity.
    case spring(to: Double, duration: Double? = nil, spring: SpringCurve = .standard, startVelocity: Double? = nil)
    /// A jump.
    case move(to: Double)

    var target: Double {
        switch self {
        case .linear(let to, _, _), .cubic(let to, _, _, _), .spring(let to, _, _, _), .move(let to): to
        }
    }
}
