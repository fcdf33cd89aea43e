import AttributeValues
import CSQLite
import GraphRuntime

// Looking at a store before it is trusted.
extension StateStore {
    /// Takes the file for this process alone, makes the tables of a new one and refuses a strange one.
    static func prepare(_ database: Database, newEpoch: () -> String) throws(StoreError) {
        do throws(StoreError) {
            // Exclusive: a second daemon on the same store is refused, and no shared memory file is needed.
            try database.execute("PRAGMA locking_mode = EXCLUSIVE")
            try database.execute("PRAGMA journal_mode = WAL")
            try database.execute("BEGIN IMMEDIATE; COMMIT")
            let tables = try database.integer("SELECT count(*) FROM sqlite_schema")
            if tables == 0 { return try create(database, epoch: newEpoch()) }
            let application = try database.integer("PRAGMA application_id")
            let version = try database.integer("PRAGMA user_version")
            guard application == applicationID else {
                throw .foreign(path: database.path, reason: "its application id is \(application)")
            }
            guard version == schemaVersion else {
                throw .foreign(path: database.path, reason: "its version is \(version), and \(schemaVersion) is known")
            }
        } catch {
            throw damage(error, database.path)
        }
    }

    private static func create(_ database: Database, epoch: String) throws(StoreError) {
        try database.execute(
            "BEGIN; PRAGMA application_id = \(applicationID); PRAGMA user_version = \(schemaVersion); \(schema)")
        let insert = try database.prepare(setLife)
        try write("epoch", epoch, with: insert)
        try write("revision", "0", with: insert)
        try database.execute("COMMIT")
    }

    /// Writes a row of the table `life`.
    static func write(_ name: String, _ value: String, with statement: Statement) throws(StoreError) {
        statement.bind(1, name)
        statement.bind(2, value)
        statement.bind(3, lifeChecksum(name, value))
        _ = try statement.step()
    }

    private static func lifeChecksum(_ name: String, _ value: String) -> Int64 {
        var sum = Checksum()
        sum.add(name)
        sum.add(value)
        return Int64(sum.value)
    }

    /// Reads the whole store and checks it: SQLite's own check of the file, indexes included, then each row's checksum and form.
    static func read(_ database: Database) throws(StoreError) -> Restored {
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
        let scan = scanJournal(database, ascending: true)
        findings += scan.findings
        guard findings.isEmpty, let epoch = life.epoch, let revision = life.revision else {
            throw .damaged(path: database.path, findings: findings)
        }
        return Restored(
            epoch: epoch, revision: max(revision, scan.rows.last?.revision ?? 0),
            entries: scan.rows.map { ($0.revision, $0.entry) })
    }

    static func readLife(_ database: Database, _ findings: inout [String]) -> (epoch: String?, revision: UInt64?) {
        var life: [String: String] = [:]
        do throws(StoreError) {
            let select = try database.prepare("SELECT name, value, checksum FROM life")
            while try select.step() {
                let (name, value) = (select.text(0), select.text(1))
                if select.integer(2) == lifeChecksum(name, value) { life[name] = value }
            }
        } catch {
            findings.append("the table of epoch and revision cannot be read: \(error)")
        }
        let epoch = life["epoch"].flatMap { $0.isEmpty ? nil : $0 }
        let revision = life["revision"].flatMap { UInt64($0) }
        if epoch == nil { findings.append("the epoch is missing or damaged") }
        if revision == nil { findings.append("the revision is missing or damaged") }
        return (epoch, revision)
    }

    struct Row {
        var sequence: Int64
        var revision: UInt64
        var entry: JournalEntry
    }

    /// The rows that can be read, up to the first that SQLite itself fails at, and what is wrong with the others.
    static func scanJournal(_ database: Database, ascending: Bool) -> (rows: [Row], findings: [String], isWhole: Bool) {
        var rows: [Row] = []
        var findings: [String] = []
        let parser = JSONParser(maximumDepth: JournalRow.maximumDepth)
        do throws(StoreError) {
            let select = try database.prepare(
                "SELECT sequence, revision, kind, path, body, checksum FROM journal ORDER BY sequence \(ascending ? "ASC" : "DESC")")
            while try select.step() {
                let revision = UInt64(bitPattern: select.integer(1))
                let path = select.text(3)
                do throws(Failure) {
                    let entry = try JournalRow.read(
                        revision: revision, kind: select.integer(2), path: path, body: select.bytes(4),
                        checksum: select.integer(5), parser)
                    rows.append(Row(sequence: select.integer(0), revision: revision, entry: entry))
                } catch {
                    findings.append("lost: the entry for \(path) at revision \(revision): \(error.message)")
                }
            }
        } catch {
            let last = rows.last.map { "revision \($0.revision)" } ?? "the \(ascending ? "start" : "end")"
            findings.append("the journal cannot be read \(ascending ? "behind" : "before") \(last): \(error)")
            return (rows, findings, false)
        }
        return (rows, findings, true)
    }

    /// A failure that says the file is no sound database is damage.
    private static func damage(_ error: StoreError, _ path: String) -> StoreError {
        guard case .failed(_, let code, let message, _) = error,
            [SQLITE_CORRUPT, SQLITE_NOTADB].contains(code & 0xff)
        else { return error }
        return .damaged(path: path, findings: ["the file cannot be read as a database: \(message)"])
    }
}
