import Glibc

/// Processor time that the daemon has recently spent on one process, over all its connections. It halves every second.
/// The process with the least debt is served first, so that a light client does not wait for a thousand heavy ones.
final class Debt {
    private(set) var seconds: Double
    private var time: Double
    /// The number of the process's connections.
    var connections = 0

    /// The debt of a new process. Without it, every request could come from a new process.
    static let atFirst = 0.02

    init(at now: Double) {
        seconds = Debt.atFirst
        time = now
    }

    func seconds(at now: Double) -> Double { time == now ? seconds : seconds * exp2(time - now) }

    /// Brings the value to the present time, halved once per second.
    func settle(at now: Double) {
        seconds = seconds(at: now)
        time = now
    }

    /// Settles once in a millisecond, because that takes about as long as a small turn takes for the rest of this.
    func add(_ more: Double, at now: Double) {
        if now - time > 0.001 { settle(at: now) }
        seconds += more
    }
}
