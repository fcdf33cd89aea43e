/// The engine: a dependency graph of attributes whose values are the host's.
///
/// A handle of one pointer, free to copy. **Lifetime:** the graph lives from `init(host:)` to `deallocate()`,
/// which its one owner calls; a handle must not be used after that. A graph belongs to one thread at a time.
///
/// An attribute is an *input*, set from outside, or a *rule*, computed from what it reads. Push marks, pull
/// evaluates: a write marks everything downstream as possibly changed; a read walks upstream from what is
/// asked for, runs what really has to run, and stops where values turn out equal. `Documentation/Algorithm.md`
/// explains how and why.
@frozen
public struct GraphCore<Host: GraphHost & ~Copyable> {
    public typealias Value = Host.Value

    @usableFromInline let s: UnsafeMutablePointer<GraphStorage<Host>>

    /// How many rules may nest on the machine's stack (at least 1, at most what 256 KiB of it hold) before a run is
    /// abandoned and continued from the explicit stack. Cold chains cost a restart per rule beyond it; each level
    /// takes a few hundred bytes of stack beside what the rules themselves use.
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

    /// The host lies behind the tables, in the same memory.
    @inlinable @inline(__always)
    static var hostOffset: Int {
        let alignment = MemoryLayout<Host>.alignment
        return (MemoryLayout<GraphStorage<Host>>.size + alignment - 1) & ~(alignment - 1)
    }

    @inlinable
    public var counters: GraphCounters { s.pointee.counters }

    /// The current point of the graph's logical clock.
    @inlinable
    public var revision: Revision { s.pointee.revision }

    /// Moves the clock on by itself, so that what is created from now on counts as changed after `revision` as it was. O(1).
    @inlinable
    public func advanceRevision() { s.pointee.revision &+= 1 }

    // MARK: Creating attributes

    /// Creates an attribute that is set from outside. O(1).
    @inlinable @inline(never)
    public func createInput(_ value: consuming Value, in subgraph: SubgraphID = .root) -> AttributeID {
        let id = createVertex(.input, [], subgraph)
        s.pointee.value(id.index).initialize(to: value)
        s.pointee.vertex(id.index).pointee.changedAt = s.pointee.revision
        return id
    }

    /// Creates an attribute that the host computes. It does not run until it is read. O(1).
    @inlinable @inline(never)
    public func createRule(in subgraph: SubgraphID = .root) -> AttributeID { createVertex(.rule, .new, subgraph) }

    /// Creates a rule that reads these attributes whenever it runs, and nothing else. It does not run until it is read. O(inputs).
    ///
    /// All inputs are brought up to date before it runs, from the explicit stack, so its evaluation never nests; and
    /// nothing is tracked. The host is given their values (`GraphHost.evaluate(_:over:in:)`).
    @inlinable @inline(never)
    public func createRule(in subgraph: SubgraphID = .root, over inputs: some Collection<AttributeID>) -> AttributeID {
        let id = createVertex(.fixedRule, .new, subgraph)
        fixInputs(of: id.index, inputs)
        return id
    }

    /// Creates a rule that may write inputs and read as deep as it likes, and whose run is never abandoned.
    /// Nobody may depend on it. It does not run by itself: see `watch`, `drainInvalidated` and `update`.
    @inlinable @inline(never)
    public func createObserver(in subgraph: SubgraphID = .root) -> AttributeID {
        createVertex(.observer, .new, subgraph)
    }

    /// As `createObserver`, and then `watch`; one of the fixed kind reads what it is given and nothing else.
    @inlinable @inline(__always)
    func createWatchedObserver(_ kind: Vertex.Kind, in subgraph: SubgraphID, over inputs: some Collection<AttributeID>)
        -> AttributeID
    {
        let id = createVertex(kind, .new.union(.watched), subgraph)
        fixInputs(of: id.index, inputs)
        return id
    }

    @inlinable @inline(__always)
    func createVertex(_ kind: Vertex.Kind, _ flags: Vertex.Flags, _ subgraph: SubgraphID) -> AttributeID {
        precondition(isAlive(subgraph), "an attribute needs a living subgraph")
        let index: UInt32
        let generation: UInt32
        if s.pointee.freeVertex != 0 {
            index = s.pointee.freeVertex
            s.pointee.freeVertex = s.pointee.vertex(index).pointee.hint
            generation = s.pointee.vertex(index).pointee.generation
        } else {
            if _slowPath(s.pointee.vertexCount == s.pointee.vertexCapacity) { growVertices() }
            index = s.pointee.vertexCount
            s.pointee.vertexCount += 1
            generation = s.pointee.firstGeneration
        }
        s.pointee.vertex(index).initialize(
            to: Vertex(kind: kind, flags: flags, generation: generation, subgraph: subgraph.index))
        let row = s.pointee.subgraphs.base + Int(subgraph.index)
        let next = row.pointee.firstVertex
        (s.pointee.siblings + Int(index)).initialize(to: Siblings(next: next, previous: 0))
        if next != 0 { s.pointee.siblings[Int(next)].previous = index }
        row.pointee.firstVertex = index
        s.pointee.counters.attributesCreated &+= 1
        return AttributeID(index: index, generation: generation)
    }

    /// The one input of the tracked rule may be listed in its row, which moves.
    @inlinable @inline(never)
    func growVertices() {
        let read = readSoFar
        s.pointee.growVertices()
        if s.pointee.reader != 0 && !s.pointee.isCursorHidden { setCursor(s.pointee.vertex(s.pointee.reader), read) }
    }

    /// Whether the attribute has not been destroyed.
    @inlinable
    public func isAlive(_ attribute: AttributeID) -> Bool { s.pointee.isAlive(attribute) }

    /// Whether the subgraph has not been destroyed.
    @inlinable
    public func isAlive(_ subgraph: SubgraphID) -> Bool {
        guard subgraph.index < UInt32(truncatingIfNeeded: s.pointee.subgraphs.count) else { return false }
        let row = s.pointee.subgraphs.base + Int(subgraph.index)
        return row.pointee.generation == subgraph.generation
    }
}
