import AttributeValues

/// The last transactions, in a ring: who changed what, and which stretch of the engine's clock was theirs.
struct History {
    struct Entry {
        var revision: UInt64
        /// The engine's stamp before and after the transaction.
        var stampBefore: UInt64
        var stampAfter: UInt64
        var wall: Timestamp
        /// nil: the daemon itself (a clock, a scene at start).
        var peer: Peer?
        var client: String?
        var label: String?
        /// Paths of states that it wrote; `RuntimeLimits.historyWrites` of them.
        var writes: [String]
    }

    private var entries: [Entry] = []
    private var start = 0
    let capacity: Int

    init(capacity: Int) { self.capacity = max(1, capacity) }

    mutating func append(_ entry: Entry) {
        if entries.count < capacity {
            entries.append(entry)
        } else {
            entries[start] = entry
            start = (start + 1) % capacity
        }
    }

    var count: Int { entries.count }

    subscript(position: Int) -> Entry { entries[(start + position) % entries.count] }

    /// The engine's stamp right after a revision; nil when that is no longer known.
    func stamp(after revision: UInt64) -> UInt64? {
        guard count > 0, let position = position(of: revision) else { return nil }
        return self[position].stampAfter
    }

    private func position(of revision: UInt64) -> Int? {
        let first = self[0].revision
        guard revision >= first, revision - first < UInt64(count) else { return nil }
        return Int(revision - first)
    }

    func entry(of revision: UInt64) -> Entry? {
        count > 0 ? position(of: revision).map { self[$0] } : nil
    }

    /// The transaction in whose stretch of the engine's clock a stamp lies. O(log n).
    func entry(at stamp: UInt64) -> Entry? {
        var low = 0
        var high = count
        while low < high {
            let middle = (low + high) / 2
            if self[middle].stampAfter < stamp { low = middle + 1 } else { high = middle }
        }
        return low < count && self[low].stampBefore < stamp ? self[low] : nil
    }
}
