/// What a host that runs observers by itself needs beside the public operations.
extension GraphCore where Host: ~Copyable {
    /// Entries on the evaluation stack: grows and shrinks with the runs in progress.
    @inlinable @inline(__always)
    var stackDepth: Int { s.pointee.pending.count }

    /// The rule or observer that is running innermost, or was abandoned last and will run again, tracked or not; `nil` also when it has been
    /// destroyed.
    @inlinable
    public var runningAttribute: AttributeID? {
        var position = s.pointee.pending.count
        while position > 0 {
            position -= 1
            let index = s.pointee.pending.base[position].vertex
            let vertex = s.pointee.vertex(index).pointee
            if vertex.flags.contains(.running) && vertex.cause == UInt32(truncatingIfNeeded: position) {
                return vertex.kind.isCondemned ? nil : s.pointee.id(index)
            }
        }
        return nil
    }

    @inlinable @inline(__always)
    var hasInvalidated: Bool { s.pointee.invalidated.count != 0 }

    /// Whether writes of a batch have not taken effect yet.
    @inlinable @inline(__always)
    var hasUnsettled: Bool { s.pointee.logCount != 0 }

    @inlinable @inline(__always)
    var batchIsClosed: Bool { s.pointee.batchDepth == 0 }

    @inlinable
    var invalidatedCount: Int { s.pointee.invalidated.count }

    @inlinable @inline(__always)
    func invalidatedAttribute(_ position: Int) -> AttributeID { s.pointee.invalidated.base[position] }

    /// Drops the oldest reports.
    @inlinable
    func removeInvalidated(_ count: Int) {
        // An observer may have taken them itself.
        let rest = max(0, s.pointee.invalidated.count - count)
        for position in 0..<rest {
            s.pointee.invalidated.base[position] = s.pointee.invalidated.base[position + count]
        }
        s.pointee.invalidated.count = rest
    }

    /// Whether the attribute of a row is running, and has not been destroyed in that.
    @inlinable
    func isRunning(_ index: UInt32) -> Bool { !s.pointee.vertex(index).pointee.kind.isCondemned }

    @inlinable
    var isInterrupted: Bool { s.pointee.attention.contains(.interrupted) }

    @inlinable
    func attribute(at index: UInt32) -> AttributeID { s.pointee.id(index) }

    /// The subgraph a living attribute is in.
    public func subgraph(of attribute: AttributeID) -> SubgraphID {
        precondition(s.pointee.isAlive(attribute), "a destroyed attribute is in no subgraph")
        let index = s.pointee.vertex(attribute.index).pointee.subgraph
        return SubgraphID(index: index, generation: s.pointee.subgraphs.base[Int(index)].generation)
    }

    /// The subgraph around a living one; the root's is the root.
    public func parent(of subgraph: SubgraphID) -> SubgraphID {
        let index = s.pointee.subgraphs.base[Int(subgraph.index)].parent
        return SubgraphID(index: index, generation: s.pointee.subgraphs.base[Int(index)].generation)
    }

    /// The subgraphs inside a living one, the youngest first.
    public func children(of subgraph: SubgraphID) -> [SubgraphID] {
        var list: [SubgraphID] = []
        guard isAlive(subgraph) else { return list }
        var index = s.pointee.subgraphs.base[Int(subgraph.index)].firstChild
        while index != 0 {
            list.append(SubgraphID(index: index, generation: s.pointee.subgraphs.base[Int(index)].generation))
            index = s.pointee.subgraphs.base[Int(index)].nextSibling
        }
        return list
    }
}
