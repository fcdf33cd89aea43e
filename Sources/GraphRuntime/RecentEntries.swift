import AttributeValues

/// A queue of bounded length: the last entries, each with its revision, in order.
struct RecentEntries<Entry> {
    private var entries: [(revision: UInt64, entry: Entry)] = []
    private var head = 0
    /// Entries up to this revision are not known.
    private var floor: UInt64 = 0
    private let capacity: Int

    init(capacity: Int) { self.capacity = capacity }

    mutating func forget(upTo revision: UInt64) { (entries, head, floor) = ([], 0, revision) }

    mutating func append(_ entry: Entry, at revision: UInt64) {
        entries.append((revision, entry))
        guard entries.count - head > capacity else { return }
        floor = entries[head].revision
        head += 1
        if head > capacity {
            entries.removeFirst(head)
            head = 0
        }
    }

    /// The entries since a revision; nil if some are no longer known.
    func since(_ revision: UInt64) -> ArraySlice<(revision: UInt64, entry: Entry)>? {
        guard revision >= floor else { return nil }
        return entries[entries[head...].partitioningIndex { $0.revision > revision }...]
    }
}
