/// The difference by which a mirror's wall clock is ahead of its owner's. It is measured with messages that contain the
/// time at which they were sent. The shortest time through the network counts as zero.
struct ClockDifference {
    /// The number of latest measurements that are used. Clocks drift, so older ones are dropped.
    static let samples = 60
    /// In seconds. A motion that began a day ago is taken to have ended.
    static let longest = 86_400.0

    private var measured: [Double] = []
    private var next = 0

    /// - Parameters:
    ///   - sent: seconds on the owner's clock.
    ///   - now: seconds on this machine's clock.
    mutating func hear(_ sent: Double, at now: Double) {
        guard measured.count == ClockDifference.samples else { return measured.append(now - sent) }
        measured[next] = now - sent
        next = (next + 1) % ClockDifference.samples
    }

    /// Seconds since a moment on the owner's clock; 0 before the first message.
    func elapsed(since moment: Double, at now: Double) -> Double {
        guard let difference = measured.min() else { return 0 }
        return min(max(0, now - moment - difference), ClockDifference.longest)
    }
}
