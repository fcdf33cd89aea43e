/// Decides what a mirror does with a message. The rule needs only the frame.
public struct Follower: Hashable, Sendable {
    public enum Step: Hashable, Sendable {
        case apply
        /// The message is a repeat or comes from an owner that has lost its lease.
        case drop
        /// Messages are missing: the mirror needs a snapshot.
        case heal
    }

    /// Nil before the first snapshot.
    public private(set) var position: Position?

    public init() {}

    public func step(_ frame: Frame) -> Step {
        guard let position else { return .heal }
        let new = frame.position
        if new.term < position.term { return .drop }
        if new.epoch != position.epoch { return .heal }
        if new.revision <= position.revision { return .drop }
        return frame.after <= position.revision ? .apply : .heal
    }

    /// A snapshot counts unless it is older than the mirror.
    public func accepts(snapshot new: Position) -> Bool {
        guard let position else { return true }
        if new.term != position.term { return new.term > position.term }
        return new.epoch != position.epoch || new.revision >= position.revision
    }

    /// The mirror has applied a message or a snapshot.
    public mutating func reached(_ position: Position) { self.position = position }
}
