extension GraphCore where Host: ~Copyable {
    // MARK: Writing

    /// Sets an input. An equal value changes nothing and marks nothing.
    ///
    /// Outside a batch, everything downstream is marked at once; inside a batch, when the batch ends or something is
    /// read. No rule runs. O(attributes marked for the first time since they were last evaluated).
    ///
    /// - Returns: whether the value differs from the one before.
    /// - Throws: `GraphError.removed`; `GraphError.writeDuringEvaluation` while a rule is running.
    @inlinable @inline(__always)
    @discardableResult
    public func set(_ input: AttributeID, _ value: consuming Value) throws(GraphError) -> Bool {
        if _slowPath(!isPlainWrite(to: input)) { return try setWithCare(input, value) }
        let effect = put(input, value)
        if effect == .uncommitted { commitNow(input.index) }
        return effect != .nothing
    }

    /// True if nothing is running and nothing else prevents a fast write.
    @inlinable @inline(__always)
    package func isPlainWrite(to input: AttributeID) -> Bool {
        s.pointee.isAlive(input) && s.pointee.pending.count == 0 && s.pointee.log.hasSpace
    }

    /// As `set`, if something may be running or wrong.
    @inlinable @inline(never)
    package func setWithCare(_ input: AttributeID, _ value: consuming Value) throws(GraphError) -> Bool {
        guard s.pointee.isAlive(input) else { throw .removed(input) }
        guard s.pointee.pending.count == 0 else { throw .writeDuringEvaluation(input) }
        if !s.pointee.log.hasSpace { s.pointee.log.grow() }
        switch put(input, value) {
        case .nothing: return false
        case .logged: return true
        case .uncommitted:
            commitNow(input.index)
            return true
        }
    }

    @usableFromInline
    package enum Effect {
        /// The new value equals the old one.
        case nothing
        /// The write takes effect when the batch settles.
        case logged
        /// There is no batch: the caller must call `commitNow`.
        case uncommitted
    }

    /// Writes a living input. The log must have space.
    @inlinable @inline(__always)
    package func put(_ input: AttributeID, _ value: consuming Value) -> Effect {
        let vertex = s.pointee.vertex(input.index)
        precondition(vertex.pointee.kind == .input, "only inputs are set")
        let slot = s.pointee.value(input.index)
        if host.pointee.areEqual(slot.pointee, value) { return .nothing }
        if s.pointee.batchDepth == 0 {
            slot.pointee = value
            return .uncommitted
        }
        if _slowPath(vertex.pointee.flags.contains(.unsettled)) {
            slot.pointee = value
        } else {
            s.pointee.log.append(input, slot.move())
            slot.initialize(to: value)
            vertex.pointee.flags = vertex.pointee.flags.union(.unsettled)
        }
        return .logged
    }

    /// The rule of an attribute has been replaced, or depends on something that the graph does not know. It must run
    /// again.
    @inlinable
    public func invalidate(_ rule: AttributeID) throws(GraphError) {
        guard s.pointee.isAlive(rule) else { throw .removed(rule) }
        precondition(s.pointee.vertex(rule.index).pointee.kind != .input, "an input has no rule")
        if s.pointee.vertex(rule.index).pointee.flags.contains(.stale) { return }
        precondition(s.pointee.pending.count == 0, "what has run is not invalidated while something runs")
        s.pointee.revision &+= 1
        makeStale(rule.index)
    }

    // MARK: Batches

    /// Opens a batch: writes accumulate until the outermost batch ends. An input that then has its old value again
    /// counts as never written. Batches nest.
    @inlinable @inline(__always)
    public func beginBatch() { s.pointee.batchDepth &+= 1 }

    /// Closes a batch. Closing the outermost one marks everything downstream of its writes. Evaluates nothing.
    @inlinable @inline(__always)
    public func endBatch() {
        s.pointee.batchDepth &-= 1
        if s.pointee.batchDepth == 0 && s.pointee.log.count != 0 { settle() }
    }

    /// Makes the writes of the open batch take effect, so that reads see them.
    @inlinable @inline(never)
    package func settle() {
        s.pointee.revision &+= 1
        let count = s.pointee.log.count
        if _fastPath(count == 1) {
            s.pointee.log.count = 0
            let entry = s.pointee.log.entries.move()
            if hasSettled(entry) { commit(entry.input.index) }
            return
        }
        s.pointee.log.count = 0
        var entry = s.pointee.log.entries
        let end = entry + count
        while entry != end {
            if hasSettled(entry.pointee) { commit(entry.pointee.input.index) }
            entry += 1
        }
        s.pointee.log.entries.deinitialize(count: count)
    }

    /// Ends the unsettled state of an input. Returns true if the input is alive and its value differs from the one
    /// before the batch.
    @inlinable @inline(__always)
    package func hasSettled(_ entry: borrowing LoggedWrite<Value>) -> Bool {
        let vertex = s.pointee.vertex(entry.input.index)
        guard _fastPath(vertex.pointee.generation == entry.input.generation) else { return false }
        vertex.pointee.flags = vertex.pointee.flags.subtracting(.unsettled)
        return !host.pointee.areEqual(entry.old, GraphStorage<Host>.value(of: vertex).pointee)
    }

    // MARK: Marking

    /// Makes a write outside a batch take effect.
    @inlinable @inline(__always)
    package func commitNow(_ input: UInt32) {
        s.pointee.revision &+= 1
        commit(input)
    }

    /// Makes the change of an input's value take effect.
    @inlinable @inline(__always)
    package func commit(_ input: UInt32) {
        noteWrite(to: input, s.pointee.vertex(input))
        markReaders(of: input)
    }

    @inlinable @inline(__always)
    package func noteWrite(to input: UInt32, _ vertex: UnsafeMutablePointer<Vertex>) {
        let flags = vertex.pointee.flags
        vertex.pointee.changedAt = s.pointee.revision
        s.pointee.counters.writes &+= 1
        if _slowPath(flags.contains(.watched)) { reportInput(input) }
    }

    /// Reports a watched input, unless it has been reported and not read since.
    @inlinable @inline(never)
    package func reportInput(_ input: UInt32) {
        let vertex = s.pointee.vertex(input)
        if vertex.pointee.flags.contains(.unseen) { return }
        vertex.pointee.flags.insert(.unseen)
        s.pointee.invalidated.append(s.pointee.id(input))
    }

    /// Marks everything downstream as possibly changed. Stops at marked vertices: everything downstream of them is
    /// marked.
    ///
    /// Chains of single readers are followed directly; vertices with several readers wait on a stack.
    @inlinable @inline(__always)
    package func markReaders(of root: UInt32) {
        let readerClass = s.pointee.vertex(root).pointee.readerClass
        if readerClass == EdgePool.single {
            var marked: UInt64 = 0
            let branching = markChain(from: root, &marked)
            s.pointee.counters.invalidations &+= marked
            if branching != 0 { markBranches(from: branching) }
        } else if readerClass != 0 {
            markBranches(from: root)
        }
    }

    /// `markReaders`, for a vertex with several readers.
    @inlinable @inline(never)
    package func markBranches(from root: UInt32) {
        // Marking moves no table.
        let vertices = s.pointee.vertices
        let ends = s.pointee.edges.ends
        var top = 0
        var marked: UInt64 = 0
        var index = root
        while true {
            let readers = vertices[index].pointee.readers
            var entry = Int(readers.start)
            let end = entry &+ Int(readers.extent)
            index = 0
            while entry != end {
                var reader = ends[entry]
                let readerClass = mark(vertices[reader], reader, &marked)
                entry &+= 1
                if readerClass == 0 { continue }
                if readerClass == EdgePool.single {
                    reader = markChain(from: reader, &marked)
                    if reader == 0 { continue }
                }
                if index != 0 {
                    if _slowPath(top == s.pointee.marking.capacity) { growMarking() }
                    s.pointee.marking.base[top] = index
                    top &+= 1
                }
                index = reader
            }
            if index == 0 {
                if top == 0 { break }
                top &-= 1
                index = s.pointee.marking.base[top]
            }
        }
        s.pointee.counters.invalidations &+= marked
    }

    /// Marks the chain that begins after a marked vertex with a single reader. Returns the first vertex with several
    /// readers, from which the caller continues; 0 if the chain ends before.
    @inlinable @inline(__always)
    package func markChain(from first: UInt32, _ marked: inout UInt64) -> UInt32 {
        let vertices = s.pointee.vertices
        var vertex = vertices[first]
        while true {
            let readers = vertex.pointee.readers
            vertex = vertices[readers.start]
            let readerClass = mark(vertex, readers.start, &marked)
            if readerClass == 0 { return 0 }
            if readerClass != EdgePool.single { return readers.start }
        }
    }

    @inlinable @inline(never)
    package func growMarking() {
        s.pointee.marking.count = s.pointee.marking.capacity
        s.pointee.marking.grow(to: s.pointee.marking.capacity &* 2)
        s.pointee.marking.count = 0
    }

    /// Marks a reader. Returns the class of the vertex's own readers, or 0 if it was already marked.
    @inlinable @inline(__always)
    package func mark(
        _ vertex: UnsafeMutablePointer<Vertex>, _ reader: UInt32, _ marked: inout UInt64
    ) -> UInt8 {
        let flags = vertex.pointee.flags
        if !flags.isDisjoint(with: .maybeOrWatched) {
            if flags.contains(.maybe) { return 0 }
            s.pointee.invalidated.append(AttributeID(index: reader, generation: vertex.pointee.generation))
        }
        vertex.pointee.flags = flags.union(.maybe)
        marked &+= 1
        return vertex.pointee.readerClass
    }

    /// Makes a rule run again, whatever its inputs are.
    @inlinable
    package func makeStale(_ index: UInt32) {
        let vertex = s.pointee.vertex(index)
        let flags = vertex.pointee.flags
        vertex.pointee.flags.insert(.maybeAndStale)
        if flags.contains(.maybe) { return }
        s.pointee.counters.invalidations &+= 1
        if flags.contains(.watched) { s.pointee.invalidated.append(s.pointee.id(index)) }
        markReaders(of: index)
    }
}
