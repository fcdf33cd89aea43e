import CSQLite
import Glibc

/// One SQLite connection.
///
/// Lifetime: each statement refers to its database, so the database is closed after the last statement.
final class Database {
    fileprivate let handle: OpaquePointer
    let path: String
    /// Locked until the database is closed.
    private let lock: FolderLock
    /// The file opened once more, for the lock between checkpoints and backups. It must not be closed before the
    /// database: that would release SQLite's own locks, too.
    private var backupLock: Int32 = -1

    /// Opens or creates the file. When it is closed, its write-ahead log is not removed.
    init(path: String, _ lock: FolderLock) throws(StoreError) {
        self.lock = lock
        self.path = path
        var handle: OpaquePointer?
        let code = sqlite3_open_v2(path, &handle, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let handle else {
            let message = String(cString: sqlite3_errstr(code))
            let number = sqlite3_system_errno(handle)
            sqlite3_close_v2(handle)
            if StoreError.isDenial(number) { throw .system("open", path, number) }
            throw .failed(call: "open", code: code, message: message, subject: path)
        }
        sqlite3_extended_result_codes(handle, 1)
        self.handle = handle
        // SQLite opens a file read-only if it may not write to it.
        if sqlite3_db_readonly(handle, "main") == 1 {
            throw .system("open", path, access(path, W_OK) == 0 ? EROFS : errno)
        }
        keepLog(true)
    }

    /// If false, the write-ahead log is removed when the database is closed, after all of it has been copied into the
    /// database.
    func keepLog(_ isKept: Bool) {
        var flag: Int32 = isKept ? 1 : 0
        sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &flag)
    }

    deinit {
        sqlite3_close_v2(handle)
        if backupLock >= 0 { close(backupLock) }
    }

    /// Makes SQLite copy the write-ahead log into the database whenever it has 1000 pages (as it does by default),
    /// except during a backup (`StateStore.backUp`), which locks the file.
    func checkpoint() throws(StoreError) {
        backupLock = open(path, O_RDONLY | O_CLOEXEC)
        guard backupLock >= 0 else { throw .system("open", path) }
        // The hook's context pointer is the descriptor.
        sqlite3_wal_hook(
            handle,
            { context, handle, name, pages in
                let lock = Int32(truncatingIfNeeded: Int(bitPattern: context))
                guard pages >= 1000, flock(lock, LOCK_EX | LOCK_NB) == 0 else { return SQLITE_OK }
                sqlite3_wal_checkpoint_v2(handle, name, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
                flock(lock, LOCK_UN)
                return SQLITE_OK
            }, UnsafeMutableRawPointer(bitPattern: Int(backupLock)))
    }

    func execute(_ sql: String) throws(StoreError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        if code != SQLITE_OK { throw failure(sql, code) }
    }

    func prepare(_ sql: String) throws(StoreError) -> Statement {
        var statement: OpaquePointer?
        let code = sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
        guard code == SQLITE_OK, let statement else { throw failure(sql, code) }
        return Statement(self, statement, sql)
    }

    /// The single integer that a statement returns.
    func integer(_ sql: String) throws(StoreError) -> Int64 {
        let statement = try prepare(sql)
        return try statement.step() ? statement.integer(0) : 0
    }

    func failure(_ call: String, _ code: Int32) -> StoreError {
        if code & 0xff == SQLITE_BUSY || code & 0xff == SQLITE_LOCKED { return .inUse(path: path) }
        if [SQLITE_CANTOPEN, SQLITE_IOERR].contains(code & 0xff), StoreError.isDenial(sqlite3_system_errno(handle)) {
            return .system(call, path, sqlite3_system_errno(handle))
        }
        if code & 0xff == SQLITE_READONLY {
            return .denied(path: path, reason: String(cString: sqlite3_errmsg(handle)))
        }
        return .failed(call: call, code: code, message: String(cString: sqlite3_errmsg(handle)), subject: path)
    }
}

/// A compiled statement. The `step` that ends it also resets it.
final class Statement {
    private let database: Database
    private let handle: OpaquePointer
    private let sql: String

    fileprivate init(_ database: Database, _ handle: OpaquePointer, _ sql: String) {
        self.database = database
        self.handle = handle
        self.sql = sql
    }

    deinit { sqlite3_finalize(handle) }

    /// Makes SQLite copy the bytes, so that they need not outlive the call.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

    /// Parameters count from 1.
    func bind(_ parameter: Int32, _ number: Int64) throws(StoreError) {
        try check(sqlite3_bind_int64(handle, parameter, number))
    }

    func bind(_ number: Int32, _ text: String) throws(StoreError) {
        try check(
            sqlite3_bind_text64(handle, number, text, UInt64(text.utf8.count), Statement.copied, UInt8(SQLITE_UTF8)))
    }

    func bind(_ number: Int32, text: UnsafeBufferPointer<UInt8>) throws(StoreError) {
        try text.withMemoryRebound(to: CChar.self) { (text) throws(StoreError) in
            try check(
                sqlite3_bind_text64(
                    handle, number, text.baseAddress, UInt64(text.count), Statement.copied, UInt8(SQLITE_UTF8)))
        }
    }

    func bind(_ number: Int32, _ bytes: UnsafeBufferPointer<UInt8>) throws(StoreError) {
        try check(sqlite3_bind_blob64(handle, number, bytes.baseAddress, UInt64(bytes.count), Statement.copied))
    }

    private func check(_ code: Int32) throws(StoreError) {
        if code != SQLITE_OK { throw database.failure(sql, code) }
    }

    /// - Returns: whether there is a row.
    func step() throws(StoreError) -> Bool {
        let code = sqlite3_step(handle)
        if code == SQLITE_ROW { return true }
        sqlite3_reset(handle)
        if code != SQLITE_DONE { throw database.failure(sql, code) }
        return false
    }

    func reset() { sqlite3_reset(handle) }

    /// Columns count from 0.
    func integer(_ column: Int32) -> Int64 { sqlite3_column_int64(handle, column) }

    func text(_ column: Int32) -> String { String(decoding: bytes(column), as: UTF8.self) }

    /// Valid until the next step.
    func bytes(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
        let start = sqlite3_column_blob(handle, column)
        let count = Int(sqlite3_column_bytes(handle, column))
        return UnsafeBufferPointer(start: start?.assumingMemoryBound(to: UInt8.self), count: start == nil ? 0 : count)
    }
}
