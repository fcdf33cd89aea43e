/// Finds children by their ids: a hash table of rows, because the nodes themselves have their ids.
struct ChildIndex {
    /// The hash of a child's id in the upper half, and its row in the lower one. Row 0, which is no child, marks a free
    /// slot.
    private var slots: [UInt64] = []
    private var count = 0

    /// More children than this are found through an index.
    static let threshold = 12

    private static func hash(_ id: String) -> UInt64 { UInt64(UInt32(truncatingIfNeeded: id.hashValue)) }

    private func home(of hash: UInt64) -> Int { Int(hash) & (slots.count - 1) }

    private func after(_ slot: Int) -> Int { (slot + 1) & (slots.count - 1) }

    private static func row(in slot: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: slot) }

    func find(_ id: String, _ idOf: (UInt32) -> String) -> UInt32? {
        let hash = ChildIndex.hash(id)
        var slot = home(of: hash)
        while slots[slot] != 0 {
            let row = ChildIndex.row(in: slots[slot])
            if slots[slot] >> 32 == hash, idOf(row).hasSameBytes(as: id) { return row }
            slot = after(slot)
        }
        return nil
    }

    /// Adds a child with an id that no other has.
    mutating func add(_ row: UInt32, _ id: String) {
        count += 1
        if count * 4 > slots.count * 3 { resize() }
        put(ChildIndex.hash(id) << 32 | UInt64(row))
    }

    private mutating func put(_ entry: UInt64) {
        var slot = home(of: entry >> 32)
        while slots[slot] != 0 { slot = after(slot) }
        slots[slot] = entry
    }

    mutating func remove(_ row: UInt32, _ id: String) {
        var slot = home(of: ChildIndex.hash(id))
        while ChildIndex.row(in: slots[slot]) != row {
            if slots[slot] == 0 { return }
            slot = after(slot)
        }
        slots[slot] = 0
        count -= 1
        // A search ends at a free slot, so the entries after this one are put in anew.
        slot = after(slot)
        while slots[slot] != 0 {
            let moved = slots[slot]
            slots[slot] = 0
            put(moved)
            slot = after(slot)
        }
    }

    private mutating func resize() {
        let old = slots
        slots = [UInt64](repeating: 0, count: max(32, 1 << (Int.bitWidth - (count * 2 - 1).leadingZeroBitCount)))
        for entry in old where entry != 0 { put(entry) }
    }

    /// Frees memory that more children have needed.
    mutating func giveBack() { if count * 8 < slots.count { resize() } }
}
