import AttributeGraph

extension GraphCore where Host: ~Copyable {
    /// Checks the invariants of the tables between two calls from outside, and describes each violation in words. Empty
    /// if there is none. O(graph).
    ///
    /// 1. An edge is in both lists, and each entry has the position of the other.
    /// 2. A tracked list of inputs contains no vertex twice.
    /// 3. A vertex that may have changed has only readers that may have changed; one that must run is one of these.
    /// 4. Nothing runs, waits or is half-settled; the stacks are empty and the cursor is at rest.
    /// 5. Inputs have values and no inputs; a valid rule has no evaluation later than the graph's revision.
    /// 6. Blocks of edges do not overlap, neither one another nor a free block, and together fill the pool.
    public func checkInvariants() -> [String] {
        var faults: [String] = []
        if s.pointee.pending.count != 0 || s.pointee.marking.count != 0 || s.pointee.cycles.members.count != 0
            || s.pointee.cycles.groups.count != 0 || s.pointee.cycles.marks.count != 0
            || s.pointee.tracking.overwrittenHints.count != 0
        {
            faults.append("a stack is not empty at rest")
        }
        if s.pointee.tracking.reader != 0 || s.pointee.tracking.cursor != s.pointee.tracking.cursorEnd
            || s.pointee.tracking.cursor != s.pointee.tracking.cursorStart
            || s.pointee.nesting != 0 || !s.pointee.attention.isEmpty
        {
            faults.append("an evaluation is in progress at rest")
        }
        var edgeCount: UInt64 = 0
        var living: UInt64 = 0
        for index in 1..<max(1, s.pointee.vertices.count) {
            let vertex = s.pointee.vertex(index).pointee
            if vertex.kind == .free { continue }
            living += 1
            checkFlags(index, vertex, &faults)
            edgeCount += checkInputs(index, vertex, &faults)
            checkReaders(index, vertex, &faults)
        }
        if living != s.pointee.counters.liveAttributes { faults.append("the counters miscount attributes") }
        if edgeCount != s.pointee.counters.liveEdges { faults.append("the counters miscount edges") }
        checkPool(&faults)
        return faults
    }

    private func checkFlags(_ index: UInt32, _ vertex: Vertex, _ faults: inout [String]) {
        if vertex.flags.contains(.running) { faults.append("vertex \(index) runs at rest") }
        if vertex.flags.contains(.stale) && !vertex.flags.contains(.maybe) {
            faults.append("vertex \(index) must run but is not marked")
        }
        if vertex.flags.contains(.unsettled) && s.pointee.batchDepth == 0 {
            faults.append("vertex \(index) is unsettled outside a batch")
        }
        if vertex.kind != .input && vertex.evaluatedAt > s.pointee.revision || vertex.changedAt > s.pointee.revision {
            faults.append("vertex \(index) is ahead of its time")
        }
        if vertex.kind == .input
            && (vertex.flags.contains(.empty) || vertex.flags.contains(.maybe) || vertex.inputClass != 0)
        {
            faults.append("input \(index) looks like a rule")
        }
    }

    private func checkInputs(_ index: UInt32, _ vertex: Vertex, _ faults: inout [String]) -> UInt64 {
        var seen: Set<UInt32> = []
        var count: UInt64 = 0
        let inputs = inputs(of: s.pointee.vertex(index))
        if inputs.count > EdgePool.size(of: vertex.inputClass) { faults.append("vertex \(index) overflows its inputs") }
        for position in 0..<inputs.count {
            let input = inputs.ends[Int(position)]
            let slot = inputs.slots[Int(position)]
            if input == 0 {
                if !vertex.flags.contains(.stale) { faults.append("vertex \(index) has lost an input unnoticed") }
                continue
            }
            count += 1
            if !seen.insert(input).inserted {
                faults.append("vertex \(index) has input \(input) twice")
            }
            let other = s.pointee.vertex(input).pointee
            if other.kind == .free {
                faults.append("vertex \(index) reads \(input), which nobody can read")
                continue
            }
            let readers = readers(of: s.pointee.vertex(input))
            if slot >= readers.count || readers.ends[Int(slot)] != index || readers.slots[Int(slot)] != position {
                faults.append("edge \(input) -> \(index) does not point back")
            }
            if other.flags.contains(.maybe) && !vertex.flags.contains(.maybe) {
                faults.append("vertex \(index) is valid although its input \(input) is not")
            }
        }
        return count
    }

    private func checkReaders(_ index: UInt32, _ vertex: Vertex, _ faults: inout [String]) {
        let readers = readers(of: s.pointee.vertex(index))
        if readers.count > EdgePool.size(of: vertex.readerClass) {
            faults.append("vertex \(index) overflows its readers")
        }
        for slot in 0..<Int(readers.count) {
            let (reader, position) = (readers.ends[slot], readers.slots[slot])
            let inputs = inputs(of: s.pointee.vertex(reader))
            if position >= inputs.count || inputs.ends[Int(position)] != index {
                faults.append("reader \(reader) of \(index) does not read it")
            }
        }
    }

    private func checkPool(_ faults: inout [String]) {
        var blocks: [(UInt32, UInt32)] = [(0, 1), (s.pointee.edges.next, s.pointee.edges.limit - s.pointee.edges.next)]
        for index in 1..<max(1, s.pointee.vertices.count) {
            let vertex = s.pointee.vertex(index).pointee
            if vertex.kind == .free { continue }
            for (sizeClass, list) in [(vertex.inputClass, vertex.inputs), (vertex.readerClass, vertex.readers)]
            where sizeClass > EdgePool.single {
                blocks.append((list.start, EdgePool.size(of: sizeClass)))
            }
        }
        for sizeClass in 1..<UInt8(EdgePool.classCount - 4) {
            var block = s.pointee.edges.free[Int(sizeClass)]
            while block != 0 && blocks.count <= Int(s.pointee.edges.capacity) {
                blocks.append((block, EdgePool.size(of: sizeClass)))
                block = s.pointee.edges.ends[Int(block)]
            }
        }
        var expected: UInt32 = 0
        for (start, size) in blocks.sorted(by: <) where size > 0 {
            if start != expected { faults.append("the edge pool has a gap or an overlap at \(expected)") }
            expected = start + size
        }
        if expected != s.pointee.edges.capacity { faults.append("the edge pool lost its end") }
    }
}
