import AttributeValues

/// When the entries of a map were last written, for a state with `entries`. It tells which of them expire.
///
/// The entries are a list from the one that was written longest ago to the newest one, linked by rows, so that a write
/// and an expiry cost O(1) for each entry.
final class EntryReports: Past {
    /// The entries that a write names.
    enum Written {
        /// All that the map has now.
        case all
        case keys([Value])
    }

    private struct Row {
        var key: Value
        var time: Instant
        var older: Int
        var newer: Int
    }

    /// The end of the list.
    private static let none = -1

    /// The time after which an entry is removed; nil: never. Then nothing is remembered.
    var expiry: Int64? { didSet { if expiry == nil { forget() } } }
    private var rows: [Row] = []
    private var free: [Int] = []
    private var positions: [Value: Int] = [:]
    private var oldest = none
    private var newest = none
    /// The entries that were written since the last `absorb`.
    private var written: [Written] = []

    func note(_ write: Written) { if expiry != nil { written.append(write) } }

    override var hearsReports: Bool { expiry != nil }

    override func result(_ value: Value, _ now: Instant) -> Value { .null }

    override func absorb(_ value: Value, _ now: Instant) { absorb(report: value, now) }

    override func absorb(report value: Value, _ now: Instant) {
        (current, since) = (.null, now)
        let writes = written
        written = []
        guard expiry != nil, let map = value.map else { return }
        for write in writes {
            switch write {
            case .all: for (key, _) in map { touch(key, now) }
            case .keys(let keys): for key in keys { map[key] == nil ? drop(key) : touch(key, now) }
            }
        }
        // Entries that came or went without a write: of a document, or from the store.
        guard map.count != positions.count else { return }
        for key in positions.keys where map[key] == nil { drop(key) }
        for (key, _) in map where positions[key] == nil { touch(key, now) }
    }

    override func deadline(_ now: Instant) -> Instant? {
        guard let expiry, oldest >= 0 else { return nil }
        return rows[oldest].time &+ expiry
    }

    /// Forgets the entries whose time is over.
    func takeExpired(_ now: Instant) -> [Value] {
        guard let expiry else { return [] }
        var gone: [Value] = []
        while oldest >= 0, now &- rows[oldest].time >= expiry {
            gone.append(rows[oldest].key)
            drop(rows[oldest].key)
        }
        return gone
    }

    // MARK: The list

    private func touch(_ key: Value, _ now: Instant) {
        let position: Int
        if let known = positions[key] {
            if known == newest {
                rows[known].time = now
                return
            }
            unlink(known)
            position = known
        } else {
            position = free.popLast() ?? rows.count
            let row = Row(key: key, time: now, older: EntryReports.none, newer: EntryReports.none)
            if position < rows.count { rows[position] = row } else { rows.append(row) }
            positions[key] = position
        }
        rows[position].time = now
        rows[position].older = newest
        rows[position].newer = EntryReports.none
        if newest >= 0 { rows[newest].newer = position } else { oldest = position }
        newest = position
    }

    private func drop(_ key: Value) {
        guard let position = positions.removeValue(forKey: key) else { return }
        unlink(position)
        rows[position].key = .null
        free.append(position)
    }

    private func unlink(_ position: Int) {
        let (older, newer) = (rows[position].older, rows[position].newer)
        if older >= 0 { rows[older].newer = newer } else { oldest = newer }
        if newer >= 0 { rows[newer].older = older } else { newest = older }
    }

    private func forget() {
        (rows, free, positions, written) = ([], [], [:], [])
        (oldest, newest) = (EntryReports.none, EntryReports.none)
    }

    // MARK: In the store

    override var isExact: Bool { false }

    override func isDue(after row: Value) -> Bool { false }

    override func stored(from origin: Instant) -> [Value] {
        var times = ValueMap(minimumCapacity: positions.count)
        var position = oldest
        while position >= 0 {
            times[rows[position].key] = .int(rows[position].time &- origin)
            position = rows[position].newer
        }
        return [.map(times)]
    }

    override func restore(_ fields: Slice<ValueList>, from origin: Instant) -> Bool {
        guard fields.count == 1, let times = fields.first?.map else { return false }
        forget()
        for (key, time) in times {
            guard case .int(let time) = time else { return false }
            touch(key, time &+ origin)
        }
        return true
    }
}
