/// Runs observers: rules that may write, and whose reader is outside the graph.
extension GraphCore where Host: ~Copyable {
    /// Runs an observer at the top of the stack. Running rules may be below it.
    @inlinable @inline(never)
    package func runObserver(_ index: UInt32, _ cause: UInt32, at position: Int) {
        let nesting = s.pointee.nesting
        s.pointee.nesting = 0
        observe(index, cause, at: position)
        s.pointee.nesting = nesting
    }

    /// Runs an observer, which may write and counts as a reader from outside: its inputs are evaluated from a stack of
    /// their own. Pops the entry at the top of the stack. Returns false if something has happened that other runs may
    /// have to check.
    @inlinable @inline(__always)
    @discardableResult
    package func observe(_ index: UInt32, _ cause: UInt32, at position: Int) -> Bool {
        let row = s.pointee.vertex(index)
        Pending.store(index, in: s.pointee.pending.base + position)
        if row.pointee.kind.isFixed {
            let attribute = beginFixedRun(index, row, at: position)
            row.pointee.evaluatedAt = s.pointee.revision
            host.pointee.observe(attribute, in: self)
            if _slowPath(!s.pointee.attention.isEmpty) { return endObserverWithCare(index, cause, at: position) }
        } else {
            let attribute = beginRun(index, row, at: position)
            row.pointee.evaluatedAt = s.pointee.revision
            host.pointee.observe(attribute, in: self)
            if _slowPath(!s.pointee.attention.isEmpty) { return endObserverWithCare(index, cause, at: position) }
            if _slowPath(s.pointee.tracking.cursor != s.pointee.tracking.cursorEnd) {
                dropInputs(of: index, from: readSoFar)
            }
        }
        endObserver(index, cause)
        return true
    }

    /// Ends a run of an observer. Until now its `evaluatedAt` was the revision at which the run began.
    @inlinable @inline(__always)
    package func endObserver(_ index: UInt32, _ cause: UInt32) {
        let vertex = endRun(index, cause)
        let flags = vertex.pointee.flags
        // Not if the observer's own writes have invalidated it: their changes are later than the run.
        if _fastPath(!flags.contains(.maybe)) { vertex.pointee.evaluatedAt = s.pointee.revision }
        vertex.pointee.flags = flags.subtracting(.runningAndCyclic)
    }

    /// As `endObserver`, unless the vertex is destroyed or on a cycle. Settles the writes of the observer.
    @inlinable @inline(never)
    package func endObserverWithCare(_ index: UInt32, _ cause: UInt32, at position: Int) -> Bool {
        if lookCloser(index, at: position) == nil {
            if s.pointee.tracking.cursor != s.pointee.tracking.cursorEnd { dropInputs(of: index, from: readSoFar) }
            endObserver(index, cause)
        }
        return false
    }
}
