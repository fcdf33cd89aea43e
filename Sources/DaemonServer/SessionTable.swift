import GraphRuntime

/// The connected clients by id.
///
/// An id has the client's slot in the low bits and a serial number above. So it is found without hashing and never used
/// again.
struct SessionTable {
    private var slots: [Session?] = []
    private var freeSlots: [Int] = []
    private var nextSerial: UInt64 = 1
    private(set) var count = 0

    private static let slotBits: UInt64 = 20

    subscript(_ id: ClientID) -> Session? {
        let slot = SessionTable.slot(of: id)
        guard slot < slots.count, let session = slots[slot], session.id == id else { return nil }
        return session
    }

    private static func slot(of id: ClientID) -> Int { Int(id.number & (1 << slotBits - 1)) }

    var all: some Sequence<Session> { slots.lazy.compactMap { $0 } }

    mutating func add(_ make: (ClientID) -> Session) -> Session {
        let slot = freeSlots.popLast() ?? slots.count
        if slot == slots.count { slots.append(nil) }
        let session = make(ClientID(number: nextSerial << SessionTable.slotBits | UInt64(slot)))
        nextSerial += 1
        slots[slot] = session
        count += 1
        return session
    }

    /// - Returns: false if the session was removed before.
    mutating func remove(_ session: Session) -> Bool {
        let slot = SessionTable.slot(of: session.id)
        guard slots[slot] === session else { return false }
        slots[slot] = nil
        freeSlots.append(slot)
        count -= 1
        return true
    }
}

#if DEBUG
    extension SessionTable {
        /// Describes each contradiction between the slots and their count.
        func checkInvariants() -> [String] {
            var faults: [String] = []
            if slots.count(where: { $0 != nil }) != count { faults.append("sessions are miscounted") }
            if Set(freeSlots).count != freeSlots.count || freeSlots.contains(where: { slots[$0] != nil }) {
                faults.append("a free slot is listed twice, or has a session")
            }
            return faults
        }
    }
#endif
