import AttributeValues

/// Names with their numbers, compared by their bytes. Small sets are searched linearly.
struct NameSet {
    private var entries: [(name: String, number: Int)] = []
    /// Positions in `entries`, counted from 1.
    private var index = NameIndex()

    /// Returns the number of the name if the set contains it; otherwise adds it.
    mutating func insert(_ name: String, at number: Int) -> Int? {
        let position =
            entries.count > NameIndex.threshold
            ? index.find(name) { entries[Int($0) - 1].name }.map { Int($0) - 1 }
            : entries.firstIndex { $0.name.hasSameBytes(as: name) }
        if let position { return entries[position].number }
        entries.append((name, number))
        if entries.count == NameIndex.threshold + 1 {
            for (position, entry) in entries.enumerated() { index.add(UInt32(position + 1), entry.name) }
        } else if entries.count > NameIndex.threshold {
            index.add(UInt32(entries.count), name)
        }
        return nil
    }
}
