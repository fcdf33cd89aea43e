import BenchmarkSupport
import CSQLite
import Glibc

/// Counts rows of a running daemon's store: changes of structure below /lasting, and all others. It looks at a copy, because the daemon
/// locks the store. The copy is whole when nothing is written meanwhile.
func storedRows(in store: String) throws -> (lasting: Int, others: Int) {
    let copy = store + "-copy"
    guard mkdir(copy, 0o700) == 0 else { throw DaemonProcess.Trouble(description: "mkdir \(copy): errno \(errno)") }
    defer { DaemonProcess.remove(copy) }
    for name in ["/state.db", "/state.db-wal"] { try copyFile(store + name, copy + name) }
    var database: OpaquePointer?
    defer { sqlite3_close_v2(database) }
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    // Kind 0 is a state; all others are changes of structure.
    let query = "SELECT total(kind <> 0 AND path GLOB '/lasting*'), count(*) FROM journal"
    guard sqlite3_open_v2(copy + "/state.db", &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK,
        sqlite3_prepare_v2(database, query, -1, &statement, nil) == SQLITE_OK, sqlite3_step(statement) == SQLITE_ROW
    else { throw DaemonProcess.Trouble(description: "the store cannot be read: \(String(cString: sqlite3_errmsg(database)))") }
    let (lasting, all) = (Int(sqlite3_column_int64(statement, 0)), Int(sqlite3_column_int64(statement, 1)))
    return (lasting, all - lasting)
}

private func copyFile(_ from: String, _ to: String) throws {
    let source = open(from, O_RDONLY)
    let target = open(to, O_WRONLY | O_CREAT, 0o600)
    defer {
        close(source)
        close(target)
    }
    guard source >= 0, target >= 0 else { throw DaemonProcess.Trouble(description: "copy of \(from): errno \(errno)") }
    var count = 1
    while count > 0 { count = sendfile(target, source, nil, 1 << 20) }
    guard count == 0 else { throw DaemonProcess.Trouble(description: "copy of \(from): errno \(errno)") }
}
