/// Decides what a mirror does with a message. The rule needs only the frame.
package struct Follower {
    package enum Step {
        case apply
        /// The message is a repeat or comes from an owner that has lost its lease.
        case drop
        /// Messages are missing: the mirror needs a snapshot.
        case heal
    }

    /// Nil before the first snapshot.
    package private(set) var position: Position?

    package init() {}

    package func step(_ frame: Frame) -> Step {
        guard let position else { return .heal }
        let new = frame.position
        if new <= position { return .drop }
        // An owner that has claimed its lease again continues, if its graph is the same.
        return new.epoch == position.epoch && frame.after <= position.revision ? .apply : .heal
    }

    /// A snapshot counts unless it is older than the mirror.
    package func accepts(snapshot new: Position) -> Bool {
        position.map { new >= $0 } ?? true
    }

    /// The mirror has applied a message or a snapshot.
    package mutating func reached(_ position: Position) { self.position = position }
}
