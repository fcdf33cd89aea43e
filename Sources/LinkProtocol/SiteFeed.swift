import AttributeValues

/// The messages of a mirrored site, put together and in order. If some are missing, the site needs a snapshot.
package struct SiteFeed {
    private var follower = Follower()
    private var assembler: Assembler
    /// When to read a snapshot; nil if there is no need. Monotonic seconds.
    package private(set) var healTime: Double? = 0
    /// The message behind the gap that will be healed. The stream may not have it yet.
    package private(set) var gap: (Frame, Transaction)?

    /// - Parameter limit: bytes of a message.
    package init(limit: Int) { assembler = Assembler(limit: limit) }

    /// The position that the mirror has reached; nil before the first snapshot.
    package var position: Position? { follower.position }

    package func accepts(snapshot position: Position) -> Bool { follower.accepts(snapshot: position) }

    /// The mirror has applied a message or a snapshot.
    package mutating func reached(_ position: Position) { follower.reached(position) }

    /// - Returns: a whole message that is not to be dropped; nil while parts are missing.
    package mutating func read(_ message: [UInt8], _ parser: JSONParser) throws(Failure) -> (Frame, Transaction)? {
        let (frame, length) = try Frame.read(message)
        guard let (whole, body) = try assembler.add(frame, message.dropFirst(length)), step(whole) != .drop
        else { return nil }
        return (whole, try Transaction(json: body, parser))
    }

    package func step(_ frame: Frame) -> Follower.Step { follower.step(frame) }

    /// Notes a message behind a gap.
    package mutating func noteGap(before frame: Frame, _ changes: Transaction) {
        (healTime, gap) = (0, (frame, changes))
    }

    // MARK: Healing

    package var isHealing: Bool { healTime != nil }

    /// Asks for a snapshot after so many seconds, unless one is asked for already.
    package mutating func needSnapshot(in seconds: Double = 0) { healTime = healTime ?? MonotonicTime.now + seconds }

    /// Messages may have passed while nobody listened.
    package mutating func suspectGap() { healTime = 0 }

    /// If healing does not end, it is tried again after some seconds.
    package mutating func retryHealing(in seconds: Double) { healTime = MonotonicTime.now + seconds }

    package mutating func endHealing() { (healTime, gap) = (nil, nil) }
}
