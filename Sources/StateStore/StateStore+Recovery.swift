import AttributeValues
import Glibc
import GraphRuntime
import ViewGraph

extension StateStore {
    /// Replaces a damaged store by a sound one with all its readable rows. The damaged files stay beside it.
    ///
    /// The table is read from both ends, so that an unreadable page loses only its own rows. The new store begins a new
    /// epoch, because a client that resumed would not hear of the loss.
    /// - Returns: what was kept, and the path of the damaged store.
    static func recover(_ path: String, _ lock: FolderLock, _ newEpoch: () -> String) throws(StoreError) -> [String] {
        let (rows, reserved) = try salvage(path, lock)
        let last = rows.map(\.revision).max()
        let revision = max(reserved, last ?? 0)
        try make(newPath(path), rows, revision, epoch: newEpoch(), lock)
        let aside = try setAside(path)
        try putInPlace(path, lock)
        let end = last.map { " up to revision \($0)" } ?? ""
        return ["\(rows.count) rows\(end) were kept; the damaged store is \(aside)"]
    }

    /// The readable rows, and the revision that the damaged store had reserved.
    private static func salvage(_ path: String, _ lock: FolderLock) throws(StoreError) -> (
        rows: [StoredRow], reserved: UInt64
    ) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_size > 0 else { return ([], 0) }
        do throws(StoreError) {
            let database = try Database(path: path, lock)
            try prepare(database)
            var ignored: [String] = []
            return (scan(database).rows, readLife(database, &ignored).revision ?? 0)
        } catch {
            guard case .damaged = error else { throw error }
            return ([], 0)
        }
    }

    private static func make(
        _ path: String, _ rows: [StoredRow], _ revision: UInt64, epoch: String, _ lock: FolderLock
    ) throws(StoreError) {
        try create(path, epoch: epoch, lock)
        let database = try Database(path: path, lock)
        try prepare(database)
        let store = try StateStore(database, path: path, revision: 0)
        try store.append(
            rows.map { ($0.revision, StoreChange(key: $0.key, name: $0.name, value: $0.value)) }, revision: revision)
        try store.close(revision: revision + reservation)
    }

    /// Gives the damaged files other names. The database has both names until the new one replaces it, so a start after
    /// an interruption finds damage, not a folder without a store.
    private static func setAside(_ path: String) throws(StoreError) -> String {
        var number = 1
        while access("\(path).damaged-\(number)", F_OK) == 0 || access("\(path).damaged-\(number)-wal", F_OK) == 0 {
            number += 1
        }
        let aside = "\(path).damaged-\(number)"
        if link(path, aside) != 0, errno != ENOENT { throw .system("link", path) }
        if rename(logPath(path), logPath(aside)) != 0, errno != ENOENT { throw .system("rename", logPath(path)) }
        return aside
    }
}
