import AttributeGraph

/// Properties of the engine that the library needs.
extension GraphCore where Host: ~Copyable {
    /// The number of entries on the evaluation stack. It grows and shrinks with the runs in progress.
    @inlinable @inline(__always)
    var stackDepth: Int { s.pointee.pending.count }

    @inlinable @inline(__always)
    var hasInvalidated: Bool { s.pointee.invalidated.count != 0 }

    /// True if writes of a batch have not taken effect yet.
    @inlinable @inline(__always)
    var hasUnsettled: Bool { s.pointee.log.count != 0 }

    @inlinable @inline(__always)
    var batchIsClosed: Bool { s.pointee.batchDepth == 0 }

    @inlinable
    var invalidatedCount: Int { s.pointee.invalidated.count }

    @inlinable @inline(__always)
    func invalidatedAttribute(_ position: Int) -> AttributeID { s.pointee.invalidated.base[position] }

    /// Drops the oldest reports.
    @inlinable
    func removeInvalidated(_ count: Int) {
        // An observer may have removed them itself.
        let rest = max(0, s.pointee.invalidated.count - count)
        for position in 0..<rest {
            s.pointee.invalidated.base[position] = s.pointee.invalidated.base[position + count]
        }
        s.pointee.invalidated.count = rest
    }

    /// True if the attribute of a row was destroyed during a run that has not ended.
    @inlinable
    func isCondemned(_ index: UInt32) -> Bool { s.pointee.vertex(index).pointee.kind.isCondemned }

    /// True if the attribute of a row is a running rule.
    @inlinable
    func isRunningRule(_ index: UInt32) -> Bool {
        let vertex = s.pointee.vertex(index).pointee
        return vertex.flags.contains(.running) && vertex.kind.isRule
    }

    @inlinable @inline(__always)
    var unsettledCount: Int { s.pointee.log.count }

    @inlinable
    var isInterrupted: Bool { s.pointee.attention.contains(.interrupted) }

    @inlinable
    func attribute(at index: UInt32) -> AttributeID { s.pointee.id(index) }

    /// Nothing runs, and nothing waits to be settled.
    @inlinable @inline(__always)
    var isAtRest: Bool { s.pointee.pending.count == 0 && s.pointee.log.count == 0 }

    /// Changes whenever an edge is added or removed, a cycle is found (untracked reads can close one without an edge),
    /// or an attribute is no longer watched.
    @inlinable @inline(__always)
    var edgeChanges: UInt64 {
        s.pointee.counters.edgesAdded &+ s.pointee.counters.edgesRemoved &+ s.pointee.counters.cycles
            &+ s.pointee.unwatchings
    }

    @inlinable @inline(__always)
    func settleIfNeeded() { if s.pointee.log.count != 0 { settle() } }
}
