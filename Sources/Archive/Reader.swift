import AttributeValues
import GraphRuntime
import StateStore
import ViewGraph

/// The first record of a segment.
public struct SegmentBasis {
    public var release: String
    public var epoch: String
    public var revision: UInt64
    public var wall: Timestamp
    public var elapsed: Int64
    public var scenes: [(file: String, text: String)] = []
    public var machine: [String: Value] = [:]
    /// True if it begins where the segment before it ends.
    public var continues: Bool

    /// Reads the basis of a segment. nil if there is no segment, or if it has no complete batch yet.
    public init?(of number: UInt64, in folder: String) {
        for most in Segment.basisBytes {
            guard let basis = SegmentReader(number, in: folder, atMost: most)?.basis else { continue }
            self = basis
            return
        }
        return nil
    }

    init(_ value: Value) throws(Failure) {
        guard let map = value.map, let release = map["release"]?.string, let epoch = map["epoch"]?.string,
            case .int(let revision)? = map["revision"], case .timestamp(let wall)? = map["wall"],
            case .int(let elapsed)? = map["elapsed"]
        else { throw FieldReader.unreadable }
        (self.release, self.epoch, self.wall, self.elapsed) = (release, epoch, wall, elapsed)
        self.revision = UInt64(bitPattern: revision)
        continues = map["continues"] == true
        for case .list(let pair) in map["scenes"]?.list ?? [] where pair.count == 2 {
            scenes.append((pair[0].string ?? "", pair[1].string ?? ""))
        }
        for (name, value) in map["machine"]?.map ?? ValueMap() { machine[name.string ?? ""] = value }
    }
}

/// A transaction, as its record says.
public struct RecordedTransaction {
    public var revision: UInt64
    public var wall: Timestamp
    public var elapsed: Int64
    public var author: Author?
    public var label: String?
    public var animation: Value?
    /// False for a record of the time, and for reports that made no revision.
    public var isRevision: Bool

    public init(revision: UInt64, wall: Timestamp, elapsed: Int64) {
        (self.revision, self.wall, self.elapsed, isRevision) = (revision, wall, elapsed, false)
    }
}

/// A state of a segment, by the key of its node and its name there.
public final class RecordedState {
    public let key: String
    public let name: String
    /// As clients write it: without choices and their branches.
    public let path: String
    /// The number of its row among `names`.
    var number = 0
    var names: RowNames?

    init(_ key: String, _ name: String, _ path: String) {
        (self.key, self.name, self.path) = (key, name, path.isEmpty ? RecordedState.path(key, name) : path)
    }

    static func path(_ key: String, _ name: String) -> String { key.isEmpty ? "/.\(name)" : "\(key).\(name)" }
}

/// A record of a segment. Changes belong to the transaction before them.
public enum Record {
    case transaction(RecordedTransaction)
    /// - Parameter isReaction: a reaction or the time has written it.
    case write(RecordedState, Value, isReaction: Bool)
    /// nil as name: all rows of the key that were not written after the revision. nil as value: the row is deleted.
    case row(key: String, name: String?, value: Value?, revision: UInt64)
    case report(RecordedState, steps: String)
    case entries(RecordedState, [Value])
    /// - Parameter elapsed: when the last write was, on the operators' clock.
    case burst(RecordedState, count: Int, elapsed: Int64, least: Value, greatest: Value, last: Value)
    case imageBegins
    case imageRow(key: String, name: String, value: Value)
    case imageEnds
    case end
}

/// Reads the records of one segment, from its beginning on. While it is being written, a later call reads on.
public final class SegmentReader {
    public let number: UInt64
    public let basis: SegmentBasis
    private let folder: String
    let values = ValueReader(maximumDepth: StateStore.maximumDepth)
    private var content: Content
    /// The batch that is being read.
    var fields = FieldReader(UnsafeBufferPointer(start: nil, count: 0))
    /// Where the next batch begins.
    private var nextBatchStart: Int
    var authors: [Author] = []
    var states: [RecordedState] = []
    /// The last transaction that was read.
    public internal(set) var last: RecordedTransaction
    var lastAuthor: Author?
    var lastLabel: String?
    /// The daemon has ended the segment in order.
    public internal(set) var hasEnded = false

    /// The bytes of the file.
    private final class Content {
        let bytes: UnsafeBufferPointer<UInt8>

        init(_ bytes: [UInt8]) {
            let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
            _ = copy.initialize(fromContentsOf: bytes)
            self.bytes = UnsafeBufferPointer(copy)
        }

        deinit { bytes.deallocate() }
    }

    /// - Returns: nil if it is no segment, or has no complete batch yet.
    /// - Parameter most: so many bytes of it are read.
    public init?(_ number: UInt64, in folder: String, atMost most: Int = .max) {
        guard let bytes = Segment.read(number, in: folder, atMost: most) else { return nil }
        let values = ValueReader(maximumDepth: StateStore.maximumDepth)
        var found: SegmentBasis?
        let end = bytes.withUnsafeBufferPointer { buffer in
            Segment.forEachBatch(buffer) { records in
                var fields = FieldReader(records)
                guard (try? fields.byte()) == RecordKind.basis.rawValue, let value = try? fields.value(values) else {
                    return false
                }
                found = try? SegmentBasis(value)
                return false
            }
        }
        guard end != nil, let found else { return nil }
        content = Content(bytes)
        (self.number, self.folder) = (number, folder)
        basis = found
        nextBatchStart = 0
        last = RecordedTransaction(
            revision: found.revision, wall: found.wall, elapsed: found.elapsed)
    }

    /// Makes a copy, which reads on from the same position.
    public init(_ other: SegmentReader) {
        (number, basis, folder) = (other.number, other.basis, other.folder)
        (content, fields, nextBatchStart) = (other.content, other.fields, other.nextBatchStart)
        (authors, states, last) = (other.authors, other.states, other.last)
        (lastAuthor, lastLabel, hasEnded) = (other.lastAuthor, other.lastLabel, other.hasEnded)
    }

    /// The next record; nil if there is none yet.
    /// - Throws: if a batch with the right checksum has no records that this release can read.
    public func next() throws(Failure) -> Record? {
        while true {
            guard beginBatch() else { return nil }
            if let record = try next(&fields) { return record }
        }
    }

    /// - Returns: false if there is no record yet.
    func beginBatch() -> Bool {
        while fields.isAtEnd {
            guard let batch = nextBatch() else { return false }
            fields = FieldReader(batch)
        }
        return true
    }

    private func nextBatch() -> UnsafeBufferPointer<UInt8>? {
        var batch: UnsafeBufferPointer<UInt8>?
        let end = Segment.forEachBatch(content.bytes, from: nextBatchStart) {
            batch = $0
            return false
        }
        nextBatchStart = end ?? nextBatchStart
        return batch
    }

    /// Passes the records that have not been read to `body`, in order, until it returns false.
    public func read(_ body: (Record) -> Bool) throws(Failure) {
        while let record = try next() { if !body(record) { return } }
    }

    /// Reads the bytes that were appended to the segment since. Only between batches.
    /// - Returns: whether there are any.
    public func refresh() -> Bool {
        guard fields.isAtEnd, let more = Segment.read(number, in: folder), more.count > content.bytes.count else {
            return false
        }
        content = Content(more)
        fields = FieldReader(UnsafeBufferPointer(start: nil, count: 0))
        return true
    }

    /// - Returns: nil for a record that only defines an author or a state.
    func next(_ fields: inout FieldReader) throws(Failure) -> Record? {
        guard let kind = RecordKind(rawValue: try fields.byte()) else { throw FieldReader.unreadable }
        switch kind {
        case .basis:
            _ = try fields.value(values)
            return nil
        case .author:
            authors.append(try author(try fields.value(values)))
            return nil
        case .state:
            let key = try fields.text()
            let name = try fields.text()
            states.append(RecordedState(key, name, try fields.text()))
            return nil
        case .transaction: return .transaction(try transaction(&fields))
        case .write, .reaction:
            let state = try known(&fields)
            return .write(state, try fields.value(values), isReaction: kind == .reaction)
        case .row, .deletedRow:
            let (key, name) = (try fields.text(), try fields.text())
            return .row(
                key: key, name: name, value: kind == .row ? try fields.value(values) : nil, revision: last.revision)
        case .deletedKey:
            let key = try fields.text()
            return .row(key: key, name: nil, value: nil, revision: try fields.varint())
        case .report:
            let state = try known(&fields)
            return .report(state, steps: try fields.text())
        case .entries:
            let state = try known(&fields)
            return .entries(state, Array(try fields.value(values).list ?? []))
        case .burst:
            let (state, count) = (try known(&fields), try fields.count())
            let elapsed = last.elapsed &+ (try fields.difference())
            let (least, greatest) = (try fields.value(values), try fields.value(values))
            return .burst(
                state, count: count, elapsed: elapsed, least: least, greatest: greatest,
                last: try fields.value(values))
        case .imageBegins: return .imageBegins
        case .imageRow:
            let (key, name) = (try fields.text(), try fields.text())
            return .imageRow(key: key, name: name, value: try fields.value(values))
        case .imageEnds: return .imageEnds
        case .end:
            hasEnded = true
            return .end
        }
    }

    func known(_ fields: inout FieldReader) throws(Failure) -> RecordedState {
        let number = try fields.count()
        guard number < states.count else { throw FieldReader.unreadable }
        return states[number]
    }

    private func author(_ value: Value) throws(Failure) -> Author {
        guard let fields = value.list, fields.count == 5, case .int(let user) = fields[0],
            case .int(let group) = fields[1], case .int(let process) = fields[2]
        else { throw FieldReader.unreadable }
        return Author(
            peer: Peer(
                pid: Int32(truncatingIfNeeded: process), uid: UInt32(truncatingIfNeeded: user),
                gid: UInt32(truncatingIfNeeded: group)),
            name: fields[3].string, principal: fields[4].string)
    }

    private func transaction(_ fields: inout FieldReader) throws(Failure) -> RecordedTransaction {
        let head = try TransactionHead(&fields)
        var new = last
        new.revision = last.revision &+ head.leap
        guard let time = last.wall.advanced(by: TimeSpan(nanoseconds: head.wall)) else { throw FieldReader.unreadable }
        (new.wall, new.elapsed) = (time, last.elapsed &+ head.elapsed)
        new.isRevision = head.leap != 0
        try setAuthor(head.author)
        if let label = head.label { lastLabel = String(utf8: label) }
        (new.author, new.label) = told(head)
        new.animation = head.hasAnimation ? try fields.value(values) : nil
        last = new
        return new
    }

    func setAuthor(_ number: Int?) throws(Failure) {
        guard let number else { return }
        guard number < authors.count else { throw FieldReader.unreadable }
        lastAuthor = authors[number]
    }

    /// The author and the label of a transaction, when `lastAuthor` and `lastLabel` are known.
    func told(_ head: TransactionHead) -> (Author?, String?) {
        (head.hasAuthor ? lastAuthor : nil, head.hasLabel ? lastLabel : nil)
    }
}
