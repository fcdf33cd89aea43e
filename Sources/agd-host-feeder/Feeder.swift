import AGClient
import AttributeValues
import Glibc
import WireProtocol

/// Takes samples at regular intervals and writes each as one transaction while a daemon accepts them.
final class Feeder {
    private let node: String
    private let interval: Double
    private let machine: Machine
    private let slow: SlowReadings
    /// They are caught as long as this lives.
    private let signals: Signals
    private var backoff = Backoff()
    /// True after the message that there is no daemon.
    private var hasComplained = false

    init(node: String, interval: Double, machine: Machine, signals: Signals) {
        self.node = node
        self.interval = interval
        self.machine = machine
        slow = SlowReadings(machine)
        self.signals = signals
    }

    /// Runs until it is told to stop, over as many connections as necessary.
    /// - Throws: errors that waiting does not solve: a refusal, a path that no socket can have, missing permissions.
    func run(_ location: () -> SocketLocation) throws(ClientError) {
        while !interrupt.isSignalled {
            do throws(ClientError) {
                try feed(try Connection(to: location(), name: "agd-host-feeder"))
            } catch {
                guard error.mayPass else { throw error }
                if !hasComplained { HostFeeder.report("\(error); trying again") }
                hasComplained = true
                interrupt.wait(backoff.pause())
            }
        }
    }

    private var interrupt: Wakeup { signals.wakeup }

    /// A daemon has answered, so it has accepted the feeder.
    private func noteAnswer() {
        if hasComplained { HostFeeder.report("connected to agd") }
        hasComplained = false
        backoff.reset()
    }

    private func feed(_ connection: Connection) throws(ClientError) {
        connection.send(
            .onDisconnect(
                [Mutation(operation: .set, path: node + ".feed.isLive", value: false)],
                TransactionOptions(label: "feeder gone")))
        // The number of outstanding replies. A daemon that does not answer gets no further requests.
        var awaited = 1
        var before = Sample(machine)
        slow.begin(at: before.monotonic)
        // The daemon may be a new one, which knows nothing yet.
        var isFirst = true
        var next = MonotonicTime.now
        while true {
            next = max(next + interval, MonotonicTime.now)
            while case let left = next - MonotonicTime.now, left > 0 {
                guard let message = try connection.receive(timeout: left, interrupt: interrupt.descriptor) else {
                    if interrupt.isSignalled { return }
                    break
                }
                if case .reply(_, let reply) = message {
                    _ = try reply.get()
                    noteAnswer()
                    awaited -= 1
                }
            }
            guard awaited == 0 else { continue }
            let now = Sample(machine)
            let news = slow.news(at: now.monotonic)
            let report = Report(
                before: before, now: now, slow: isFirst ? slow.present(at: now.monotonic) : news, node: node)
            isFirst = false
            slow.begin(at: now.monotonic)
            connection.send(
                .transact(
                    report.mutations.map { Mutation(operation: .set, path: $0.path, value: $0.value) },
                    TransactionOptions(label: "sample")))
            awaited = 1
            before = now
        }
    }
}
