/// Cycles are strongly connected components of what rules read in this evaluation, found by depth-first search with a
/// stack of unfinished members that is merged as it unwinds (H. Gabow, Path-based depth-first search for strong
/// and biconnected components, 2000).
///
/// Every member takes the cycle's value, wherever the evaluation happened to enter: what its run returned was
/// computed from a read that had no answer.
extension GraphCore where Host: ~Copyable {
    /// The running rule has read a vertex that is running, or that waits for its cycle to be closed.
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

    /// The group of a waiting member, by binary search.
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

    /// A run that met a cycle has ended. It forms one component with all members that began to wait since it
    /// began; if nothing below it on the stack belongs to that too, the component is complete.
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

    /// Gives the members from a place on their value. O(members + their edges).
    @inlinable
    package func closeCycle(from start: Int) {
        s.pointee.counters.cycles &+= 1
        let members = (start..<s.pointee.cycles.members.count).map { s.pointee.cycles.members.base[$0] }
        let path = cyclePath(from: UInt32(truncatingIfNeeded: start) | Vertex.openBit, members).map { s.pointee.id($0) }
        s.pointee.cycles.members.count = start
        // A run that was given up may have read what is gone now, and the next one did not: without that there may be
        // no cycle.
        if s.pointee.condemned.count != 0 {
            for member in members { s.pointee.condemned.append(Condemned(vertex: member, maker: Condemned.runsAgain)) }
        }
        let value = host.pointee.value(ofCycle: path)
        for member in members {
            let vertex = s.pointee.vertex(member)
            vertex.pointee.flags.remove(.running)
            vertex.pointee.cause = 0
            vertex.pointee.flags.insert(.cyclic)
            vertex.pointee.evaluatedAt = s.pointee.revision
            vertex.pointee.evaluations &+= 1
            host.pointee.note(s.pointee.id(member), onCycle: path)
            let row = s.pointee.vertex(member)
            if let value { store(value, in: row, row.pointee.flags, s.pointee.revision) } else { removeValue(of: row) }
        }
    }

    /// The shortest way from the member of lowest index along its reads back to itself.
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
