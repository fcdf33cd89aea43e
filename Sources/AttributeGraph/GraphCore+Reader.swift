/// The rule whose reads are tracked, and the cursor in its list of inputs.
extension GraphCore where Host: ~Copyable {
    @inlinable @inline(never)
    package func restoreReader(_ reader: UInt32, _ read: UInt32, _ isHinted: Bool) {
        s.pointee.tracking.reader = reader
        if reader == 0 {
            removeCursor()
            s.pointee.attention.remove(.hinted)
            return
        }
        setCursor(s.pointee.vertex(reader), read)
        if isHinted { s.pointee.attention.insert(.hinted) } else { s.pointee.attention.remove(.hinted) }
    }

    /// True if reads add dependencies.
    @inlinable @inline(__always)
    package var isTracking: Bool { s.pointee.tracking.reader != 0 }

    /// How many inputs the tracked rule has read.
    @inlinable @inline(__always)
    package var readSoFar: UInt32 { UInt32(truncatingIfNeeded: distance(to: s.pointee.tracking.cursor)) }

    /// From the start of the list, in entries. Subtracting the pointers directly would make the compiler provide for a
    /// negative result.
    @inlinable @inline(__always)
    package func distance(to entry: UnsafeMutablePointer<UInt32>) -> UInt {
        (UInt(bitPattern: entry) &- UInt(bitPattern: s.pointee.tracking.cursorStart)) >> 2
    }

    /// Sets the cursor in a rule's list of inputs, after the first `read` entries.
    @inlinable @inline(__always)
    package func setCursor(_ vertex: UnsafeMutablePointer<Vertex>, _ read: UInt32) {
        let start: UnsafeMutablePointer<UInt32>
        if vertex.pointee.inputClass == EdgePool.single {
            start = withUnsafeMutablePointer(to: &vertex.pointee.inputs.start) { $0 }
            s.pointee.tracking.cursorEnd = start + 1
        } else {
            start = s.pointee.edges.ends + Int(vertex.pointee.inputs.start)
            s.pointee.tracking.cursorEnd = start + Int(vertex.pointee.inputs.extent)
        }
        s.pointee.tracking.cursorStart = start
        s.pointee.tracking.cursor = start + Int(read)
    }

    /// Ends tracking: no list contains the cursor.
    @inlinable @inline(__always)
    package func removeCursor() {
        let nowhere = UnsafeMutableRawPointer(s).assumingMemoryBound(to: UInt32.self)
        s.pointee.tracking.cursor = nowhere
        s.pointee.tracking.cursorStart = nowhere
        s.pointee.tracking.cursorEnd = nowhere
    }

    /// Called when nothing runs any more.
    @inlinable @inline(__always)
    package func rest() {
        s.pointee.nesting = 0
        if s.pointee.tracking.reader != 0 {
            s.pointee.tracking.reader = 0
            removeCursor()
        }
        if _slowPath(!s.pointee.attention.isEmpty) { calmDown() }
    }

    /// Forgets the flags and marks that mattered only to runs in progress.
    @inlinable @inline(never)
    package func calmDown() {
        s.pointee.attention.remove(.cycle)
        s.pointee.cycles.marks.count = 0
    }
}
