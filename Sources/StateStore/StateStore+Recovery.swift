import AttributeValues
import Glibc
import GraphRuntime

extension StateStore {
    /// Puts a sound store in the place of a damaged one, with all that can be read of it; the damaged file stays beside it.
    ///
    /// The journal is read from both ends, so that one unreadable page costs what stands on it. The new store begins a new
    /// epoch, because a client that resumed would not hear what was lost.
    /// - Returns: what was lost; empty when the store was sound, which is then left as it is.
    static func recover(path: String, newEpoch: () -> String) throws(StoreError) -> [String] {
        guard access(path, F_OK) == 0 else { return [] }
        var rows: [Row] = []
        var findings: [String] = []
        var reserved: UInt64 = 0
        do throws(StoreError) {
            let database = try Database(path: path)
            try prepare(database, newEpoch: newEpoch)
            do throws(StoreError) {
                _ = try read(database)
                return []
            } catch .damaged(_, let found) {
                findings = found
            }
            var ignored: [String] = []
            reserved = readLife(database, &ignored).revision ?? 0
            rows = salvage(database)
        } catch .damaged(_, let found) {
            findings = found
        }
        let aside = try setAside(path)
        findings.append("\(rows.count) entries were kept; the damaged store is \(aside)")
        let store = try begin(path: path, newEpoch: newEpoch)
        let revision = max(reserved, rows.map(\.revision).max() ?? 0)
        try store.append(rows.map { ($0.revision, $0.entry) }, revision: revision)
        try store.close(revision: revision + reservation)
        return findings
    }

    private static func salvage(_ database: Database) -> [Row] {
        let forward = scanJournal(database, ascending: true)
        if forward.isWhole { return forward.rows }
        let last = forward.rows.last?.sequence ?? .min
        let backward = scanJournal(database, ascending: false).rows.prefix { $0.sequence > last }
        return forward.rows + backward.reversed()
    }

    private static func begin(path: String, newEpoch: () -> String) throws(StoreError) -> StateStore {
        let database = try Database(path: path)
        try prepare(database, newEpoch: newEpoch)
        return try StateStore(database, path: path, revision: 0)
    }

    private static func setAside(_ path: String) throws(StoreError) -> String {
        var number = 1
        while access("\(path).damaged-\(number)", F_OK) == 0 { number += 1 }
        for suffix in ["", "-wal"] where access(path + suffix, F_OK) == 0 {
            guard rename(path + suffix, "\(path).damaged-\(number)\(suffix)") == 0 else {
                throw .failed(call: "rename", code: errno, message: String(cString: strerror(errno)), subject: path + suffix)
            }
        }
        return "\(path).damaged-\(number)"
    }
}
