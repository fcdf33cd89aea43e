/// Shares the time of the loop. Whatever takes long in proportion to what clients send or read is done in portions, so
/// that a turn takes some milliseconds, however much waits. The rest waits for later turns, in the order of arrival;
/// requests and pages take turns, so that neither wait for all of the others.
final class Pace {
    /// Nanoseconds of one turn.
    private static let turn = 5_000_000

    /// Estimates in nanoseconds. The worst case is a body of empty lists.
    static let perByteRead = 50
    static let perByteEncoded = 15
    static let perBytePacked = 30
    static let perRequest = 50_000
    static let perWrite = 3_000
    static let perSubscription = 20_000

    private let machine: any Machine
    private var left = Pace.turn
    private var requests: ArraySlice<() -> Void> = []
    private var pages: ArraySlice<() -> Void> = []
    private var isScheduled = false

    init(_ machine: any Machine) { self.machine = machine }

    /// True if nothing long may begin in this turn.
    var isSpent: Bool { left <= 0 }

    /// Counts work of this turn.
    func spend(_ nanoseconds: Int) {
        left -= nanoseconds
        schedule()
    }

    /// Handles a request in this turn, if that has time left, or in a later one.
    func run(_ nanoseconds: Int, _ work: @escaping () -> Void) {
        if isSpent || !requests.isEmpty {
            requests.append { [self] in begin(nanoseconds, work) }
            return schedule()
        }
        begin(nanoseconds, work)
    }

    private func begin(_ nanoseconds: Int, _ work: () -> Void) {
        spend(nanoseconds)
        work()
    }

    /// Goes on with a page in a later turn.
    func later(_ work: @escaping () -> Void) {
        pages.append(work)
        schedule()
    }

    private func schedule() {
        if isScheduled { return }
        isScheduled = true
        machine.after(0) { [self] in beginTurn() }
    }

    private func beginTurn() {
        isScheduled = false
        left = Pace.turn
        // Requests that the work adds wait for the next turn.
        var mostRequests = requests.count
        var mostPages = pages.count
        while !isSpent, mostRequests + mostPages > 0 {
            if mostRequests > 0, let work = requests.popFirst() {
                mostRequests -= 1
                work()
            }
            if !isSpent, mostPages > 0, let work = pages.popFirst() {
                mostPages -= 1
                work()
            }
        }
        // A slice keeps what was removed from it.
        if requests.isEmpty { requests = [] }
        if pages.isEmpty { pages = [] }
        if !requests.isEmpty || !pages.isEmpty { schedule() }
    }
}
