import Archive
import AttributeValues
import GraphRuntime
import ViewGraph
import WireProtocol

/// The graph of a moment. It moves along the archive: it begins with an image, as a daemon begins with its store, and
/// performs the recorded transactions.
///
/// A transaction that changes what the edits say of the tree makes the graph anew, from its rows.
final class PastGraph {
    private let past: Past
    private let client: ClientID
    private let peer: Peer
    private var reader: SegmentReader
    private(set) var runtime: GraphRuntime
    /// The rows of the present moment, without the pasts of operators.
    private var table = RowTable()
    /// The last transaction that was performed.
    private(set) var position: RecordedTransaction
    /// The first record that was not performed.
    private var ahead: Record?
    /// Counts the graphs: subscriptions begin again in each.
    private(set) var generation = 0
    /// Counts the lives. Between two of them nothing is known.
    private(set) var life = 0
    /// Gets what is known of writes that were too fast to be kept: the state, the least and the greatest value.
    var onStretch: ((RecordedPlace, Value, Value) -> Void)?
    /// The principal for which the client acts.
    var principal: String?
    /// Gets what the clients hear while records are performed.
    var onDeliveries: (([Delivery]) -> Void)?
    /// The connection's own monotonic time, for motions.
    private let monotonic: () -> Double

    /// The graph at a moment; nil: as it is now.
    /// - Parameter orLater: if the archive does not reach back so far, the first moment that it has.
    /// - Throws: `notFound` if the archive does not reach back so far.
    init(
        _ past: Past, at time: PastTime?, orLater: Bool = false, for client: ClientID, _ peer: Peer,
        as principal: String? = nil, monotonic: @escaping () -> Double
    ) throws(Failure) {
        self.principal = principal
        (self.past, self.client, self.peer, self.monotonic) = (past, client, peer, monotonic)
        let begun = try PastGraph.begin(past, at: time, orLater: orLater)
        (reader, table, position) = (begun.reader, begun.table, begun.position)
        runtime = GraphRuntime(limits: past.limits, access: past.access, epoch: "", at: begun.moment)
        try make(pasts: begun.table.all)
        try advance(to: time)
    }

    // MARK: Beginning

    private struct Beginning {
        var reader: SegmentReader
        var table: RowTable
        var position: RecordedTransaction
        var moment: Moment {
            Moment(monotonic: 0, wall: position.wall, recorded: TimeSpan(nanoseconds: position.elapsed))
        }
    }

    /// Reads the last image that is complete at a moment.
    private static func begin(_ past: Past, at time: PastTime?, orLater: Bool) throws(Failure) -> Beginning {
        let segments = Segment.all(in: past.folder)
        guard !segments.isEmpty else {
            throw Failure(.notFound, "the archive \(past.folder) is empty", hint: "agd writes it once a second")
        }
        var end = segments.count
        if case .time? = time, let time {
            // Time goes on from segment to segment.
            end = segments.indices.partitioningIndex { position in
                SegmentBasis(of: segments[position].number, in: past.folder)?.reaches(time) == false
            }
        }
        for segment in segments[..<end].reversed() {
            guard let basis = SegmentBasis(of: segment.number, in: past.folder) else { continue }
            if let time, !basis.reaches(time) { continue }
            if let found = try image(of: segment.number, past, before: time) { return found }
        }
        if orLater {
            for segment in segments { if let found = try image(of: segment.number, past, before: nil) { return found } }
        }
        let oldest = segments.lazy.compactMap { SegmentBasis(of: $0.number, in: past.folder)?.wall }.first
        let begin = oldest.map { ", which begins at \($0)" } ?? ""
        throw Failure(.notFound, "the archive does not reach back so far\(begin)")
    }

    /// - Returns: nil if the segment's image ends after the moment, or is not complete.
    private static func image(
        of number: UInt64, _ past: Past, before time: PastTime?
    ) throws(Failure) -> Beginning? {
        guard let reader = SegmentReader(number, in: past.folder) else { return nil }
        var table = RowTable()
        var position = RecordedTransaction(
            revision: reader.basis.revision, wall: reader.basis.wall, elapsed: reader.basis.elapsed)
        while let record = try reader.next() {
            if case .transaction(let transaction) = record {
                if let time, transaction.isBeyond(time, in: reader.basis.epoch) { return nil }
                position = transaction
            }
            table.apply(record, at: position.revision)
            if case .imageEnds = record { return Beginning(reader: reader, table: table, position: position) }
        }
        return nil
    }

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
        _ = made.apply([.connected(client, peer)], at: moment)
        if let principal {
            _ = made.apply([.call(client, id: nil, .hello(client: nil, principal: principal))], at: moment)
        }
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

    private var moment: Moment {
        Moment(monotonic: monotonic(), wall: position.wall, recorded: TimeSpan(nanoseconds: position.elapsed))
    }

    /// One turn at the present moment.
    func apply(_ commands: [Command]) -> [Delivery] {
        var deliveries = runtime.apply(commands, at: moment)
        var all = deliveries.deliveries
        // What takes several turns is done at once: nobody else waits.
        while !deliveries.postponed.isEmpty {
            deliveries = runtime.apply(deliveries.postponed, at: moment)
            all += deliveries.deliveries
        }
        return all
    }

    // MARK: Moving

    /// Performs the records up to a moment; nil: all.
    func advance(to time: PastTime?) throws(Failure) {
        while let next = try peek(until: time) {
            if let time, next.isBeyond(time, in: reader.basis.epoch) { break }
            try performNext(next)
        }
        if case .time(let wall)? = time { pass(to: wall) }
    }

    /// When the next transaction was; nil if there is none yet. If the life has ended, the graph goes on with the next
    /// one.
    func nextTime() throws(Failure) -> Timestamp? { try peek()?.wall }

    /// Performs the next transaction.
    func step() throws(Failure) { if let next = try peek() { try performNext(next) } }

    /// True if the daemon has ended in order and has not begun again.
    var hasEnded: Bool { reader.hasEnded }

    /// True if a moment is not before the present one.
    func isAhead(_ time: PastTime?) -> Bool {
        switch time {
        case nil: true
        case .time(let time)?: time >= position.wall
        case .revision(let number, let epoch)?:
            (epoch ?? reader.basis.epoch) == reader.basis.epoch && number >= position.revision
        }
    }

    var epoch: String { reader.basis.epoch }

    /// Lets clocks and operators show a later moment, at which nothing was written.
    func pass(to wall: Timestamp) {
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
            if let record = ahead { try perform(position, [record]) }
        }
    }

    private func performNext(_ transaction: RecordedTransaction) throws(Failure) {
        ahead = nil
        var changes: [Record] = []
        loop: while let record = try reader.next() {
            switch record {
            case .transaction:
                ahead = record
                break loop
            case .imageBegins, .imageRow, .imageEnds, .end: break
            default: changes.append(record)
            }
        }
        let isRevision = transaction.isRevision
        position = transaction
        if isRevision || !changes.isEmpty { try perform(transaction, changes) }
    }

    private func perform(_ transaction: RecordedTransaction, _ changes: [Record]) throws(Failure) {
        for change in changes { table.apply(change, at: transaction.revision) }
        let removed = changes.compactMap(\.removedKey)
        if changes.contains(where: \.changesStructure) {
            // The operators' clock goes on from the time of the change.
            runtime.beginTurn(at: moment)
            runtime.pass()
            end()
            return try makeAgain(without: removed)
        }
        var change = RecordedChange(
            revision: transaction.revision, author: transaction.author, label: transaction.label,
            animation: transaction.animation)
        for record in changes {
            switch record {
            case .write(let place, let value, let isReaction):
                let write = RecordedWrite(key: place.key, name: place.name, value: value)
                if isReaction { change.reactions.append(write) } else { change.writes.append(write) }
            case .stretch(let place, _, _, let least, let greatest, let last):
                onStretch?(place, least, greatest)
                change.writes.append(RecordedWrite(key: place.key, name: place.name, value: last))
            case .row(let key, let name?, let value?, _) where !key.hasPrefix("@"):
                change.reactions.append(RecordedWrite(key: key, name: name, value: value))
            case .report(let place, let steps):
                change.reports.append(RecordedReport(key: place.key, name: place.name, steps: steps, entries: nil))
            case .entries(let place, let keys):
                change.reports.append(RecordedReport(key: place.key, name: place.name, steps: "", entries: keys))
            default: break
            }
        }
        runtime.beginTurn(at: moment)
        runtime.replay(change)
        end()
        // Data removes instances by itself. What is still there was removed by somebody.
        if removed.contains(where: { runtime.hasNode(atKey: $0) }) { try makeAgain(without: removed) }
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
        guard let begun = try PastGraph.image(of: newer.number, past, before: nil) else { return false }
        (reader, table, position) = (begun.reader, begun.table, begun.position)
        try make(pasts: begun.table.all)
        life += 1
        return true
    }
}

extension SegmentBasis {
    /// False if a moment is before the segment.
    func reaches(_ time: PastTime) -> Bool {
        switch time {
        case .time(let time): wall <= time
        case .revision(let number, let epoch): (epoch ?? self.epoch) == self.epoch && revision <= number
        }
    }
}

extension RecordedTransaction {
    func isBeyond(_ time: PastTime, in life: String) -> Bool {
        switch time {
        case .time(let time): wall > time
        case .revision(let number, let epoch): (epoch ?? life) != life || revision > number
        }
    }
}

extension Record {
    /// True if the graph has to be made from its rows again.
    fileprivate var changesStructure: Bool {
        guard case .row(let key, let name, _, _) = self else { return false }
        if key.hasPrefix("@") { return !StoreChange.isOfRuntime(key) }
        return name?.isEmpty == true
    }

    /// The key of a node whose rows have all gone.
    fileprivate var removedKey: String? {
        guard case .row(let key, nil, _, _) = self else { return nil }
        return key
    }
}
