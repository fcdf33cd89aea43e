/// Finds numbered things by their names, which are compared by their bytes: a hash table of the numbers, because the
/// things themselves have their names.
public struct NameIndex {
    /// The hash of a name in the upper half, and the number in the lower one. 0, which is no number, marks a free slot.
    private var slots: [UInt64] = []
    private var count = 0

    /// More names than this are found through an index.
    public static let threshold = 12

    public init() {}

    private static func hash(_ name: String) -> UInt64 { UInt64(UInt32(truncatingIfNeeded: name.hashValue)) }

    private func home(of hash: UInt64) -> Int { Int(hash) & (slots.count - 1) }

    private func after(_ slot: Int) -> Int { (slot + 1) & (slots.count - 1) }

    private static func number(in slot: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: slot) }

    public func find(_ name: String, _ nameOf: (UInt32) -> String) -> UInt32? {
        if slots.isEmpty { return nil }
        let hash = NameIndex.hash(name)
        var slot = home(of: hash)
        while slots[slot] != 0 {
            let number = NameIndex.number(in: slots[slot])
            if slots[slot] >> 32 == hash, nameOf(number).hasSameBytes(as: name) { return number }
            slot = after(slot)
        }
        return nil
    }

    /// Adds a name that no other has.
    public mutating func add(_ number: UInt32, _ name: String) {
        count += 1
        if count * 4 > slots.count * 3 { resize() }
        put(NameIndex.hash(name) << 32 | UInt64(number))
    }

    private mutating func put(_ entry: UInt64) {
        var slot = home(of: entry >> 32)
        while slots[slot] != 0 { slot = after(slot) }
        slots[slot] = entry
    }

    public mutating func remove(_ number: UInt32, _ name: String) {
        if slots.isEmpty { return }
        var slot = home(of: NameIndex.hash(name))
        while NameIndex.number(in: slots[slot]) != number {
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

    /// Frees memory that more names have needed.
    public mutating func giveBack() { if count * 8 < slots.count { resize() } }
}
