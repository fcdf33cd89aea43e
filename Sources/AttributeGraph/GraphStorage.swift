/// All tables of one graph. Lives in memory of its own, so that a handle is one pointer.
///
/// Lifetime: made by `GraphCore.init`, freed by `GraphCore.deallocate`. Pointers into a table hold until the
/// next creation of an attribute (`vertices`), edge (`edges`) or stack entry; code that calls the host
/// fetches them again afterwards.
@usableFromInline
struct GraphStorage<Host: GraphHost & ~Copyable>: ~Copyable {
    // The evaluation in progress: where the running rule stands in its list of inputs. All three are equal while no
    // reads are tracked. They are set again when the list moves; those of rules that wait are kept as numbers.
    @usableFromInline var cursor: UnsafeMutablePointer<UInt32>
    @usableFromInline var cursorEnd: UnsafeMutablePointer<UInt32>
    @usableFromInline var cursorStart: UnsafeMutablePointer<UInt32>
    /// The rule whose reads are being tracked; 0: none.
    @usableFromInline var reader: UInt32 = 0

    @usableFromInline var edges = EdgePool()
    /// Row 0 is a dead one, for edges whose input is gone.
    @usableFromInline var vertices: VertexTable<Host.Value>
    @usableFromInline var vertexCount: UInt32 = 1
    @usableFromInline var vertexCapacity: UInt32
    @usableFromInline var siblings: UnsafeMutablePointer<Siblings>
    @usableFromInline var freeVertex: UInt32 = 0
    /// Of a row that is used for the first time since the table was cut: no id of before names it.
    @usableFromInline var firstGeneration: UInt32 = 1
    /// Vertices destroyed during a run, to be freed when nothing runs any more.
    @usableFromInline var condemned = Buffer<Condemned>(capacity: 16)

    @usableFromInline var revision: Revision = 1
    @usableFromInline var batchDepth = 0
    /// Rules running since the last observer or outside read began: how deep evaluation is nested.
    @usableFromInline var nesting = 0
    @usableFromInline var nestingLimit = 1000
    /// No evaluation nests further when the machine's stack reaches down to this address.
    @usableFromInline var stackFloor: UInt = 0
    /// Where the machine's stack was when the outermost of the observers began that are being made inside runs; 0: none is.
    @usableFromInline var outermostNewObserver: UInt = 0
    /// Why the end of a run needs a closer look; nearly always empty.
    @usableFromInline var attention: Attention = []
    /// The cursor is hidden so that every tracked read goes the slow way, which settles the batch first.
    @usableFromInline var isCursorHidden = false
    @usableFromInline var hiddenCursor: UInt32 = 0

    /// Old values of inputs written in the open batch.
    @usableFromInline var log: UnsafeMutablePointer<LoggedWrite<Host.Value>>
    @usableFromInline var logCount = 0
    /// As `logCount`: what has not settled is not in the log, it is the rest of the order that is being followed.
    @inlinable static var restOfOrder: Int { -1 }
    @usableFromInline var logCapacity = 16

    @usableFromInline var pending = Buffer<Pending>(capacity: 64)
    /// Up to this height an entry of `pending` can be made without more ado: there is room, and no cycle is open.
    @usableFromInline var freeHeight = 64
    /// What open cycles say of entries of `pending`, by ascending position; nearly always empty.
    @usableFromInline var cycleMarks = Buffer<CycleMark>(capacity: 16)
    @usableFromInline var marking = Buffer<UInt32>(capacity: 64)
    @usableFromInline var invalidated = Buffer<AttributeID>(capacity: 64)
    /// Members of cycles that are not closed yet.
    @usableFromInline var openCycle = Buffer<UInt32>(capacity: 16)
    @usableFromInline var openGroups = Buffer<OpenGroup>(capacity: 16)
    /// Hints overwritten by nested evaluations, to be put back.
    @usableFromInline var overwrittenHints = Buffer<Hint>(capacity: 16)

    @usableFromInline var upcoming = Upcoming.none
    /// How many vertices the write has marked that is upcoming.
    @usableFromInline var markedLast: UInt64 = 0
    /// The orders that inputs have (see `Order`), and how many edges had come and gone when they were made.
    @usableFromInline var steps = Buffer<UInt32>(capacity: 64)
    @usableFromInline var edgeChangesAtOrders: UInt64 = .max
    /// The order that is being followed, and its next step.
    @usableFromInline var followedOrder: UnsafeMutablePointer<Order>?
    @usableFromInline var followedTo: UnsafeMutablePointer<UInt32>

    /// Inputs of fixed rules and observers that are gone, by reader (upper half) and position; nearly always empty.
    @usableFromInline var lostInputs: [UInt64: AttributeID] = [:]

    @usableFromInline var subgraphs = Buffer<SubgraphRow>(capacity: 16)
    @usableFromInline var freeSubgraph: UInt32 = 0
    @usableFromInline var counters = GraphCounters()
    /// A value that no attribute holds (of a removed or failed one), lent to a reader.
    @usableFromInline let spare: UnsafeMutablePointer<Host.Value>
    @usableFromInline var hasSpare = false

    @inlinable
    init() {
        spare = .allocate(capacity: 1)
        cursor = edges.ends
        cursorEnd = cursor
        cursorStart = cursor
        followedTo = cursor
        vertexCapacity = 64
        vertices = VertexTable(capacity: vertexCapacity)
        siblings = .allocate(capacity: 64)
        siblings.initialize(to: Siblings(next: 0, previous: 0))
        log = .allocate(capacity: logCapacity)
        subgraphs.append(SubgraphRow(generation: 1, parent: 0, maker: 0))
        vertex(0).initialize(to: Vertex(kind: .free, flags: .empty, generation: .max, subgraph: 0))
    }

    @inlinable
    deinit {
        for index in 1..<max(1, vertexCount) where vertex(index).pointee.kind != .free {
            if !vertex(index).pointee.flags.contains(.empty) { value(index).deinitialize(count: 1) }
        }
        log.deinitialize(count: logCount)
        log.deallocate()
        vertices.rows.deallocate()
        siblings.deallocate()
        if hasSpare { spare.deinitialize(count: 1) }
        spare.deallocate()
    }

    // MARK: Rows

    @inlinable @inline(__always)
    func vertex(_ index: UInt32) -> UnsafeMutablePointer<Vertex> { vertices[index] }

    @inlinable @inline(__always)
    func value(_ index: UInt32) -> UnsafeMutablePointer<Host.Value> { GraphStorage.value(of: vertices[index]) }

    @inlinable @inline(__always)
    static func value(of vertex: UnsafeMutablePointer<Vertex>) -> UnsafeMutablePointer<Host.Value> {
        VertexTable<Host.Value>.value(of: vertex)
    }

    @inlinable @inline(__always)
    func id(_ index: UInt32) -> AttributeID {
        AttributeID(index: index, generation: vertex(index).pointee.generation)
    }

    @inlinable @inline(__always)
    func isAlive(_ attribute: AttributeID) -> Bool {
        attribute.index < vertexCount && vertex(attribute.index).pointee.generation == attribute.generation
    }

    @inlinable @inline(never)
    mutating func growVertices() {
        let newCapacity = vertexCapacity > UInt32.max / 2 ? UInt32.max : vertexCapacity * 2
        precondition(newCapacity > vertexCapacity, "a graph holds at most four thousand million attributes")
        moveVertices(to: newCapacity)
    }

    /// Gives the rows a table of another size.
    @inlinable @inline(never)
    mutating func moveVertices(to newCapacity: UInt32) {
        vertices.move(to: newCapacity, keeping: vertexCount)
        let moved = UnsafeMutablePointer<Siblings>.allocate(capacity: Int(newCapacity))
        moved.update(from: siblings, count: Int(vertexCount))
        siblings.deallocate()
        siblings = moved
        vertexCapacity = newCapacity
    }

    /// How far nested evaluations may reach down the machine's stack, in bytes, from where the outermost began: what a
    /// thread of any program can spare, and a few hundred levels of ordinary rules.
    @inlinable static var stackBudget: UInt { 256 << 10 }

    /// How far observers that are made inside runs may reach down the machine's stack, in bytes, from where the outermost of them
    /// began: a few hundred levels, without the checks of a debug build.
    @inlinable static var observerStackBudget: UInt { 1 << 20 }

    /// Where the machine's stack is, near enough.
    @inlinable @inline(__always)
    static var stackAddress: UInt {
        var here: UInt8 = 0
        return _withUnprotectedUnsafeMutablePointer(to: &here) { UInt(bitPattern: $0) }
    }

    @inlinable @inline(__always)
    mutating func beginNesting() { stackFloor = GraphStorage.stackAddress &- GraphStorage.stackBudget }

    @inlinable @inline(__always)
    var mayNest: Bool { nesting < nestingLimit && (nesting == 0 || GraphStorage.stackAddress > stackFloor) }

    /// Makes an entry on top of the stack.
    @inlinable @inline(__always)
    mutating func push(_ vertex: UInt32) {
        let position = pending.count
        push(vertex, at: position)
        pending.count = position &+ 1
    }

    /// Makes an entry at a height that may lie one above the written count.
    @inlinable @inline(__always)
    mutating func push(_ vertex: UInt32, at position: Int) {
        if _slowPath(position >= freeHeight) { prepareEntry(at: position) }
        Pending.store(vertex, in: pending.base + position)
    }

    /// Makes room, and notes the entry if cycles are open: members that come later it depends on.
    @inlinable @inline(never)
    mutating func prepareEntry(at position: Int) {
        if position >= pending.capacity {
            pending.count = position
            pending.grow(to: position &* 2)
        }
        if openCycle.count == 0 {
            freeHeight = pending.capacity
        } else {
            forgetCycles(from: position)
            cycleMarks.append(
                CycleMark(
                    position: UInt32(truncatingIfNeeded: position),
                    openBefore: UInt32(truncatingIfNeeded: openCycle.count)))
        }
    }

    /// Drops the marks of entries at a height and above it.
    @inlinable
    mutating func forgetCycles(from position: Int) {
        while let last = cycleMarks.last, Int(last.position) >= position { cycleMarks.count &-= 1 }
    }

    /// What is known of an entry; those above it are gone.
    @inlinable
    mutating func cycleMark(at position: Int) -> CycleMark {
        forgetCycles(from: position &+ 1)
        if let last = cycleMarks.last, Int(last.position) == position { return last }
        return CycleMark(position: UInt32(truncatingIfNeeded: position), openBefore: 0)
    }

    @inlinable @inline(never)
    mutating func growLog() {
        let larger = UnsafeMutablePointer<LoggedWrite<Host.Value>>.allocate(capacity: logCapacity * 2)
        larger.moveInitialize(from: log, count: logCount)
        log.deallocate()
        log = larger
        logCapacity *= 2
    }

    /// Gives the memory of a long batch back. The log is empty.
    mutating func shrinkLog() {
        guard logCapacity > 1024 else { return }
        log.deallocate()
        logCapacity = 16
        log = .allocate(capacity: logCapacity)
    }

    @inlinable @inline(__always)
    var hasRoomInLog: Bool { logCount != logCapacity }

    @inlinable @inline(__always)
    mutating func appendLog(_ input: AttributeID, _ old: consuming Host.Value) {
        (log + logCount).initialize(to: LoggedWrite(input: input, old: old))
        logCount &+= 1
    }
}

/// Vertices with their values, `stride` bytes apart.
///
/// Lifetime: until the table grows, which only the creation of an attribute makes it do.
@usableFromInline
struct VertexTable<Value> {
    @usableFromInline var rows: UnsafeMutableRawPointer

    @inlinable
    init(capacity: UInt32) { rows = .allocate(byteCount: Int(capacity) * VertexTable.stride, alignment: 64) }

    @inlinable @inline(__always)
    static var valueOffset: Int {
        let alignment = MemoryLayout<Value>.alignment
        return (MemoryLayout<Vertex>.size + alignment - 1) & ~(alignment - 1)
    }

    @inlinable @inline(__always)
    static var stride: Int {
        let alignment = max(8, MemoryLayout<Value>.alignment)
        return (valueOffset + MemoryLayout<Value>.size + alignment - 1) & ~(alignment - 1)
    }

    @inlinable @inline(__always)
    subscript(index: UInt32) -> UnsafeMutablePointer<Vertex> {
        (rows + Int(index) &* VertexTable.stride).assumingMemoryBound(to: Vertex.self)
    }

    @inlinable @inline(__always)
    static func value(of vertex: UnsafeMutablePointer<Vertex>) -> UnsafeMutablePointer<Value> {
        (UnsafeMutableRawPointer(vertex) + valueOffset).assumingMemoryBound(to: Value.self)
    }

    /// Moves the first rows into another table.
    @inlinable @inline(never)
    mutating func move(to capacity: UInt32, keeping count: UInt32) {
        let old = self
        self = VertexTable(capacity: capacity)
        if _isPOD(Value.self) {
            rows.copyMemory(from: old.rows, byteCount: Int(count) * VertexTable.stride)
        } else {
            for index in 0..<count {
                self[index].initialize(to: old[index].pointee)
                if !old[index].pointee.flags.contains(.empty) {
                    VertexTable.value(of: self[index]).moveInitialize(from: VertexTable.value(of: old[index]), count: 1)
                }
            }
        }
        old.rows.deallocate()
    }
}

/// Things that happen during a run and matter at its end.
@usableFromInline
struct Attention: OptionSet, BitwiseCopyable {
    @usableFromInline let rawValue: UInt8
    @inlinable @inline(__always)
    init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A read asked for the run to be given up.
    @inlinable static var interrupted: Attention { Attention(rawValue: 1) }
    /// Each input of `reader` has its place in the list as its `hint`.
    @inlinable static var hinted: Attention { Attention(rawValue: 2) }
    /// A cycle has been met and not all members are known yet.
    @inlinable static var cycle: Attention { Attention(rawValue: 4) }
    /// A vertex has been destroyed during a run.
    @inlinable static var condemned: Attention { Attention(rawValue: 8) }
    /// A running observer has written in an open batch.
    @inlinable static var unsettled: Attention { Attention(rawValue: 16) }
    /// The order that was followed is not followed any further.
    @inlinable static var strayed: Attention { Attention(rawValue: 32) }
    /// What cannot matter any more when nothing runs.
    @inlinable static var settledAtRest: Attention { Attention(rawValue: 4 | 16 | 32) }
}

/// Something that waits for the end of all runs: a vertex that was destroyed, or one that must run again.
@usableFromInline
struct Condemned: BitwiseCopyable {
    @usableFromInline let vertex: UInt32
    /// The rule whose run had made it and was still going on, which does not run again for that: it would do the same. 0: none.
    @usableFromInline let maker: UInt32

    /// In place of a maker: the vertex was not destroyed, it must run again.
    @usableFromInline static let runsAgain = UInt32.max

    @inlinable
    init(vertex: UInt32, maker: UInt32) {
        self.vertex = vertex
        self.maker = maker
    }
}

/// A write inside a batch: the input, which may be gone since, and what it held before the batch.
@usableFromInline
struct LoggedWrite<Value> {
    @usableFromInline let input: AttributeID
    @usableFromInline let old: Value

    @inlinable
    init(input: AttributeID, old: consuming Value) {
        self.input = input
        self.old = old
    }
}

/// A vertex on the explicit evaluation stack; each depends, or may depend, on the one above it.
@usableFromInline
struct Pending: BitwiseCopyable {
    @usableFromInline var vertex: UInt32
    /// How many inputs the walk has passed. Once it runs: how many it had read when it was last not the tracked one.
    @usableFromInline var validated: UInt32

    @usableFromInline static let changedBit: UInt32 = 1 << 31
    /// Stands for the input that has changed, where only that one has is known: it is found when asked for.
    @usableFromInline static let unknown = UInt32.max
    /// Stands for no input: the vertex may be on a cycle with one that is running.
    @usableFromInline static let perhapsOnCycle = UInt32.max - 1

    /// Of a vertex over fixed inputs: whether one of those passed has changed.
    @inlinable @inline(__always)
    var hasChanged: Bool { validated & Pending.changedBit != 0 }

    @inlinable @inline(__always)
    var walked: UInt32 { validated & ~Pending.changedBit }

    @inlinable @inline(__always)
    mutating func note(_ walked: UInt32, hasChanged: Bool) {
        validated = hasChanged ? walked | Pending.changedBit : walked
    }

    /// Makes an entry with nothing validated, in one store.
    @inlinable @inline(__always)
    static func store(_ vertex: UInt32, in entry: UnsafeMutablePointer<Pending>) {
        UnsafeMutableRawPointer(entry).storeBytes(of: UInt64(vertex).littleEndian, as: UInt64.self)
    }
}

/// What open cycles say of an entry on the evaluation stack. Without one nothing is open that came after the entry.
@usableFromInline
struct CycleMark: BitwiseCopyable {
    @usableFromInline let position: UInt32
    /// The lowest position of a running vertex that its run has read: it is part of a cycle.
    @usableFromInline var low = UInt32.max
    /// How many members of open cycles there were when the entry was made; those that came later it depends on.
    @usableFromInline let openBefore: UInt32

    @inlinable
    init(position: UInt32, openBefore: UInt32) {
        self.position = position
        self.openBefore = openBefore
    }
}

/// Members of cycles that wait to be closed, from one place in `openCycle` to the next group's: they belong to the
/// component whose lowest running vertex known so far stands at a position of the stack.
@usableFromInline
struct OpenGroup: BitwiseCopyable {
    @usableFromInline let start: UInt32
    @usableFromInline let low: UInt32

    @inlinable
    init(start: UInt32, low: UInt32) {
        self.start = start
        self.low = low
    }
}

@usableFromInline
struct Hint: BitwiseCopyable {
    @usableFromInline let reader: UInt32
    @usableFromInline let vertex: UInt32
    @usableFromInline let hint: UInt32

    @inlinable
    init(reader: UInt32, vertex: UInt32, hint: UInt32) {
        self.reader = reader
        self.vertex = vertex
        self.hint = hint
    }
}
