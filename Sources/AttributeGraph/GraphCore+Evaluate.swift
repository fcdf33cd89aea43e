extension GraphCore where Host: ~Copyable {
    // MARK: Validation

    /// Brings a vertex up to date: runs what must run upstream of it, then itself if an input turned out changed.
    ///
    /// Iterative: `pending` is the stack. Its entries walk the inputs that their last run read, in that order,
    /// and stop at the first that changed, because what follows may not be read any more. Afterwards the
    /// vertex is valid, or (still `running`) part of a cycle that ends further down the stack.
    @inlinable @inline(never)
    func validate(_ root: UInt32) throws {
        let base = s.pointee.pending.count
        s.pointee.push(root)
        if s.pointee.nesting > 0 { return try process(above: base) }
        while true {
            do { return try process(above: base) } catch is Interruption {
                // What was to be read is on the stack now, above the runs that wait for it.
                s.pointee.isInterrupted = false
            }
        }
    }

    @inlinable
    func process(above base: Int) throws {
        next: while s.pointee.pending.count > base {
            let position = s.pointee.pending.count &- 1
            let entry = s.pointee.pending.base + position
            let index = entry.pointee.vertex
            let vertex = s.pointee.vertex(index)
            let flags = vertex.pointee.flags
            let isOwn = flags.contains(.running) && vertex.pointee.cause == UInt32(truncatingIfNeeded: position)
            if !isOwn && (flags.contains(.running) || !flags.contains(.maybe)) {
                s.pointee.pending.count = position
                continue
            }
            var cause: UInt32 = 0
            let isFirst = vertex.pointee.evaluatedAt == 0
            if isFirst || !flags.contains(.stale) && !flags.contains(.cyclic) {
                let start = vertex.pointee.inputStart
                let count = vertex.pointee.inputCount
                var walked = entry.pointee.validated
                if isFirst && count != 0 && !isOwn {
                    // Declared inputs: they are read for certain, so the wait is already a dependency.
                    vertex.pointee.flags.insert(.running)
                    vertex.pointee.cause = UInt32(truncatingIfNeeded: position)
                }
                let evaluatedAt = vertex.pointee.evaluatedAt
                while walked < count {
                    let input = s.pointee.edges.ends[Int(start &+ walked)]
                    let other = s.pointee.vertex(input)
                    if other.pointee.flags.contains(.running) {
                        if isFirst { walked &+= 1; continue }
                        break
                    }
                    if other.pointee.flags.contains(.maybe) {
                        entry.pointee.validated = walked
                        s.pointee.push(input)
                        continue next
                    }
                    if other.pointee.changedAt > evaluatedAt && !isFirst {
                        cause = input
                        break
                    }
                    walked &+= 1
                }
                if walked == count && !isFirst {
                    vertex.pointee.flags.remove(.maybe)
                    s.pointee.counters.cutOffs &+= 1
                    s.pointee.pending.count = position
                    continue
                }
            }
            try run(index, cause, at: position)
            s.pointee.pending.count = position
        }
    }

    // MARK: Running

    /// Runs the rule of the vertex whose entry is the top of the stack, and stores what it returns.
    @inlinable
    func run(_ index: UInt32, _ cause: UInt32, at position: Int) throws {
        let reader = s.pointee.reader
        let readerPosition = s.pointee.readerPosition
        let readerCursor = s.pointee.cursor
        let readerIsHinted = s.pointee.isHinted
        let hints = s.pointee.overwrittenHints.count
        let nesting = s.pointee.nesting
        if reader != 0 { noteCursor() }

        var vertex = s.pointee.vertex(index)
        let isObserver = vertex.pointee.kind == .observer
        let generation = vertex.pointee.generation
        vertex.pointee.flags.subtract([.maybe, .stale])
        vertex.pointee.flags.insert(.running)
        vertex.pointee.cause = UInt32(truncatingIfNeeded: position)
        s.pointee.reader = index
        s.pointee.readerPosition = UInt32(truncatingIfNeeded: position)
        s.pointee.cursorStart = vertex.pointee.inputStart
        s.pointee.cursor = vertex.pointee.inputStart
        s.pointee.cursorEnd = vertex.pointee.inputStart &+ vertex.pointee.inputCount
        s.pointee.isHinted = false
        if isObserver {
            s.pointee.nesting = 0
        } else {
            s.pointee.nesting = nesting &+ 1
            s.pointee.rulesRunning &+= 1
        }
        let startedAt = s.pointee.revision

        let result: Value?
        do {
            result = try s.pointee.host.pointee.evaluate(AttributeID(index: index, generation: generation), in: self)
            if s.pointee.isInterrupted && !isObserver { throw Interruption() }
        } catch {
            abandon(index, isObserver, hints, nesting)
            restoreReader(reader, readerPosition, readerCursor, readerIsHinted)
            throw error
        }

        if s.pointee.logCount != 0 { settle() }
        if isObserver { s.pointee.nesting = nesting } else {
            s.pointee.nesting = nesting
            s.pointee.rulesRunning &-= 1
        }
        vertex = s.pointee.vertex(index)
        s.pointee.counters.evaluations &+= 1
        if vertex.pointee.kind == .doomed {
            freeVertex(index)
        } else {
            if s.pointee.cursor != s.pointee.cursorEnd {
                dropInputs(of: index, from: s.pointee.cursor &- s.pointee.cursorStart)
            }
            let entry = s.pointee.pending.base + position
            if entry.pointee.low != UInt32.max || s.pointee.openCycle.count > Int(entry.pointee.openBefore) {
                endCyclicRun(index, at: UInt32(truncatingIfNeeded: position))
            } else {
                vertex.pointee.flags.subtract([.running, .cyclic])
                vertex.pointee.cause = cause
                let flags = vertex.pointee.flags
                vertex.pointee.evaluatedAt = flags.contains(.maybe) ? startedAt : s.pointee.revision
                vertex.pointee.evaluations &+= 1
                store(result, in: index)
            }
        }
        if s.pointee.overwrittenHints.count != hints { restoreHints(to: hints) }
        restoreReader(reader, readerPosition, readerCursor, readerIsHinted)
    }

    /// Puts a result in its place; the value counts as changed unless the host finds it equal to the old one.
    @inlinable @inline(__always)
    func store(_ result: consuming Value?, in index: UInt32) {
        let vertex = s.pointee.vertex(index)
        let slot = s.pointee.value(index)
        if let new = result {
            if vertex.pointee.flags.contains(.empty) {
                slot.initialize(to: new)
                vertex.pointee.flags.remove(.empty)
            } else if s.pointee.host.pointee.areEqual(slot.pointee, new) {
                s.pointee.counters.cutOffs &+= 1
                return
            } else {
                slot.pointee = new
            }
        } else if !vertex.pointee.flags.contains(.empty) {
            slot.deinitialize(count: 1)
            vertex.pointee.flags.insert(.empty)
        }
        vertex.pointee.changedAt = s.pointee.revision
    }

    /// The run was given up; its entry stays on the stack and will be run again, and what it has read stays linked.
    @inlinable @inline(never)
    func abandon(_ index: UInt32, _ isObserver: Bool, _ hints: Int, _ nesting: Int) {
        s.pointee.nesting = nesting
        if !isObserver { s.pointee.rulesRunning &-= 1 }
        s.pointee.counters.restarts &+= 1
        if s.pointee.vertex(index).pointee.kind == .doomed {
            freeVertex(index)
        } else {
            s.pointee.vertex(index).pointee.flags.insert([.maybe, .stale])
        }
        restoreHints(to: hints)
    }

    @inlinable @inline(never)
    func restoreHints(to count: Int) {
        while s.pointee.overwrittenHints.count > count {
            let entry = s.pointee.overwrittenHints.removeLast()
            s.pointee.vertex(entry.vertex).pointee.hint = entry.hint
        }
    }

    // MARK: The tracked reader

    @inlinable @inline(__always)
    func restoreReader(_ reader: UInt32, _ position: UInt32, _ cursor: UInt32, _ isHinted: Bool) {
        if reader == 0 { return suspendTracking() }
        let vertex = s.pointee.vertex(reader)
        guard vertex.pointee.kind != .doomed else { return suspendTracking() }
        s.pointee.reader = reader
        s.pointee.readerPosition = position
        s.pointee.cursor = cursor
        s.pointee.cursorStart = vertex.pointee.inputStart
        s.pointee.cursorEnd = vertex.pointee.inputStart &+ vertex.pointee.inputCount
        s.pointee.isHinted = isHinted
    }

    @inlinable @inline(__always)
    func suspendTracking() {
        if s.pointee.reader != 0 { noteCursor() }
        s.pointee.reader = 0
        s.pointee.cursor = 0
        s.pointee.cursorStart = 0
        s.pointee.cursorEnd = 0
        s.pointee.isHinted = false
    }

    /// Writes down how far the tracked rule has read, for writes that happen while it is not the tracked one.
    @inlinable @inline(__always)
    func noteCursor() {
        s.pointee.pending.base[Int(s.pointee.readerPosition)].cursor = s.pointee.cursor &- s.pointee.cursorStart
    }
}
