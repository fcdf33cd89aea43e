extension GraphCore where Host: ~Copyable {
    // MARK: Validation

    /// Brings a vertex up to date: runs what must run upstream of it, and then the vertex if one of its inputs has
    /// changed.
    ///
    /// Iterative: `pending` is the stack. Each entry walks the inputs of the vertex's last run, in their order. It
    /// stops at the first changed one, because the next run may not read those that follow. Afterwards the vertex is
    /// valid, or (still `running`) part of a cycle that ends further down the stack.
    ///
    /// Returns false if a run was interrupted. Then the entries stay, and the outermost validation continues with them.
    @inlinable @inline(never)
    package func validate(_ root: UInt32) -> Bool {
        let base = s.pointee.pending.count
        if s.pointee.nesting > 0 { return process(root, above: base) }
        s.pointee.beginNesting()
        while !process(root, above: base) {
            // The attribute to be read is on the stack now, above the runs that wait for it.
            s.pointee.attention.remove(.interrupted)
        }
        return true
    }

    /// Processes the stack entries above `base`, or `root` if there are none. The tracked reader is another one
    /// meanwhile and is restored at the end.
    @inlinable @inline(__always)
    package func process(_ root: UInt32, above base: Int) -> Bool {
        let reader = s.pointee.tracking.reader
        let read = readSoFar
        let isHinted = s.pointee.attention.contains(.hinted)
        if reader != 0 { s.pointee.pending.base[base &- 1].validated = read }
        s.pointee.attention.remove(.hinted)
        if s.pointee.pending.count == base { s.pointee.push(root) }
        s.pointee.nesting &+= 1
        defer {
            s.pointee.nesting &-= 1
            restoreReader(reader, read, isHinted)
        }
        guard workOff(base) else { return false }
        if base == 0 && !s.pointee.attention.isEmpty { calmDown() }
        return true
    }

    /// As `validate`, while nothing is running, for a vertex that needs to run only if an input has changed.
    @inlinable @inline(__always)
    package func validateAtRest(_ root: UInt32) {
        s.pointee.beginNesting()
        s.pointee.nesting = 1
        s.pointee.push(root)
        if _slowPath(!workOffAlone(root, s.pointee.vertex(root), at: 0)) { updateRest() }
        rest()
    }

    /// `workOff` for the top entry alone. The vertex is marked, and needs to run only if an input has changed. Has a
    /// fast path for the commonest case: its first input has changed.
    @inlinable @inline(__always)
    package func workOffAlone(_ index: UInt32, _ vertex: UnsafeMutablePointer<Vertex>, at position: Int) -> Bool {
        guard _fastPath(firstInputChanged(vertex)) else { return workOff(position) }
        if _slowPath(run(index, vertex, firstInput(of: vertex), at: position) == .interrupted) { return false }
        s.pointee.pending.count = position
        return true
    }

    /// Processes the whole stack after an interruption.
    @inlinable @inline(never)
    package func updateRest() {
        while s.pointee.pending.count > 0 {
            s.pointee.attention.remove(.interrupted)
            _ = workOff(0)
        }
    }

    /// True if the first input of a marked vertex shows that the vertex must run: the input is valid and has changed
    /// since.
    @inlinable @inline(__always)
    package func firstInputChanged(_ vertex: UnsafeMutablePointer<Vertex>) -> Bool {
        if vertex.pointee.inputClass == 0 { return false }
        let input = s.pointee.vertex(firstInput(of: vertex))
        return input.pointee.flags.isDisjoint(with: .maybeOrRunning)
            && input.pointee.changedAt > vertex.pointee.evaluatedAt
    }

    /// The vertex must have an input.
    @inlinable @inline(__always)
    package func firstInput(of vertex: UnsafeMutablePointer<Vertex>) -> UInt32 {
        let start = vertex.pointee.inputs.start
        return vertex.pointee.inputClass == EdgePool.single ? start : s.pointee.edges.ends[Int(start)]
    }

    /// Pops the entries above `base`, each when its vertex is valid.
    ///
    /// Returns false if a run was interrupted. The walk keeps the height in a register and writes `pending.count`
    /// before other code can read it.
    @inlinable @inline(never)
    package func workOff(_ base: Int) -> Bool {
        var position = s.pointee.pending.count &- 1
        next: while position >= base {
            var index = s.pointee.pending.base[position].vertex
            var cause: UInt32 = 0
            var vertex = s.pointee.vertex(index)
            var mustRun = false
            if _slowPath(vertex.pointee.flags.intersection(.decisive) != .maybe) {
                s.pointee.pending.count = position &+ 1
                switch classify(index, at: position) {
                case .done:
                    position &-= 1
                    continue next
                case .waits:
                    position &+= 1
                    continue next
                case .runs:
                    mustRun = true
                }
            }
            walk: while true {
                down: while !mustRun {
                    if vertex.pointee.inputClass == EdgePool.single {
                        cause = vertex.pointee.inputs.start
                        let other = s.pointee.vertex(cause)
                        let otherFlags = other.pointee.flags
                        if otherFlags.intersection(.decisive) == .maybe {
                            position &+= 1
                            s.pointee.push(cause, at: position)
                            index = cause
                            vertex = other
                            continue down
                        }
                        if _slowPath(!otherFlags.isDisjoint(with: .maybeOrRunning)) {
                            if !otherFlags.contains(.running) {
                                position &+= 1
                                s.pointee.push(cause, at: position)
                                continue next
                            }
                            cause = 0
                            break down
                        }
                        if other.pointee.changedAt > vertex.pointee.evaluatedAt { break down }
                    } else {
                        let count = vertex.pointee.inputs.extent
                        let ends = s.pointee.edges.ends + Int(vertex.pointee.inputs.start)
                        let evaluatedAt = vertex.pointee.evaluatedAt
                        var walked = s.pointee.pending.base[position].validated
                        while walked != count {
                            let input = ends[Int(walked)]
                            let other = s.pointee.vertex(input)
                            let otherFlags = other.pointee.flags
                            if !otherFlags.isDisjoint(with: .maybeOrRunning) {
                                if _slowPath(otherFlags.contains(.running)) {
                                    // It is perhaps on a cycle: its run shows that.
                                    cause = 0
                                    break down
                                }
                                s.pointee.pending.base[position].validated = walked
                                position &+= 1
                                s.pointee.push(input, at: position)
                                if _slowPath(otherFlags.intersection(.decisive) != .maybe) { continue next }
                                index = input
                                vertex = other
                                continue down
                            }
                            if other.pointee.changedAt > evaluatedAt {
                                cause = input
                                break down
                            }
                            walked &+= 1
                        }
                    }
                    vertex.pointee.flags.subtract(.maybe)
                    s.pointee.counters.cutOffs &+= 1
                    position &-= 1
                    continue next
                }
                run: while true {
                    s.pointee.pending.count = position &+ 1
                    let outcome = run(index, vertex, cause, at: position)
                    if _slowPath(outcome == .interrupted) { return false }
                    position &-= 1
                    if _slowPath(outcome != .finished) { continue next }
                    // The entry below continues with the new state of this vertex. For most entries, this vertex alone
                    // decides.
                    let vertices = s.pointee.vertices
                    let entries = s.pointee.pending.base
                    var above = vertices[index]
                    while position >= base {
                        cause = index
                        index = entries[position].vertex
                        vertex = vertices[index]
                        if _slowPath(vertex.pointee.flags.intersection(.decisive) != .maybe) { continue next }
                        let hasChanged = above.pointee.changedAt > vertex.pointee.evaluatedAt
                        if vertex.pointee.inputClass == EdgePool.single {
                            if hasChanged { continue run }
                            vertex.pointee.flags.subtract(.maybe)
                            s.pointee.counters.cutOffs &+= 1
                            above = vertex
                            position &-= 1
                        } else {
                            if hasChanged { continue run }
                            entries[position].validated &+= 1
                            mustRun = false
                            continue walk
                        }
                    }
                    continue next
                }
            }
        }
        s.pointee.pending.count = base
        return true
    }

    @usableFromInline
    package enum Step {
        case done, waits, runs
    }

    /// Decides about an entry that cannot simply walk its inputs.
    @inlinable @inline(never)
    package func classify(_ index: UInt32, at position: Int) -> Step {
        let vertex = s.pointee.vertex(index)
        let flags = vertex.pointee.flags
        let isOwn = flags.contains(.running) && vertex.pointee.cause == UInt32(truncatingIfNeeded: position)
        if !isOwn && (flags.contains(.running) || !flags.contains(.maybe)) { return .done }
        if vertex.pointee.evaluatedAt == 0 && waitsForInput(index, position, isOwn) { return .waits }
        return .runs
    }

    /// Pushes the next marked input of a vertex whose first run was abandoned, of those that the run had read. Waiting
    /// for an input already counts as reading it.
    @inlinable @inline(never)
    package func waitsForInput(_ index: UInt32, _ position: Int, _ isOwn: Bool) -> Bool {
        let vertex = s.pointee.vertex(index)
        let inputs = inputs(of: vertex)
        if inputs.count == 0 { return false }
        if !isOwn {
            vertex.pointee.flags.insert(.running)
            vertex.pointee.cause = UInt32(truncatingIfNeeded: position)
            // `validated` counted the inputs that a walk has passed; from here on it counts those that the run
            // waited for.
            s.pointee.pending.base[position].validated = 0
        }
        let entry = s.pointee.pending.base + position
        var walked = entry.pointee.validated
        while walked < inputs.count {
            let input = inputs.ends[Int(walked)]
            let flags = s.pointee.vertex(input).pointee.flags
            if flags.contains(.maybe) && !flags.contains(.running) {
                entry.pointee.validated = walked
                s.pointee.push(input)
                return true
            }
            walked &+= 1
        }
        return false
    }
}
