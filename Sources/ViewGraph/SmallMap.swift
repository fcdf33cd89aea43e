/// A dictionary that looks through its entries while there are few, and has an index of them from then on. Small ones
/// take less memory than a `Dictionary`, and no hash is computed.
struct SmallMap<Key: Hashable, Value> {
    private static var scanned: Int { 8 }

    /// In no particular order.
    private(set) var entries: [(key: Key, value: Value)] = []
    /// Positions in `entries`, as soon as there were more than `scanned`.
    private var index: [Key: Int] = [:]

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }

    private func position(of key: Key) -> Int? {
        index.isEmpty ? entries.firstIndex { $0.key == key } : index[key]
    }

    subscript(key: Key) -> Value? {
        get { position(of: key).map { entries[$0].value } }
        set {
            guard let position = position(of: key) else {
                guard let newValue else { return }
                entries.append((key, newValue))
                if !index.isEmpty {
                    index[key] = entries.count - 1
                } else if entries.count > Self.scanned {
                    for (position, entry) in entries.enumerated() { index[entry.key] = position }
                }
                return
            }
            if let newValue {
                entries[position].value = newValue
                return
            }
            // The last entry fills the gap.
            let last = entries.removeLast()
            if position < entries.count { entries[position] = last }
            guard !index.isEmpty else { return }
            if position < entries.count { index[last.key] = position }
            index[key] = nil
        }
    }
}
