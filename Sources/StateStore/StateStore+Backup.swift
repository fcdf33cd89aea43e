import CSQLite
import Glibc

// A copy of the store while a daemon writes to it.
//
// The daemon has SQLite's lock, so the copy reads the files without SQLite. The daemon appends commits to the
// write-ahead log. A checkpoint copies pages of the log into the database, and only after that the log begins anew,
// with other salts in its header. So if the header is the same before the database is copied and after the log is
// copied, every page that a checkpoint changed meanwhile is also in the copied log, which takes precedence. Otherwise
// the copy begins again. The daemon makes no checkpoints while the copy has the lock of the file, so the log can
// begin anew only once.

extension StateStore {
    public struct Backup {
        public var epoch: String
        /// The last revision whose changes the backup contains.
        public var revision: UInt64
        public var rows: Int
    }

    /// A log can begin anew once for a checkpoint before the copy, and when the daemon starts or ends.
    private static let copyAttempts = 10

    /// The size of the system's pages. A write fills its page cache from front to back.
    private static let pageSize = 4096

    /// Writes the store of a directory into one file, which can replace the store. An existing file is replaced when
    /// the new one is complete. A daemon may run meanwhile.
    ///
    /// Subscribers of the backup's epoch cannot resume over it: they may have seen later revisions.
    /// - Throws: `damaged`, `foreign`, `denied`, `failed`.
    public static func backUp(directory: String, to file: String) throws(StoreError) -> Backup {
        let source = directory + "/" + fileName
        let folder = try temporaryFolder(beside: file)
        let copy = folder + "/" + fileName
        defer {
            for name in [copy, logPath(copy), copy + "-shm", copy + "-journal"] { unlink(name) }
            rmdir(folder)
        }
        try copyFiles(source, copy)
        let backup: Backup
        do throws(StoreError) { backup = try close(copy, folder) } catch {
            // The copy has the faults of the store.
            switch error {
            case .damaged(_, let findings):
                throw .damaged(path: source, findings: findings.map { $0.replacing(copy, with: source) })
            case .foreign(_, let reason): throw .foreign(path: source, reason: reason)
            default: throw error
            }
        }
        try confirm(copy)
        if rename(copy, file) != 0 { throw .system("rename", file) }
        // The name, too, is there after a power cut.
        try confirm(file.lastIndex(of: "/").map { $0 == file.startIndex ? "/" : String(file[..<$0]) } ?? ".")
        return backup
    }

    /// Makes the disk confirm a file, or the names in a folder.
    private static func confirm(_ path: String) throws(StoreError) {
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw .system("open", path) }
        defer { Glibc.close(descriptor) }
        if fsync(descriptor) != 0 { throw .system("fsync", path) }
    }

    private static func copyFiles(_ source: String, _ copy: String) throws(StoreError) {
        let lock = Glibc.open(source, O_RDONLY | O_CLOEXEC)
        guard lock >= 0 else {
            guard errno == ENOENT else { throw .system("open", source) }
            throw .failed(
                call: "open", code: ENOENT, message: "there is no store; --state-directory names its folder",
                subject: source)
        }
        defer { Glibc.close(lock) }
        // Waits for the end of a checkpoint.
        while flock(lock, LOCK_SH) != 0 { guard errno == EINTR else { throw .system("flock", source) } }
        for _ in 0..<copyAttempts {
            let before = try logHeader(source)
            try copyFile(source, copy, in: 1 << 20)
            try copyFile(logPath(source), logPath(copy), in: pageSize, mayBeMissing: true)
            if try logHeader(source) == before { return }
        }
        throw .failed(
            call: "copy", code: EBUSY, message: "the daemon began a new write-ahead log during each attempt; try again",
            subject: source)
    }

    /// Makes one complete file of the copied files, and checks all of it.
    private static func close(_ copy: String, _ folder: String) throws(StoreError) -> Backup {
        let lock = try FolderLock(folder, of: copy)
        let log = try WriteAheadLog(path: logPath(copy))
        if let damage = log.damage {
            throw .damaged(
                path: copy,
                findings: [
                    "lost: \(damage.transactions) or more commits in the write-ahead log, at byte \(damage.byte)"
                ])
        }
        let database = try Database(path: copy, lock)
        try prepare(database)
        let (restored, _) = try read(database, log)
        let insert = try database.prepare(setLife)
        // A store restored from this file continues no life that a client has seen.
        for (name, value) in [(machineName, ""), (durabilityName, Durability.off.rawValue), (logName, unusedLog)] {
            try write(name, value, with: insert)
        }
        database.keepLog(false)
        try database.execute("PRAGMA journal_mode = DELETE")
        return Backup(epoch: restored.epoch, revision: restored.changedAt, rows: restored.rows.count)
    }

    private static func temporaryFolder(beside file: String) throws(StoreError) -> String {
        var template = Array("\(file).XXXXXX".utf8CString)
        let path = template.withUnsafeMutableBufferPointer { bytes in
            bytes.baseAddress.flatMap { mkdtemp($0) }.map { String(cString: $0) }
        }
        guard let path else { throw .system("mkdtemp", file) }
        return path
    }

    /// The header of the write-ahead log, with its salts. Empty if there is no log.
    private static func logHeader(_ source: String) throws(StoreError) -> [UInt8] {
        let descriptor = Glibc.open(logPath(source), O_RDONLY | O_CLOEXEC)
        if descriptor < 0, errno == ENOENT { return [] }
        guard descriptor >= 0 else { throw .system("open", logPath(source)) }
        defer { Glibc.close(descriptor) }
        var header = [UInt8](repeating: 0, count: 32)
        let count = pread(descriptor, &header, header.count, 0)
        guard count >= 0 else { throw .system("read", logPath(source)) }
        return Array(header.prefix(count))
    }

    /// Copies a file in pieces, the last one first. The daemon may append to its log meanwhile. If the copy has a piece
    /// of a commit, the pieces before it were read after they had been written.
    private static func copyFile(
        _ from: String, _ to: String, in pieces: Int, mayBeMissing: Bool = false
    ) throws(StoreError) {
        let input = Glibc.open(from, O_RDONLY | O_CLOEXEC)
        if input < 0, errno == ENOENT, mayBeMissing {
            unlink(to)
            return
        }
        guard input >= 0 else { throw .system("open", from) }
        defer { Glibc.close(input) }
        let output = Glibc.open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard output >= 0 else { throw .system("open", to) }
        defer { Glibc.close(output) }
        var status = stat()
        guard fstat(input, &status) == 0 else { throw .system("stat", from) }
        var buffer = [UInt8](repeating: 0, count: pieces)
        var end = Int(status.st_size)
        while end > 0 {
            let start = (end - 1) / pieces * pieces
            var at = start
            while at < end {
                let count = pread(input, &buffer, end - at, off_t(at))
                if count < 0, errno == EINTR { continue }
                guard count >= 0 else { throw .system("read", from) }
                if count == 0 { break }
                var written = 0
                while written < count {
                    let part = buffer[written..<count].withUnsafeBytes {
                        pwrite(output, $0.baseAddress, $0.count, off_t(at + written))
                    }
                    if part < 0, errno == EINTR { continue }
                    guard part >= 0 else { throw .system("write", to) }
                    written += part
                }
                at += count
            }
            end = start
        }
    }
}
