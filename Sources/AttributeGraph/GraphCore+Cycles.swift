/// Cycles are strongly connected components of what rules read in this evaluation, found as in Tarjan's algorithm
/// (R. Tarjan, Depth-first search and linear graph algorithms, 1972) with the order of the stack for numbers.
extension GraphCore where Host: ~Copyable {
    /// The running rule has read a vertex that is running, or that waits for its cycle to be closed.
    @inlinable @inline(never)
    func noteCycle(_ index: UInt32) {
        let top = s.pointee.pending.count &- 1
        let target = s.pointee.vertex(index).pointee.cause
        let entry = s.pointee.pending.base + top
        entry.pointee.reachesItself = true
        if target < entry.pointee.low { entry.pointee.low = target }
        guard s.pointee.cyclePath.count == 0 else { return }
        var position = top
        while position > 0 && s.pointee.pending.base[position].order > target { position &-= 1 }
        for position in position...top {
            let member = s.pointee.pending.base[position].vertex
            // Entries that only walk their inputs have read nothing.
            if s.pointee.vertex(member).pointee.flags.contains(.running) { s.pointee.cyclePath.append(member) }
        }
    }

    /// A run that met a cycle has ended. Its own result does not count: every member takes the cycle's value,
    /// wherever the evaluation happened to enter. The lowest member closes the cycle.
    @inlinable @inline(never)
    func endCyclicRun(_ index: UInt32, _ entry: Pending) {
        if entry.low < entry.order {
            s.pointee.vertex(index).pointee.cause = entry.low
            s.pointee.openCycle.append(index)
            return
        }
        s.pointee.counters.cycles &+= 1
        let path = rotatedCyclePath()
        s.pointee.cyclePath.count = 0
        s.pointee.openCycle.append(index)
        var first = s.pointee.openCycle.count
        while first > 0 {
            let member = s.pointee.openCycle.base[first &- 1]
            guard member == index || s.pointee.vertex(member).pointee.cause >= entry.order else { break }
            first &-= 1
        }
        let members = (first..<s.pointee.openCycle.count).map { s.pointee.openCycle.base[$0] }
        s.pointee.openCycle.count = first
        for member in members {
            let vertex = s.pointee.vertex(member)
            if vertex.pointee.kind == .doomed { freeVertex(member); continue }
            vertex.pointee.flags.remove([.running])
            vertex.pointee.flags.insert(.cyclic)
            vertex.pointee.flags.subtract([.maybe, .stale])
            vertex.pointee.cause = 0
            vertex.pointee.evaluatedAt = s.pointee.revision
            vertex.pointee.evaluations &+= 1
            let value = s.pointee.host.pointee.value(ofCycle: path, for: s.pointee.id(member))
            store(value, in: member)
        }
    }

    @inlinable
    func rotatedCyclePath() -> [AttributeID] {
        let path = (0..<s.pointee.cyclePath.count).map { s.pointee.cyclePath.base[$0] }
        guard let least = path.min(), let start = path.firstIndex(of: least) else { return [] }
        return (path[start...] + path[..<start]).map { s.pointee.id($0) }
    }
}
