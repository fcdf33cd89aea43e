import AGClient
import AttributeValues
import LinkProtocol

/// A state of a site that the daemon has refused. The next state is tried, with pauses that grow.
struct Refusal {
    private static let (shortest, longest) = (1.0, 60.0)

    private var position: Position?
    private var pause = Backoff(first: Refusal.shortest, longest: Refusal.longest)
    /// Monotonic seconds; nil if nothing has been refused.
    private var nextTry: Double?

    /// The daemon has refused the state of a position.
    /// - Parameter position: nil to try the same state again after the pause.
    mutating func note(_ position: Position?) {
        (self.position, nextTry) = (position, MonotonicTime.now + pause.pause())
    }

    /// The daemon may take now what it has refused: it has started again, or has not answered in time.
    mutating func forgetState() { position = nil }

    /// False while the daemon would refuse the same state again, and during a pause.
    func mayTry(_ position: Position?) -> Bool { nextTry == nil || isDue(position) }

    /// True if there is a newer state than the refused one, and the pause is over.
    func isDue(_ position: Position?) -> Bool {
        guard let nextTry else { return false }
        return position != self.position && MonotonicTime.now >= nextTry
    }
}
