/// The rule whose reads are tracked, and the cursor that stands in its list of inputs.
extension GraphCore where Host: ~Copyable {
    @inlinable @inline(never)
    func restoreReader(_ reader: UInt32, _ read: UInt32, _ isHinted: Bool) {
        s.pointee.reader = 0
        if reader == 0 { return suspendTracking() }
        let vertex = s.pointee.vertex(reader)
        s.pointee.reader = reader
        setCursor(vertex, read)
        if isHinted { s.pointee.attention.insert(.hinted) } else { s.pointee.attention.remove(.hinted) }
    }

    /// Whether what is read becomes a dependency. That the cursor stands in a list of fixed inputs does not make it so.
    @inlinable @inline(__always)
    var isTracking: Bool { s.pointee.reader != 0 && !s.pointee.vertex(s.pointee.reader).pointee.kind.isFixed }

    /// How many inputs the tracked rule has read.
    @inlinable @inline(__always)
    var readSoFar: UInt32 { UInt32(truncatingIfNeeded: distance(to: s.pointee.cursor)) }

    /// How long the list is that the cursor stands in.
    @inlinable @inline(__always)
    var listed: UInt { distance(to: s.pointee.cursorEnd) }

    /// From the start of the list, in entries. Pointers are subtracted as if that could give anything less than one.
    @inlinable @inline(__always)
    func distance(to entry: UnsafeMutablePointer<UInt32>) -> UInt {
        (UInt(bitPattern: entry) &- UInt(bitPattern: s.pointee.cursorStart)) >> 2
    }

    /// Lets the cursor stand in a rule's list of inputs, behind what the rule has read.
    @inlinable @inline(__always)
    func setCursor(_ vertex: UnsafeMutablePointer<Vertex>, _ read: UInt32) {
        let start: UnsafeMutablePointer<UInt32>
        if vertex.pointee.inputClass == EdgePool.single {
            start = withUnsafeMutablePointer(to: &vertex.pointee.inputs.start) { $0 }
            s.pointee.cursorEnd = start + 1
        } else {
            start = s.pointee.edges.ends + Int(vertex.pointee.inputs.start)
            s.pointee.cursorEnd = start + Int(vertex.pointee.inputs.extent)
        }
        s.pointee.cursorStart = start
        s.pointee.cursor = start + Int(read)
    }

    /// No reads are tracked.
    @inlinable @inline(__always)
    func removeCursor() {
        let nowhere = UnsafeMutableRawPointer(s).assumingMemoryBound(to: UInt32.self)
        s.pointee.cursor = nowhere
        s.pointee.cursorStart = nowhere
        s.pointee.cursorEnd = nowhere
    }

    /// No rule is the tracked reader. How far it has read is kept, for writes that happen meanwhile.
    @inlinable @inline(__always)
    func suspendTracking() {
        if s.pointee.reader != 0 { s.pointee.pending.base[s.pointee.pending.count &- 1].validated = readSoFar }
        s.pointee.reader = 0
        removeCursor()
        s.pointee.attention.remove(.hinted)
    }

    /// Nothing runs any more.
    @inlinable @inline(__always)
    func rest() {
        s.pointee.nesting = 0
        if s.pointee.reader != 0 {
            s.pointee.reader = 0
            removeCursor()
        }
        if _slowPath(!s.pointee.attention.isEmpty) { calmDown() }
    }

    /// What mattered to runs in progress is forgotten.
    @inlinable @inline(never)
    func calmDown() {
        s.pointee.attention.subtract(.settledAtRest)
        s.pointee.cycleMarks.count = 0
        if s.pointee.condemned.count != 0 { freeCondemned() }
    }
}
