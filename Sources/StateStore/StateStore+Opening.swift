import AttributeValues
import CSQLite
import Glibc
import GraphRuntime
import ViewGraph

// Checking and opening a store.
extension StateStore {
    /// Opens the store of a directory, or begins one, and reads it.
    ///
    /// - Parameters:
    ///   - basis: names everything besides the store that the graph depends on. If it differs from the last time, no
    ///     client can resume.
    ///   - machine: names the time since the machine was started.
    ///   - recover: continue with the readable part of a damaged store.
    ///   - newEpoch: makes a name for a new life of the graph.
    /// - Throws: `inUse`, `denied`, `foreign`, `damaged` (nothing is changed then), or `failed`.
    public static func open(
        directory: String, durability: Durability, basis: String = "", machine: String = machineLife(),
        recover: Bool = false,
        newEpoch: () -> String
    ) throws(StoreError) -> (store: StateStore, restored: Restored) {
        let path = directory + "/" + fileName
        let lock = try FolderLock(directory, of: path)
        let losses: [String]
        do throws(StoreError) {
            return try openSound(path, lock, durability, basis, machine, newEpoch)
        } catch {
            guard recover, case .damaged(_, let findings) = error else { throw error }
            losses = try findings + self.recover(path, lock, newEpoch)
        }
        var opened = try openSound(path, lock, durability, basis, machine, newEpoch)
        opened.restored.losses = losses
        return opened
    }

    /// - Throws: as `open`; `damaged` also if `recover` could continue.
    private static func openSound(
        _ path: String, _ lock: FolderLock, _ durability: Durability, _ basis: String, _ machine: String,
        _ newEpoch: () -> String
    ) throws(StoreError) -> (store: StateStore, restored: Restored) {
        let log = try WriteAheadLog(path: logPath(path))
        let isNew = try !exists(path, log)
        if isNew {
            try create(newPath(path), epoch: newEpoch(), lock)
            try putInPlace(path, lock)
        }
        let losses = try losses(log, path, durability)
        let database = try Database(path: path, lock)
        try prepare(database)
        try database.checkpoint()
        var (restored, life) = try read(database, log)
        restored.isNew = isNew
        restored.losses = losses
        if !losses.isEmpty || !life.isContinued(machine: machine, basis) { restored.resumableFrom = restored.revision }
        try beginLife(database, durability, machine: machine, basis, resumableFrom: restored.resumableFrom)
        // Only after the checks, which must not depend on it.
        try database.execute("PRAGMA synchronous = \(durability.synchronous)")
        let store = try StateStore(
            database, path: path, durability: durability, revision: restored.revision,
            resumableFrom: restored.resumableFrom)
        try store.beginLog()
        return (store, restored)
    }

    static func logPath(_ path: String) -> String { path + "-wal" }
    /// A new store is made under this name and renamed when it is complete.
    static func newPath(_ path: String) -> String { path + ".new" }

    /// True if there is a store. A new store is renamed only when it is complete, so an empty file is a damaged store.
    /// SQLite must not open it: it would begin a database there, and delete the log.
    private static func exists(_ path: String, _ log: WriteAheadLog) throws(StoreError) -> Bool {
        var status = stat()
        if stat(path, &status) == 0 {
            if status.st_size > 0 { return true }
            throw .damaged(path: path, findings: ["lost: everything; the file is empty"])
        }
        guard errno == ENOENT else { throw .system("stat", path) }
        if log.size == 0 { return false }
        throw .damaged(
            path: path,
            findings: ["lost: everything; the file does not exist, but its write-ahead log \(logPath(path)) does"])
    }

    /// The lost parts of the write-ahead log, in words.
    /// - Throws: `damaged` if acknowledged commits are lost and a power cut cannot explain that.
    private static func losses(
        _ log: WriteAheadLog, _ path: String, _ durability: Durability
    ) throws(StoreError) -> [String] {
        if let damage = log.damage {
            let finding =
                "lost: \(damage.transactions) or more commits in \(logPath(path)), which is damaged at byte \(damage.byte); "
                + "the \(log.transactions) commits before it can be read"
            if durability == .full { throw .damaged(path: path, findings: [finding]) }
            // The disk did not have to confirm commits, so a power cut may lose one and leave a later one.
            return [finding]
        }
        guard let byte = log.cutOff else { return [] }
        return [
            "left out: an incomplete commit in \(logPath(path)) at byte \(byte). A crash cuts off the last commit, which no "
                + "client had been told of; the log cannot show whether other commits followed"
        ]
    }

    /// Reserves the file for this process, and refuses one that is not a store of this daemon.
    static func prepare(_ database: Database) throws(StoreError) {
        do throws(StoreError) {
            // Exclusive mode needs no shared memory file, and excludes other programs.
            try database.execute("PRAGMA locking_mode = EXCLUSIVE")
            try database.execute("PRAGMA journal_mode = WAL")
            try database.execute("BEGIN IMMEDIATE; COMMIT")
            guard try database.integer("SELECT count(*) FROM sqlite_schema") > 0 else {
                throw .damaged(path: database.path, findings: ["lost: everything; the file has no tables"])
            }
            let application = try database.integer("PRAGMA application_id")
            let version = try database.integer("PRAGMA user_version")
            guard application == applicationID else {
                throw .foreign(path: database.path, reason: "its application id is \(application)")
            }
            guard version >= schemaVersion else {
                throw .foreign(
                    path: database.path,
                    reason:
                        "an earlier version of agd wrote it, in another format; write its tree with 'agctl export' of that "
                        + "version, and apply the document to this version, with an empty folder")
            }
            guard version == schemaVersion else {
                throw .foreign(
                    path: database.path,
                    reason: "its version is \(version), and this agd reads version \(schemaVersion)")
            }
        } catch {
            throw damage(error, database.path)
        }
    }

    /// Makes an empty, complete store in one file.
    static func create(_ path: String, epoch: String, _ lock: FolderLock) throws(StoreError) {
        for suffix in ["", "-wal", "-journal"] where unlink(path + suffix) != 0 && errno != ENOENT {
            throw .system("unlink", path + suffix)
        }
        // SQLite would not report why it cannot make a file.
        let file = Glibc.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw .system("open", path) }
        // Set the mode despite the umask. SQLite gives the log the mode of the database.
        let number = fchmod(file, 0o600) == 0 ? 0 : errno
        Glibc.close(file)
        guard number == 0 else { throw .system("fchmod", path, number) }
        let database = try Database(path: path, lock)
        try database.execute(
            "BEGIN; PRAGMA application_id = \(applicationID); PRAGMA user_version = \(schemaVersion); \(schema)")
        let insert = try database.prepare(setLife)
        try write("epoch", epoch, with: insert)
        try write("revision", "0", with: insert)
        try write(logName, unusedLog, with: insert)
        try database.execute("COMMIT")
    }

    /// Renames a new store to its final name.
    static func putInPlace(_ path: String, _ lock: FolderLock) throws(StoreError) {
        if rename(newPath(path), path) != 0 { throw .system("rename", newPath(path)) }
        try lock.confirmNames()
    }

    /// Writes a row of the table `life`.
    static func write(_ name: String, _ value: String, with statement: Statement) throws(StoreError) {
        try statement.bind(1, name)
        try statement.bind(2, value)
        try statement.bind(3, lifeChecksum(name, value))
        _ = try statement.step()
    }

    private static func lifeChecksum(_ name: String, _ value: String) -> Int64 {
        var sum = Checksum()
        sum.add(name)
        sum.add(value)
        return Int64(sum.value)
    }

    /// Reads and checks the whole store: SQLite's own check of the file, including indexes, and then the checksum and
    /// form of each row.
    /// - Returns: the rows, and the notes of the life before.
    static func read(_ database: Database, _ log: WriteAheadLog) throws(StoreError) -> (restored: Restored, life: Life)
    {
        var findings: [String] = []
        do throws(StoreError) {
            let check = try database.prepare("PRAGMA integrity_check(20)")
            while try check.step() {
                if check.text(0) != "ok" { findings.append(check.text(0)) }
            }
        } catch {
            throw damage(error, database.path)
        }
        let life = readLife(database, &findings)
        let scan = scan(database)
        findings += scan.findings
        if life.hasLog, !log.hasHeader {
            findings.append(
                "lost: all commits after revision \(scan.last); \(logPath(database.path)) "
                    + "is missing, empty, or its header is damaged"
            )
        }
        guard findings.isEmpty, let epoch = life.epoch, let revision = life.revision else {
            throw .damaged(path: database.path, findings: findings)
        }
        let last = max(revision, scan.last)
        let resumable = life.rows[resumableName].flatMap { UInt64($0) }
        // Folded removals have no rows. The store keeps the revision from which clients can resume.
        let moment = scan.rows.firstIndex { $0.key.hasSameBytes(as: momentKey) }
        var rows = scan.rows
        var committed: Timestamp?
        if let moment, case .timestamp(let time) = rows.remove(at: moment).value { committed = time }
        let restored = Restored(
            epoch: epoch, revision: last, changedAt: max(scan.last, resumable ?? 0), resumableFrom: resumable ?? last,
            committed: committed, rows: rows)
        return (restored, life)
    }

    /// The notes of a life, by name.
    struct Life {
        var rows: [String: String] = [:]

        var epoch: String? { rows["epoch"].flatMap { $0.isEmpty ? nil : $0 } }
        var revision: UInt64? { rows["revision"].flatMap { UInt64($0) } }
        /// The daemon did not end in order, so the write-ahead log must exist.
        var hasLog: Bool { rows[StateStore.logName] == StateStore.usedLog }

        /// True if the store has everything that a client can have seen in this life, and the graph's basis is the
        /// same. A killed daemon loses nothing. A machine that went down may lose commits that its disk did not have to
        /// confirm.
        func isContinued(machine: String, _ basis: String) -> Bool {
            guard rows[StateStore.basisName] == basis else { return false }
            if !machine.isEmpty, rows[StateStore.machineName] == machine { return true }
            return switch rows[StateStore.durabilityName].flatMap({ Durability(rawValue: $0) }) {
            case .full: true
            case .normal: !hasLog
            case .off, nil: false
            }
        }
    }

    /// Names the time since the machine was started; empty if that is not known.
    public static func machineLife() -> String {
        (try? TextFile.read("/proc/sys/kernel/random/boot_id").trimmed) ?? ""
    }

    /// Writes the notes about this life for the next start. The disk confirms them before anything else of this life is
    /// written.
    private static func beginLife(
        _ database: Database, _ durability: Durability, machine: String, _ basis: String, resumableFrom: UInt64
    ) throws(StoreError) {
        try database.execute("PRAGMA synchronous = FULL; BEGIN IMMEDIATE")
        let insert = try database.prepare(setLife)
        try write(resumableName, String(resumableFrom), with: insert)
        try write(machineName, machine, with: insert)
        try write(durabilityName, durability.rawValue, with: insert)
        try write(basisName, basis, with: insert)
        try database.execute("COMMIT")
    }

    static let machineName = "machine"
    static let durabilityName = "durability"
    private static let basisName = "basis"

    static func readLife(_ database: Database, _ findings: inout [String]) -> Life {
        var life = Life()
        do throws(StoreError) {
            let select = try database.prepare("SELECT name, value, checksum FROM life")
            while try select.step() {
                let (name, value) = (select.text(0), select.text(1))
                if select.integer(2) == lifeChecksum(name, value) {
                    life.rows[name] = value
                } else {
                    findings.append("the row \"\(name)\" of the table life: its checksum is wrong")
                }
            }
        } catch {
            findings.append("the table of epoch and revision cannot be read: \(error)")
        }
        if life.epoch == nil { findings.append("the epoch is missing or damaged") }
        if life.revision == nil { findings.append("the revision is missing or damaged") }
        return life
    }

    /// The rows that result from the rows by key and the turns after them.
    struct Scan {
        var rows: [StoredRow] = []
        /// The last revision that occurs.
        var last: UInt64 = 0
        var findings: [String] = []
    }

    /// Reads all readable rows. If SQLite fails in a table, the table is read from both ends.
    static func scan(_ database: Database) -> Scan {
        var found = Scan()
        /// In the order of keys and names.
        var rows: [StoredRow] = []
        /// The rows of the keys that turns have changed, or that were read backwards, instead of those in `rows`.
        var changed: [Name: [Name: StoredRow]] = [:]
        let values = ValueReader(maximumDepth: maximumDepth)
        func change(_ key: String, _ change: (inout [Name: StoredRow]) -> Void) {
            if changed[key] == nil {
                let first = rows.partitioningIndex { !$0.key.precedesByBytes(key) }
                let old = rows[first...].prefix { $0.key.hasSameBytes(as: key) }
                changed[key] = Dictionary(old.map { (Name($0.name), $0) }) { $1 }
            }
            change(&changed[key, default: [:]])
        }
        scan(
            "SELECT key, name, revision, value, checksum FROM rows ORDER BY", ["key, name", "key DESC, name DESC"],
            database, &found
        ) { (select) throws(Failure) in
            let (key, name, revision) = (select.text(0), select.text(1), UInt64(bitPattern: select.integer(2)))
            do throws(Failure) {
                let sum = checksum(select.bytes(0), select.bytes(1), revision, select.bytes(3))
                guard sum == select.integer(4) else { throw badChecksum }
                let row = StoredRow(
                    key: key, name: name, revision: revision, value: try values.value(select.bytes(3)))
                let isNext = changed.isEmpty && (rows.isEmpty || rows[rows.count - 1].precedes(row))
                if isNext { rows.append(row) } else { change(key) { $0[name] = row } }
                return revision
            } catch {
                throw Failure(
                    error.code,
                    "lost: the row of \(key)\(name.isEmpty ? "" : "." + name) at revision \(revision): \(error.message)"
                )
            }
        }
        scan("SELECT sequence, revision, body, checksum FROM turns ORDER BY", ["sequence"], database, &found) {
            (select) throws(Failure) in
            let revision = UInt64(bitPattern: select.integer(1))
            do throws(Failure) {
                guard checksum(revision, select.bytes(2)) == select.integer(3) else { throw badChecksum }
                var reader = TurnBody.Reader(select.bytes(2))
                while !reader.isAtEnd {
                    let next = try reader.next()
                    let key = String(decoding: next.key, as: UTF8.self)
                    let value = try next.value.map { (bytes) throws(Failure) in try values.value(bytes) }
                    change(key) { rows in
                        guard let name = next.name.map({ String(decoding: $0, as: UTF8.self) }) else {
                            return rows = rows.filter { $0.value.revision > next.revision }
                        }
                        rows[name] = value.map { StoredRow(key: key, name: name, revision: next.revision, value: $0) }
                    }
                }
                return revision
            } catch {
                throw Failure(error.code, "lost: the changes of the turn at revision \(revision): \(error.message)")
            }
        }
        if !changed.isEmpty {
            rows.removeAll { changed[$0.key] != nil }
            rows += changed.values.flatMap(\.values)
            rows.sort { $0.precedes($1) }
        }
        found.rows = rows
        return found
    }

    private static var badChecksum: Failure { Failure(.unavailable, "its checksum is wrong") }

    /// Visits the rows of a query in the first order. If SQLite itself fails at a row, also visits them in the next
    /// order.
    /// - Parameter visit: takes a row, and returns its revision.
    private static func scan(
        _ query: String, _ orders: [String], _ database: Database, _ found: inout Scan,
        _ visit: (Statement) throws(Failure) -> UInt64
    ) {
        for (number, order) in orders.enumerated() {
            var count = 0
            do throws(StoreError) {
                let select = try database.prepare("\(query) \(order)")
                while try select.step() {
                    count += 1
                    do throws(Failure) { found.last = max(found.last, try visit(select)) } catch {
                        found.findings.append(error.message)
                    }
                }
                return
            } catch {
                found.findings.append(
                    "reading \(number == 0 ? "forwards" : "backwards") stopped after \(count) rows: \(error)")
            }
        }
    }

    /// Turns an SQLite error about an unsound file into `damaged`.
    private static func damage(_ error: StoreError, _ path: String) -> StoreError {
        guard case .failed(_, let code, let message, _) = error,
            [SQLITE_CORRUPT, SQLITE_NOTADB].contains(code & 0xff)
        else { return error }
        return .damaged(path: path, findings: ["the file cannot be read as a database: \(message)"])
    }
}

extension StoredRow {
    fileprivate func precedes(_ other: StoredRow) -> Bool {
        key.hasSameBytes(as: other.key) ? name.precedesByBytes(other.name) : key.precedesByBytes(other.key)
    }
}
