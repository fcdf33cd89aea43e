/// One row of the vertex table: all that the engine knows of an attribute except its value, which follows
/// the row in memory. 56 bytes, so that with an 8-byte value a vertex is exactly one cache line.
@usableFromInline
struct Vertex: BitwiseCopyable {
    @usableFromInline var flags: Flags
    @usableFromInline var kind: Kind
    /// Size classes of the two edge lists (see `EdgePool`); 0: empty, 1: a single edge.
    @usableFromInline var inputClass: UInt8
    @usableFromInline var readerClass: UInt8
    @usableFromInline var generation: UInt32
    @usableFromInline var inputs: EdgeList
    @usableFromInline var readers: EdgeList
    /// When the value last became a different one.
    @usableFromInline var changedAt: Revision
    /// When the rule last ran. Its inputs as of then are known to be unchanged while theirs are not later.
    @usableFromInline var evaluatedAt: Revision
    /// The input whose change made the rule run last; while it runs, its position on the
    /// evaluation stack; while it waits for its cycle to be closed, its place in `openCycle` with `openBit`.
    @usableFromInline var cause: UInt32
    /// Where the rule that is running has this vertex among its inputs; a hint, to be checked.
    @usableFromInline var hint: UInt32
    @usableFromInline var subgraph: UInt32
    /// How often the rule has run to its end (wraps).
    @usableFromInline var evaluations: UInt32

    @usableFromInline static let openBit: UInt32 = 1 << 31

    /// Of an input, which no rule uses these of: its order, 0 if it has none.
    @inlinable @inline(__always)
    var order: UInt32 {
        get { cause }
        set { cause = newValue }
    }

    /// Of an input: how many edges had come and gone when it was last written; with `orderlessBit` also that it has no order while
    /// that stays so.
    @inlinable @inline(__always)
    var edgeChangesAtWrite: UInt64 {
        get { evaluatedAt }
        set { evaluatedAt = newValue }
    }

    @usableFromInline static let orderlessBit: UInt64 = 1 << 63

    @inlinable
    init(kind: Kind, flags: Flags, generation: UInt32, subgraph: UInt32) {
        self.flags = flags
        self.kind = kind
        inputClass = 0
        readerClass = 0
        self.generation = generation
        inputs = EdgeList()
        readers = EdgeList()
        changedAt = 0
        evaluatedAt = 0
        cause = 0
        hint = 0
        self.subgraph = subgraph
        evaluations = 0
    }

    @usableFromInline
    struct Kind: Equatable, BitwiseCopyable {
        @usableFromInline let rawValue: UInt8
        @inlinable @inline(__always)
        init(rawValue: UInt8) { self.rawValue = rawValue }

        @inlinable static var free: Kind { Kind(rawValue: 0) }
        @inlinable static var rule: Kind { Kind(rawValue: 2) }
        @inlinable static var observer: Kind { Kind(rawValue: 3) }
        /// Reads the same inputs whenever it runs, and nothing else: all of them are brought up to date before.
        @inlinable static var fixedRule: Kind { Kind(rawValue: 6) }
        @inlinable static var fixedObserver: Kind { Kind(rawValue: 7) }
        @inlinable static var input: Kind { Kind(rawValue: 8) }

        @inlinable @inline(__always)
        var isRule: Bool { rawValue & 3 == 2 }
        @inlinable @inline(__always)
        var isObserver: Bool { rawValue & 1 != 0 }
        /// Of a rule or an observer.
        @inlinable @inline(__always)
        var isAnyRule: Bool { rawValue & 2 != 0 }
        /// Destroyed during a run: its ids are dead, its row is freed when nothing runs any more.
        @inlinable @inline(__always)
        var isCondemned: Bool { rawValue & 16 != 0 }
        @inlinable @inline(__always)
        var condemned: Kind { Kind(rawValue: rawValue | 16) }
        @inlinable @inline(__always)
        var isFixed: Bool { rawValue & 4 != 0 }
    }

    @usableFromInline
    struct Flags: OptionSet, BitwiseCopyable {
        @usableFromInline let rawValue: UInt8
        @inlinable @inline(__always)
        init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Something upstream may have changed. Holds for every reader of a vertex for which it holds.
        @inlinable static var maybe: Flags { Flags(rawValue: 1) }
        /// Must run, whatever its inputs say. Only together with `maybe`.
        @inlinable static var stale: Flags { Flags(rawValue: 2) }
        /// The memory of the value is not initialised.
        @inlinable static var empty: Flags { Flags(rawValue: 4) }
        /// An input written in a batch that has not settled yet.
        @inlinable static var unsettled: Flags { Flags(rawValue: 8) }
        /// A watched input that was reported and has not been read since.
        @inlinable static var unseen: Flags { Flags(rawValue: 16) }
        /// The rule is running, or was abandoned and will run again, or waits for its cycle to be closed.
        @inlinable static var running: Flags { Flags(rawValue: 32) }
        /// To be reported when it may have changed.
        @inlinable static var watched: Flags { Flags(rawValue: 64) }
        /// Its value is that of a cycle, so its inputs cannot be validated one by one: it runs.
        @inlinable static var cyclic: Flags { Flags(rawValue: 128) }

        // Sets are constants with a number, not literals: an array literal is not always folded away.
        /// Marked, but known to be neither stale nor running nor cyclic: its inputs decide.
        @inlinable static var decisive: Flags { Flags(rawValue: 1 | 2 | 32 | 128) }
        @inlinable static var markedRunningOrWatched: Flags { Flags(rawValue: 1 | 32 | 64) }
        @inlinable static var maybeOrRunning: Flags { Flags(rawValue: 1 | 32) }
        @inlinable static var emptyOrRunning: Flags { Flags(rawValue: 4 | 32) }
        @inlinable static var runningStaleOrCyclic: Flags { Flags(rawValue: 2 | 32 | 128) }
        /// What sends an entry of the stack through its inputs or lets it run.
        @inlinable static var marks: Flags { Flags(rawValue: 1 | 2 | 32 | 128) }
        @inlinable static var maybeAndStale: Flags { Flags(rawValue: 1 | 2) }
        @inlinable static var runningAndCyclic: Flags { Flags(rawValue: 32 | 128) }
        /// Of a rule that never ran.
        @inlinable static var new: Flags { Flags(rawValue: 1 | 2 | 4) }
        /// Any of these sends a read the slow way.
        @inlinable static var slow: Flags { Flags(rawValue: 1 | 4 | 8 | 16 | 32) }
    }
}

/// Where a vertex's edges of one direction are: a single one is kept right here, more in a block of the pool. Most vertices
/// have one input or one reader, and are followed without a detour.
@usableFromInline
struct EdgeList: BitwiseCopyable {
    /// The block in the pool; of a single edge the row at its other end.
    @usableFromInline var start: UInt32 = 0
    /// How many there are; of a single edge its position in the list at the other end.
    @usableFromInline var extent: UInt32 = 0

    @inlinable
    init() {}
}

/// The entries of an edge list, wherever they are.
///
/// Lifetime: until the vertex table or the pool of edges grows.
@usableFromInline
struct EdgeEntries {
    /// The rows at the other ends; 0 for an input that has been destroyed.
    @usableFromInline let ends: UnsafeMutablePointer<UInt32>
    /// The entries' positions in the lists at the other ends.
    @usableFromInline let slots: UnsafeMutablePointer<UInt32>
    @usableFromInline let count: UInt32

    @inlinable @inline(__always)
    init(_ ends: UnsafeMutablePointer<UInt32>, _ slots: UnsafeMutablePointer<UInt32>, _ count: UInt32) {
        self.ends = ends
        self.slots = slots
        self.count = count
    }
}

/// One row of the subgraph table: a tree of sibling lists, each with a list of attributes. Of one that has been destroyed the
/// generation is that of its next tenant, which no id has yet.
@usableFromInline
struct SubgraphRow: BitwiseCopyable {
    @usableFromInline var generation: UInt32
    @usableFromInline var parent: UInt32
    @usableFromInline var firstChild: UInt32
    @usableFromInline var nextSibling: UInt32
    @usableFromInline var previousSibling: UInt32
    /// The newest attribute; the list goes from young to old.
    @usableFromInline var firstVertex: UInt32
    /// The innermost run that it was made in; 0: none.
    @usableFromInline let maker: UInt32
    /// Makes the row 32 bytes, so that it is found by a shift.
    @usableFromInline let padding: UInt32 = 0

    @inlinable
    init(generation: UInt32, parent: UInt32, maker: UInt32) {
        self.generation = generation
        self.parent = parent
        self.maker = maker
        firstChild = 0
        nextSibling = 0
        previousSibling = 0
        firstVertex = 0
    }
}

/// A vertex's neighbours in its subgraph's list. The first has none before it, whatever stands here.
@usableFromInline
struct Siblings: BitwiseCopyable {
    @usableFromInline var next: UInt32
    @usableFromInline var previous: UInt32

    @inlinable
    init(next: UInt32, previous: UInt32) {
        self.next = next
        self.previous = previous
    }
}
