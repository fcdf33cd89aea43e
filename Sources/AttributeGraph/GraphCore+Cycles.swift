/// Cycles are strongly connected components of the reads in this evaluation. They are found by depth-first search with
/// a stack of unfinished members that is merged as the search unwinds (H. Gabow, Path-based depth-first search for
/// strong and biconnected components, 2000).
///
/// Every member gets the cycle's value, whichever member the evaluation entered first. The values that the members'
/// runs returned do not count: they were computed from a read that had no answer.
extension GraphCore where Host: ~Copyable {
    /// The running rule has read a vertex that is running or waits until its cycle is closed.
    @inlinable @inline(never)
    package func noteCycle(_ index: UInt32) {
        var target = s.pointee.vertex(index).pointee.cause
        if target & Vertex.openBit != 0 { target = lowOfGroup(containing: target & ~Vertex.openBit) }
        let position = s.pointee.pending.count &- 1
        var mark = s.pointee.cycleMark(at: position)
        mark.low = min(mark.low, target)
        s.pointee.forgetCycles(from: position)
        s.pointee.cycles.marks.append(mark)
        s.pointee.attention.insert(.cycle)
    }

    /// The lowest running vertex of the group that contains a waiting member. Binary search.
    @inlinable
    package func lowOfGroup(containing place: UInt32) -> UInt32 {
        var from = 0
        var to = s.pointee.cycles.groups.count
        while to - from > 1 {
            let middle = (from + to) / 2
            if s.pointee.cycles.groups.base[middle].start <= place { from = middle } else { to = middle }
        }
        return s.pointee.cycles.groups.base[from].low
    }

    /// Ends a run that met a cycle. It forms one component with all members that began to wait during the run. If no
    /// vertex below it on the stack belongs to that component, the component is complete.
    @inlinable @inline(never)
    package func endCyclicRun(_ index: UInt32, _ mark: CycleMark) {
        s.pointee.forgetCycles(from: Int(mark.position))
        var low = mark.low
        while s.pointee.cycles.groups.count > 0 {
            let group = s.pointee.cycles.groups.base[s.pointee.cycles.groups.count - 1]
            guard group.start >= mark.openBefore else { break }
            low = min(low, group.low)
            s.pointee.cycles.groups.count -= 1
        }
        s.pointee.vertex(index).pointee.cause =
            UInt32(truncatingIfNeeded: s.pointee.cycles.members.count) | Vertex.openBit
        s.pointee.cycles.members.append(index)
        s.pointee.freeHeight = 0
        if low < mark.position {
            s.pointee.cycles.groups.append(OpenGroup(start: mark.openBefore, low: low))
        } else {
            closeCycle(from: Int(mark.openBefore))
        }
    }

    /// Gives the cycle's value to all members from index `start` on. O(members + their edges).
    @inlinable
    package func closeCycle(from start: Int) {
        s.pointee.counters.cycles &+= 1
        let members = (start..<s.pointee.cycles.members.count).map { s.pointee.cycles.members.base[$0] }
        let path = cyclePath(from: UInt32(truncatingIfNeeded: start) | Vertex.openBit, members).map { s.pointee.id($0) }
        s.pointee.cycles.members.count = start
        let value = host.pointee.value(ofCycle: path)
        for member in members {
            let vertex = s.pointee.vertex(member)
            vertex.pointee.flags.remove(.running)
            vertex.pointee.cause = 0
            vertex.pointee.flags.insert(.cyclic)
            vertex.pointee.evaluatedAt = s.pointee.revision
            s.pointee.evaluations(member).pointee &+= 1
            host.pointee.note(s.pointee.id(member), onCycle: path)
            let row = s.pointee.vertex(member)
            if let value { store(value, in: row, row.pointee.flags, s.pointee.revision) } else { removeValue(of: row) }
        }
    }

    /// The shortest path along reads from the member of lowest index back to itself.
    @usableFromInline
    package func cyclePath(from firstCause: UInt32, _ members: [UInt32]) -> [UInt32] {
        guard let least = members.min() else { return [] }
        var readBy: [UInt32: UInt32] = [:]
        var reached = [least]
        var next = 0
        while next < reached.count {
            let member = reached[next]
            next += 1
            let inputs = inputs(of: s.pointee.vertex(member))
            for position in 0..<Int(inputs.count) {
                let input = inputs.ends[position]
                if input == least {
                    var path = [member]
                    while let last = path.last, last != least, let reader = readBy[last] { path.append(reader) }
                    return path.reversed()
                }
                let other = s.pointee.vertex(input).pointee
                guard other.flags.contains(.running), other.cause >= firstCause, readBy[input] == nil else { continue }
                readBy[input] = member
                reached.append(input)
            }
        }
        return members
    }
}
