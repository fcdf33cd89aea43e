/// Running observers: rules that may write, whose readers are the outside.
extension GraphCore where Host: ~Copyable {
    /// Runs an observer at the top of the stack, above running rules perhaps.
    @inlinable @inline(never)
    package func runObserver(_ index: UInt32, _ cause: UInt32, at position: Int) {
        let nesting = s.pointee.nesting
        s.pointee.nesting = 0
        observe(index, cause, at: position)
        s.pointee.nesting = nesting
    }

    /// An observer may write and is a reader from outside: what it reads is evaluated from a stack of its own.
    /// Takes the entry at the top of the stack. False if something has happened that other runs may have to look at.
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

    /// An observer has run to its end. Until then it counts as evaluated when its run began.
    @inlinable @inline(__always)
    package func endObserver(_ index: UInt32, _ cause: UInt32) {
        let vertex = endRun(index, cause)
        let flags = vertex.pointee.flags
        // Invalidated by its own writes: what they changed is later than the run.
        if _fastPath(!flags.contains(.maybe)) { vertex.pointee.evaluatedAt = s.pointee.revision }
        vertex.pointee.flags = flags.subtracting(.runningAndCyclic)
    }

    /// As `endObserver`, unless its vertex is gone, or on a cycle. Settles what the observer has written.
    @inlinable @inline(never)
    package func endObserverWithCare(_ index: UInt32, _ cause: UInt32, at position: Int) -> Bool {
        if lookCloser(index, at: position) == nil {
            if s.pointee.tracking.cursor != s.pointee.tracking.cursorEnd { dropInputs(of: index, from: readSoFar) }
            endObserver(index, cause)
        }
        return false
    }
}
