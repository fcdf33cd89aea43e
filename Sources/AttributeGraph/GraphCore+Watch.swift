extension GraphCore where Host: ~Copyable {
    /// From now on the attribute is reported when it may have changed. Watching evaluates nothing.
    ///
    /// An attribute is reported once, and again only after it has been read. One that was never read or is already
    /// marked is reported after its next read at the earliest.
    @inlinable
    public func watch(_ attribute: AttributeID) {
        guard s.pointee.isAlive(attribute) else { return }
        s.pointee.vertex(attribute.index).pointee.flags.insert(.watched)
    }

    /// Ends reporting. Reports already made stay in the list.
    @inlinable
    public func unwatch(_ attribute: AttributeID) {
        guard s.pointee.isAlive(attribute) else { return }
        let vertex = s.pointee.vertex(attribute.index)
        vertex.pointee.flags.subtract([.watched, .unseen])
    }

    @inlinable
    public func isWatched(_ attribute: AttributeID) -> Bool {
        s.pointee.isAlive(attribute) && s.pointee.vertex(attribute.index).pointee.flags.contains(.watched)
    }

    /// True if the attribute or something downstream is watched. Evaluates nothing. O(everything downstream), with one
    /// bit of memory for each row of the graph.
    @inlinable
    public func isWatchedDownstream(of attribute: AttributeID) -> Bool {
        guard s.pointee.isAlive(attribute) else { return false }
        var seen = [UInt64](repeating: 0, count: Int(s.pointee.vertices.count / 64) + 1)
        var pending = [attribute.index]
        while let next = pending.popLast() {
            let vertex = s.pointee.vertex(next)
            if vertex.pointee.flags.contains(.watched) { return true }
            let readers = readers(of: vertex)
            for position in 0..<Int(readers.count) {
                let reader = readers.ends[position]
                let bit: UInt64 = 1 << UInt64(reader % 64)
                if seen[Int(reader / 64)] & bit != 0 { continue }
                seen[Int(reader / 64)] |= bit
                pending.append(reader)
            }
        }
        return false
    }

    /// True if `drainInvalidated` may have something to move.
    @inlinable
    public var mayHaveReports: Bool { s.pointee.invalidated.count != 0 || s.pointee.log.count != 0 }

    /// Appends the reports made since the last call to an array, in the order in which marking reached the attributes.
    /// Omits those that have been destroyed since.
    @inlinable
    public func drainInvalidated(into list: inout [AttributeID]) {
        for position in 0..<s.pointee.invalidated.count {
            let attribute = s.pointee.invalidated.base[position]
            if s.pointee.isAlive(attribute) { list.append(attribute) }
        }
        s.pointee.invalidated.count = 0
    }

    /// The revision at which the attribute's value last became a different one. For a rule that may have changed, this
    /// is known only after a read. 0 for a destroyed attribute and for a rule that never ran.
    @inlinable
    public func changedAt(_ attribute: AttributeID) -> Revision {
        s.pointee.isAlive(attribute) ? s.pointee.vertex(attribute.index).pointee.changedAt : 0
    }

    /// The value that the attribute was last set to, or that its rule last returned, up to date or not. `nil` if it has
    /// none or is destroyed. Evaluates nothing.
    @inlinable
    public func lastValue(of attribute: AttributeID) -> Value? {
        guard s.pointee.isAlive(attribute), !s.pointee.vertex(attribute.index).pointee.flags.contains(.empty) else {
            return nil
        }
        return s.pointee.value(attribute.index).pointee
    }

    /// Sets back the revision of an attribute's last change, because its value was different for a while and is the
    /// same as before again.
    ///
    /// All attributes that have read the different value must be up to date again: the engine no longer notices that
    /// they may have to run. Does nothing for a destroyed attribute.
    @inlinable
    public func redate(_ attribute: AttributeID, to revision: Revision) {
        guard s.pointee.isAlive(attribute) else { return }
        precondition(revision <= s.pointee.revision, "a change lies in the past")
        s.pointee.vertex(attribute.index).pointee.changedAt = revision
    }
}
