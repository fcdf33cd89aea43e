import AttributeValues
import CSQLite
import GraphRuntime
import ViewGraph

/// Stores what clients have changed in the scenes, and the values of durable states, in an SQLite file.
///
/// The file has rows by key and name. A row says what clients changed of one node, or has the value of one state, so
/// the store grows with the tree and not with time. A turn appends one row with all its changes, in order, to the table
/// `turns`. Later, `fold` applies these changes to the rows by key, in slices. Opening a store reads both.
///
/// One `append` is one SQLite transaction. With `durability: full` it is on the disk when `append` returns.
public final class StateStore {
    /// The events that an acknowledged change survives.
    public enum Durability: String, CaseIterable, Sendable {
        /// `kill -9` and a power cut: the disk confirms each turn.
        case full
        /// `kill -9`; a power cut may lose the last seconds, but never damages the store.
        case normal
        /// `kill -9`; a power cut may damage the store.
        case off

        /// SQLite's name for it.
        var synchronous: String { rawValue.uppercased() }
    }

    /// The content of a store at the start.
    public struct Restored {
        public var epoch: String
        /// No client can have seen a later revision. After a crash, it is one that was reserved.
        public var revision: UInt64
        /// The last revision that has changed the store.
        public var changedAt: UInt64
        /// A client that has seen this revision or a later one can resume: the store has everything that the client
        /// has seen, and since this revision only values of states have changed.
        public var resumableFrom: UInt64
        /// When the store was last written, on the wall clock; nil if that is not known.
        public var committed: Timestamp?
        /// Unordered.
        public var rows: [StoredRow]
        /// True if there was no store, so that it begins with this start.
        public var isNew = false
        /// Losses by `recover` or by a crash, for the log.
        public var losses: [String] = []
    }

    public let path: String
    private let durability: Durability
    /// True if changes are on the disk when `append` returns.
    public var waitsForDisk: Bool { durability == .full }
    private let database: Database
    private let appendTurn: Statement
    private let selectTurns: Statement
    private let deleteTurns: Statement
    private let put: Statement
    private let delete: Statement
    private let deleteKey: Statement
    private let setLife: Statement
    private var nextSequence: Int64
    /// Clients may be told of revisions up to this one without another write to the disk.
    private var reserved: UInt64
    private var resumableFrom: UInt64
    /// Turns that are not folded yet.
    public private(set) var turns: Int
    /// The number of bytes of the oldest unfolded turn that have been folded.
    private var folded = 0
    /// The changes of the present turn. Reused, to save allocations.
    private var body = TurnBody()

    /// The row under this key has the time of the last commit. It is written with the rows of each commit.
    static let momentKey = "@moment"

    static let fileName = "state.db"
    static let applicationID: Int64 = 0x6167_6431
    /// Increases with every change that an earlier agd cannot read.
    public static let schemaVersion: Int64 = 4
    /// The number of revisions that are reserved at once. So a transaction that writes only transient states needs no
    /// commit. A daemon that was killed continues after the reservation: its clients never see a revision twice.
    static let reservation: UInt64 = 1 << 20

    static let schema = """
        CREATE TABLE life(name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID;
        CREATE TABLE rows(
            key TEXT NOT NULL, name TEXT NOT NULL, revision INTEGER NOT NULL, value BLOB NOT NULL, \
        checksum INTEGER NOT NULL,
            PRIMARY KEY(key, name)) WITHOUT ROWID;
        CREATE TABLE turns(sequence INTEGER PRIMARY KEY, revision INTEGER NOT NULL, body BLOB NOT NULL, \
        checksum INTEGER NOT NULL);
        """

    /// The row of `life` that says whether the write-ahead log must be there: written into the database itself, before
    /// the first change and behind the last.
    static let logName = "log"
    /// The row of `life` with the value of `Restored.resumableFrom`.
    static let resumableName = "resumable"
    static let usedLog = "used"
    static let unusedLog = "unused"

    static let setLife = "INSERT OR REPLACE INTO life(name, value, checksum) VALUES(?1, ?2, ?3)"

    init(
        _ database: Database, path: String, durability: Durability = .full, revision: UInt64,
        resumableFrom: UInt64 = 0
    ) throws(StoreError) {
        self.database = database
        self.path = path
        self.durability = durability
        appendTurn = try database.prepare(
            "INSERT INTO turns(sequence, revision, body, checksum) VALUES(?1, ?2, ?3, ?4)")
        selectTurns = try database.prepare("SELECT sequence, body FROM turns ORDER BY sequence")
        deleteTurns = try database.prepare("DELETE FROM turns WHERE sequence <= ?1")
        put = try database.prepare(
            "INSERT OR REPLACE INTO rows(key, name, revision, value, checksum) VALUES(?1, ?2, ?3, ?4, ?5)")
        delete = try database.prepare("DELETE FROM rows WHERE key = ?1 AND name = ?2")
        deleteKey = try database.prepare("DELETE FROM rows WHERE key = ?1 AND revision <= ?2")
        setLife = try database.prepare(StateStore.setLife)
        nextSequence = try database.integer("SELECT ifnull(max(sequence), 0) FROM turns") + 1
        turns = Int(try database.integer("SELECT count(*) FROM turns"))
        reserved = revision
        self.resumableFrom = resumableFrom
    }

    /// Commits a turn's changes, before clients hear of them.
    ///
    /// - Parameters:
    ///   - feed: has the states that the turn has written after the changes.
    ///   - revision: the runtime's revision after the turn.
    ///   - floor: the first revision from which a client can resume in a later life; nil: unchanged.
    ///   - time: the present time, with which a later life begins; nil: unchanged.
    /// - Throws: `failed`. The changes are not in the store then.
    public func append(
        _ changes: [(revision: UInt64, change: StoreChange)], _ feed: StoreFeed? = nil, revision: UInt64,
        resumableFrom floor: UInt64? = nil, at time: Timestamp? = nil
    ) throws(StoreError) {
        let floor = floor ?? resumableFrom
        body.removeAll()
        for (revision, change) in changes { body.append(change, revision) }
        if let feed {
            for (state, revision) in feed.written.states {
                feed.withWrittenRow(of: state) { body.append($0, $1, revision, $2, $3) }
            }
        }
        if body.bytes.isEmpty, revision <= reserved, floor == resumableFrom { return }
        if let time, !body.bytes.isEmpty { append(time, revision) }
        // One statement is a transaction by itself.
        let isAlone = revision <= reserved && floor == resumableFrom
        if isAlone { return try writeBody(revision) }
        // Every durability needs this: if the disk lost a reservation, clients would see its revisions twice.
        let isConfirmed = revision > reserved && !waitsForDisk
        if isConfirmed { try database.execute("PRAGMA synchronous = FULL") }
        try transaction { () throws(StoreError) in
            if revision > reserved { try reserve(revision + StateStore.reservation) }
            if floor != resumableFrom { try StateStore.write(StateStore.resumableName, String(floor), with: setLife) }
            if !body.bytes.isEmpty { try writeBody(revision) }
        }
        if isConfirmed { try database.execute("PRAGMA synchronous = \(durability.synchronous)") }
        resumableFrom = floor
    }

    private func append(_ time: Timestamp, _ revision: UInt64) {
        body.append(StoreChange(key: StateStore.momentKey, name: "", value: .timestamp(time)), revision)
    }

    private func transaction(_ body: () throws(StoreError) -> Void) throws(StoreError) {
        try database.execute("BEGIN IMMEDIATE")
        do throws(StoreError) {
            try body()
            try database.execute("COMMIT")
        } catch {
            try? database.execute("ROLLBACK")
            throw error
        }
    }

    /// Gives back memory that a larger graph has needed.
    public func giveBack() { body = TurnBody() }

    private func writeBody(_ revision: UInt64) throws(StoreError) {
        try appendTurn.bind(1, nextSequence)
        try appendTurn.bind(2, Int64(bitPattern: revision))
        try body.bytes.withBytes { (bytes) throws(StoreError) in
            try appendTurn.bind(3, bytes)
            try appendTurn.bind(4, StateStore.checksum(revision, bytes))
        }
        _ = try appendTurn.step()
        nextSequence += 1
        turns += 1
    }

    // MARK: Folding

    /// The limits of one slice, in rows and in bytes of changes: at most a few milliseconds of work.
    public static let sliceRows = 500
    private static let sliceBytes = 1 << 20

    /// Changes of the oldest turns.
    private struct Slice {
        /// The bytes of the turns.
        var bodies: [UnsafeMutableBufferPointer<UInt8>] = []
        /// In order; nil if a later one is of the same row.
        var changes: [TurnBody.Written?] = []
        /// The number of changes that are left, and of the bytes of all.
        var (rows, bytes) = (0, 0)
        /// The number of turns that have no more changes, and the last of them.
        var (turns, sequence) = (0, Int64(0))
        /// Bytes of the next turn that are in the slice.
        var folded = 0
        private var last: [TurnBody.RowBytes: Int] = [:]

        mutating func add(_ change: TurnBody.Written) {
            if let row = change.row, let before = last.updateValue(changes.count, forKey: row) {
                changes[before] = nil
                rows -= 1
            }
            changes.append(change)
            rows += 1
        }

        func free() { for body in bodies { body.deallocate() } }
    }

    /// Applies changes of the oldest turns to the rows by key; only the last one of each row. A turn may take several
    /// slices. It stays until all its changes have been applied, and applying them again has the same result.
    /// - Returns: the number of applied changes.
    @discardableResult
    public func fold(atMost limit: Int = StateStore.sliceRows) throws(StoreError) -> Int {
        guard turns > 0 else { return 0 }
        var slice = Slice()
        defer { slice.free() }
        try read(&slice, atMost: limit)
        try transaction { () throws(StoreError) in
            for case let change? in slice.changes { try perform(change) }
            if slice.turns > 0 {
                try deleteTurns.bind(1, slice.sequence)
                _ = try deleteTurns.step()
            }
        }
        turns -= slice.turns
        folded = slice.folded
        return slice.rows
    }

    private func read(_ slice: inout Slice, atMost limit: Int) throws(StoreError) {
        defer { selectTurns.reset() }
        var position = folded
        while slice.turns < turns, slice.rows < limit, slice.bytes < StateStore.sliceBytes {
            guard try selectTurns.step() else {
                turns = slice.turns
                return
            }
            let stored = selectTurns.bytes(1)
            let body = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: stored.count)
            _ = body.initialize(fromContentsOf: stored)
            slice.bodies.append(body)
            var reader = TurnBody.Reader(UnsafeBufferPointer(body), from: position)
            while slice.rows < limit, slice.bytes < StateStore.sliceBytes, !reader.isAtEnd {
                let start = reader.position
                do throws(Failure) { slice.add(try reader.next()) } catch {
                    throw .damaged(path: path, findings: [error.message])
                }
                slice.bytes += reader.position - start
            }
            guard reader.isAtEnd else {
                slice.folded = reader.position
                return
            }
            (slice.turns, slice.sequence) = (slice.turns + 1, selectTurns.integer(0))
            position = 0
        }
    }

    private func perform(_ change: TurnBody.Written) throws(StoreError) {
        guard let name = change.name else {
            try deleteKey.bind(1, text: change.key)
            try deleteKey.bind(2, Int64(bitPattern: change.revision))
            _ = try deleteKey.step()
            return
        }
        guard let value = change.value else {
            try delete.bind(1, text: change.key)
            try delete.bind(2, text: name)
            _ = try delete.step()
            return
        }
        try put.bind(1, text: change.key)
        try put.bind(2, text: name)
        try put.bind(3, Int64(bitPattern: change.revision))
        try put.bind(4, value)
        try put.bind(5, StateStore.checksum(change.key, name, change.revision, value))
        _ = try put.step()
    }

    private func reserve(_ revision: UInt64) throws(StoreError) {
        try StateStore.write("revision", String(revision), with: setLife)
        reserved = revision
    }

    /// Marks the log as required until `close`: from now on, it has changes that the database lacks, and a start
    /// without the log reports damage.
    ///
    /// An existing log begins anew first, so that its end is not followed by frames from before a crash.
    func beginLog() throws(StoreError) {
        try StateStore.write(StateStore.logName, StateStore.unusedLog, with: setLife)
        try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try StateStore.write(StateStore.logName, StateStore.usedLog, with: setLife)
        // This checkpoint copies the row into the database, and the log also still has it. So the database never says
        // that the log is in use while the log is empty.
        try database.execute("PRAGMA wal_checkpoint(FULL)")
    }

    /// Ends in order: the next start continues directly after `revision`.
    /// - Parameter time: the present time; nil: that of the last commit counts.
    public func close(revision: UInt64, at time: Timestamp? = nil) throws(StoreError) {
        if let time {
            body.removeAll()
            append(time, revision)
            try writeBody(revision)
        }
        while turns > 0 { try fold(atMost: .max) }
        try reserve(revision)
        try StateStore.write(StateStore.logName, StateStore.unusedLog, with: setLife)
        // One file is left, which can be copied.
        try database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.keepLog(false)
    }
}
