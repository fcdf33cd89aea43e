/// Running observers: rules that may write, whose readers are the outside.
extension GraphCore where Host: ~Copyable {
    /// Brings all reported attributes up to date, in their order, and drops the reports; those that this causes stay.
    /// For observers, while nothing is running.
    @inlinable @inline(never)
    func updateInvalidated() {
        precondition(s.pointee.pending.count == 0, "observers run between evaluations")
        s.pointee.beginNesting()
        s.pointee.nesting = 1
        let count = s.pointee.invalidated.count
        var next = 0
        while next < count {
            let attribute = s.pointee.invalidated.base[next]
            next &+= 1
            let vertex = s.pointee.vertex(attribute.index)
            guard vertex.pointee.generation == attribute.generation, vertex.pointee.flags.contains(.maybe) else { continue }
            s.pointee.push(attribute.index)
            if vertex.pointee.kind == .observer && firstInputChanged(vertex) {
                runObserver(attribute.index, firstInput(of: vertex), at: 0)
                s.pointee.pending.count = 0
            } else if !workOff(0) {
                updateRest()
            }
        }
        if s.pointee.invalidated.count == count { s.pointee.invalidated.count = 0 } else { removeInvalidated(count) }
        rest()
    }

    /// Runs an observer that has just been made, without asking whether it must.
    @inlinable @inline(never)
    func runNew(_ observer: UInt32) {
        let reader = s.pointee.reader
        let read = readSoFar
        let isHinted = s.pointee.attention.contains(.hinted)
        if s.pointee.logCount != 0 { settle() }
        if reader != 0 { s.pointee.pending.base[s.pointee.pending.count &- 1].validated = read }
        s.pointee.attention.remove(.hinted)
        let position = s.pointee.pending.count
        s.pointee.push(observer)
        defer {
            s.pointee.pending.count = position
            s.pointee.reader = 0
            restoreReader(reader, read, isHinted)
        }
        runObserver(observer, 0, at: position)
        if position == 0 && !s.pointee.attention.isEmpty { calmDown() }
    }

    /// An observer may write and is a reader from outside: what it reads is evaluated from a stack of its own.
    @inlinable @inline(never)
    func runObserver(_ index: UInt32, _ cause: UInt32, at position: Int) {
        let generation = beginRun(index, at: position)
        let nesting = s.pointee.nesting
        s.pointee.nesting = 0
        let startedAt = s.pointee.revision
        host.pointee.observe(AttributeID(index: index, generation: generation), in: self)
        if s.pointee.logCount != 0 { settle() }
        s.pointee.nesting = nesting
        if !s.pointee.attention.isEmpty, ending(index, at: position) != .ordinary { return }
        // Invalidated by its own writes: what they changed is later than the run.
        let wrote = s.pointee.vertex(index).pointee.flags.contains(.maybe)
        endRun(index, cause, wrote ? startedAt : s.pointee.revision).pointee.flags.subtract(.runningAndCyclic)
    }
}
