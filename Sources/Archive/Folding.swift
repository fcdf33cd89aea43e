import AttributeValues
import GraphRuntime

// Passing over records without performing them. Only the last value of each state counts, so only that is decoded.

/// A moment up to which records are read.
public struct RecordBound {
    public var revision: UInt64
    public var wall: Timestamp?

    public init(revision: UInt64 = .max, wall: Timestamp? = nil) { (self.revision, self.wall) = (revision, wall) }
}

extension SegmentReader {
    /// The number of transactions up to a moment that have not been read yet.
    public func count(upTo bound: RecordBound) throws(Failure) -> Int {
        var table: RowTable?
        return try SegmentReader(self).pass(.max, bound, &table)
    }

    /// Reads transactions and puts the last value of each state into a table.
    /// - Parameter count: the number of transactions.
    /// - Returns: the table, and the last of the transactions.
    public func fold(_ count: Int, into table: RowTable) throws(Failure) -> (RowTable, RecordedTransaction) {
        var folded: RowTable? = table
        _ = try pass(count, RecordBound(), &folded)
        return (folded ?? table, last)
    }

    /// Reads at most so many transactions, up to the bound.
    /// - Parameter table: gets the values; nil: they are only counted.
    /// - Returns: the number of transactions.
    private func pass(_ most: Int, _ bound: RecordBound, _ table: inout RowTable?) throws(Failure) -> Int {
        var writes = LastWrites()
        var present = last
        var count = 0
        let latest = bound.wall.flatMap { $0.since(present.wall)?.nanoseconds } ?? .max
        var passed: Int64 = 0
        reading: while beginBatch() {
            var fields = fields
            defer { self.fields = fields }
            while !fields.isAtEnd {
                let before = fields
                switch RecordKind(rawValue: try fields.byte()) {
                case .transaction:
                    let head = try TransactionHead(&fields)
                    let revision = present.revision &+ head.leap
                    if count == most || revision > bound.revision || passed &+ head.wall > latest {
                        fields = before
                        break reading
                    }
                    count += 1
                    passed &+= head.wall
                    present.revision = revision
                    present.elapsed &+= head.elapsed
                    present.isRevision = head.leap != 0
                    writes.head = head
                    try setAuthor(head.author)
                    if let label = head.label { writes.label = label }
                    if head.hasAnimation { try fields.skipValue() }
                case .write, .reaction:
                    let state = try fields.count()
                    try note(state, &fields, present.revision, in: &writes)
                case .burst:
                    let state = try fields.count()
                    _ = try fields.varint()
                    _ = try fields.varint()
                    try fields.skipValue()
                    try fields.skipValue()
                    try note(state, &fields, present.revision, in: &writes)
                case .report:
                    _ = try fields.varint()
                    try fields.skipText()
                case .entries:
                    _ = try fields.varint()
                    try fields.skipValue()
                default:
                    // They are few.
                    fields = before
                    last.revision = present.revision
                    guard let record = try next(&fields), table != nil else { continue }
                    try decode(&writes, into: &table)
                    table?.apply(record, at: present.revision)
                }
            }
        }
        try decode(&writes, into: &table)
        if count > 0 {
            guard let wall = last.wall.advanced(by: TimeSpan(nanoseconds: passed)) else { throw FieldReader.unreadable }
            present.wall = wall
            if let label = writes.label { lastLabel = String(utf8: label) }
            (present.author, present.label) = told(writes.head)
            present.animation = nil
            last = present
        }
        return count
    }

    /// Notes the value that follows as the last one of a state.
    @inline(__always)
    private func note(
        _ state: Int, _ fields: inout FieldReader, _ revision: UInt64, in writes: inout LastWrites
    ) throws(Failure) {
        guard state < states.count else { throw FieldReader.unreadable }
        writes.add(state, fields, revision)
        try fields.skipValue()
    }

    private func decode(_ writes: inout LastWrites, into table: inout RowTable?) throws(Failure) {
        for state in writes.written {
            writes.values[state].isListed = false
            guard let names = table?.names else { continue }
            var fields = writes.values[state].fields
            table?.put(names.number(of: states[state]), try fields.value(values), at: writes.values[state].revision)
        }
        writes.written.removeAll(keepingCapacity: true)
    }
}

/// The last write of each state, before it is decoded.
private struct LastWrites {
    struct Write {
        var fields: FieldReader
        var revision: UInt64
        var isListed: Bool
    }

    /// By the number of a state.
    var values: [Write] = []
    var written: [Int] = []
    /// The head of the last transaction.
    var head = TransactionHead()
    /// The last label that was written out.
    var label: UnsafeBufferPointer<UInt8>?

    mutating func add(_ state: Int, _ value: FieldReader, _ revision: UInt64) {
        if state >= values.count {
            let missing = max(state + 1, 2 * values.count) - values.count
            values += repeatElement(Write(fields: value, revision: 0, isListed: false), count: missing)
        }
        if !values[state].isListed { written.append(state) }
        values[state] = Write(fields: value, revision: revision, isListed: true)
    }
}
