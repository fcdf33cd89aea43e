extension GraphCore where Host: ~Copyable {
    // MARK: Reading inside a rule

    /// Reads an attribute for the running rule, which depends on it from now on.
    ///
    /// The attribute is evaluated first if necessary. Outside a rule, and under `withoutTracking`, no dependency is
    /// added. Beside that evaluation O(1); writes to no edge if the rule reads the same as last time in the same order.
    ///
    /// - Throws: `Interruption`, which the rule must pass on (see `GraphHost.evaluate`), and the host's errors for an
    ///   attribute without a value.
    @inlinable @inline(__always)
    public func read(_ attribute: AttributeID) throws -> Value {
        if let value = readAtCursor(attribute) { return value.pointee }
        return try readSlowly(attribute).pointee
    }

    /// As `read`, lending the value instead of copying it. The body must not create attributes or evaluate anything.
    @inlinable @inline(__always)
    public func withRead<Result>(_ attribute: AttributeID, _ body: (borrowing Value) throws -> Result) throws -> Result
    {
        if let value = readAtCursor(attribute) { return try body(value.pointee) }
        return try body(readSlowly(attribute).pointee)
    }

    /// The value, if it is up to date and the read is an expected one: the next input of the last run, or one of the
    /// last two reads again.
    ///
    /// Each condition has its own hint. With one hint for the whole condition, the compiler does not see that the rest
    /// of the caller is rare, and spills the caller's variables to memory.
    @inlinable @inline(__always)
    package func readAtCursor(_ attribute: AttributeID) -> UnsafeMutablePointer<Value>? {
        let cursor = s.pointee.tracking.cursor
        let vertex = s.pointee.vertex(attribute.index)
        if cursor != s.pointee.tracking.cursorEnd && cursor.pointee == attribute.index {
            guard _fastPath(isReadable(vertex)), _fastPath(vertex.pointee.generation == attribute.generation) else {
                return nil
            }
            s.pointee.tracking.cursor = cursor + 1
            return GraphStorage<Host>.value(of: vertex)
        }
        let start = s.pointee.tracking.cursorStart
        guard _fastPath(cursor != start) else { return nil }
        if cursor[-1] != attribute.index {
            guard _fastPath(cursor - 1 != start), _fastPath(cursor[-2] == attribute.index) else { return nil }
        }
        guard _fastPath(isReadable(vertex)), _fastPath(vertex.pointee.generation == attribute.generation) else {
            return nil
        }
        return GraphStorage<Host>.value(of: vertex)
    }

    /// True if there is a value that can be read without any preparation.
    @inlinable @inline(__always)
    package func isReadable(_ vertex: UnsafeMutablePointer<Vertex>) -> Bool {
        vertex.pointee.flags.isDisjoint(with: .slow)
    }

    @inlinable @inline(never)
    package func readSlowly(_ attribute: AttributeID) throws -> UnsafeMutablePointer<Value> {
        let index = attribute.index
        let cursor = s.pointee.tracking.cursor
        // By far the commonest case: the next input of the last run, which only has to be brought up to date.
        if _fastPath(cursor != s.pointee.tracking.cursorEnd && cursor.pointee == index) {
            let vertex = s.pointee.vertex(index)
            if _fastPath(vertex.pointee.generation == attribute.generation && canReadMarked(vertex)) {
                s.pointee.tracking.cursor = cursor + 1
                return try readMarked(attribute, vertex)
            }
        }
        return try readAnew(attribute)
    }

    /// True if a tracked reader can use `readMarked`: there is a value, it is marked and nothing else, and a run may
    /// nest.
    @inlinable @inline(__always)
    package func canReadMarked(_ vertex: UnsafeMutablePointer<Vertex>) -> Bool {
        vertex.pointee.flags.subtracting(.watched) == .maybe && s.pointee.attention.isEmpty && s.pointee.mayNest
    }

    /// Brings a rule up to date that the tracked rule reads. The rule may have changed, has a value, and neither runs
    /// nor must run. Afterwards the tracked rule is the same as before.
    @inlinable @inline(__always)
    package func readMarked(_ attribute: AttributeID, _ vertex: UnsafeMutablePointer<Vertex>) throws
        -> UnsafeMutablePointer<Value>
    {
        let index = attribute.index
        let base = s.pointee.pending.count
        let reader = s.pointee.tracking.reader
        let read = readSoFar
        s.pointee.pending.base[base &- 1].validated = read
        s.pointee.push(index)
        s.pointee.nesting &+= 1
        let isValid = workOffAlone(index, vertex, at: base)
        let after = s.pointee.vertex(index)
        if _fastPath(
            s.pointee.attention.isEmpty && isReadable(after)
                && after.pointee.generation == attribute.generation)
        {
            s.pointee.nesting &-= 1
            s.pointee.tracking.reader = reader
            setCursor(s.pointee.vertex(reader), read)
            return GraphStorage<Host>.value(of: after)
        }
        return try endReading(attribute, reader, read, isValid)
    }

    /// Finishes `readMarked` if something needs attention, or there is no value.
    @inlinable @inline(never)
    package func endReading(_ attribute: AttributeID, _ reader: UInt32, _ read: UInt32, _ isValid: Bool) throws
        -> UnsafeMutablePointer<Value>
    {
        s.pointee.nesting &-= 1
        restoreReader(reader, read, false)
        if !isValid { throw Interruption() }
        return try validated(attribute)
    }

    /// Reads an attribute that may be a new input of the running rule.
    @inlinable @inline(never)
    package func readAnew(_ attribute: AttributeID) throws -> UnsafeMutablePointer<Value> {
        if s.pointee.tracking.cursorStart == s.pointee.tracking.cursorEnd && isTracking && s.pointee.attention.isEmpty
            && s.pointee.log.count == 0
            && s.pointee.isAlive(attribute)
        {
            let vertex = s.pointee.vertex(s.pointee.tracking.reader)
            linkFirst(attribute.index, to: s.pointee.tracking.reader, vertex)
            setCursor(vertex, 1)
            return try current(attribute)
        }
        return try readWithCare(attribute)
    }

    /// As `readAnew`, if this is not the first input of a run without special circumstances.
    @inlinable @inline(never)
    package func readWithCare(_ attribute: AttributeID) throws -> UnsafeMutablePointer<Value> {
        if s.pointee.attention.contains(.interrupted) { throw Interruption() }
        if _slowPath(s.pointee.log.count != 0) { settle() }
        guard _fastPath(s.pointee.isAlive(attribute)) else {
            return try stored(host.pointee.value(ofRemoved: attribute))
        }
        if isTracking { trackRead(of: attribute.index) }
        return try current(attribute)
    }

    /// The value of a living attribute, evaluated if necessary.
    @inlinable @inline(__always)
    package func current(_ attribute: AttributeID) throws -> UnsafeMutablePointer<Value> {
        let vertex = s.pointee.vertex(attribute.index)
        if isReadable(vertex) { return GraphStorage<Host>.value(of: vertex) }
        return try broughtUpToDate(attribute)
    }

    /// As `current`, for an attribute that is not ready to be read.
    @inlinable @inline(never)
    package func broughtUpToDate(_ attribute: AttributeID) throws -> UnsafeMutablePointer<Value> {
        let index = attribute.index
        let vertex = s.pointee.vertex(index)
        let flags = vertex.pointee.flags
        if s.pointee.tracking.reader != 0 && canReadMarked(vertex) { return try readMarked(attribute, vertex) }
        if flags.contains(.running) {
            noteCycle(index)
            return try stored(host.pointee.value(ofFailed: attribute))
        }
        if flags.contains(.unseen) { vertex.pointee.flags.remove(.unseen) }
        if flags.contains(.maybe) {
            if !s.pointee.mayNest {
                s.pointee.push(index)
                s.pointee.attention.insert(.interrupted)
                throw Interruption()
            }
            guard validate(index) else { throw Interruption() }
        }
        return try validated(attribute)
    }

    /// The value, or the host's substitute, after an attempt to bring the attribute up to date.
    @inlinable @inline(never)
    package func validated(_ attribute: AttributeID) throws -> UnsafeMutablePointer<Value> {
        let index = attribute.index
        let after = s.pointee.vertex(index).pointee
        guard after.generation == attribute.generation else {
            return try stored(host.pointee.value(ofRemoved: attribute))
        }
        if after.flags.contains(.running) { noteCycle(index) }
        if !after.flags.isDisjoint(with: .emptyOrRunning) {
            return try stored(host.pointee.value(ofFailed: attribute))
        }
        return s.pointee.value(index)
    }

    /// Stores a value that belongs to no attribute, so that a reader can borrow it until the next such value.
    @inlinable
    package func stored(_ value: consuming Value) -> UnsafeMutablePointer<Value> {
        if s.pointee.hasSpare { s.pointee.spare.deinitialize(count: 1) }
        s.pointee.spare.initialize(to: value)
        s.pointee.hasSpare = true
        return s.pointee.spare
    }

    // MARK: Reading from outside

    /// The current value, evaluated if necessary; adds no dependency. Inside a batch it reflects the writes so far.
    /// O(1) if nothing upstream may have changed.
    @inlinable @inline(__always)
    public func readUntracked(_ attribute: AttributeID) throws -> Value {
        let vertex = s.pointee.vertex(attribute.index)
        if _fastPath(attribute.index < s.pointee.vertices.count), _fastPath(isReadable(vertex)),
            _fastPath(vertex.pointee.generation == attribute.generation), _fastPath(s.pointee.log.count == 0)
        {
            return GraphStorage<Host>.value(of: vertex).pointee
        }
        return try readUntrackedSlowly(attribute).pointee
    }

    @inlinable @inline(never)
    package func readUntrackedSlowly(_ attribute: AttributeID) throws -> UnsafeMutablePointer<Value> {
        if _fastPath(s.pointee.pending.count == 0 && s.pointee.log.count == 0 && s.pointee.isAlive(attribute)) {
            // Nothing is running.
            let vertex = s.pointee.vertex(attribute.index)
            let flags = vertex.pointee.flags.subtracting(.watched)
            if flags == .unseen {
                vertex.pointee.flags.remove(.unseen)
                return GraphStorage<Host>.value(of: vertex)
            }
            if _fastPath(flags == .maybe) {
                validateAtRest(attribute.index)
                let after = s.pointee.vertex(attribute.index)
                if _fastPath(isReadable(after) && after.pointee.generation == attribute.generation) {
                    return GraphStorage<Host>.value(of: after)
                }
                return try validated(attribute)
            }
        }
        if s.pointee.attention.contains(.interrupted) { throw Interruption() }
        if s.pointee.log.count != 0 { settle() }
        guard s.pointee.isAlive(attribute) else { return try stored(host.pointee.value(ofRemoved: attribute)) }
        return try current(attribute)
    }
}
