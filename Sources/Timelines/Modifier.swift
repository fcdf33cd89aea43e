/// A modifier after a curve. The order matters: each modifier applies to everything before it.
public enum Modifier: Hashable, Sendable {
    /// Delays the start by some seconds.
    case delay(Double)
    /// Multiplies the speed of time.
    case speed(Double)
    /// Several passes. `every` is the length of a pass in seconds. Its default is the length of the repeated motion,
    /// for a spring its settling time. After any number of passes, the value ends at the new one.
    case repeatCount(Int, autoreverses: Autoreverse = .mirror, every: Double? = nil)
    /// Endless passes; see `repeatCount`.
    case repeatForever(autoreverses: Autoreverse = .mirror, every: Double? = nil)
    /// Sets the time of logical completion, in seconds. It does not change the motion.
    case logicallyComplete(after: Double)
    /// How a change continues a running motion. By default, and with `merge`, it continues value and velocity. Applies
    /// to the whole animation, wherever it is written.
    case retarget(Timeline.Retargeting)
}

/// The direction of every second pass.
public enum Autoreverse: String, Hashable, Sendable {
    /// The same as the first: the value jumps back in between.
    case none
    /// From the end to the start with the same easing, 1 − f(u): SwiftUI's autoreverses.
    case mirror
    /// The first pass run backwards, f(L − u): CSS `alternate`.
    case reverse
}
