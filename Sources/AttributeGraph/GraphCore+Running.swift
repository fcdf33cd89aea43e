/// Runs a rule and stores its value.
extension GraphCore where Host: ~Copyable {
    @usableFromInline
    package enum Outcome {
        /// The vertex has the value that its rule returned, or none if the rule threw.
        case finished
        /// As `finished`, but something has happened that other runs may have to check.
        case finishedWithCare
        /// The vertex is on a cycle, and gets the cycle's value later.
        case without
        case interrupted
    }

    /// Runs the rule of the vertex whose entry is the top of the stack, and stores what it returns.
    @inlinable @inline(__always)
    package func run(_ index: UInt32, _ vertex: UnsafeMutablePointer<Vertex>, _ cause: UInt32, at position: Int)
        -> Outcome
    {
        let attribute = beginRun(index, vertex, at: position)
        let value: Value
        do { value = try host.pointee.evaluate(attribute, in: self) } catch {
            return endFailedRun(index, cause, at: position)
        }
        if _slowPath(!s.pointee.attention.isEmpty) { return finishWithCare(value, of: index, cause, at: position) }
        if _slowPath(s.pointee.tracking.cursor != s.pointee.tracking.cursorEnd) {
            dropInputs(of: index, from: readSoFar)
        }
        finish(value, of: index, cause)
        return .finished
    }

    /// Ends a run that returned a value.
    @inlinable @inline(__always)
    package func finish(_ value: consuming Value, of index: UInt32, _ cause: UInt32) {
        let revision = s.pointee.revision
        let vertex = endRun(index, cause)
        vertex.pointee.evaluatedAt = revision
        store(value, in: vertex, vertex.pointee.flags.subtracting(.runningAndCyclic), revision)
    }

    /// As `finish`, unless something has happened during the run that prevents it.
    @inlinable @inline(never)
    package func finishWithCare(_ value: consuming Value, of index: UInt32, _ cause: UInt32, at position: Int)
        -> Outcome
    {
        if let outcome = lookCloser(index, at: position) { return outcome }
        if s.pointee.tracking.cursor != s.pointee.tracking.cursorEnd { dropInputs(of: index, from: readSoFar) }
        finish(value, of: index, cause)
        return .finishedWithCare
    }

    /// Ends a run that threw: it was abandoned, or the vertex has no value now.
    @inlinable @inline(never)
    package func endFailedRun(_ index: UInt32, _ cause: UInt32, at position: Int) -> Outcome {
        if let outcome = lookCloser(index, at: position) { return outcome }
        if s.pointee.tracking.cursor != s.pointee.tracking.cursorEnd { dropInputs(of: index, from: readSoFar) }
        let vertex = endRun(index, cause)
        vertex.pointee.evaluatedAt = s.pointee.revision
        vertex.pointee.flags.subtract(.runningAndCyclic)
        removeValue(of: vertex)
        return .finishedWithCare
    }

    /// Makes a vertex the tracked reader, with the cursor at its first input.
    @inlinable @inline(__always)
    package func beginRun(_ index: UInt32, _ vertex: UnsafeMutablePointer<Vertex>, at position: Int) -> AttributeID {
        vertex.pointee.flags = vertex.pointee.flags.subtracting(.maybeAndStale).union(.running)
        vertex.pointee.cause = UInt32(truncatingIfNeeded: position)
        s.pointee.tracking.reader = index
        setCursor(vertex, 0)
        return AttributeID(index: index, generation: vertex.pointee.generation)
    }

    /// Counts the run and notes its cause. The rule is still marked as running, and its `evaluatedAt` is still the old
    /// one.
    @inlinable @inline(__always)
    package func endRun(_ index: UInt32, _ cause: UInt32) -> UnsafeMutablePointer<Vertex> {
        s.pointee.counters.evaluations &+= 1
        let vertex = s.pointee.vertex(index)
        vertex.pointee.cause = cause
        s.pointee.evaluations(index).pointee &+= 1
        return vertex
    }

    /// Handles the special circumstances of a run. Returns nil if the run may end as usual.
    @inlinable @inline(never)
    package func lookCloser(_ index: UInt32, at position: Int) -> Outcome? {
        if s.pointee.attention.contains(.interrupted) {
            abandon(index, at: position)
            return .interrupted
        }
        if s.pointee.attention.contains(.hinted) { restoreHints(of: index) }
        let mark = s.pointee.cycleMark(at: position)
        if !isOnCycle(mark) { return nil }
        s.pointee.counters.evaluations &+= 1
        if s.pointee.tracking.cursor != s.pointee.tracking.cursorEnd {
            dropInputs(of: index, from: readSoFar)
        }
        endCyclicRun(index, mark)
        return .without
    }

    /// True if the run has met an open cycle, or something that it ran has.
    @inlinable
    package func isOnCycle(_ mark: CycleMark) -> Bool {
        mark.low != UInt32.max || s.pointee.cycles.members.count != Int(mark.openBefore)
    }

    /// Stores a vertex's value and flags. The value counts as changed unless the host finds it equal to the old one.
    @inlinable @inline(__always)
    package func store(
        _ value: consuming Value, in vertex: UnsafeMutablePointer<Vertex>, _ flags: Vertex.Flags, _ revision: Revision
    ) {
        let slot = GraphStorage<Host>.value(of: vertex)
        if _slowPath(flags.contains(.empty)) {
            slot.initialize(to: value)
            vertex.pointee.flags = flags.subtracting(.empty)
        } else {
            vertex.pointee.flags = flags
            if host.pointee.areEqual(slot.pointee, value) {
                s.pointee.counters.cutOffs &+= 1
                return
            }
            slot.pointee = value
        }
        vertex.pointee.changedAt = revision
    }

    /// Removes a vertex's value, which counts as a change.
    @inlinable
    package func removeValue(of vertex: UnsafeMutablePointer<Vertex>) {
        if !vertex.pointee.flags.contains(.empty) {
            GraphStorage<Host>.value(of: vertex).deinitialize(count: 1)
            vertex.pointee.flags.insert(.empty)
        }
        vertex.pointee.changedAt = s.pointee.revision
    }

    /// Abandons the run. The entry stays on the stack and will run again, and the inputs read so far stay linked.
    @inlinable @inline(never)
    package func abandon(_ index: UInt32, at position: Int) {
        s.pointee.counters.restarts &+= 1
        restoreHints(of: index)
        // While the rule ran, this was the position of its cursor.
        s.pointee.pending.base[position].validated = 0
    }

    /// Restores the hints that this run has overwritten, because they may belong to the runs below it.
    @inlinable @inline(never)
    package func restoreHints(of index: UInt32) {
        while let entry = s.pointee.tracking.overwrittenHints.last, entry.reader == index {
            s.pointee.tracking.overwrittenHints.count &-= 1
            s.pointee.vertex(entry.vertex).pointee.hint = entry.hint
        }
        s.pointee.attention.remove(.hinted)
    }
}
