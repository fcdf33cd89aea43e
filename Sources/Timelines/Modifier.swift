/// What is written behind a curve. Order counts: each modifier acts on everything written before it.
public enum Modifier: Hashable, Sendable {
    /// Holds the start for some seconds.
    case delay(Double)
    /// Time runs that many times as fast.
    case speed(Double)
    /// Several passes. `every` is the length of a pass in seconds; left out it is the length of what is repeated, for a
    /// spring its settling time. However many passes, the value ends at the new one.
    case repeatCount(Int, autoreverses: Autoreverse = .mirror, every: Double? = nil)
    /// Passes without end; see `repeatCount`.
    case repeatForever(autoreverses: Autoreverse = .mirror, every: Double? = nil)
    /// Sets when the animation counts as logically complete, in seconds; its motion stays.
    case logicallyComplete(after: Double)
    /// What the change does with a motion that it meets; without it, or with `merge`, it continues value and velocity. Acts on
    /// the whole animation wherever it stands.
    case retarget(Timeline.Retargeting)
}

/// How every second pass goes.
public enum Autoreverse: String, Hashable, Sendable {
    /// Like the first: the value jumps back in between.
    case none
    /// From the end to the start with the same easing, 1 − f(u): SwiftUI's autoreverses.
    case mirror
    /// The first pass run backwards, f(L − u): CSS `alternate`.
    case reverse
}
