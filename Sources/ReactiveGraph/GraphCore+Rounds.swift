import AttributeGraph

/// Updates observers that have been reported, or have just been made.
extension GraphCore where Host: ~Copyable {
    /// Brings all reported attributes up to date, in their order, and drops the reports. Returns true if this has
    /// caused more reports. For observers, while nothing is running.
    ///
    /// Each in turn uses the same entry at the bottom of the stack.
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
            if _fastPath(vertex.pointee.flags.intersection(.decisive) == .maybe), vertex.pointee.kind.isObserver,
                case .change(let cause) = reason(of: vertex)
            {
                observe(attribute.index, cause, at: 0)
            } else if vertex.pointee.flags.contains(.maybe) {
                updateReported(attribute.index)
            }
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

    /// The reason why a marked vertex must run, as far as it is known without evaluating anything.
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
        /// None of the vertex's inputs has changed since it ran.
        case none
        /// This input has changed, and no input before it (for fixed inputs: no input at all) may still change.
        case change(of: UInt32)
        /// An input before it may have changed, or any input of a fixed rule or observer.
        case unknown
    }

    /// Brings an attribute up to date from the bottom of the stack, with everything upstream of it.
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

    /// At rest, runs an observer that has just been made, without asking whether it must. If the observer may leave
    /// fixed inputs unread, they are brought up to date before; otherwise their changes would not be noticed.
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

    /// As `runNew`, inside a run or a batch.
    @inlinable @inline(never)
    func runNewWithin(_ observer: UInt32, _ mayLeaveUnread: Bool) {
        // This must come first: settling shows the cursor again.
        if s.pointee.log.count != 0 { settle() }
        let reader = s.pointee.tracking.reader
        let read = readSoFar
        let isHinted = s.pointee.attention.contains(.hinted)
        if reader != 0 { s.pointee.pending.base[s.pointee.pending.count &- 1].validated = read }
        s.pointee.attention.remove(.hinted)
        let position = s.pointee.pending.count
        s.pointee.push(observer)
        defer {
            s.pointee.pending.count = position
            s.pointee.tracking.reader = 0
            restoreReader(reader, read, isHinted)
        }
        if mayLeaveUnread { updateInputs(of: observer) }
        // Updating an input may have destroyed the observer.
        if !isCondemned(observer) { runObserver(observer, 0, at: position) }
        if position == 0 && !s.pointee.attention.isEmpty {
            s.pointee.pending.count = 0
            calmDown()
        }
    }

    /// Brings the inputs of a new observer up to date. Its entry is the top of the stack.
    @inlinable @inline(never)
    func updateInputs(of observer: UInt32) {
        let nesting = s.pointee.nesting
        s.pointee.nesting = 0
        var position = 0
        while case let inputs = inputs(of: s.pointee.vertex(observer)), position < Int(inputs.count) {
            let input = inputs.ends[position]
            let flags = s.pointee.vertex(input).pointee.flags
            if flags.contains(.maybe) && !flags.contains(.running) { _ = validate(input) }
            position += 1
        }
        s.pointee.nesting = nesting
    }
}
