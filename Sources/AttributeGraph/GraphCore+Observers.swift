/// Running observers: rules that may write, whose readers are the outside.
extension GraphCore where Host: ~Copyable {
    /// Brings all reported attributes up to date, in their order, and drops the reports; true if this has caused more.
    /// For observers, while nothing is running.
    ///
    /// Each in turn takes the same entry at the bottom of the stack.
    @inlinable @inline(__always)
    func updateInvalidated() -> Bool {
        s.pointee.pending.count = 1
        let count = s.pointee.invalidated.count
        var next = 0
        while next != count {
            if _slowPath(s.pointee.attention.contains(.condemned)) { freeCondemned() }
            let attribute = s.pointee.invalidated.base[next]
            next &+= 1
            let vertex = s.pointee.vertex(attribute.index)
            if _slowPath(vertex.pointee.generation != attribute.generation) { continue }
            if _fastPath(vertex.pointee.flags.intersection(.decisive) == .maybe), vertex.pointee.kind.isObserver {
                if vertex.pointee.inputClass == EdgePool.single {
                    updateObserver(attribute.index, vertex)
                    continue
                }
                if case .change(let cause) = reason(of: vertex) {
                    observe(attribute.index, cause, at: 0)
                    continue
                }
            }
            if vertex.pointee.flags.contains(.maybe) { updateReported(attribute.index) }
        }
        s.pointee.pending.count = 0
        rest()
        if _fastPath(s.pointee.invalidated.count == count) {
            s.pointee.invalidated.count = 0
            return false
        }
        removeInvalidated(count)
        return true
    }

    /// What makes a marked vertex run, as far as that is known without evaluating anything.
    @inlinable @inline(__always)
    func reason(of vertex: UnsafeMutablePointer<Vertex>) -> Reason {
        let evaluatedAt = vertex.pointee.evaluatedAt
        if vertex.pointee.inputClass == EdgePool.single {
            let index = vertex.pointee.inputs.start
            let input = s.pointee.vertex(index)
            if _slowPath(!input.pointee.flags.isDisjoint(with: .maybeOrRunning)) { return .unknown }
            return input.pointee.changedAt > evaluatedAt ? .change(of: index) : .none
        }
        let vertices = s.pointee.vertices
        var entry = s.pointee.edges.ends + Int(vertex.pointee.inputs.start)
        let end = entry + Int(vertex.pointee.inputs.extent)
        var reason = Reason.none
        while entry != end {
            let input = vertices[entry.pointee]
            if _slowPath(!input.pointee.flags.isDisjoint(with: .maybeOrRunning)) { return .unknown }
            if reason == .none && input.pointee.changedAt > evaluatedAt {
                reason = .change(of: entry.pointee)
                if !vertex.pointee.kind.isFixed { break }
            }
            entry += 1
        }
        return reason
    }

    @usableFromInline
    enum Reason: Equatable {
        /// None of its inputs has changed since it ran.
        case none
        /// This one has, and none of those before it (of a fixed rule or observer: none at all) may yet change.
        case change(of: UInt32)
        /// One that comes before may have changed, or any of those of a fixed rule or observer.
        case unknown
    }

    /// Runs an observer if its only input turns out to be another. Nothing else decides.
    @inlinable @inline(__always)
    func updateObserver(_ index: UInt32, _ vertex: UnsafeMutablePointer<Vertex>) {
        let input = vertex.pointee.inputs.start
        let generation = vertex.pointee.generation
        var vertex = vertex
        let inputFlags = s.pointee.vertex(input).pointee.flags
        if !inputFlags.isDisjoint(with: .maybeOrRunning) {
            if _slowPath(inputFlags.intersection(.decisive) != .maybe) { return updateReported(index) }
            Pending.store(index, in: s.pointee.pending.base)
            s.pointee.push(input, at: 1)
            s.pointee.pending.count = 2
            s.pointee.beginNesting()
            s.pointee.nesting = 1
            let isDone = workOffAlone(input, s.pointee.vertex(input), at: 1)
            s.pointee.nesting = 0
            vertex = s.pointee.vertex(index)
            if _slowPath(
                !isDone || !s.pointee.attention.isEmpty || vertex.pointee.generation != generation
                    || vertex.pointee.flags.intersection(.decisive) != .maybe)
            {
                return updateInterrupted(index, generation)
            }
        }
        if s.pointee.vertex(input).pointee.changedAt > vertex.pointee.evaluatedAt {
            observe(index, input, at: 0)
        } else {
            vertex.pointee.flags = vertex.pointee.flags.subtracting(.maybe)
            s.pointee.counters.cutOffs &+= 1
        }
    }

    /// The rest of `updateObserver`, where a run was interrupted, or has destroyed something the observer stood for.
    @inlinable @inline(never)
    func updateInterrupted(_ index: UInt32, _ generation: UInt32) {
        s.pointee.nesting = 1
        if s.pointee.pending.count > 1 { updateRest() }
        s.pointee.nesting = 0
        s.pointee.pending.count = 1
        let vertex = s.pointee.vertex(index)
        if vertex.pointee.generation == generation && vertex.pointee.flags.contains(.maybe) { updateReported(index) }
    }

    /// Brings an attribute up to date from the bottom of the stack, whatever there is to be done upstream.
    @inlinable @inline(never)
    func updateReported(_ index: UInt32) {
        s.pointee.pending.count = 0
        s.pointee.push(index)
        s.pointee.beginNesting()
        s.pointee.nesting = 1
        if _slowPath(!workOff(0)) { updateRest() }
        s.pointee.nesting = 0
        s.pointee.pending.count = 1
    }

    /// Nothing runs, and nothing waits to be settled.
    @inlinable @inline(__always)
    var isAtRest: Bool { s.pointee.pending.count == 0 && s.pointee.logCount == 0 }

    /// At rest, runs an observer that has just been made, without asking whether it must. What it `mayLeaveUnread` of its fixed
    /// inputs is brought up to date before, else its changes would not be noticed.
    @inlinable @inline(__always)
    func runNew(_ observer: UInt32, mayLeaveUnread: Bool) {
        s.pointee.pending.count = 1
        if mayLeaveUnread && hasMarkedInput(s.pointee.vertex(observer)) {
            updateReported(observer)
        } else {
            observe(observer, 0, at: 0)
        }
        s.pointee.pending.count = 0
        rest()
    }

    /// As `runNew`, inside a run or a batch. False if such observers have used up the stack that they share.
    @inlinable @inline(never)
    func runNewWithin(_ observer: UInt32, _ mayLeaveUnread: Bool) -> Bool {
        let here = GraphStorage<Host>.stackAddress
        let outermost = s.pointee.outermostNewObserver
        if outermost == 0 {
            s.pointee.outermostNewObserver = here
        } else if here &+ GraphStorage<Host>.observerStackBudget < outermost {
            return false
        }
        defer { s.pointee.outermostNewObserver = outermost }
        // First of all: it shows the cursor again.
        if s.pointee.logCount != 0 { settle() }
        let reader = s.pointee.reader
        let read = readSoFar
        let isHinted = s.pointee.attention.contains(.hinted)
        if reader != 0 { s.pointee.pending.base[s.pointee.pending.count &- 1].validated = read }
        s.pointee.attention.remove(.hinted)
        let position = s.pointee.pending.count
        s.pointee.push(observer)
        defer {
            s.pointee.pending.count = position
            s.pointee.reader = 0
            restoreReader(reader, read, isHinted)
        }
        let generation = s.pointee.vertex(observer).pointee.generation
        if mayLeaveUnread { updateInputs(of: observer) }
        // One of them may have destroyed it.
        if s.pointee.vertex(observer).pointee.generation == generation { runObserver(observer, 0, at: position) }
        if position == 0 && !s.pointee.attention.isEmpty { calmDown() }
        return true
    }

    /// Brings the inputs of a new observer up to date, whose entry is the top of the stack.
    @inlinable @inline(never)
    func updateInputs(of observer: UInt32) {
        let nesting = s.pointee.nesting
        s.pointee.nesting = 0
        var position = 0
        // The list is gone when one of them has destroyed the observer.
        while case let inputs = inputs(of: s.pointee.vertex(observer)), position < Int(inputs.count) {
            let input = inputs.ends[position]
            let flags = s.pointee.vertex(input).pointee.flags
            if flags.contains(.maybe) && !flags.contains(.running) { _ = validate(input) }
            position += 1
        }
        s.pointee.nesting = nesting
    }

    /// Runs an observer at the top of the stack, above running rules perhaps.
    @inlinable @inline(never)
    func runObserver(_ index: UInt32, _ cause: UInt32, at position: Int) {
        let nesting = s.pointee.nesting
        s.pointee.nesting = 0
        observe(index, cause, at: position)
        s.pointee.nesting = nesting
    }

    /// An observer may write and is a reader from outside: what it reads is evaluated from a stack of its own.
    /// Takes the entry at the top of the stack. False if something has happened that other runs may have to look at.
    @inlinable @inline(__always)
    @discardableResult
    func observe(_ index: UInt32, _ cause: UInt32, at position: Int) -> Bool {
        let row = s.pointee.vertex(index)
        Pending.store(index, in: s.pointee.pending.base + position)
        if row.pointee.kind.isFixed {
            let attribute = beginFixedRun(index, row, at: position)
            row.pointee.evaluatedAt = s.pointee.revision
            host.pointee.observe(attribute, over: FixedInputs(self, of: row), in: self)
            if _slowPath(!s.pointee.attention.isEmpty) { return endObserverWithCare(index, cause, at: position) }
        } else {
            let attribute = beginRun(index, row, at: position)
            row.pointee.evaluatedAt = s.pointee.revision
            host.pointee.observe(attribute, in: self)
            if _slowPath(!s.pointee.attention.isEmpty) { return endObserverWithCare(index, cause, at: position) }
            if _slowPath(s.pointee.cursor != s.pointee.cursorEnd) { dropInputs(of: index, from: readSoFar) }
        }
        endObserver(index, cause)
        return true
    }

    /// An observer has run to its end. Until then it counts as evaluated when its run began.
    @inlinable @inline(__always)
    func endObserver(_ index: UInt32, _ cause: UInt32) {
        let vertex = endRun(index, cause)
        let flags = vertex.pointee.flags
        // Invalidated by its own writes: what they changed is later than the run.
        if _fastPath(!flags.contains(.maybe)) { vertex.pointee.evaluatedAt = s.pointee.revision }
        vertex.pointee.flags = flags.subtracting(.runningAndCyclic)
    }

    /// As `endObserver`, unless its vertex is gone, or on a cycle. Settles what the observer has written.
    @inlinable @inline(never)
    func endObserverWithCare(_ index: UInt32, _ cause: UInt32, at position: Int) -> Bool {
        if lookCloser(index, at: position) == nil {
            if s.pointee.cursor != s.pointee.cursorEnd { dropInputs(of: index, from: readSoFar) }
            endObserver(index, cause)
        }
        return false
    }
}
