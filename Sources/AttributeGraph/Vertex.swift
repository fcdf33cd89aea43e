/// One row of the vertex table: what the engine knows of an attribute. Its value and the number of its runs follow the
/// row in memory. With 48 bytes here, a vertex with an 8-byte value is exactly one cache line.
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
    /// The revision at which the value last became a different one.
    @usableFromInline package var changedAt: Revision
    /// The revision at which the rule last ran. An input has not changed since then if its `changedAt` is not later.
    @usableFromInline package var evaluatedAt: Revision
    /// The input whose change made the rule run last. While the rule runs: its position on the evaluation stack. While
    /// it waits until its cycle is closed: its position in `OpenCycles.members`, with `openBit`.
    @usableFromInline package var cause: UInt32
    /// The position of this vertex in the input list of the running rule. Only a hint: check it before use.
    @usableFromInline package var hint: UInt32

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
    }

    @usableFromInline
    package enum Kind: UInt8, BitwiseCopyable {
        case free, rule, input
    }

    @usableFromInline
    package struct Flags: OptionSet, BitwiseCopyable {
        @usableFromInline package let rawValue: UInt8
        @inlinable @inline(__always)
        package init(rawValue: UInt8) { self.rawValue = rawValue }

        /// Something upstream may have changed. All readers of a marked vertex are marked too.
        @inlinable package static var maybe: Flags { Flags(rawValue: 1) }
        /// Must run, whatever its inputs are. Only together with `maybe`.
        @inlinable package static var stale: Flags { Flags(rawValue: 2) }
        /// The memory of the value is not initialised.
        @inlinable package static var empty: Flags { Flags(rawValue: 4) }
        /// An input written in a batch that has not settled yet.
        @inlinable package static var unsettled: Flags { Flags(rawValue: 8) }
        /// A watched input that has been reported and not read since.
        @inlinable package static var unseen: Flags { Flags(rawValue: 16) }
        /// The rule is running, or was abandoned and will run again, or waits until its cycle is closed.
        @inlinable package static var running: Flags { Flags(rawValue: 32) }
        /// Report the attribute when it may have changed.
        @inlinable package static var watched: Flags { Flags(rawValue: 64) }
        /// Its value is that of a cycle, so its inputs cannot validate it: it runs.
        @inlinable package static var cyclic: Flags { Flags(rawValue: 128) }

        // Sets are numeric constants, because the compiler does not always fold an array literal away.
        /// If only `maybe` of these is set, the inputs decide whether the vertex runs.
        @inlinable package static var decisive: Flags { Flags(rawValue: 1 | 2 | 32 | 128) }
        @inlinable package static var maybeOrWatched: Flags { Flags(rawValue: 1 | 64) }
        @inlinable package static var maybeOrRunning: Flags { Flags(rawValue: 1 | 32) }
        @inlinable package static var emptyOrRunning: Flags { Flags(rawValue: 4 | 32) }
        @inlinable package static var maybeAndStale: Flags { Flags(rawValue: 1 | 2) }
        @inlinable package static var runningAndCyclic: Flags { Flags(rawValue: 32 | 128) }
        /// The flags of a rule that never ran.
        @inlinable package static var new: Flags { Flags(rawValue: 1 | 2 | 4) }
        /// A read of a vertex with any of these takes the slow path.
        @inlinable package static var slow: Flags { Flags(rawValue: 1 | 4 | 8 | 16 | 32) }
    }
}

/// The location of a vertex's edges of one direction. A single edge is stored here, several are in a block of the pool.
/// Most vertices have one input or one reader, so following an edge needs no second load.
@usableFromInline
package struct EdgeList: BitwiseCopyable {
    /// The block in the pool. If there is a single edge: the row at its other end.
    @usableFromInline package var start: UInt32 = 0
    /// The number of edges. If there is a single edge: its position in the list at the other end.
    @usableFromInline package var extent: UInt32 = 0

    @inlinable
    package init() {}
}

/// The entries of an edge list, in the vertex or in the pool.
///
/// Lifetime: valid until the vertex table or the pool of edges grows.
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
