/// Gives memory back. Rows do not move, because ids name them, so the vertex table is cut after the last living row.
extension GraphCore where Host: ~Copyable {
    /// How many rows the table of vertices has, used or not.
    @inlinable
    public var rowCount: Int { Int(s.pointee.vertices.count) }

    /// Gives back memory that the graph needed while it was larger. Does nothing while something runs or a batch is
    /// open. O(rows + edges).
    public func giveBack() {
        guard s.pointee.pending.count == 0, s.pointee.batchDepth == 0 else { return }
        guard s.pointee.log.count == 0, s.pointee.attention.isEmpty else { return }
        removeCursor()
        cutVertices()
        packEdges()
        s.pointee.pending.shrink()
        s.pointee.freeHeight = s.pointee.pending.capacity
        s.pointee.marking.shrink()
        s.pointee.invalidated.shrink()
        s.pointee.cycles.members.shrink()
        s.pointee.tracking.overwrittenHints.shrink()
        s.pointee.log.shrink()
    }

    /// Removes the free rows at the end, and sorts the list of the other free rows, so that low rows are used first.
    func cutVertices() {
        var count = s.pointee.vertices.count
        while count > 1 {
            let last = s.pointee.vertex(count - 1).pointee
            // A row with no generations left must not start again.
            guard last.kind == .free, last.generation != UInt32.max else { break }
            s.pointee.vertices.firstGeneration = max(s.pointee.vertices.firstGeneration, last.generation)
            count -= 1
        }
        s.pointee.vertices.count = count
        s.pointee.vertices.free = 0
        for index in (1..<max(1, count)).reversed() {
            let vertex = s.pointee.vertex(index)
            guard vertex.pointee.kind == .free, vertex.pointee.generation != UInt32.max else { continue }
            vertex.pointee.hint = s.pointee.vertices.free
            s.pointee.vertices.free = index
        }
        if count <= s.pointee.vertices.capacity / 4 { s.pointee.vertices.move(to: max(64, count * 2)) }
    }

    /// Moves the edge lists into a smaller pool if most of the present one is unused.
    func packEdges() {
        var entries = 0
        forEachBlock { list, sizeClass in entries += Int(EdgePool.size(of: packedClass(list, sizeClass))) }
        let capacity = max(1024, entries + entries / 2)
        guard capacity <= Int(s.pointee.edges.capacity) / 4 else { return }
        var pool = EdgePool(capacity: UInt32(capacity))
        forEachBlock { list, sizeClass in
            let packed = packedClass(list, sizeClass)
            let block = pool.allocate(packed)
            let (old, new) = (Int(list.start), Int(block))
            (pool.ends + new).update(from: s.pointee.edges.ends + old, count: Int(list.extent))
            (pool.slots + new).update(from: s.pointee.edges.slots + old, count: Int(list.extent))
            list.start = block
            sizeClass = packed
        }
        s.pointee.edges = pool
    }

    private func packedClass(_ list: EdgeList, _ sizeClass: UInt8) -> UInt8 {
        min(sizeClass, EdgePool.sizeClass(of: max(2, Int(list.extent))))
    }

    private func forEachBlock(_ body: (inout EdgeList, inout UInt8) -> Void) {
        for index in 1..<max(1, s.pointee.vertices.count) where s.pointee.vertex(index).pointee.kind != .free {
            let vertex = s.pointee.vertex(index)
            if vertex.pointee.inputClass > EdgePool.single { body(&vertex.pointee.inputs, &vertex.pointee.inputClass) }
            if vertex.pointee.readerClass > EdgePool.single {
                body(&vertex.pointee.readers, &vertex.pointee.readerClass)
            }
        }
    }
}
