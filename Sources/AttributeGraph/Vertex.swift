/// One row of the vertex table: all that the engine knows of an attribute except its value, which follows
/// the row in memory. 56 bytes, so that with an 8-byte value a vertex is exactly one cache line.
@usableFromInline
package struct Vertex: BitwiseCopyable {
    @usableFromInline package var flags: Flags
    @usableFromInline package var kind: Kind
    /// Size classes of the two edge lists (see `EdgePool`); 0: empty, 1: a single edge.
    @usableFromInline package var inputClass: UInt8
    @usableFromInline package var readerClass: UInt8
    @usableFromInline package var generation: UInt32
    @usableFromInline package var inputs: EdgeList
    @usableFromInline package var readers: EdgeList
    /// When the value last became a different one.
    @usableFromInline package var changedAt: Revision
    /// When the rule last ran. Its inputs as of then are known to be unchanged while theirs are not later.
    @usableFromInline package var evaluatedAt: Revision
    /// The input whose change made the rule run last; while it runs, its position on the
    /// evaluation stack; while it waits for its cycle to be closed, its place in `OpenCycles.members` with `openBit`.
    @usableFromInline package var cause: UInt32
    /// Where the rule that is running has this vertex among its inputs; a hint, to be checked.
    @usableFromInline package var hint: UInt32
    /// How often the rule has run to its end (wraps).
    @usableFromInline package var evaluations: UInt32

    @usableFromInline package static let openBit: UInt32 = 1 << 31

    @inlinable
    package init(kind: Kind, flags: Flags, generation: UInt32) {
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
        evaluations = 0
    }

    @usableFromInline
    package struct Kind: Equatable, BitwiseCopyable {
        @usableFromInline package let rawValue: UInt8
        @inlinable @inline(__always)
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        @inlinable package static var free: Kind { Kind(rawValue: 0) }
        @inlinable package static var rule: Kind { Kind(rawValue: 2) }
        @inlinable package static var observer: Kind { Kind(rawValue: 3) }
        /// Reads the same inputs whenever it runs, and nothing else: all of them are brought up to date before.
        @inlinable package static var fixedRule: Kind { Kind(rawValue: 6) }
        @inlinable package static var fixedObserver: Kind { Kind(rawValue: 7) }
        @inlinable package static var input: Kind { Kind(rawValue: 8) }

        @inlinable @inline(__always)
        package var isRule: Bool { rawValue & 3 == 2 }
        @inlinable @inline(__always)
        package var isObserver: Bool { rawValue & 1 != 0 }
        /// Of a rule or an observer.
        @inlinable @inline(__always)
        package var isAnyRule: Bool { rawValue & 2 != 0 }
        /// Destroyed during a run: its ids are dead, its row is freed when nothing runs any more.
        @inlinable @inline(__always)
        package var isCondemned: Bool { rawValue & 16 != 0 }
        @inlinable @inline(__always)
        package var condemned: Kind { Kind(rawValue: rawValue | 16) }
        @inlinable @inline(__always)
        package var isFixed: Bool { rawValue & 4 != 0 }
    }

    @usableFromInline
    package struct Flags: OptionSet, BitwiseCopyable {
        @usableFromInline package let rawValue: UInt8
        @inlinable @inline(__always)
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Something upstream may have changed. Holds for every reader of a vertex for which it holds.
        @inlinable package static var maybe: Flags { Flags(rawValue: 1) }
        /// Must run, whatever its inputs say. Only together with `maybe`.
        @inlinable package static var stale: Flags { Flags(rawValue: 2) }
        /// The memory of the value is not initialised.
        @inlinable package static var empty: Flags { Flags(rawValue: 4) }
        /// An input written in a batch that has not settled yet.
        @inlinable package static var unsettled: Flags { Flags(rawValue: 8) }
        /// A watched input that was reported and has not been read since.
        @inlinable package static var unseen: Flags { Flags(rawValue: 16) }
        /// The rule is running, or was abandoned and will run again, or waits for its cycle to be closed.
        @inlinable package static var running: Flags { Flags(rawValue: 32) }
        /// To be reported when it may have changed.
        @inlinable package static var watched: Flags { Flags(rawValue: 64) }
        /// Its value is that of a cycle, so its inputs cannot be validated one by one: it runs.
        @inlinable package static var cyclic: Flags { Flags(rawValue: 128) }

        // Sets are constants with a number, not literals: an array literal is not always folded away.
        /// Marked, but known to be neither stale nor running nor cyclic: its inputs decide.
        @inlinable package static var decisive: Flags { Flags(rawValue: 1 | 2 | 32 | 128) }
        @inlinable package static var markedRunningOrWatched: Flags { Flags(rawValue: 1 | 32 | 64) }
        @inlinable package static var maybeOrRunning: Flags { Flags(rawValue: 1 | 32) }
        @inlinable package static var emptyOrRunning: Flags { Flags(rawValue: 4 | 32) }
        /// What sends an entry of the stack through its inputs or lets it run.
        @inlinable package static var marks: Flags { Flags(rawValue: 1 | 2 | 32 | 128) }
        @inlinable package static var maybeAndStale: Flags { Flags(rawValue: 1 | 2) }
        @inlinable package static var runningAndCyclic: Flags { Flags(rawValue: 32 | 128) }
        /// Of a rule that never ran.
        @inlinable package static var new: Flags { Flags(rawValue: 1 | 2 | 4) }
        /// Any of these sends a read the slow way.
        @inlinable package static var slow: Flags { Flags(rawValue: 1 | 4 | 8 | 16 | 32) }
    }
}

/// Where a vertex's edges of one direction are: a single one is kept right here, more in a block of the pool. Most
/// vertices have one input or one reader, and are followed without a detour.
@usableFromInline
package struct EdgeList: BitwiseCopyable {
    /// The block in the pool; of a single edge the row at its other end.
    @usableFromInline package var start: UInt32 = 0
    /// How many there are; of a single edge its position in the list at the other end.
    @usableFromInline package var extent: UInt32 = 0

    @inlinable
    package init() {}
}

/// The entries of an edge list, wherever they are.
///
/// Lifetime: until the vertex table or the pool of edges grows.
@usableFromInline
package struct EdgeEntries {
    /// The rows at the other ends; 0 for an input that has been destroyed.
    @usableFromInline package let ends: UnsafeMutablePointer<UInt32>
    /// The entries' positions in the lists at the other ends.
    @usableFromInline package let slots: UnsafeMutablePointer<UInt32>
    @usableFromInline package let count: UInt32

    @inlinable @inline(__always)
    package init(_ ends: UnsafeMutablePointer<UInt32>, _ slots: UnsafeMutablePointer<UInt32>, _ count: UInt32) {
        self.ends = ends
        self.slots = slots
        self.count = count
    }
}
