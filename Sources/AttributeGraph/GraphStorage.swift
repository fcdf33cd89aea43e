/// All tables of one graph, in a memory block of their own, so that a handle is one pointer.
///
/// Lifetime: made by `GraphCore.init`, freed by `GraphCore.deallocate`. A pointer into a table is valid until the next
/// attribute (`vertices`), edge (`edges`) or stack entry is created. Code that calls the host must get its pointers
/// again afterwards.
@usableFromInline
package struct GraphStorage<Host: GraphHost & ~Copyable>: ~Copyable {
    @usableFromInline package var tracking: Tracking
    @usableFromInline package var edges: EdgePool
    /// Row 0 stands for destroyed inputs; it is never alive.
    @usableFromInline package var vertices = VertexTable<Host.Value>(capacity: 64)

    @usableFromInline package var revision: Revision = 1
    @usableFromInline package var batchDepth = 0
    /// The number of running rules: the depth of nested evaluation.
    @usableFromInline package var nesting = 0
    @usableFromInline package var nestingLimit = 1000
    /// Evaluations nest no further when the machine's stack has grown down to this address.
    @usableFromInline package var stackFloor: UInt = 0
    /// Reasons to look closer at the end of a run; nearly always empty.
    @usableFromInline package var attention: Attention = []

    @usableFromInline package var log = WriteLog<Host.Value>()
    @usableFromInline package var pending = Buffer<Pending>(capacity: 64)
    /// Below this height, an entry of `pending` needs no preparation: there is space, and no cycle is open.
    @usableFromInline package var freeHeight = 64
    @usableFromInline package var cycles = OpenCycles()
    @usableFromInline package var marking = Buffer<UInt32>(capacity: 64)
    @usableFromInline package var invalidated = Buffer<AttributeID>(capacity: 64)

    @usableFromInline package var counters = GraphCounters()
    /// A value that belongs to no attribute (that of a removed or failed one), lent to a reader.
    @usableFromInline package let spare: UnsafeMutablePointer<Host.Value>
    @usableFromInline package var hasSpare = false

    @inlinable
    package init() {
        spare = .allocate(capacity: 1)
        let pool = EdgePool()
        tracking = Tracking(at: pool.ends)
        edges = pool
        vertex(0).initialize(to: Vertex(kind: .free, flags: .empty, generation: .max))
        evaluations(0).initialize(to: 0)
    }

    @inlinable
    deinit {
        for index in 1..<max(1, vertices.count) where vertex(index).pointee.kind != .free {
            if !vertex(index).pointee.flags.contains(.empty) { value(index).deinitialize(count: 1) }
        }
        log.entries.deinitialize(count: log.count)
        log.entries.deallocate()
        vertices.deallocate()
        if hasSpare { spare.deinitialize(count: 1) }
        spare.deallocate()
    }

    // MARK: Rows

    @inlinable @inline(__always)
    package func vertex(_ index: UInt32) -> UnsafeMutablePointer<Vertex> { vertices[index] }

    @inlinable @inline(__always)
    package func value(_ index: UInt32) -> UnsafeMutablePointer<Host.Value> { GraphStorage.value(of: vertices[index]) }

    @inlinable @inline(__always)
    package static func value(of vertex: UnsafeMutablePointer<Vertex>) -> UnsafeMutablePointer<Host.Value> {
        VertexTable<Host.Value>.value(of: vertex)
    }

    /// How often the vertex's rule has run to its end (wraps).
    @inlinable @inline(__always)
    package func evaluations(_ index: UInt32) -> UnsafeMutablePointer<UInt32> {
        VertexTable<Host.Value>.evaluations(of: vertices[index])
    }

    @inlinable @inline(__always)
    package func id(_ index: UInt32) -> AttributeID {
        AttributeID(index: index, generation: vertex(index).pointee.generation)
    }

    @inlinable @inline(__always)
    package func isAlive(_ attribute: AttributeID) -> Bool {
        attribute.index < vertices.count && vertex(attribute.index).pointee.generation == attribute.generation
    }

    /// How many bytes of the machine's stack nested evaluations may use, counted from where the outermost began. Any
    /// program's thread can spare this, and it is enough for a few hundred levels of ordinary rules.
    @inlinable package static var stackBudget: UInt { 256 << 10 }

    /// The approximate address of the top of the machine's stack.
    @inlinable @inline(__always)
    package static var stackAddress: UInt {
        var here: UInt8 = 0
        return _withUnprotectedUnsafeMutablePointer(to: &here) { UInt(bitPattern: $0) }
    }

    @inlinable @inline(__always)
    package mutating func beginNesting() { stackFloor = GraphStorage.stackAddress &- GraphStorage.stackBudget }

    @inlinable @inline(__always)
    package var mayNest: Bool { nesting < nestingLimit && (nesting == 0 || GraphStorage.stackAddress > stackFloor) }

    @inlinable @inline(__always)
    package mutating func push(_ vertex: UInt32) {
        let position = pending.count
        push(vertex, at: position)
        pending.count = position &+ 1
    }

    /// Pushes at a position that may be one above the `count` in memory.
    @inlinable @inline(__always)
    package mutating func push(_ vertex: UInt32, at position: Int) {
        if _slowPath(position >= freeHeight) { prepareEntry(at: position) }
        Pending.store(vertex, in: pending.base + position)
    }

    /// Makes space, and adds a mark if cycles are open: the entry depends on members that are added later.
    @inlinable @inline(never)
    package mutating func prepareEntry(at position: Int) {
        if position >= pending.capacity {
            pending.count = position
            pending.grow(to: position &* 2)
        }
        if cycles.members.count == 0 {
            freeHeight = pending.capacity
        } else {
            forgetCycles(from: position)
            cycles.marks.append(
                CycleMark(
                    position: UInt32(truncatingIfNeeded: position),
                    openBefore: UInt32(truncatingIfNeeded: cycles.members.count)))
        }
    }

    /// Drops the marks of entries at this position and above.
    @inlinable
    package mutating func forgetCycles(from position: Int) {
        while let last = cycles.marks.last, Int(last.position) >= position { cycles.marks.count &-= 1 }
    }

    /// The mark of an entry. Drops the marks of all entries above it.
    @inlinable
    package mutating func cycleMark(at position: Int) -> CycleMark {
        forgetCycles(from: position &+ 1)
        if let last = cycles.marks.last, Int(last.position) == position { return last }
        return CycleMark(position: UInt32(truncatingIfNeeded: position), openBefore: 0)
    }
}

/// The rule whose reads are tracked, and the position reached in its list of inputs. The three pointers are equal while
/// no reads are tracked. They are set again when the list moves. Rules that wait store their position as a number.
@usableFromInline
package struct Tracking: ~Copyable {
    @usableFromInline package var cursor: UnsafeMutablePointer<UInt32>
    @usableFromInline package var cursorEnd: UnsafeMutablePointer<UInt32>
    @usableFromInline package var cursorStart: UnsafeMutablePointer<UInt32>
    /// The tracked rule's row; 0: none.
    @usableFromInline package var reader: UInt32 = 0
    /// Hints that nested evaluations have overwritten and that are put back when they end.
    @usableFromInline package var overwrittenHints = Buffer<Hint>(capacity: 16)

    @inlinable
    package init(at nowhere: UnsafeMutablePointer<UInt32>) {
        cursor = nowhere
        cursorEnd = nowhere
        cursorStart = nowhere
    }
}

/// The state of the search for cycles, while some have been met and not closed; nearly always empty.
@usableFromInline
package struct OpenCycles: ~Copyable {
    /// The marks of entries of the evaluation stack, in ascending order of position.
    @usableFromInline package var marks = Buffer<CycleMark>(capacity: 16)
    @usableFromInline package var members = Buffer<UInt32>(capacity: 16)
    @usableFromInline package var groups = Buffer<OpenGroup>(capacity: 16)

    @inlinable
    package init() {}
}

/// Writes that have not taken effect: the old values of inputs written in the open batch.
///
/// Lifetime: the storage that owns the log deinitialises and frees the entries.
@usableFromInline
package struct WriteLog<Value>: ~Copyable {
    @usableFromInline package var entries: UnsafeMutablePointer<LoggedWrite<Value>>
    @usableFromInline package var count = 0
    @usableFromInline package var capacity = 16

    @inlinable
    package init() { entries = .allocate(capacity: capacity) }

    @inlinable @inline(never)
    package mutating func grow() {
        let larger = UnsafeMutablePointer<LoggedWrite<Value>>.allocate(capacity: capacity * 2)
        larger.moveInitialize(from: entries, count: count)
        entries.deallocate()
        entries = larger
        capacity *= 2
    }

    /// Gives back the memory that a long batch has needed. The log must be empty.
    mutating func shrink() {
        guard capacity > 1024 else { return }
        entries.deallocate()
        capacity = 16
        entries = .allocate(capacity: capacity)
    }

    @inlinable @inline(__always)
    package var hasSpace: Bool { count != capacity }

    @inlinable @inline(__always)
    package mutating func append(_ input: AttributeID, _ old: consuming Value) {
        (entries + count).initialize(to: LoggedWrite(input: input, old: old))
        count &+= 1
    }
}

/// Vertices with their values and the numbers of their runs, `stride` bytes apart. The number of runs is in the last
/// four bytes, where many values leave space.
///
/// Lifetime: a pointer into the table is valid until an attribute is created, which may make the table grow.
@usableFromInline
package struct VertexTable<Value> {
    @usableFromInline package var rows: UnsafeMutableRawPointer
    @usableFromInline package var count: UInt32 = 1
    @usableFromInline package var capacity: UInt32
    /// The first row in the list of free ones; 0: none.
    @usableFromInline package var free: UInt32 = 0
    /// The generation of a row that is used for the first time since the table was cut: no older id names such a row.
    @usableFromInline package var firstGeneration: UInt32 = 1

    @inlinable
    package init(capacity: UInt32) {
        self.capacity = capacity
        rows = TableMemory.allocate(Int(capacity) * VertexTable.stride)
    }

    @inlinable @inline(__always)
    package static var valueOffset: Int {
        let alignment = MemoryLayout<Value>.alignment
        return (MemoryLayout<Vertex>.size + alignment - 1) & ~(alignment - 1)
    }

    @inlinable @inline(__always)
    package static var stride: Int {
        let alignment = max(8, MemoryLayout<Value>.alignment)
        let size = valueOffset + (MemoryLayout<Value>.size + 3) & ~3 + MemoryLayout<UInt32>.size
        return (size + alignment - 1) & ~(alignment - 1)
    }

    @inlinable @inline(__always)
    package subscript(index: UInt32) -> UnsafeMutablePointer<Vertex> {
        (rows + Int(index) &* VertexTable.stride).assumingMemoryBound(to: Vertex.self)
    }

    @inlinable @inline(__always)
    package static func value(of vertex: UnsafeMutablePointer<Vertex>) -> UnsafeMutablePointer<Value> {
        (UnsafeMutableRawPointer(vertex) + valueOffset).assumingMemoryBound(to: Value.self)
    }

    @inlinable @inline(__always)
    package static func evaluations(of vertex: UnsafeMutablePointer<Vertex>) -> UnsafeMutablePointer<UInt32> {
        (UnsafeMutableRawPointer(vertex) + (stride - MemoryLayout<UInt32>.size)).assumingMemoryBound(to: UInt32.self)
    }

    /// Memory that is never used costs nothing in a large table, so it grows seldom.
    @inlinable @inline(never)
    package mutating func grow() {
        let bytes = Int(capacity) * VertexTable.stride
        let factor: UInt32 = bytes >= TableMemory.large && TableMemory.canAllocate(8 * bytes) ? 8 : 2
        let newCapacity = capacity > UInt32.max / factor ? UInt32.max : capacity * factor
        precondition(newCapacity > capacity, "a graph has at most four thousand million attributes")
        move(to: newCapacity)
    }

    /// Moves all rows to a table of this size.
    @inlinable @inline(never)
    package mutating func move(to newCapacity: UInt32) {
        let old = self
        rows = TableMemory.allocate(Int(newCapacity) * VertexTable.stride)
        capacity = newCapacity
        if _isBitwiseTakable(Value.self) {
            rows.copyMemory(from: old.rows, byteCount: Int(count) * VertexTable.stride)
        } else {
            for index in 0..<count {
                self[index].initialize(to: old[index].pointee)
                VertexTable.evaluations(of: self[index]).initialize(
                    to: VertexTable.evaluations(of: old[index]).pointee)
                if !old[index].pointee.flags.contains(.empty) {
                    VertexTable.value(of: self[index]).moveInitialize(from: VertexTable.value(of: old[index]), count: 1)
                }
            }
        }
        old.deallocate()
    }

    @inlinable
    package func deallocate() { TableMemory.free(rows, Int(capacity) * VertexTable.stride) }
}

/// Things that happen during a run and matter at its end.
@usableFromInline
package struct Attention: OptionSet, BitwiseCopyable {
    @usableFromInline package let rawValue: UInt8
    @inlinable @inline(__always)
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A read asked for the run to be given up.
    @inlinable package static var interrupted: Attention { Attention(rawValue: 1) }
    /// The `hint` of each input of `reader` is its position in the list.
    @inlinable package static var hinted: Attention { Attention(rawValue: 2) }
    /// A cycle has been met and not all members are known yet.
    @inlinable package static var cycle: Attention { Attention(rawValue: 4) }
}

/// A write inside a batch: the input, which may have been destroyed since, and its value before the batch.
@usableFromInline
package struct LoggedWrite<Value> {
    @usableFromInline package let input: AttributeID
    @usableFromInline package let old: Value

    @inlinable
    package init(input: AttributeID, old: consuming Value) {
        self.input = input
        self.old = old
    }
}

/// A vertex on the explicit evaluation stack. Each entry depends, or may depend, on the one above it.
@usableFromInline
package struct Pending: BitwiseCopyable {
    @usableFromInline package var vertex: UInt32
    /// How many inputs the walk has passed. Once the rule runs: how many it had read when it last stopped being the
    /// tracked one.
    @usableFromInline package var validated: UInt32

    /// Makes an entry with nothing validated, in one store.
    @inlinable @inline(__always)
    package static func store(_ vertex: UInt32, in entry: UnsafeMutablePointer<Pending>) {
        UnsafeMutableRawPointer(entry).storeBytes(of: UInt64(vertex).littleEndian, as: UInt64.self)
    }
}

/// Notes about an entry of the evaluation stack for open cycles. Without a mark, no cycle was open when the entry was
/// made.
@usableFromInline
package struct CycleMark: BitwiseCopyable {
    @usableFromInline package let position: UInt32
    /// The lowest position of a running vertex that the entry's run has read. If there is one, the entry is on a cycle.
    @usableFromInline package var low = UInt32.max
    /// The number of members of open cycles when the entry was made. The entry depends on those that were added later.
    @usableFromInline package let openBefore: UInt32

    @inlinable
    package init(position: UInt32, openBefore: UInt32) {
        self.position = position
        self.openBefore = openBefore
    }
}

/// Members of cycles that wait until these are closed, from index `start` in `OpenCycles.members` to the next group's.
/// They belong to the component whose lowest running vertex known so far is at position `low` of the stack.
@usableFromInline
package struct OpenGroup: BitwiseCopyable {
    @usableFromInline package let start: UInt32
    @usableFromInline package let low: UInt32

    @inlinable
    package init(start: UInt32, low: UInt32) {
        self.start = start
        self.low = low
    }
}

@usableFromInline
package struct Hint: BitwiseCopyable {
    @usableFromInline package let reader: UInt32
    @usableFromInline package let vertex: UInt32
    @usableFromInline package let hint: UInt32

    @inlinable
    package init(reader: UInt32, vertex: UInt32, hint: UInt32) {
        self.reader = reader
        self.vertex = vertex
        self.hint = hint
    }
}
