/// The turn that is being played: its time, and its deliveries.
final class CurrentTurn {
    private(set) var now: Moment
    /// Counts turns.
    private(set) var number: UInt64 = 0
    /// See `GraphRuntime.turnClock`.
    var clock: (() -> Double)?
    /// On that clock.
    private(set) var began = 0.0
    /// Takes each delivery at once.
    var onDelivery: ((Delivery) -> Void)?
    /// In the order in which clients must hear them; without those that `onDelivery` has taken.
    private var deliveries: [Delivery] = []
    private var handedOver = 0

    init(at now: Moment) { self.now = now }

    func begin(at now: Moment) {
        self.now = now
        number += 1
        began = time
        deliveries = []
        handedOver = 0
    }

    /// On the turn's clock. It stands still where there is none.
    var time: Double { clock?() ?? 0 }

    /// Whether the turn has not taken so many seconds yet.
    func hasTime(_ seconds: Double) -> Bool { clock.map { $0() - began < seconds } ?? true }

    func say(_ delivery: Delivery) {
        guard let onDelivery else { return deliveries.append(delivery) }
        handedOver += 1
        onDelivery(delivery)
    }

    /// Deliveries of the turn.
    var deliveryCount: Int { handedOver + deliveries.count }

    /// The deliveries that `onDelivery` has not taken.
    func takeDeliveries() -> [Delivery] {
        defer { deliveries = [] }
        return deliveries
    }
}
