/// The engine: a dependency graph of attributes whose values are the host's.
///
/// A handle of one pointer, free to copy. **Lifetime:** the graph lives from `init(host:)` until its owner calls
/// `deallocate()`; a handle must not be used after that. A graph belongs to one thread at a time.
///
/// An attribute is an *input*, set from outside, or a *rule*, computed from what it reads. Push marks, pull evaluates:
/// a write marks everything downstream as possibly changed. A read walks upstream, runs the rules that must run, and
/// stops where values are equal. `Documentation/Algorithm.md` explains how and why.
@frozen
public struct GraphCore<Host: GraphHost & ~Copyable> {
    public typealias Value = Host.Value

    @usableFromInline package let s: UnsafeMutablePointer<GraphStorage<Host>>

    /// How many rules may nest on the machine's stack before the engine abandons a run and continues from its own
    /// stack. At least 1; nesting also ends after 256 KiB of stack. In a cold chain each rule beyond the limit costs a
    /// restart. A level takes a few hundred bytes of stack, in addition to those of the rule itself.
    @inlinable
    public var nestingLimit: Int {
        get { s.pointee.nestingLimit }
        nonmutating set { s.pointee.nestingLimit = max(1, newValue) }
    }

    @inlinable
    public init(host: consuming Host) {
        let alignment = max(MemoryLayout<GraphStorage<Host>>.alignment, MemoryLayout<Host>.alignment)
        s = UnsafeMutableRawPointer.allocate(
            byteCount: GraphCore.hostOffset + MemoryLayout<Host>.size, alignment: alignment
        ).bindMemory(to: GraphStorage<Host>.self, capacity: 1)
        s.initialize(to: GraphStorage())
        self.host.initialize(to: host)
    }

    /// Frees the graph, its values and its host. No handle to it may be used afterwards.
    @inlinable
    public func deallocate() {
        s.deinitialize(count: 1)
        host.deinitialize(count: 1)
        s.deallocate()
    }

    /// The host, borrowed.
    @inlinable @inline(__always)
    public var host: UnsafeMutablePointer<Host> {
        (UnsafeMutableRawPointer(s) + GraphCore.hostOffset).assumingMemoryBound(to: Host.self)
    }

    /// The host is stored after the tables, in the same memory.
    @inlinable @inline(__always)
    package static var hostOffset: Int {
        let alignment = MemoryLayout<Host>.alignment
        return (MemoryLayout<GraphStorage<Host>>.size + alignment - 1) & ~(alignment - 1)
    }

    @inlinable
    public var counters: GraphCounters { s.pointee.counters }

    /// The current point of the graph's logical clock.
    @inlinable
    public var revision: Revision { s.pointee.revision }

    /// Advances the clock, so that everything created from now on counts as changed after the present `revision`. O(1).
    @inlinable
    public func advanceRevision() { s.pointee.revision &+= 1 }

    // MARK: Creating attributes

    /// Creates an attribute that is set from outside. O(1).
    @inlinable @inline(never)
    public func createInput(_ value: consuming Value) -> AttributeID {
        let id = createVertex(.input, .empty)
        let vertex = s.pointee.vertex(id.index)
        GraphStorage<Host>.value(of: vertex).initialize(to: value)
        vertex.pointee.flags = []
        vertex.pointee.changedAt = s.pointee.revision
        return id
    }

    /// Creates an attribute whose value the host computes. It does not run until it is read. O(1).
    @inlinable @inline(never)
    public func createRule() -> AttributeID { createVertex(.rule, .new) }

    @inlinable @inline(__always)
    package func createVertex(_ kind: Vertex.Kind, _ flags: Vertex.Flags) -> AttributeID {
        let index: UInt32
        let generation: UInt32
        if s.pointee.vertices.free != 0 {
            index = s.pointee.vertices.free
            s.pointee.vertices.free = s.pointee.vertex(index).pointee.hint
            generation = s.pointee.vertex(index).pointee.generation
        } else {
            if _slowPath(s.pointee.vertices.count == s.pointee.vertices.capacity) { growVertices() }
            index = s.pointee.vertices.count
            s.pointee.vertices.count += 1
            generation = s.pointee.vertices.firstGeneration
        }
        s.pointee.vertex(index).initialize(to: Vertex(kind: kind, flags: flags, generation: generation))
        s.pointee.evaluations(index).initialize(to: 0)
        s.pointee.counters.attributesCreated &+= 1
        return AttributeID(index: index, generation: generation)
    }

    /// Moves the cursor too: it may point into the tracked rule's row, which stores a single input.
    @inlinable @inline(never)
    package func growVertices() {
        let read = readSoFar
        s.pointee.vertices.grow()
        if s.pointee.tracking.reader != 0 {
            setCursor(s.pointee.vertex(s.pointee.tracking.reader), read)
        }
    }

    @inlinable
    public func isAlive(_ attribute: AttributeID) -> Bool { s.pointee.isAlive(attribute) }
}
