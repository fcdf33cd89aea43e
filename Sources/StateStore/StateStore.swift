import AttributeValues
import CSQLite
import GraphRuntime

/// What survives the daemon: definitions and durable states, in an SQLite file.
///
/// The file holds a journal in which a newer value of a state takes the place of the older one, and a state that is gone takes
/// its value with it: values grow with the graph and not with time. Changes of structure are kept each with what it said, so that
/// scenes which the daemon starts with may change below them, until the runtime says that the tree no longer stands on them. Replayed in order, over the scenes that the daemon starts
/// with, it gives the graph back: a state's value stands behind the definitions that made it and before those that came later.
///
/// One `append` is one SQLite transaction. With `durability: full` it is on the disk when `append` returns.
public final class StateStore {
    /// What an acknowledged change survives.
    public enum Durability: String, CaseIterable, Sendable {
        /// `kill -9` and a power cut: the disk confirms each turn.
        case full
        /// `kill -9`; a power cut may take the last seconds, but never damages the store.
        case normal
        /// `kill -9`; a power cut may damage the store.
        case off
    }

    /// How a store is found at start.
    public struct Restored {
        public var epoch: String
        /// No client can have seen a later one.
        public var revision: UInt64
        /// Who has seen this revision or a later one has seen nothing that the store does not hold, and from here on nothing has changed
        /// but values of states.
        public var resumableFrom: UInt64
        /// To be replayed in order.
        public var entries: [(revision: UInt64, entry: JournalEntry)]
        /// Whether there was none, and it begins with this start.
        public var isNew = false
        /// Whether it was ever made from what a damaged one still had.
        public var isSalvaged = false
        /// What had to be left behind, for the log: by `recover`, or by a crash.
        public var losses: [String] = []
    }

    public let path: String
    private let database: Database
    private let insert: Statement
    private let delete: Statement
    private let deleteRow: Statement
    private let selectRow: Statement
    private let setLife: Statement
    private var nextSequence: Int64
    /// Clients may be told of revisions below this without another word to the disk.
    private var reserved: UInt64
    private var resumableFrom: UInt64
    /// Where the changes of structure stand that are here, by number.
    private var structure: [Int: Int64]
    /// The number of the next one.
    private var changes: Int
    private let parser = JSONParser(maximumDepth: JournalRow.maximumDepth)
    /// The last entry of each state in the turn at hand; kept for its memory.
    private var lastWrites: [String: Int] = [:]

    static let fileName = "state.db"
    static let applicationID: Int64 = 0x6167_6431
    static let schemaVersion: Int64 = 1
    /// Revisions reserved at once. Transactions that write only transient states cost no commit that way, and a daemon that
    /// was killed continues behind the reservation: its clients never see a revision twice.
    static let reservation: UInt64 = 1 << 20

    static let schema = """
        CREATE TABLE life(name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE journal(
            sequence INTEGER PRIMARY KEY, revision INTEGER NOT NULL, kind INTEGER NOT NULL,
            path TEXT NOT NULL, body BLOB NOT NULL, checksum INTEGER NOT NULL);
        CREATE UNIQUE INDEX state_path ON journal(path) WHERE kind = 0;
        """

    /// The row of `life` that says whether the write-ahead log must be there: written into the database itself, before the
    /// first change and behind the last. A store of an earlier version has no such row.
    static let resumableName = "resumable"
    static let logName = "log"
    /// The row of `life` that a recovered store has.
    static let salvagedName = "salvaged"
    static let usedLog = "used"
    static let unusedLog = "unused"

    static let setLife = "INSERT OR REPLACE INTO life(name, value, checksum) VALUES(?1, ?2, ?3)"

    /// - Parameter structure: where the changes of structure stand that are in the database, in order.
    init(_ database: Database, path: String, revision: UInt64, resumableFrom: UInt64 = 0, structure: [Int64] = []) throws(StoreError) {
        self.structure = Dictionary(uniqueKeysWithValues: structure.enumerated().map { ($0.offset, $0.element) })
        changes = structure.count
        self.database = database
        self.path = path
        insert = try database.prepare(
            "INSERT OR REPLACE INTO journal(sequence, revision, kind, path, body, checksum) VALUES(?1, ?2, ?3, ?4, ?5, ?6)")
        // '0' is the character behind '/', which is the one behind '.': the range holds attributes and nodes below a node, or
        // the properties of an attribute's object. The first bound is for SQLite, which would look at all states without it.
        delete = try database.prepare(
            "DELETE FROM journal WHERE kind = 0 AND path >= ?1 AND path < ?1 || '0' AND (path = ?1 OR path > ?1 || '.')")
        deleteRow = try database.prepare("DELETE FROM journal WHERE sequence = ?1")
        selectRow = try database.prepare("\(StateStore.selectRows) WHERE sequence = ?1")
        setLife = try database.prepare(StateStore.setLife)
        nextSequence = try database.integer("SELECT ifnull(max(sequence), 0) FROM journal") + 1
        reserved = revision
        self.resumableFrom = resumableFrom
    }

    /// Commits what a turn has accepted, before anybody hears of it.
    ///
    /// - Parameters:
    ///   - revision: the runtime's, after the turn.
    ///   - floor: the first revision from which a client can resume in a later life; nil: as it was.
    /// - Throws: `failed`. The entries are not in the store then.
    public func append(_ accepted: [(revision: UInt64, entry: JournalEntry)], revision: UInt64, resumableFrom floor: UInt64? = nil) throws(StoreError) {
        let floor = floor ?? resumableFrom
        if accepted.isEmpty, revision <= reserved, floor == resumableFrom { return }
        try database.execute("BEGIN IMMEDIATE")
        do throws(StoreError) {
            if revision > reserved { try reserve(revision + StateStore.reservation) }
            if floor != resumableFrom { try StateStore.write(StateStore.resumableName, String(floor), with: setLife) }
            try write(accepted)
            try database.execute("COMMIT")
        } catch {
            try? database.execute("ROLLBACK")
            throw error
        }
        resumableFrom = floor
    }

    /// Gives back memory that a larger graph has needed.
    public func giveBack() {
        structure.giveBack()
        lastWrites = [:]
    }

    private func write(_ accepted: [(revision: UInt64, entry: JournalEntry)]) throws(StoreError) {
        lastWrites.removeAll(keepingCapacity: true)
        for (place, accepted) in accepted.enumerated() {
            if case .state(let path, _) = accepted.entry { lastWrites[path] = place }
        }
        for (place, accepted) in accepted.enumerated() {
            switch accepted.entry {
            case .state(let path, _): if lastWrites[path] != place { continue }
            case .removed(let path), .forgotten(let path): try forget(path)
            case .void(let changes): for change in changes { try takeOut(change) }
            case .rekeyed(let changes, let old, let new):
                for change in changes { try rekey(change, from: old, to: new, accepted.revision) }
            case .applied, .moved: break
            }
            guard let row = JournalRow(revision: accepted.revision, accepted.entry) else { continue }
            if accepted.entry.isStructure {
                structure[changes] = nextSequence
                changes += 1
            }
            try write(row)
        }
    }

    /// Deletes the states of a node or attribute, with those below.
    private func forget(_ path: String) throws(StoreError) {
        try delete.bind(1, path == "/" ? "" : path)
        _ = try delete.step()
    }

    /// Deletes a change of structure.
    private func takeOut(_ change: Int) throws(StoreError) {
        guard let sequence = structure.removeValue(forKey: change) else { return }
        try deleteRow.bind(1, sequence)
        _ = try deleteRow.step()
    }

    /// Puts a change of structure behind all others, with its paths as they are now.
    private func rekey(_ change: Int, from old: String, to new: String, _ revision: UInt64) throws(StoreError) {
        guard let sequence = structure[change] else { return }
        try selectRow.bind(1, sequence)
        defer { selectRow.reset() }
        guard try selectRow.step() else { return }
        let entry: JournalEntry
        do throws(Failure) { entry = try StateStore.row(selectRow, parser).entry } catch {
            throw .damaged(path: path, findings: [error.message])
        }
        try takeOut(change)
        guard let row = JournalRow(revision: revision, entry.rekeyed(from: old, to: new)) else { return }
        structure[change] = nextSequence
        try write(row)
    }

    private func write(_ row: JournalRow) throws(StoreError) {
        try insert.bind(1, nextSequence)
        try insert.bind(2, Int64(bitPattern: row.revision))
        try insert.bind(3, row.kind)
        try insert.bind(4, row.path)
        try row.body.withBytes { (bytes) throws(StoreError) in try insert.bind(5, bytes) }
        try insert.bind(6, row.checksum)
        _ = try insert.step()
        nextSequence += 1
    }

    private func reserve(_ revision: UInt64) throws(StoreError) {
        try StateStore.write("revision", String(revision), with: setLife)
        reserved = revision
    }

    /// From here on, until `close`, what the database lacks stands in the log: a start that finds no log says so.
    ///
    /// A log that is there begins anew, so that nothing of an earlier crash stands behind its end.
    func beginLog() throws(StoreError) {
        try StateStore.write(StateStore.logName, StateStore.unusedLog, with: setLife)
        try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try StateStore.write(StateStore.logName, StateStore.usedLog, with: setLife)
        // Copies this into the database and leaves it in the log as well: at no moment the one says that the other is in use
        // and it is empty.
        try database.execute("PRAGMA wal_checkpoint(FULL)")
    }

    /// Ends in order: the next start continues right behind `revision`.
    public func close(revision: UInt64) throws(StoreError) {
        try reserve(revision)
        try StateStore.write(StateStore.logName, StateStore.unusedLog, with: setLife)
        // One file is left, which can be copied as it is.
        try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.keepLog(false)
    }
}
