/// Finds children by their ids: a hash table of rows, because the nodes themselves have their ids. Row 0, which is no
/// child, marks a free slot.
struct ChildIndex {
    private var slots: [UInt32] = []
    private var count = 0

    /// More children than this are found through an index.
    static let threshold = 12

    private func home(of id: String) -> Int { id.hashValue & (slots.count - 1) }

    private func after(_ slot: Int) -> Int { (slot + 1) & (slots.count - 1) }

    func find(_ id: String, _ idOf: (UInt32) -> String) -> UInt32? {
        var slot = home(of: id)
        while slots[slot] != 0 {
            if idOf(slots[slot]).hasSameBytes(as: id) { return slots[slot] }
            slot = after(slot)
        }
        return nil
    }

    /// Adds a child with an id that no other has.
    mutating func add(_ row: UInt32, _ idOf: (UInt32) -> String) {
        count += 1
        if count * 4 > slots.count * 3 { resize(idOf) }
        put(row, idOf)
    }

    private mutating func put(_ row: UInt32, _ idOf: (UInt32) -> String) {
        var slot = home(of: idOf(row))
        while slots[slot] != 0 { slot = after(slot) }
        slots[slot] = row
    }

    mutating func remove(_ row: UInt32, _ idOf: (UInt32) -> String) {
        var slot = home(of: idOf(row))
        while slots[slot] != row {
            if slots[slot] == 0 { return }
            slot = after(slot)
        }
        slots[slot] = 0
        count -= 1
        // A search ends at a free slot, so what stands behind this one is put in anew.
        slot = after(slot)
        while slots[slot] != 0 {
            let moved = slots[slot]
            slots[slot] = 0
            put(moved, idOf)
            slot = after(slot)
        }
    }

    private mutating func resize(_ idOf: (UInt32) -> String) {
        let rows = slots
        slots = [UInt32](repeating: 0, count: max(32, 1 << (Int.bitWidth - (count * 2 - 1).leadingZeroBitCount)))
        for row in rows where row != 0 { put(row, idOf) }
    }

    /// Frees memory that more children have needed.
    mutating func giveBack(_ idOf: (UInt32) -> String) { if count * 8 < slots.count { resize(idOf) } }
}
