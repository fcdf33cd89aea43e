import CSQLite
import Foundation
import TestSupport

/// Counts the rows by key of a running daemon's store. Changes that are not folded yet are not counted: they are those
/// of a few hundred turns. It looks at a copy, because the daemon locks the store. The copy is whole when nothing is
/// written meanwhile.
func storedRows(in store: String) throws -> Int {
    let copy = try Folder()
    for name in ["/state.db", "/state.db-wal"] {
        try FileManager.default.copyItem(atPath: store + name, toPath: copy.path + name)
    }
    var database: OpaquePointer?
    defer { sqlite3_close_v2(database) }
    var statement: OpaquePointer?
    defer { sqlite3_finalize(statement) }
    guard sqlite3_open_v2(copy.file("state.db"), &database, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK,
        sqlite3_prepare_v2(database, "SELECT count(*) FROM rows", -1, &statement, nil) == SQLITE_OK,
        sqlite3_step(statement) == SQLITE_ROW
    else { throw Trouble("the store cannot be read: \(String(cString: sqlite3_errmsg(database)))") }
    return Int(sqlite3_column_int64(statement, 0))
}
