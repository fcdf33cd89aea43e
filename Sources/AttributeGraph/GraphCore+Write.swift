extension GraphCore where Host: ~Copyable {
    // MARK: Writing

    /// Gives an input a value. An equal value changes nothing and wakes nobody.
    ///
    /// Outside a batch everything downstream is marked at once, without running anything; inside a batch
    /// when the batch ends or something is read. O(what gets marked for the first time since it was last evaluated).
    ///
    /// - Returns: whether the value is another one than before.
    /// - Throws: `GraphError.removed`; `GraphError.writeDuringEvaluation` while a rule is running.
    @inlinable @inline(__always)
    @discardableResult
    public func set(_ input: AttributeID, _ value: consuming Value) throws(GraphError) -> Bool {
        guard s.pointee.isAlive(input) else { throw .removed(input) }
        guard !isEvaluating else { throw .writeDuringEvaluation(input) }
        let vertex = s.pointee.vertex(input.index)
        precondition(vertex.pointee.kind == .input, "only inputs are set")
        let slot = s.pointee.value(input.index)
        if host.pointee.areEqual(slot.pointee, value) { return false }
        if s.pointee.batchDepth == 0 {
            slot.pointee = value
            s.pointee.revision &+= 1
            commit(input.index)
        } else if vertex.pointee.flags.contains(.unsettled) {
            slot.pointee = value
        } else {
            s.pointee.appendLog(input, slot.move())
            slot.initialize(to: value)
            vertex.pointee.flags.insert(.unsettled)
            if s.pointee.reader != 0 && !s.pointee.isCursorHidden { hideCursor() }
        }
        return true
    }

    /// Whether a rule is running: one that reads, or further down the stack one that an observer was made by.
    @inlinable @inline(__always)
    var isEvaluating: Bool {
        s.pointee.nesting != 0 || s.pointee.pending.count > 1 && hasRunningRule()
    }

    @inlinable @inline(never)
    func hasRunningRule() -> Bool {
        for position in 0..<s.pointee.pending.count {
            let vertex = s.pointee.vertex(s.pointee.pending.base[position].vertex)
            if vertex.pointee.kind == .rule && vertex.pointee.flags.contains(.running) { return true }
        }
        return false
    }

    /// The rule of an attribute has become another one, or depends on something the graph does not know: it must run again.
    @inlinable
    public func invalidate(_ rule: AttributeID) throws(GraphError) {
        guard s.pointee.isAlive(rule) else { throw .removed(rule) }
        precondition(s.pointee.vertex(rule.index).pointee.kind != .input, "an input has no rule")
        s.pointee.revision &+= 1
        makeStale(rule.index)
    }

    // MARK: Batches

    /// Opens a batch: writes accumulate until the outermost batch ends, and an input that then has its old
    /// value again counts as never written. Batches nest.
    @inlinable @inline(__always)
    public func beginBatch() { s.pointee.batchDepth &+= 1 }

    /// Closes a batch; closing the outermost marks what its writes have changed. Evaluates nothing.
    @inlinable @inline(__always)
    public func endBatch() {
        s.pointee.batchDepth &-= 1
        if s.pointee.batchDepth == 0 && s.pointee.logCount != 0 { settle() }
    }

    /// Lets the writes of the open batch take effect, so that everything read sees them.
    @inlinable
    func settle() {
        if s.pointee.isCursorHidden { showCursor() }
        s.pointee.revision &+= 1
        let count = s.pointee.logCount
        s.pointee.logCount = 0
        var entry = s.pointee.log
        let end = entry + count
        while entry != end {
            let input = entry.pointee.input
            let vertex = s.pointee.vertex(input.index)
            if vertex.pointee.generation == input.generation {
                vertex.pointee.flags.remove(.unsettled)
                if !host.pointee.areEqual(entry.pointee.old, s.pointee.value(input.index).pointee) {
                    commit(input.index)
                }
            }
            entry += 1
        }
        s.pointee.log.deinitialize(count: count)
    }

    /// While a running observer has unsettled writes, no read may take the short way past them.
    @inlinable @inline(never)
    func hideCursor() {
        s.pointee.isCursorHidden = true
        s.pointee.hiddenCursor = readSoFar
        removeCursor()
    }

    @inlinable @inline(never)
    func showCursor() {
        s.pointee.isCursorHidden = false
        let vertex = s.pointee.vertex(s.pointee.reader)
        guard s.pointee.reader != 0, vertex.pointee.kind != .doomed else { return }
        setCursor(vertex, s.pointee.hiddenCursor)
    }

    // MARK: Marking

    /// An input holds another value than before.
    @inlinable @inline(__always)
    func commit(_ input: UInt32) {
        let vertex = s.pointee.vertex(input)
        vertex.pointee.changedAt = s.pointee.revision
        s.pointee.counters.writes &+= 1
        if vertex.pointee.flags.contains(.watched) && !vertex.pointee.flags.contains(.unseen) {
            vertex.pointee.flags.insert(.unseen)
            s.pointee.invalidated.append(s.pointee.id(input))
        }
        if vertex.pointee.readerClass != 0 { markReaders(of: input) }
    }

    /// Marks everything downstream as possibly changed. What is marked already has marked all that follows it.
    ///
    /// Chains of single readers are followed at once; vertices with several wait on a stack.
    @inlinable @inline(never)
    func markReaders(of root: UInt32) {
        var top = 0
        var marked: UInt64 = 0
        var index = root
        if s.pointee.vertex(root).pointee.readerClass == EdgePool.single { index = markChain(from: root, &marked) }
        while index != 0 {
            let readers = s.pointee.vertex(index).pointee.readers
            var entry = Int(readers.start)
            let end = entry &+ Int(readers.extent)
            index = 0
            while entry != end {
                var reader = s.pointee.edges.ends[entry]
                let readerClass = mark(reader, s.pointee.edges.slots[entry], &marked)
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

    /// From a marked vertex with a single reader on, marks up to the first that has several: this is returned, to be gone
    /// on with; 0 if the chain ends before.
    @inlinable @inline(__always)
    func markChain(from first: UInt32, _ marked: inout UInt64) -> UInt32 {
        var index = first
        while true {
            let readers = s.pointee.vertex(index).pointee.readers
            let readerClass = mark(readers.start, readers.extent, &marked)
            if readerClass == 0 { return 0 }
            index = readers.start
            if readerClass != EdgePool.single { return index }
        }
    }

    @inlinable @inline(never)
    func growMarking() {
        s.pointee.marking.count = s.pointee.marking.capacity
        s.pointee.marking.grow(to: s.pointee.marking.capacity &* 2)
        s.pointee.marking.count = 0
    }

    /// Marks a reader that has an input at a position. Returns the class of its own readers; 0, too, if it was marked before.
    @inlinable @inline(__always)
    func mark(_ reader: UInt32, _ position: @autoclosure () -> UInt32, _ marked: inout UInt64) -> UInt8 {
        let vertex = s.pointee.vertex(reader)
        let flags = vertex.pointee.flags
        if flags.contains(.maybe) { return 0 }
        if _slowPath(flags.contains(.running)), !hasRead(reader, position()) { return 0 }
        vertex.pointee.flags = flags.union(.maybe)
        marked &+= 1
        if flags.contains(.watched) {
            s.pointee.invalidated.append(AttributeID(index: reader, generation: vertex.pointee.generation))
        }
        return vertex.pointee.readerClass
    }

    /// Whether a running observer has read, in this run, the input at a position of its list. If not, it will see the new value.
    @inlinable @inline(never)
    func hasRead(_ reader: UInt32, _ position: UInt32) -> Bool {
        if reader == s.pointee.reader {
            return position < (s.pointee.isCursorHidden ? s.pointee.hiddenCursor : readSoFar)
        }
        return position < s.pointee.pending.base[Int(s.pointee.vertex(reader).pointee.cause)].validated
    }

    /// Makes a rule run again whatever its inputs say.
    @inlinable
    func makeStale(_ index: UInt32) {
        let vertex = s.pointee.vertex(index)
        let flags = vertex.pointee.flags
        vertex.pointee.flags.insert(.maybeAndStale)
        if flags.contains(.maybe) { return }
        s.pointee.counters.invalidations &+= 1
        if flags.contains(.watched) { s.pointee.invalidated.append(s.pointee.id(index)) }
        if vertex.pointee.readerClass != 0 { markReaders(of: index) }
    }
}
