/// Divides the input of a turn among the clients.
struct InputAllowance {
    /// Bytes that may still be read before the next turn.
    private(set) var left = perTurn
    /// The number of the turn, for `Session.turnOfPortion`.
    private var turn: UInt64 = 1
    /// Sessions that wait for the next turn before they read on.
    private var waiting: [Session] = []

    /// Bytes that all clients together may send from one turn to the next: some milliseconds of copying.
    private static let perTurn = 8 << 20
    /// Bytes that each client may send in a turn, however much the others send.
    private static let portion = 4 << 10

    /// The number of bytes that the client may read now. When the bytes that all share are used up, each client may
    /// still read one small portion a turn, so that a short request never waits for long messages of others.
    /// - Parameter moving: so many bytes have to be moved before, because a long message needs more memory.
    /// - Returns: bytes; 0 if the client has to wait for the next turn.
    mutating func share(of session: Session, moving: Int) -> Int {
        if left > 0 {
            left -= moving
            return .max
        }
        if moving == 0, session.turnOfPortion != turn {
            session.turnOfPortion = turn
            return InputAllowance.portion
        }
        waiting.append(session)
        return 0
    }

    mutating func use(_ bytes: Int) { left -= bytes }

    /// Begins the next turn.
    /// - Returns: the sessions that had to wait. They may read on.
    mutating func refill() -> [Session] {
        left = InputAllowance.perTurn
        turn &+= 1
        if waiting.isEmpty { return [] }
        defer { waiting = [] }
        return waiting
    }
}
