extension GraphCore where Host: ~Copyable {
    /// How far a read that is not the expected next one is looked for in the list of inputs before other means are tried.
    @inlinable static var searchWindow: UInt32 { 8 }

    // MARK: Tracking

    /// Records that the running rule has read a vertex, when that is not simply the input it read next last time.
    ///
    /// The entries before the cursor are this run's reads so far, in order and without repetition; those from the
    /// cursor on are left from the last run and may still be read. A read is looked for just before the
    /// cursor (read twice), then just after it (something in between was not read this time: the two change places),
    /// then in the whole list through the vertex's hint; else it is a new edge.
    @inlinable @inline(never)
    func trackRead(of input: UInt32) {
        let cursor = s.pointee.cursor
        let start = s.pointee.cursorStart
        let end = s.pointee.cursorEnd
        let ends = s.pointee.edges.ends
        if cursor == start && cursor == end { return insertInput(input) }
        if cursor < end && ends[Int(cursor)] == input {
            s.pointee.cursor = cursor &+ 1
            return
        }
        var position = cursor
        let earliest = cursor &- min(cursor &- start, GraphCore.searchWindow)
        while position > earliest {
            position &-= 1
            if ends[Int(position)] == input { return }
        }
        position = cursor &+ 1
        let latest = cursor &+ min(end &- cursor, GraphCore.searchWindow)
        while position < latest {
            if ends[Int(position)] == input { return moveToCursor(position) }
            position &+= 1
        }
        if end &- start > GraphCore.searchWindow {
            if !s.pointee.attention.contains(.hinted) { hintInputs() }
            let hint = s.pointee.vertex(input).pointee.hint
            if hint < end &- start && ends[Int(start &+ hint)] == input {
                if start &+ hint >= cursor { moveToCursor(start &+ hint) }
                return
            }
        }
        insertInput(input)
    }

    /// Lets every input of the running rule point at its place in the list, until the run ends. O(inputs), once per run.
    @inlinable
    func hintInputs() {
        let start = s.pointee.cursorStart
        for position in 0..<(s.pointee.cursorEnd &- start) {
            setHint(of: s.pointee.edges.ends[Int(start &+ position)], position)
        }
        s.pointee.attention.insert(.hinted)
    }

    /// The rule that a nested run interrupted may have hints of its own in the same vertices: they are put back at its end.
    @inlinable
    func setHint(of vertex: UInt32, _ position: UInt32) {
        let row = s.pointee.vertex(vertex)
        s.pointee.overwrittenHints.append(Hint(reader: s.pointee.reader, vertex: vertex, hint: row.pointee.hint))
        row.pointee.hint = position
    }

    /// The entry at a position after the cursor is what was read next.
    @inlinable
    func moveToCursor(_ position: UInt32) {
        let cursor = s.pointee.cursor
        if position != cursor {
            let start = s.pointee.cursorStart
            exchangeInputs(cursor, position, start)
            if s.pointee.attention.contains(.hinted) {
                setHint(of: s.pointee.edges.ends[Int(cursor)], cursor &- start)
                setHint(of: s.pointee.edges.ends[Int(position)], position &- start)
            }
        }
        s.pointee.cursor = cursor &+ 1
    }

    /// Two entries of one list of inputs change places.
    @inlinable
    func exchangeInputs(_ a: UInt32, _ b: UInt32, _ start: UInt32) {
        let ends = s.pointee.edges.ends
        let slots = s.pointee.edges.slots
        let (endA, slotA) = (ends[Int(a)], slots[Int(a)])
        let (endB, slotB) = (ends[Int(b)], slots[Int(b)])
        ends[Int(a)] = endB
        slots[Int(a)] = slotB
        ends[Int(b)] = endA
        slots[Int(b)] = slotA
        if endA != 0 { slots[Int(s.pointee.vertex(endA).pointee.readerStart &+ slotA)] = b &- start }
        if endB != 0 { slots[Int(s.pointee.vertex(endB).pointee.readerStart &+ slotB)] = a &- start }
    }

    /// Adds a new edge at the cursor; what stood there from the last run moves to the end of the list.
    @inlinable @inline(__always)
    func insertInput(_ input: UInt32) {
        let reader = s.pointee.reader
        let vertex = s.pointee.vertex(reader)
        let count = vertex.pointee.inputCount
        let position = s.pointee.cursor &- s.pointee.cursorStart
        if count == EdgePool.size(of: vertex.pointee.inputClass) { growInputs(of: reader) }
        let start = vertex.pointee.inputStart
        if position < count {
            let from = Int(start &+ position)
            let to = Int(start &+ count)
            let end = s.pointee.edges.ends[from]
            let slot = s.pointee.edges.slots[from]
            s.pointee.edges.ends[to] = end
            s.pointee.edges.slots[to] = slot
            if end != 0 { s.pointee.edges.slots[Int(s.pointee.vertex(end).pointee.readerStart &+ slot)] = count }
            if s.pointee.attention.contains(.hinted) { setHint(of: end, count) }
        }
        vertex.pointee.inputCount = count &+ 1
        link(reader, at: position, to: input)
        if s.pointee.attention.contains(.hinted) { setHint(of: input, position) }
        s.pointee.cursorStart = start
        s.pointee.cursor = start &+ position &+ 1
        s.pointee.cursorEnd = start &+ count &+ 1
    }

    /// Adds an edge at the end of a list of inputs that is not being read.
    @inlinable
    func appendInput(_ input: UInt32, to reader: UInt32) {
        let vertex = s.pointee.vertex(reader)
        let count = vertex.pointee.inputCount
        if count == EdgePool.size(of: vertex.pointee.inputClass) { growInputs(of: reader) }
        vertex.pointee.inputCount = count &+ 1
        link(reader, at: count, to: input)
    }

    // MARK: The two lists

    /// Fills the entry at a position of a reader's inputs, and adds the reader to the input's readers.
    @inlinable @inline(__always)
    func link(_ reader: UInt32, at position: UInt32, to input: UInt32) {
        let target = s.pointee.vertex(input)
        let slot = target.pointee.readerCount
        if slot == EdgePool.size(of: target.pointee.readerClass) { growReaders(of: input) }
        let entry = Int(target.pointee.readerStart &+ slot)
        s.pointee.edges.ends[entry] = reader
        s.pointee.edges.slots[entry] = position
        target.pointee.readerCount = slot &+ 1
        let own = Int(s.pointee.vertex(reader).pointee.inputStart &+ position)
        s.pointee.edges.ends[own] = input
        s.pointee.edges.slots[own] = slot
        s.pointee.counters.edgesAdded &+= 1
    }

    /// Takes an entry out of an input's readers; the last one fills the hole.
    @inlinable @inline(__always)
    func unlink(slot: UInt32, of input: UInt32) {
        let vertex = s.pointee.vertex(input)
        let start = vertex.pointee.readerStart
        let last = vertex.pointee.readerCount &- 1
        vertex.pointee.readerCount = last
        s.pointee.counters.edgesRemoved &+= 1
        let ends = s.pointee.edges.ends
        let slots = s.pointee.edges.slots
        if slot != last {
            let moved = ends[Int(start &+ last)]
            let position = slots[Int(start &+ last)]
            ends[Int(start &+ slot)] = moved
            slots[Int(start &+ slot)] = position
            slots[Int(s.pointee.vertex(moved).pointee.inputStart &+ position)] = slot
        }
        if last == 0 {
            s.pointee.edges.release(start, vertex.pointee.readerClass)
            vertex.pointee.readerClass = 0
        }
    }

    /// Drops the inputs from a position on: the last run did not read them.
    @inlinable @inline(never)
    func dropInputs(of reader: UInt32, from position: UInt32) {
        let vertex = s.pointee.vertex(reader)
        let start = vertex.pointee.inputStart
        var index = vertex.pointee.inputCount
        while index > position {
            index &-= 1
            let input = s.pointee.edges.ends[Int(start &+ index)]
            if input != 0 { unlink(slot: s.pointee.edges.slots[Int(start &+ index)], of: input) }
        }
        vertex.pointee.inputCount = position
        if position == 0 {
            s.pointee.edges.release(start, vertex.pointee.inputClass)
            vertex.pointee.inputClass = 0
        } else if vertex.pointee.inputClass > EdgePool.carvedClass
            && position < EdgePool.size(of: vertex.pointee.inputClass) / 4
        {
            shrinkInputs(of: reader)
        }
    }

    @inlinable @inline(never)
    func growInputs(of reader: UInt32) {
        let vertex = s.pointee.vertex(reader)
        if vertex.pointee.inputClass == 0 {
            vertex.pointee.inputStart = s.pointee.edges.allocate(1)
            vertex.pointee.inputClass = 1
            return
        }
        vertex.pointee.inputStart = movedBlock(
            vertex.pointee.inputStart, vertex.pointee.inputClass, count: vertex.pointee.inputCount,
            to: vertex.pointee.inputClass &+ 1)
        vertex.pointee.inputClass &+= 1
    }

    @inlinable @inline(never)
    func growReaders(of input: UInt32) {
        let vertex = s.pointee.vertex(input)
        vertex.pointee.readerStart = movedBlock(
            vertex.pointee.readerStart, vertex.pointee.readerClass, count: vertex.pointee.readerCount,
            to: vertex.pointee.readerClass &+ 1)
        vertex.pointee.readerClass &+= 1
    }

    @inlinable @inline(never)
    func shrinkInputs(of reader: UInt32) {
        let vertex = s.pointee.vertex(reader)
        var sizeClass = vertex.pointee.inputClass
        while EdgePool.size(of: sizeClass - 1) >= vertex.pointee.inputCount * 2 { sizeClass -= 1 }
        vertex.pointee.inputStart = movedBlock(
            vertex.pointee.inputStart, vertex.pointee.inputClass, count: vertex.pointee.inputCount, to: sizeClass)
        vertex.pointee.inputClass = sizeClass
    }

    /// Copies a block's first entries into one of another class and frees it. Positions are relative, so nothing else changes.
    @inlinable
    func movedBlock(_ block: UInt32, _ sizeClass: UInt8, count: UInt32, to newClass: UInt8) -> UInt32 {
        let new = s.pointee.edges.allocate(newClass)
        if sizeClass != 0 {
            let ends = s.pointee.edges.ends
            let slots = s.pointee.edges.slots
            (ends + Int(new)).update(from: ends + Int(block), count: Int(count))
            (slots + Int(new)).update(from: slots + Int(block), count: Int(count))
            s.pointee.edges.release(block, sizeClass)
        }
        return new
    }
}
