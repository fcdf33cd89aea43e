import AttributeValues

/// The last entries, each with its revision, in order.
struct RecentEntries<Entry> {
    private var entries: Ring<(revision: UInt64, entry: Entry)>
    /// Entries up to this revision are not known.
    private var floor: UInt64 = 0
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
        entries = Ring(capacity: capacity)
    }

    mutating func forget(upTo revision: UInt64) { (entries, floor) = (Ring(capacity: capacity), revision) }

    mutating func append(_ entry: Entry, at revision: UInt64) {
        if entries.isFull { floor = entries[0].revision }
        entries.append((revision, entry))
    }

    /// The entries since a revision; nil if some are no longer known.
    func since(_ revision: UInt64) -> [(revision: UInt64, entry: Entry)]? {
        guard revision >= floor else { return nil }
        let first = (0..<entries.count).partitioningIndex { entries[$0].revision > revision }
        return (first..<entries.count).map { entries[$0] }
    }
}
