extension GraphCore where Host: ~Copyable {
    /// Destroys an attribute. Its readers must run again, and then read the host's value of a removed attribute.
    ///
    /// O(its edges + marked vertices). Its ids are dead at once. While something runs, the rest is deferred: when
    /// nothing runs any more, the row is freed and the readers become stale. So no run loses a row that it uses.
    /// Destroying a destroyed attribute does nothing.
    @inlinable
    public func destroy(_ attribute: AttributeID) { destroy(attribute, sparing: 0) }

    /// As `destroy`, but spares the rule `maker` if it is still in the run that made the attribute: it does not become
    /// stale, because running it again would do the same again.
    @inlinable
    package func destroy(_ attribute: AttributeID, sparing maker: UInt32) {
        guard s.pointee.isAlive(attribute) else { return }
        let index = attribute.index
        let vertex = s.pointee.vertex(index)
        s.pointee.counters.attributesDestroyed &+= 1
        vertex.pointee.generation &+= 1
        if s.pointee.pending.count == 0 { return freeVertex(index, 0) }
        markDeferred()
        vertex.pointee.kind = vertex.pointee.kind.condemned
        // It is not reported any more. A rule that has its row number takes the slow path.
        vertex.pointee.flags = vertex.pointee.flags.subtracting(.watched).union(.unseen)
        s.pointee.condemned.append(Condemned(vertex: index, maker: maker))
        s.pointee.attention.insert(.condemned)
    }

    /// Frees the attributes destroyed during runs that have ended. Values and closures that the host frees may run code
    /// and destroy more.
    @inlinable @inline(never)
    package func freeCondemned() {
        let nesting = s.pointee.nesting
        s.pointee.nesting = 0
        s.pointee.tracking.reader = 0
        removeCursor()
        while s.pointee.condemned.count != 0 {
            let last = s.pointee.condemned.removeLast()
            if last.maker != Condemned.runsAgain { freeVertex(last.vertex, last.maker); continue }
            let kind = s.pointee.vertex(last.vertex).pointee.kind
            s.pointee.revision &+= 1
            if kind.isAnyRule && !kind.isCondemned { makeStale(last.vertex) }
        }
        s.pointee.nesting = nesting
        s.pointee.attention.remove(.condemned)
    }

    /// Removes a vertex's edges and value and returns its row to the free list. The caller has advanced its generation;
    /// a row with no generations left is retired.
    @inlinable
    package func freeVertex(_ index: UInt32, _ maker: UInt32) {
        let vertex = s.pointee.vertex(index)
        if vertex.pointee.readerClass != 0 { abandonReaders(of: index, maker) }
        if vertex.pointee.inputClass != 0 {
            if vertex.pointee.inputClass == EdgePool.single {
                dropOnlyInput(of: vertex)
            } else {
                dropInputs(of: index, from: 0)
            }
        }
        if !vertex.pointee.flags.contains(.empty) { s.pointee.value(index).deinitialize(count: 1) }
        vertex.pointee.flags = .empty
        vertex.pointee.kind = .free
        let generation = vertex.pointee.generation
        if generation != UInt32.max {
            vertex.pointee.hint = s.pointee.vertices.free
            s.pointee.vertices.free = index
        }
        // Objects that the host frees here may use the graph.
        host.pointee.didDestroy(AttributeID(index: index, generation: generation &- 1))
    }

    /// Every reader loses this input and must run again, except the rule that made and destroyed the input in the same
    /// run.
    @inlinable
    package func abandonReaders(of index: UInt32, _ maker: UInt32) {
        let vertex = s.pointee.vertex(index)
        s.pointee.revision &+= 1
        let readers = readers(of: vertex)
        for slot in 0..<Int(readers.count) {
            let reader = readers.ends[slot]
            let position = readers.slots[slot]
            let row = s.pointee.vertex(reader)
            let inputs = inputs(of: row)
            inputs.ends[Int(position)] = 0
            inputs.slots[Int(position)] = 0
            if row.pointee.kind.isFixed {
                host.pointee.note(loss: formerID(index), of: reader, at: position)
            }
            s.pointee.counters.edgesRemoved &+= 1
            if reader != maker { makeStale(reader) }
        }
        emptyReaders(of: vertex)
    }
}
