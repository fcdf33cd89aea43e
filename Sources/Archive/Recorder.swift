import AttributeGraph
import AttributeValues
import GraphRuntime
import StateStore
import ViewGraph

/// Writes what the runtime tells as records of the present segment. The bytes wait in memory until the archive writes
/// them.
final class Recorder: TransactionRecorder {
    private let feed: StoreFeed
    /// Records that wait for the next batch.
    let bytes = ByteBuffer(capacity: 1 << 16)
    /// False while there is no segment to write to.
    var isOn = false

    /// By row of the engine.
    private var slots: [Slot] = []
    /// Where the fields of a transaction and of its first write are put together.
    private let memory = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: 128)
    private var stateCount: UInt32 = 0
    private var authors: [ObjectIdentifier: (author: Author, number: UInt32)] = [:]
    private var authorCount: UInt32 = 0
    private var lastAuthor: Author?
    private var lastLabel: String?
    /// The fields of the last transaction record.
    private var written = Stamp()
    /// The transaction that the runtime has begun.
    private var present = Stamp()
    private var author: Author?
    private var label: String?
    private var animation: Value?
    /// True while the present transaction has no record.
    private var isOpen = false
    /// True if writes of the present transaction are parts of bursts.
    private var isThinned = false
    /// True if the present transaction has taken the numbers from all states.
    private var hasForgotten = false
    /// The bursts that have no record yet.
    private var bursts: [Burst] = []
    /// Rows that belong to no node.
    private var others: [Name: [Name: Value]] = [:]
    private var image: [StoreChange] = []

    /// Increases when `bytes` is emptied.
    private var batch: UInt32 = 1

    /// The number of transactions in the segment.
    private(set) var transactions = 0
    /// The number of writes since the segment began.
    private(set) var writes = 0
    private var imageRows = 0
    /// An estimate of the rows of the next image.
    var rows: Int { max(imageRows, Int(stateCount)) }

    /// When something happened.
    struct Stamp {
        var revision: UInt64 = 0
        /// What `elapsed` follows from.
        var monotonic = 0.0
        var asleep = 0.0
        /// Nanoseconds since 1970.
        var wall: Int64 = 0
        /// Nanoseconds of the operators' clock.
        var elapsed: Int64 = 0
    }

    private struct Slot {
        var state = AttributeID(index: 0, generation: 0)
        /// `none` for a state that is left out.
        var number = Slot.none
        /// Until then, on the operators' clock, its records so far have used up its rate.
        var due = Int64.min / 2
        /// Its position in `bursts`.
        var burst: Int32 = -1
        /// The range of `bytes` that has its present value as the store writes it, and the number of this batch.
        var value: Range<UInt32> = 0..<0
        var batch: UInt32 = 0

        static let none = UInt32.max
    }

    /// Writes of a state that get one record together.
    private struct Burst {
        var state: AttributeID
        var count = 0
        var least: Value
        var greatest: Value
        var last: Value
        var time: Int64
    }

    /// Nanoseconds between two records of a state, on average.
    static let interval: Int64 = 100_000_000
    /// Nanoseconds by which records of a state may be early, so a few writes in a row are kept as they are.
    private static let lead: Int64 = 1_000_000_000
    /// A long value is recorded less often, so a state takes some 100 kB a second at most.
    private static let nanosecondsPerByte: Int64 = 10_000
    /// Authors that are remembered in a segment.
    private static let mostAuthors = 4096
    /// The most bursts without a record.
    private static let mostBursts = 100_000

    init(_ feed: StoreFeed) { self.feed = feed }

    deinit { memory.deallocate() }

    /// The rows of no node with which a life begins: declarations.
    func begin(with rows: [StoredRow]) {
        for row in rows where ![StoreChange.onceKey, StoreChange.willKey].contains(row.key) {
            note(row.key, row.name, row.value)
        }
    }

    /// Begins a segment, whose basis is given.
    func beginSegment(_ basis: Value, at time: Moment, revision: UInt64) {
        removeBytes()
        for position in slots.indices { slots[position] = Slot() }
        stateCount = 0
        (authors, authorCount) = ([:], 0)
        (lastAuthor, lastLabel) = (nil, nil)
        bursts = []
        (isOpen, isThinned) = (false, false)
        stamp(time, revision)
        written = present
        (transactions, writes, imageRows) = (0, 0, 0)
        isOn = true
        bytes.append(record: .basis)
        bytes.append(archived: basis)
    }

    /// Sets when the present transaction happens.
    private func stamp(_ time: Moment, _ revision: UInt64) {
        present.revision = revision
        present.wall = time.wall.seconds * 1_000_000_000 + Int64(time.wall.nanoseconds)
        // All transactions of a turn have one time.
        if time.monotonic == present.monotonic, time.asleep == present.asleep { return }
        present.elapsed = time.elapsed.nanoseconds
        (present.monotonic, present.asleep) = (time.monotonic, time.asleep)
    }

    // MARK: Transactions

    func begin(_ revision: UInt64, at time: Moment, _ author: Author?, _ label: String?, _ animation: Value?) {
        guard isOn else { return }
        close()
        stamp(time, revision)
        if self.author !== author { self.author = author }
        if self.label != nil || label != nil { self.label = label }
        if self.animation != nil || animation != nil { self.animation = animation }
        (isOpen, isThinned, hasForgotten) = (true, false, false)
    }

    /// Writes the record of a transaction that has changed nothing, unless all its writes are parts of bursts.
    private func close() {
        if isOpen, !isThinned { open() }
        isOpen = false
    }

    private func open() {
        var fields = FieldWriter(memory)
        open(&fields)
        bytes.append(fields.written)
    }

    /// Writes the record of the present transaction before the first of its changes.
    /// - Parameter fields: gets the end of the record.
    private func open(_ fields: inout FieldWriter) {
        guard isOpen else { return }
        isOpen = false
        transactions += 1
        var flags: UInt8 = 0
        var number: UInt32 = 0
        if let author {
            if author === lastAuthor {
                flags |= TransactionFlag.sameAuthor
            } else {
                flags |= TransactionFlag.author
                number = self.number(of: author)
                lastAuthor = author
            }
        }
        if let label {
            if let lastLabel, lastLabel.hasSameBytes(as: label) {
                flags |= TransactionFlag.sameLabel
            } else {
                flags |= TransactionFlag.label
            }
        }
        if animation != nil { flags |= TransactionFlag.animation }
        if present.revision != written.revision &+ 1 { flags |= TransactionFlag.leap }
        let (wall, elapsed) = (present.wall &- written.wall, present.elapsed &- written.elapsed)
        if wall == 0, elapsed == 0 { flags |= TransactionFlag.sameTime }
        fields.put(RecordKind.transaction.rawValue)
        fields.put(flags)
        if flags & TransactionFlag.leap != 0 {
            fields.put(difference: Int64(bitPattern: present.revision &- written.revision))
        }
        if flags & TransactionFlag.sameTime == 0 {
            fields.put(difference: wall)
            fields.put(difference: elapsed &- wall)
        }
        if flags & TransactionFlag.author != 0 { fields.put(varint: UInt64(number)) }
        written = present
        guard flags & (TransactionFlag.label | TransactionFlag.animation) != 0 else { return }
        bytes.append(fields.written)
        fields.removeAll()
        if flags & TransactionFlag.label != 0, let label {
            bytes.append(counted: label)
            lastLabel = label
        }
        if let animation { bytes.append(archived: animation) }
    }

    private func number(of author: Author) -> UInt32 {
        if let known = authors[ObjectIdentifier(author)] { return known.number }
        // The numbers go on: a reader needs them all.
        if authors.count >= Recorder.mostAuthors { authors = [:] }
        let number = authorCount
        authorCount += 1
        authors[ObjectIdentifier(author)] = (author, number)
        bytes.append(record: .author)
        bytes.append(
            archived: [
                .int(Int64(author.peer.uid)), .int(Int64(author.peer.gid)), .int(Int64(author.peer.pid)),
                author.name.map { .string($0) } ?? .null, author.principal.map { .string($0) } ?? .null,
            ])
        return number
    }

    // MARK: Values

    func write(_ state: AttributeID, isReaction: Bool) {
        guard isOn else {
            // The image of the next segment has its value.
            _ = feed.storedPlace(of: state)
            return
        }
        let position = Int(state.index)
        if position >= slots.count { slots += repeatElement(Slot(), count: position + 1 - slots.count) }
        if slots[position].state != state { define(state, at: position) }
        // Each access to a slot in its array costs as much as a copy.
        var slot = slots[position]
        if slot.number == Slot.none { return }
        guard let value = feed.value(of: state) else { return }
        writes += 1
        if slot.due &- present.elapsed > Recorder.lead, addToBurst(value, at: position) {
            isThinned = true
            slots[position].batch = 0
            return
        }
        if slot.burst >= 0 {
            recordBurst(slot.burst)
            slot.burst = -1
        }
        var fields = FieldWriter(memory)
        open(&fields)
        fields.put(isReaction ? RecordKind.reaction.rawValue : RecordKind.write.rawValue)
        fields.put(varint: UInt64(slot.number))
        slot.batch = 0
        let isShort = fields.put(scalar: value)
        bytes.append(fields.written)
        let start = bytes.count
        if !isShort, bytes.append(long: value) {
            slot.batch = batch
            slot.value = UInt32(clamping: start + ValueKind.headSize)..<UInt32(clamping: bytes.count)
        }
        let length = bytes.count - start
        slot.due =
            max(slot.due, present.elapsed) &+ max(Recorder.interval, Int64(length) * Recorder.nanosecondsPerByte)
        slots[position] = slot
    }

    func bytes(of state: AttributeID) -> UnsafeBufferPointer<UInt8>? {
        let position = Int(state.index)
        guard position < slots.count, slots[position].state == state, slots[position].batch == batch else { return nil }
        let range = Int(slots[position].value.lowerBound)..<Int(slots[position].value.upperBound)
        return bytes.withBytes { $0.count >= range.upperBound ? UnsafeBufferPointer(rebasing: $0[range]) : nil }
    }

    /// Gives a state its number.
    private func define(_ state: AttributeID, at position: Int) {
        if slots[position].burst >= 0 { recordBurst(slots[position].burst) }
        slots[position] = Slot()
        slots[position].state = state
        guard let (key, name, path) = feed.storedPlace(of: state) else { return }
        slots[position].number = stateCount
        stateCount += 1
        bytes.append(record: .state)
        bytes.append(counted: key)
        bytes.append(counted: name)
        bytes.append(counted: path ?? "")
    }

    /// Makes a write a part of a burst.
    /// - Returns: false if there are too many bursts.
    private func addToBurst(_ value: Value, at position: Int) -> Bool {
        if slots[position].burst >= 0 {
            let index = Int(slots[position].burst)
            bursts[index].count += 1
            bursts[index].time = present.elapsed
            if let new = value.number {
                if bursts[index].least.number.map({ new < $0 }) ?? true { bursts[index].least = value }
                if bursts[index].greatest.number.map({ new > $0 }) ?? true { bursts[index].greatest = value }
            }
            bursts[index].last = value
            return true
        }
        guard bursts.count < Recorder.mostBursts else { return false }
        slots[position].burst = Int32(bursts.count)
        bursts.append(
            Burst(
                state: slots[position].state, count: 1, least: value, greatest: value, last: value,
                time: present.elapsed))
        return true
    }

    /// Records the burst of a state.
    private func recordBurst(_ index: Int32) {
        let burst = bursts[Int(index)]
        // The last one moves to its index.
        bursts[Int(index)] = bursts[bursts.count - 1]
        let moved = Int(bursts[Int(index)].state.index)
        if slots[moved].burst >= 0 { slots[moved].burst = index }
        bursts.removeLast()
        let position = Int(burst.state.index)
        slots[position].burst = -1
        bytes.append(record: .burst)
        bytes.append(varint: UInt64(slots[position].number))
        bytes.append(varint: UInt64(burst.count))
        bytes.append(difference: burst.time &- written.elapsed)
        bytes.append(archived: burst.least)
        bytes.append(archived: burst.greatest)
        bytes.append(archived: burst.last)
    }

    func add(_ report: KeptReport) {
        guard isOn else { return }
        let position = Int(report.state.index)
        if position >= slots.count { slots += repeatElement(Slot(), count: position + 1 - slots.count) }
        if slots[position].state != report.state { define(report.state, at: position) }
        guard slots[position].number != Slot.none, !isThinned else { return }
        open()
        if let keys = report.entries {
            bytes.append(record: .entries)
            bytes.append(varint: UInt64(slots[position].number))
            bytes.append(archived: .list(ValueList(keys)))
        } else {
            bytes.append(record: .report)
            bytes.append(varint: UInt64(slots[position].number))
            bytes.append(counted: report.steps.map(\.description).joined())
        }
    }

    // MARK: Rows

    func add(_ change: StoreChange) {
        // The past performs no request and no last will.
        if [StoreChange.onceKey, StoreChange.willKey].contains(change.key) { return }
        if change.key.utf8.first == UInt8(ascii: "@") { note(change.key, change.name, change.value) }
        guard isOn else { return }
        open()
        guard let name = change.name else {
            bytes.append(record: .deletedKey)
            bytes.append(counted: change.key)
            return bytes.append(varint: change.revision ?? present.revision)
        }
        // Nodes may have moved to other keys.
        if name.isEmpty, !hasForgotten { forgetNumbers() }
        bytes.append(record: change.value == nil ? .deletedRow : .row)
        bytes.append(counted: change.key)
        bytes.append(counted: name)
        if let value = change.value { bytes.append(archived: value) }
    }

    /// Takes the numbers from all states. Each gets another one when it is written.
    private func forgetNumbers() {
        hasForgotten = true
        recordBursts()
        for position in slots.indices { slots[position] = Slot() }
    }

    private func note(_ key: String, _ name: String?, _ value: Value?) {
        guard let name else { return others[Name(key)] = nil }
        others[Name(key), default: [:]][Name(name)] = value
    }

    // MARK: Batches and images

    private func recordBursts() { while !bursts.isEmpty { recordBurst(Int32(bursts.count - 1)) } }

    /// Removes the records that wait.
    func removeBytes() {
        bytes.removeAll()
        batch &+= 1
    }

    /// True if something waits to be written.
    var hasNews: Bool { isOn && (bytes.count > 0 || isOpen || !bursts.isEmpty) }

    /// Completes the records of a batch.
    func settle() {
        close()
        recordBursts()
    }

    func beginImage() {
        settle()
        bytes.append(record: .imageBegins)
    }

    /// Writes the next slice of an image of the graph.
    /// - Parameter node: see `ViewGraph.addImage`.
    /// - Returns: false if it is complete.
    func addImage(from node: inout UInt32, atMost count: Int, at time: Moment, revision: UInt64) -> Bool {
        settle()
        image.removeAll(keepingCapacity: true)
        let hasMore = feed.addImage(from: &node, atMost: count, to: &image)
        for row in image { appendImage(row.key, row.name ?? "", row.value ?? .null) }
        if hasMore { return true }
        for (key, rows) in others { for (name, value) in rows { appendImage(key.text, name.text, value) } }
        mark(at: time, revision)
        bytes.append(record: .imageEnds)
        return false
    }

    private func appendImage(_ key: String, _ name: String, _ value: Value) {
        imageRows += 1
        bytes.append(record: .imageRow)
        bytes.append(counted: key)
        bytes.append(counted: name)
        bytes.append(archived: value)
    }

    /// Records the time, as a transaction without an author and a revision of its own.
    private func mark(at time: Moment, _ revision: UInt64) {
        begin(revision, at: time, nil, nil, nil)
        close()
    }

    /// Ends the segment, because the daemon ends or another segment follows.
    func end(at time: Moment, revision: UInt64) {
        settle()
        mark(at: time, revision)
        bytes.append(record: .end)
    }
}
