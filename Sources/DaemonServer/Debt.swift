import Glibc

/// Processor time that one process has lately had from the daemon, over all its connections. It halves every second.
/// Whoever has had the least is served first, so that a light client does not wait behind a thousand heavy ones.
final class Debt {
    private(set) var seconds: Double
    private var time: Double
    /// Connections of the process.
    var connections = 0

    /// Seconds that a new process has had: else each request could come from a new one.
    static let atFirst = 0.02

    init(at now: Double) {
        seconds = Debt.atFirst
        time = now
    }

    func seconds(at now: Double) -> Double { time == now ? seconds : seconds * exp2(time - now) }

    /// Lets it halve as often as it is due.
    func settle(at now: Double) {
        seconds = seconds(at: now)
        time = now
    }

    func add(_ more: Double, at now: Double) {
        settle(at: now)
        seconds += more
    }
}
