extension GraphCore where Host: ~Copyable {
    /// How many entries of the list of inputs are searched for an unexpected read before its hint is used.
    @inlinable package static var searchWindow: Int { 8 }

    // MARK: Tracking

    /// Records a read of the running rule that is not simply the next input of its last run.
    ///
    /// The entries before the cursor are the reads of this run so far, in order, each once. The entries from the cursor
    /// on are left from the last run and may still be read. The search looks just before the cursor (the input is read
    /// twice), then just after it (this run skipped an entry: the two are swapped), and in a long list it uses the
    /// vertex's hint. Otherwise the read is a new edge.
    @inlinable @inline(never)
    package func trackRead(of input: UInt32) {
        let inputs = s.pointee.tracking.cursorStart
        let read = s.pointee.tracking.cursor - inputs
        let count = s.pointee.tracking.cursorEnd - inputs
        if read < count && inputs[read] == input {
            s.pointee.tracking.cursor = inputs + (read + 1)
            return
        }
        if s.pointee.attention.contains(.hinted) { return trackHintedRead(of: input, read, count) }
        var position = read
        let earliest = max(0, read - GraphCore.searchWindow)
        while position > earliest {
            position &-= 1
            if inputs[position] == input { return }
        }
        position = read + 1
        let latest = min(count, read + GraphCore.searchWindow)
        while position < latest {
            if inputs[position] == input { return moveToCursor(position) }
            position &+= 1
        }
        if count > GraphCore.searchWindow {
            hintInputs()
            trackHintedRead(of: input, read, count)
        } else {
            insertInput(input)
        }
    }

    /// As `trackRead`, while every input has a hint.
    @inlinable @inline(__always)
    package func trackHintedRead(of input: UInt32, _ read: Int, _ count: Int) {
        let hint = Int(s.pointee.vertex(input).pointee.hint)
        if hint < count && s.pointee.tracking.cursorStart[hint] == input {
            if hint >= read { moveToCursor(hint) }
        } else {
            insertInput(input)
        }
    }

    /// Sets the hint of every input of the running rule to its position, until the run ends. O(inputs), once per run.
    @inlinable
    package func hintInputs() {
        for position in 0..<(s.pointee.tracking.cursorEnd - s.pointee.tracking.cursorStart) {
            setHint(of: s.pointee.tracking.cursorStart[position], position)
        }
        s.pointee.attention.insert(.hinted)
    }

    /// Sets a hint and saves the old one, which may belong to the rule that this run interrupts. It is restored when
    /// this run ends.
    @inlinable
    package func setHint(of vertex: UInt32, _ position: Int) {
        let row = s.pointee.vertex(vertex)
        s.pointee.tracking.overwrittenHints.append(
            Hint(reader: s.pointee.tracking.reader, vertex: vertex, hint: row.pointee.hint))
        row.pointee.hint = UInt32(truncatingIfNeeded: position)
    }

    /// Moves the entry at a position after the cursor to the cursor: the rule has read it next.
    @inlinable
    package func moveToCursor(_ position: Int) {
        let inputs = self.inputs(of: s.pointee.vertex(s.pointee.tracking.reader))
        let read = s.pointee.tracking.cursor - inputs.ends
        if position != read {
            let (endA, slotA) = (inputs.ends[read], inputs.slots[read])
            let (endB, slotB) = (inputs.ends[position], inputs.slots[position])
            setInput(inputs, read, endB, slotB)
            setInput(inputs, position, endA, slotA)
            if s.pointee.attention.contains(.hinted) {
                setHint(of: endB, read)
                setHint(of: endA, position)
            }
        }
        s.pointee.tracking.cursor = inputs.ends + (read + 1)
    }

    /// Writes an entry of a list of inputs, and its position into the input's list of readers.
    @inlinable @inline(__always)
    package func setInput(_ inputs: EdgeEntries, _ position: Int, _ end: UInt32, _ slot: UInt32) {
        inputs.ends[position] = end
        inputs.slots[position] = slot
        if end != 0 { readers(of: s.pointee.vertex(end)).slots[Int(slot)] = UInt32(truncatingIfNeeded: position) }
    }

    /// Adds a new edge at the cursor. The entry from the last run that was there moves to the end of the list.
    @inlinable @inline(__always)
    package func insertInput(_ input: UInt32) {
        let reader = s.pointee.tracking.reader
        let read = readSoFar
        let vertex = s.pointee.vertex(reader)
        let count = addInputEntry(to: vertex)
        if read < count {
            let inputs = inputs(of: vertex)
            let end = inputs.ends[Int(read)]
            setInput(inputs, Int(count), end, inputs.slots[Int(read)])
            if s.pointee.attention.contains(.hinted) { setHint(of: end, Int(count)) }
        }
        link(reader, at: read, to: input)
        if s.pointee.attention.contains(.hinted) { setHint(of: input, Int(read)) }
        setCursor(vertex, read &+ 1)
    }

    // MARK: The two lists

    @inlinable @inline(__always)
    package func inputs(of vertex: UnsafeMutablePointer<Vertex>) -> EdgeEntries {
        withUnsafeMutablePointer(to: &vertex.pointee.inputs) { entries(vertex.pointee.inputClass, $0) }
    }

    @inlinable @inline(__always)
    package func readers(of vertex: UnsafeMutablePointer<Vertex>) -> EdgeEntries {
        withUnsafeMutablePointer(to: &vertex.pointee.readers) { entries(vertex.pointee.readerClass, $0) }
    }

    @inlinable @inline(__always)
    package func entries(_ sizeClass: UInt8, _ list: UnsafeMutablePointer<EdgeList>) -> EdgeEntries {
        if sizeClass == EdgePool.single {
            let words = UnsafeMutableRawPointer(list).assumingMemoryBound(to: UInt32.self)
            return EdgeEntries(words, words + 1, 1)
        }
        let start = Int(list.pointee.start)
        return EdgeEntries(s.pointee.edges.ends + start, s.pointee.edges.slots + start, list.pointee.extent)
    }

    /// Adds the first edge to an empty list of inputs.
    @inlinable @inline(__always)
    package func linkFirst(_ input: UInt32, to reader: UInt32, _ vertex: UnsafeMutablePointer<Vertex>) {
        vertex.pointee.inputClass = EdgePool.single
        vertex.pointee.inputs.start = input
        vertex.pointee.inputs.extent = addReader(reader, at: 0, to: input)
    }

    /// Sets the entry at a position of a reader's inputs, and adds the reader to the input's readers.
    @inlinable @inline(__always)
    package func link(_ reader: UInt32, at position: UInt32, to input: UInt32) {
        let slot = addReader(reader, at: position, to: input)
        let inputs = inputs(of: s.pointee.vertex(reader))
        inputs.ends[Int(position)] = input
        inputs.slots[Int(position)] = slot
    }

    /// Adds a reader to the input's readers. `position` is that of the input in the reader's list. Returns the position
    /// of the reader in the input's list.
    @inlinable @inline(__always)
    package func addReader(_ reader: UInt32, at position: UInt32, to input: UInt32) -> UInt32 {
        s.pointee.counters.edgesAdded &+= 1
        let target = s.pointee.vertex(input)
        if target.pointee.readerClass == 0 {
            target.pointee.readerClass = EdgePool.single
            target.pointee.readers.start = reader
            target.pointee.readers.extent = position
            return 0
        }
        let slot = target.pointee.readerClass == EdgePool.single ? 1 : target.pointee.readers.extent
        if slot == EdgePool.size(of: target.pointee.readerClass) {
            let sizeClass = target.pointee.readerClass
            grow(&target.pointee.readers, &target.pointee.readerClass, to: EdgePool.classOfReaders(after: sizeClass))
        }
        let entry = Int(target.pointee.readers.start &+ slot)
        s.pointee.edges.ends[entry] = reader
        s.pointee.edges.slots[entry] = position
        target.pointee.readers.extent = slot &+ 1
        return slot
    }

    /// Adds space for one more input. Returns its position.
    @inlinable @inline(__always)
    package func addInputEntry(to vertex: UnsafeMutablePointer<Vertex>) -> UInt32 {
        if vertex.pointee.inputClass == 0 {
            vertex.pointee.inputClass = EdgePool.single
            return 0
        }
        let count = vertex.pointee.inputClass == EdgePool.single ? 1 : vertex.pointee.inputs.extent
        if count == EdgePool.size(of: vertex.pointee.inputClass) {
            grow(&vertex.pointee.inputs, &vertex.pointee.inputClass, to: vertex.pointee.inputClass &+ 1)
        }
        vertex.pointee.inputs.extent = count &+ 1
        return count
    }

    /// Removes an entry from an input's readers; the last entry fills the hole.
    @inlinable @inline(__always)
    package func unlink(slot: UInt32, of input: UInt32) {
        let vertex = s.pointee.vertex(input)
        s.pointee.counters.edgesRemoved &+= 1
        let readers = readers(of: vertex)
        let last = readers.count &- 1
        if last == 0 { return emptyReaders(of: vertex) }
        vertex.pointee.readers.extent = last
        if slot != last {
            let moved = readers.ends[Int(last)]
            let position = readers.slots[Int(last)]
            readers.ends[Int(slot)] = moved
            readers.slots[Int(slot)] = position
            inputs(of: s.pointee.vertex(moved)).slots[Int(position)] = slot
        }
    }

    /// Removes the inputs from a position on, because the last run did not read them.
    @inlinable @inline(never)
    package func dropInputs(of reader: UInt32, from position: UInt32) {
        let vertex = s.pointee.vertex(reader)
        let inputs = inputs(of: vertex)
        var index = Int(inputs.count)
        while index > Int(position) {
            index &-= 1
            let input = inputs.ends[index]
            if input != 0 { unlink(slot: inputs.slots[index], of: input) }
        }
        let sizeClass = vertex.pointee.inputClass
        if position == 0 {
            if sizeClass > EdgePool.single { s.pointee.edges.release(vertex.pointee.inputs.start, sizeClass) }
            vertex.pointee.inputClass = 0
            vertex.pointee.inputs.extent = 0
        } else if sizeClass > EdgePool.single {
            vertex.pointee.inputs.extent = position
            if sizeClass > EdgePool.carvedClass && position < EdgePool.size(of: sizeClass) / 4 {
                shrinkInputs(of: reader)
            }
        }
    }

    /// Drops the only input of a vertex that is being destroyed.
    @inlinable @inline(never)
    package func dropOnlyInput(of vertex: UnsafeMutablePointer<Vertex>) {
        let (input, slot) = (vertex.pointee.inputs.start, vertex.pointee.inputs.extent)
        vertex.pointee.inputClass = 0
        vertex.pointee.inputs.extent = 0
        if input != 0 { unlink(slot: slot, of: input) }
    }

    /// Empties the list of readers.
    @inlinable @inline(__always)
    package func emptyReaders(of vertex: UnsafeMutablePointer<Vertex>) {
        if vertex.pointee.readerClass > EdgePool.single {
            s.pointee.edges.release(vertex.pointee.readers.start, vertex.pointee.readerClass)
        }
        vertex.pointee.readerClass = 0
        vertex.pointee.readers.extent = 0
    }

    /// Moves a full list of one or more entries to a larger block.
    @inlinable @inline(never)
    package func grow(_ list: inout EdgeList, _ sizeClass: inout UInt8, to newClass: UInt8) {
        move(&list, from: sizeClass, to: newClass)
        sizeClass = newClass
    }

    @inlinable @inline(never)
    package func shrinkInputs(of reader: UInt32) {
        let vertex = s.pointee.vertex(reader)
        var sizeClass = vertex.pointee.inputClass
        while EdgePool.size(of: sizeClass - 1) >= vertex.pointee.inputs.extent * 2 { sizeClass -= 1 }
        move(&vertex.pointee.inputs, from: vertex.pointee.inputClass, to: sizeClass)
        vertex.pointee.inputClass = sizeClass
    }

    /// Copies a list into a block of another class. Positions are relative, so nothing else changes, except the cursor
    /// if the pool has moved.
    @inlinable
    package func move(_ list: inout EdgeList, from sizeClass: UInt8, to newClass: UInt8) {
        let before = s.pointee.edges.ends
        let read = readSoFar
        let new = s.pointee.edges.allocate(newClass)
        let ends = s.pointee.edges.ends
        let slots = s.pointee.edges.slots
        if sizeClass == EdgePool.single {
            ends[Int(new)] = list.start
            slots[Int(new)] = list.extent
            list.extent = 1
        } else {
            let old = Int(list.start)
            if list.extent <= 4 {
                // Two calls would cost more.
                for entry in 0..<Int(list.extent) {
                    ends[Int(new) &+ entry] = ends[old &+ entry]
                    slots[Int(new) &+ entry] = slots[old &+ entry]
                }
            } else {
                (ends + Int(new)).update(from: ends + old, count: Int(list.extent))
                (slots + Int(new)).update(from: slots + old, count: Int(list.extent))
            }
            s.pointee.edges.release(list.start, sizeClass)
        }
        list.start = new
        followPool(from: before, read)
    }

    /// Sets the cursor again if the pool has moved.
    @inlinable @inline(__always)
    package func followPool(from before: UnsafeMutablePointer<UInt32>, _ read: UInt32) {
        if _slowPath(s.pointee.edges.ends != before) && s.pointee.tracking.reader != 0 {
            setCursor(s.pointee.vertex(s.pointee.tracking.reader), read)
        }
    }
}
