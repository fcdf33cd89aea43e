import AttributeValues
import WireProtocol

/// The turn that is being played: its time, and its deliveries.
final class CurrentTurn {
    var now: Moment
    private(set) var number: UInt64 = 0
    /// See `GraphRuntime.turnClock`.
    var clock: (() -> Double)?
    /// When the turn began, on that clock.
    private(set) var began = 0.0
    /// If set, gets each delivery at once.
    unowned(unsafe) var output: (any TurnOutput)?
    /// Deliveries that `output` has not taken, in the order in which clients must hear them.
    private var deliveries: [Delivery] = []
    /// The number of deliveries in this turn.
    private(set) var deliveryCount = 0

    /// When the runtime began, in monotonic seconds.
    private let start: Double

    init(at now: Moment) { (self.now, start) = (now, now.monotonic) }

    /// Seconds since the runtime began.
    var uptime: Double { now.monotonic - start }

    /// Begins at the time of the turn before.
    func begin() {
        number += 1
        began = time
        if !deliveries.isEmpty { deliveries = [] }
        deliveryCount = 0
    }

    /// The turn's clock; always 0 if there is none.
    var time: Double { clock?() ?? 0 }

    /// True while the turn has taken less than this many seconds.
    func hasTime(_ seconds: Double) -> Bool { clock.map { $0() - began < seconds } ?? true }

    func say(_ delivery: consuming Delivery) {
        deliveryCount += 1
        guard let output else { return deliveries.append(delivery) }
        output.take(consume delivery)
    }

    /// True if updates may be delivered as text: they are taken at once.
    var takesText: Bool { output != nil }

    /// The deliveries that `output` has not taken.
    func takeDeliveries() -> [Delivery] {
        defer { deliveries = [] }
        return deliveries
    }
}
