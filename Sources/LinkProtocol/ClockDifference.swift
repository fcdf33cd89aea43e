/// The difference by which a mirror's clock is ahead of its owner's. Both count since the start of their machine, and
/// nobody sets them. It is measured with messages that contain the time at which they were sent. The shortest time
/// through the network counts as zero.
package struct ClockDifference {
    /// The number of latest measurements that are used. Clocks drift, so older ones are dropped.
    package static let samples = 60
    /// The machine of the owner may have been halted, which moves its clock. So many measurements in a row that are
    /// later than the others, and agree, replace them. Messages that a network has kept back do not agree.
    package static let agreeing = 5
    private static let (agreement, step) = (0.25, 1.0)
    /// In seconds. A motion that began a day ago is taken to have ended.
    package static let longest = 86_400.0

    private var measured: [Double] = []

    package init() {}

    /// - Parameters:
    ///   - sent: seconds on the owner's clock.
    ///   - now: seconds on this machine's clock.
    package mutating func hear(_ sent: Double, at now: Double) {
        if measured.count == ClockDifference.samples { measured.removeFirst() }
        measured.append(now - sent)
        let newest = measured.suffix(ClockDifference.agreeing)
        guard newest.count == ClockDifference.agreeing, let least = newest.min(), let most = newest.max(),
            let all = measured.min(), most - least < ClockDifference.agreement, least > all + ClockDifference.step
        else { return }
        measured = Array(newest)
    }

    /// Seconds since a moment on the owner's clock; 0 before the first message.
    package func elapsed(since moment: Double, at now: Double) -> Double {
        guard let difference = measured.min() else { return 0 }
        return min(max(0, now - moment - difference), ClockDifference.longest)
    }
}
