import Archive
import AttributeValues
import GraphRuntime
import ViewGraph
import WireProtocol

/// The graph of a moment. It moves along the archive: it begins with an image, as a daemon begins with its store, and
/// performs the recorded transactions.
///
/// A transaction that changes what the edits say of the tree makes the graph anew, from its rows.
///
/// Without operators over time, values follow from the rows of a moment alone. Then a seek performs only the
/// transactions that `explain` can name; of those before, it reads the last value of each state.
package final class PastGraph {
    private let past: Past
    /// nil: nobody uses the graph yet.
    package var client: PastClient?
    private let moments: Moments
    private var reader: SegmentReader { didSet { noteRelease() } }
    /// The release that has recorded the present moment, if it is another one: its rules may have given other values.
    package private(set) var otherRelease: String?
    package private(set) var runtime: GraphRuntime
    /// The rows of the present moment, without the pasts of operators.
    private var table: RowTable
    /// The last transaction that was performed.
    package private(set) var position: RecordedTransaction
    /// The first record that was not performed.
    private var ahead: Record?
    /// Counts the graphs: subscriptions begin again in each.
    package private(set) var generation = 0
    /// Counts the lives. Between two of them nothing is known.
    package private(set) var life = 0
    /// Gets what is known of writes that were too fast to be kept: the state, the least and the greatest value.
    package var onBurst: ((RecordedState, Value, Value) -> Void)?
    /// Gets what the clients hear while records are performed.
    package var onDeliveries: (([Delivery]) -> Void)?
    /// The connection's own monotonic time, for motions.
    private let monotonic: () -> Double

    /// The graph at a moment; nil: as it is now.
    /// - Parameter orLater: if the archive does not reach back so far, the first moment that it has.
    /// - Throws: `notFound` if the archive does not reach back so far.
    package init(
        _ past: Past, at time: PastTime?, orLater: Bool = false, for client: PastClient? = nil,
        monotonic: @escaping () -> Double
    ) throws(Failure) {
        (self.past, self.client, self.monotonic) = (past, client, monotonic)
        moments = Moments(of: past.folder)
        let begun = try moments.begin(at: time, orLater: orLater)
        (reader, table, position) = (begun.reader, begun.table, begun.position)
        runtime = GraphRuntime(
            limits: past.limits, access: past.access, epoch: "", at: Moment(monotonic: 0, wall: position.wall))
        noteRelease()
        try go(to: time, from: begun)
    }

    private func noteRelease() {
        otherRelease = reader.basis.release == Release.name ? nil : reader.basis.release
    }

    // MARK: Making

    /// Makes the graph of the present rows.
    /// - Parameter pasts: has the rows of operators.
    private func make(pasts: [StoredRow]) throws(Failure) {
        let moment = self.moment
        let made = GraphRuntime(
            limits: past.limits, access: past.access, epoch: reader.basis.epoch, revision: position.revision,
            at: moment)
        made.isPast = true
        made.beginWith(reader.basis.machine)
        made.resumeTime(from: pasts)
        for (file, text) in reader.basis.scenes { try made.load(text, file: file) }
        table.deletePasts()
        _ = made.restore(table.all + pasts.filter { $0.name.utf8.contains(UInt8(ascii: " ")) || $0.key == "@time" })
        client?.connect(to: made, at: moment)
        // States that had expired before the image expire again.
        made.beginTurn(at: moment)
        made.pass()
        made.endTurn()
        made.forgetOutcome()
        made.beginPast(at: position.revision)
        made.clients.longestAnswer = past.outputMaximum
        runtime = made
        generation += 1
    }

    /// Gives the graph to a client.
    package func connect(_ client: PastClient) {
        self.client = client
        client.connect(to: runtime, at: moment)
    }

    private var moment: Moment {
        Moment(monotonic: monotonic(), wall: position.wall, recorded: TimeSpan(nanoseconds: position.elapsed))
    }

    /// One turn at the present moment.
    package func apply(_ commands: [Command]) -> [Delivery] {
        var deliveries = runtime.apply(commands, at: moment)
        var all = deliveries.deliveries
        // A job that takes several turns is done at once, because nobody else waits.
        while !deliveries.postponed.isEmpty {
            deliveries = runtime.apply(deliveries.postponed, at: moment)
            all += deliveries.deliveries
        }
        return all
    }

    // MARK: Moving

    /// Goes to another moment; nil: now. Subscriptions have to begin again.
    package func seek(to time: PastTime?) throws(Failure) {
        guard isAhead(time), let next = try peek(until: time) else {
            return try go(to: time, from: try moments.begin(at: time))
        }
        if let time, next.isBeyond(time, in: reader.basis.epoch) { return try advance(to: time) }
        // The reader stands behind the next transaction.
        let present = Moments.Beginning(reader: reader, table: table, position: next)
        let begun = try moments.begin(at: time, or: present)
        guard begun.reader === reader else { return try go(to: time, from: begun) }
        if runtime.hasOperators { return try advance(to: time) }
        let count = try reader.count(upTo: RecordBound(time, in: reader.basis.epoch))
        if count < past.limits.historyLength { return try advance(to: time) }
        try go(to: time, from: begun)
    }

    private func go(to time: PastTime?, from begun: Moments.Beginning) throws(Failure) {
        let most = past.limits.historyLength
        let reader = begun.reader
        let count =
            begun.table.hasPasts || generation > 0 && runtime.hasOperators
            ? 0 : try reader.count(upTo: RecordBound(time, in: reader.basis.epoch))
        guard count > most else {
            try move(to: begun)
            return try advance(to: time)
        }
        var near = begun
        (near.table, near.position) = try reader.fold(count - most, into: begun.table)
        try move(to: near)
        if runtime.hasOperators {
            // They need all transactions.
            try move(to: try moments.begin(at: time))
        }
        try advance(to: time)
    }

    private func move(to begun: Moments.Beginning) throws(Failure) {
        let before = (reader, table, position, ahead)
        (reader, table, position, ahead) = (begun.reader, begun.table, begun.position, nil)
        if generation > 0, reader.basis.epoch == before.0.basis.epoch, leap(from: before.1) { return }
        do throws(Failure) { try make(pasts: table.all) } catch {
            (reader, table, position, ahead) = before
            throw error
        }
    }

    /// Goes on in the same graph, if only values differ.
    private func leap(from before: RowTable) -> Bool {
        if runtime.hasOperators || table.hasPasts { return false }
        var writes: [RecordedWrite] = []
        var left: [String] = []
        for number in table.differing(from: before) {
            let row = table.names.rows[number]
            if row.key.hasPrefix("@") {
                if StoreChange.isOfRuntime(row.key) { continue }
                return false
            }
            if row.name.isEmpty { return false }
            if let value = table[number] {
                writes.append(RecordedWrite(key: row.key, name: row.name, number: number, value: value))
            } else if runtime.hasNode(atKey: row.key) {
                left.append(row.key)
            } else {
                return false
            }
        }
        runtime.beginTurn(at: moment)
        let isDone = runtime.leap(to: writes, at: position.revision, time: table.timeRows)
        end()
        // A state without a row has its first value, which only a new graph can give it.
        return isDone && !left.contains { runtime.hasNode(atKey: $0) }
    }

    /// Performs the records up to a moment; nil: all.
    package func advance(to time: PastTime?) throws(Failure) {
        while let next = try peek(until: time) {
            if let time, next.isBeyond(time, in: reader.basis.epoch) { break }
            try performNext(next)
        }
        if case .time(let wall)? = time { pass(to: wall) }
    }

    /// When the next transaction was; nil if there is none yet. If the life has ended, the graph goes on with the next
    /// one.
    package func nextTime() throws(Failure) -> Timestamp? { try peek()?.wall }

    /// Performs the next transaction.
    package func step() throws(Failure) { if let next = try peek() { try performNext(next) } }

    /// True if the daemon has ended in order and has not begun again.
    package var hasEnded: Bool { reader.hasEnded }

    /// True if a moment is not before the present one.
    package func isAhead(_ time: PastTime?) -> Bool {
        switch time {
        case nil: true
        case .time(let time)?: time >= position.wall
        case .revision(let number, let epoch)?:
            (epoch ?? reader.basis.epoch) == reader.basis.epoch && number >= position.revision
        }
    }

    package var epoch: String { reader.basis.epoch }

    /// Lets clocks and operators show a later moment, at which nothing was written.
    package func pass(to wall: Timestamp) {
        guard let span = wall.since(position.wall), span.nanoseconds >= 0 else { return }
        position.elapsed += span.nanoseconds
        position.wall = wall
        runtime.beginTurn(at: moment)
        runtime.pass()
        end()
    }

    /// The next transaction. Records before it are performed.
    /// - Parameter time: a life that begins later is not looked at; nil: all are.
    private func peek(until time: PastTime? = nil) throws(Failure) -> RecordedTransaction? {
        while true {
            if case .transaction(let transaction)? = ahead { return transaction }
            ahead = nil
            guard let record = try reader.next() else {
                guard try goOn(until: time) else { return nil }
                continue
            }
            switch record {
            case .imageBegins, .imageRow, .imageEnds, .end: break
            default: ahead = record
            }
            // A change without a transaction before it belongs to one that was performed.
            if let record = ahead, case .transaction = record { continue }
            if let record = ahead {
                var changes = Changes(position)
                take(record, into: &changes)
                try perform(changes)
            }
        }
    }

    private func performNext(_ transaction: RecordedTransaction) throws(Failure) {
        ahead = nil
        position = transaction
        var changes = Changes(transaction)
        while let record = try reader.next() {
            if case .transaction = record {
                ahead = record
                break
            }
            take(record, into: &changes)
        }
        if transaction.isRevision || !changes.isEmpty { try perform(changes) }
    }

    /// What a transaction has changed.
    private struct Changes {
        var change: RecordedChange
        /// Keys of nodes whose rows have all gone.
        var removed: [String] = []
        /// True if the graph has to be made from its rows again.
        var haveStructure = false
        var isEmpty = true

        init(_ transaction: RecordedTransaction) {
            change = RecordedChange(
                revision: transaction.revision, author: transaction.author, label: transaction.label,
                animation: transaction.animation)
        }
    }

    private func take(_ record: Record, into changes: inout Changes) {
        table.apply(record, at: position.revision)
        switch record {
        case .transaction, .imageBegins, .imageRow, .imageEnds, .end: return
        case .write(let state, let value, let isReaction):
            let write = recorded(state, value)
            if isReaction { changes.change.reactions.append(write) } else { changes.change.writes.append(write) }
        case .burst(let state, _, _, let least, let greatest, let last):
            onBurst?(state, least, greatest)
            changes.change.writes.append(recorded(state, last))
        case .row(let key, let name, let value, _):
            if name == nil { changes.removed.append(key) }
            if record.changesStructure { changes.haveStructure = true }
            if let name, let value, !key.hasPrefix("@") {
                let number = table.names.number(of: key, name)
                changes.change.reactions.append(RecordedWrite(key: key, name: name, number: number, value: value))
            }
        case .report(let state, let steps):
            changes.change.reports.append(
                RecordedReport(key: state.key, name: state.name, steps: steps, entries: nil))
        case .entries(let state, let keys):
            changes.change.reports.append(
                RecordedReport(key: state.key, name: state.name, steps: "", entries: keys))
        }
        changes.isEmpty = false
    }

    private func recorded(_ state: RecordedState, _ value: Value) -> RecordedWrite {
        RecordedWrite(key: state.key, name: state.name, number: table.names.number(of: state), value: value)
    }

    private func perform(_ changes: Changes) throws(Failure) {
        runtime.beginTurn(at: moment)
        if changes.haveStructure {
            // The operators' clock goes on from the time of the change.
            runtime.pass()
            end()
            return try makeAgain(without: changes.removed)
        }
        runtime.replay(changes.change)
        end()
        // Data removes instances by itself. What is still there was removed by somebody.
        if changes.removed.contains(where: { runtime.hasNode(atKey: $0) }) {
            try makeAgain(without: changes.removed)
        }
    }

    /// Makes the graph anew from its rows.
    /// - Parameter removed: keys of nodes that have gone, with the pasts of operators at and below them.
    private func makeAgain(without removed: [String]) throws(Failure) {
        let pasts = runtime.imageRows().filter { row in
            !removed.contains { row.key == $0 || row.key.hasPrefix($0 + "/") }
        }
        try make(
            pasts: pasts.map {
                StoredRow(key: $0.key, name: $0.name ?? "", revision: position.revision, value: $0.value ?? .null)
            })
    }

    private func end() {
        runtime.endTurn()
        if !runtime.outcome.deliveries.isEmpty { onDeliveries?(runtime.outcome.deliveries) }
        runtime.forgetOutcome()
    }

    /// Goes on with the next segment, or with what was appended to this one.
    /// - Returns: false if there is nothing more.
    private func goOn(until time: PastTime?) throws(Failure) -> Bool {
        let newer = Segment.all(in: past.folder).first { $0.number > reader.number }
        if reader.refresh() { return true }
        guard let newer, let next = SegmentReader(newer.number, in: past.folder) else { return false }
        if next.basis.continues {
            reader = next
            return true
        }
        // The daemon has begun again, or the archive had stopped: its image counts.
        if let time, !next.basis.reaches(time) { return false }
        guard let begun = try moments.image(of: newer, before: nil) else { return false }
        (reader, table, position) = (begun.reader, begun.table, begun.position)
        try make(pasts: begun.table.all)
        life += 1
        return true
    }
}

/// The client of a graph of the past.
package struct PastClient {
    let id: ClientID
    let peer: Peer
    /// The principal for which it acts.
    package var principal: String?

    package init(_ id: ClientID, _ peer: Peer, as principal: String? = nil) {
        (self.id, self.peer, self.principal) = (id, peer, principal)
    }

    fileprivate func connect(to runtime: GraphRuntime, at moment: Moment) {
        _ = runtime.apply([.connected(id, peer)], at: moment)
        guard let principal else { return }
        _ = runtime.apply([.call(id, id: nil, .hello(client: nil, principal: principal))], at: moment)
    }
}

extension Record {
    /// True if the graph has to be made from its rows again.
    fileprivate var changesStructure: Bool {
        guard case .row(let key, let name, _, _) = self else { return false }
        if key.hasPrefix("@") { return !StoreChange.isOfRuntime(key) }
        return name?.isEmpty == true
    }
}
