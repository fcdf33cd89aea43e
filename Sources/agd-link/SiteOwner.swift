import AGClient
import AttributeValues
import LinkProtocol

/// The owner of a site, as its messages describe it: who it is, whether it lives, and how far the mirror
/// is behind it.
struct SiteOwner {
    /// Seconds that a mirror may be behind before it reads a snapshot.
    private static let patience = 2.0

    /// The host and the process that publish the site, as heartbeats say.
    private(set) var name = ""
    private var revision: UInt64 = 0
    /// When it sent its last sign of life. Monotonic seconds.
    private var heard = -Double.infinity
    /// The wall clock at its last message.
    private var seen: Double?
    /// The last moment at which the mirror was as new. Monotonic seconds.
    private var even = -Double.infinity
    /// In the term that was heard last. Another term may come from another machine.
    private var clock = ClockDifference()
    private var term: UInt64 = 0

    /// - Returns: whether another process publishes the site than before.
    mutating func hear(heartbeat: ValueMap?, in term: UInt64) -> Bool {
        if term != self.term { (self.term, clock) = (term, ClockDifference()) }
        // A sign of life may wait in a network that was cut, longer than its sender lives.
        var age = 0.0
        if let sent = heartbeat?["clock"]?.number {
            clock.hear(sent, at: WallTime.sinceStart)
            age = clock.elapsed(since: sent, at: WallTime.sinceStart)
        }
        heard = max(heard, MonotonicTime.now - age)
        guard let owner = heartbeat?["owner"]?.string, owner != name else { return false }
        name = owner
        return true
    }

    /// - Parameters:
    ///   - revision: the owner's, as a message says.
    ///   - reached: the mirror's.
    /// - Returns: whether the mirror has been behind for too long.
    mutating func hear(revision: UInt64, reached: UInt64) -> Bool {
        seen = WallTime.now
        self.revision = revision
        noteMirror(reached)
        return reached < revision && MonotonicTime.now > even + SiteOwner.patience
    }

    /// Notes the revision that the mirror has.
    mutating func noteMirror(_ reached: UInt64) { if reached >= revision { even = MonotonicTime.now } }

    /// Seconds since a moment on the owner's clock; 0 if the clock of the term is not known yet.
    func elapsed(since moment: Double, in term: UInt64) -> Double {
        term == self.term ? clock.elapsed(since: moment, at: WallTime.sinceStart) : 0
    }

    var hasBeenHeard: Bool { heard > -.infinity }

    func isLive(within time: Double) -> Bool { MonotonicTime.now < heard + time }

    /// Seconds since a mirror with a revision was as new as its owner; 0 if it never was.
    func lag(of reached: UInt64, isLive: Bool) -> Double {
        let lag = reached >= revision && isLive ? 0 : MonotonicTime.now - even
        return lag.isFinite ? lag : 0
    }

    var seenValue: Value {
        guard let seen else { return .null }
        let nanoseconds = Int64((seen - seen.rounded(.down)) * 1e9)
        return Timestamp(seconds: Int64(seen), nanoseconds: nanoseconds).map { .timestamp($0) } ?? .null
    }
}
