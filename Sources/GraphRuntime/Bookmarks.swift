import WireProtocol

/// Subscriptions that want bookmarks, and when each is due.
struct Bookmarks {
    private var readers: Set<Int64> = []
    /// Readers that have been sent an event since their last bookmark.
    private(set) var due: Set<Int64> = []
    /// The last time when readers without other events got a bookmark.
    private var round = (revision: UInt64(0), time: 0.0)

    mutating func add(_ number: Int64) {
        readers.insert(number)
        due.insert(number)
    }

    mutating func remove(_ number: Int64) {
        readers.remove(number)
        due.remove(number)
    }

    /// A reader that is told of a revision gets a bookmark at the end of the turn.
    mutating func note(_ receivers: [Subscription]) {
        if readers.isEmpty { return }
        for receiver in receivers where readers.contains(receiver.number) { due.insert(receiver.number) }
    }

    /// The time of the next round; nil: there is no new revision since the last one.
    func next(_ revision: UInt64, interval: Double) -> Double? {
        readers.isEmpty || round.revision == revision ? nil : round.time + interval
    }

    /// - Parameter isBehind: whether a subscription's last bookmark has an earlier revision.
    mutating func beginRound(_ revision: UInt64, at now: Double, isBehind: (Int64) -> Bool) {
        round = (revision, now)
        due.formUnion(readers.filter(isBehind))
    }

    mutating func didTell(_ numbers: [Int64]) { due.subtract(numbers) }
}

extension Event {
    /// True if the event tells of a revision.
    var tellsOfRevision: Bool {
        switch self {
        case .update, .updateText, .invalidate, .structure, .completion: true
        case .frames, .frameSheet, .bookmark, .forward, .ended: false
        }
    }
}
