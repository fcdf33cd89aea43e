/// What a connection does, and how long it may: a head, a body and an answer have limits, and so has a client that does
/// not read its stream. Times are seconds on the monotonic clock.
package struct PeerTime {
    private enum Phase {
        case head(isFirst: Bool)
        case body
        case waiting
        case answer
        case stream
    }

    private var phase = Phase.head(isFirst: true)
    /// It has got an answer.
    private var isServed = false
    /// The time at which the phase began.
    private(set) var since: Double
    /// Bytes that were received or sent in the phase.
    private var moved = 0
    /// The time at which a stream's client has last taken something.
    private var lastTaken: Double

    package init(at now: Double) { (since, lastTaken) = (now, now) }

    /// True for a connection without a complete request. It may be closed when there is no space for a new one.
    package var isEvictable: Bool {
        switch phase {
        case .head, .body: true
        case .waiting, .answer, .stream: false
        }
    }

    package mutating func didReadHead(at now: Double) { (phase, since, moved) = (.body, now, 0) }

    package mutating func didFinish(at now: Double) { (phase, since) = (.waiting, now) }

    package mutating func willAnswer(isStream: Bool, at now: Double) {
        (phase, since, moved, lastTaken) = (isStream ? .stream : .answer, now, 0, now)
    }

    package mutating func didComplete(at now: Double) {
        (phase, since, isServed) = (.head(isFirst: false), now, true)
    }

    package mutating func didMove(_ count: Int, at now: Double) {
        moved += count
        lastTaken = now
    }

    /// - Parameter isWaiting: something waits for the client of a stream.
    package func isOver(at now: Double, isWaiting: Bool) -> Bool {
        switch phase {
        case .head(let isFirst): now - since > (isFirst ? Limits.headTime : Limits.idleTime)
        case .body, .answer: now - since > Limits.transferTime + Double(moved) / Limits.slowest
        case .waiting: false
        case .stream: isWaiting && now - lastTaken > Limits.stallTime
        }
    }

    /// The connections that are closed to make space: of those without a complete request the ones that wait longest,
    /// and those that have got an answer last.
    /// - Parameter limit: so many may stay.
    package static func evicted<Peer>(of peers: some Sequence<Peer>, over limit: Int = 0, _ time: (Peer) -> PeerTime)
        -> [Peer]
    {
        let idle = peers.map { ($0, time($0)) }.filter(\.1.isEvictable)
        if idle.count < limit { return [] }
        return idle.sorted { ($0.1.isServed ? 1 : 0, $0.1.since) < ($1.1.isServed ? 1 : 0, $1.1.since) }.prefix(
            Limits.evicted
        ).map(\.0)
    }
}
