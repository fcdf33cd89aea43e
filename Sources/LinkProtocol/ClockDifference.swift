/// How far the wall clock of a mirror is ahead of its owner's, measured with messages that have the time at which they were
/// sent. The shortest way through the network counts as no time.
public struct ClockDifference {
    /// Measurements that count. Clocks drift, so that old ones do not.
    static let samples = 60
    /// Seconds: what has moved for a day is taken to be there.
    static let longest = 86_400.0

    private var measured: [Double] = []
    private var next = 0

    public init() {}

    /// - Parameters:
    ///   - sent: seconds on the owner's clock.
    ///   - now: seconds on this machine's clock.
    public mutating func hear(_ sent: Double, at now: Double) {
        guard measured.count == ClockDifference.samples else { return measured.append(now - sent) }
        measured[next] = now - sent
        next = (next + 1) % ClockDifference.samples
    }

    /// Seconds since a moment on the owner's clock; 0 before the first message.
    public func elapsed(since moment: Double, at now: Double) -> Double {
        guard let difference = measured.min() else { return 0 }
        return min(max(0, now - moment - difference), ClockDifference.longest)
    }
}
