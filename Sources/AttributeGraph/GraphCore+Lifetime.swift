extension GraphCore where Host: ~Copyable {
    // MARK: Attributes

    /// Destroys an attribute. Its readers must run again, and then read the host's value of a removed attribute.
    ///
    /// O(its edges + what gets marked). Its ids are dead at once. While something runs the rest waits for the end of that: the row is freed, and
    /// readers are made stale, when nothing runs any more, so that no run pulls the ground from under another. Destroying
    /// what is already destroyed does nothing.
    @inlinable
    public func destroy(_ attribute: AttributeID) {
        guard s.pointee.isAlive(attribute) else { return }
        let index = attribute.index
        leaveSubgraph(index)
        destroyVertex(index)
    }

    @inlinable
    func leaveSubgraph(_ index: UInt32) {
        let subgraph = s.pointee.subgraphs.base + Int(s.pointee.vertex(index).pointee.subgraph)
        let (next, previous) = (s.pointee.siblings[Int(index)].next, s.pointee.siblings[Int(index)].previous)
        if subgraph.pointee.firstVertex == index {
            subgraph.pointee.firstVertex = next
        } else {
            s.pointee.siblings[Int(previous)].next = next
            if next != 0 { s.pointee.siblings[Int(next)].previous = previous }
        }
    }

    /// Takes a vertex out of the graph; it has left its subgraph's list already.
    @inlinable
    func destroyVertex(_ index: UInt32) {
        let vertex = s.pointee.vertex(index)
        s.pointee.counters.attributesDestroyed &+= 1
        vertex.pointee.generation &+= 1
        if s.pointee.pending.count == 0 { return freeVertex(index, 0) }
        settleOrder()
        vertex.pointee.kind = vertex.pointee.kind.condemned
        // Not reported any more; and a rule that knows it by its row is sent the slow way.
        vertex.pointee.flags = vertex.pointee.flags.subtracting(.watched).union(.unseen)
        let maker = s.pointee.subgraphs.base[Int(vertex.pointee.subgraph)].maker
        let isRunning =
            s.pointee.vertex(maker).pointee.flags.contains(.running) && s.pointee.vertex(maker).pointee.kind.isRule
        s.pointee.condemned.append(Condemned(vertex: index, maker: isRunning ? maker : 0))
        s.pointee.attention.insert(.condemned)
    }

    /// Frees what was destroyed during runs that have ended. What the host lets go may run and destroy more.
    @inlinable @inline(never)
    func freeCondemned() {
        let nesting = s.pointee.nesting
        s.pointee.nesting = 0
        s.pointee.reader = 0
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

    /// Removes a vertex's edges and value and returns its row to the free list. Its generation has been advanced; a row whose generations
    /// are used up is retired.
    @inlinable
    func freeVertex(_ index: UInt32, _ maker: UInt32) {
        settleOrder()
        s.pointee.upcoming = .none
        let vertex = s.pointee.vertex(index)
        if vertex.pointee.readerClass != 0 { abandonReaders(of: index, maker) }
        if vertex.pointee.inputClass != 0 {
            if _slowPath(!s.pointee.lostInputs.isEmpty) && vertex.pointee.kind.isFixed { forgetLosses(of: index) }
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
            vertex.pointee.hint = s.pointee.freeVertex
            s.pointee.freeVertex = index
        }
        // What the host lets go may use the graph.
        host.pointee.didDestroy(AttributeID(index: index, generation: generation &- 1))
    }

    /// Every reader loses this input and must run again, except the rule whose own run made and destroyed it.
    @inlinable
    func abandonReaders(of index: UInt32, _ maker: UInt32) {
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
                noteLoss(
                    of: AttributeID(index: index, generation: vertex.pointee.generation &- 1), by: reader, at: position)
            }
            s.pointee.counters.edgesRemoved &+= 1
            if reader != maker { makeStale(reader) }
        }
        emptyReaders(of: vertex)
    }

    // MARK: Subgraphs

    /// Creates a subgraph inside another. O(1).
    @inlinable
    public func createSubgraph(in parent: SubgraphID = .root) -> SubgraphID {
        precondition(isAlive(parent), "a subgraph needs a living parent")
        let index: UInt32
        let maker = runningAttribute?.index ?? 0
        var generation: UInt32 = 1
        if s.pointee.freeSubgraph != 0 {
            index = s.pointee.freeSubgraph
            s.pointee.freeSubgraph = s.pointee.subgraphs.base[Int(index)].nextSibling
            generation = s.pointee.subgraphs.base[Int(index)].generation
            s.pointee.subgraphs.base[Int(index)] = SubgraphRow(
                generation: generation, parent: parent.index, maker: maker)
        } else {
            index = UInt32(s.pointee.subgraphs.count)
            s.pointee.subgraphs.append(SubgraphRow(generation: generation, parent: parent.index, maker: maker))
        }
        let rows = s.pointee.subgraphs.base
        let sibling = rows[Int(parent.index)].firstChild
        rows[Int(index)].nextSibling = sibling
        if sibling != 0 { rows[Int(sibling)].previousSibling = index }
        rows[Int(parent.index)].firstChild = index
        return SubgraphID(index: index, generation: generation)
    }

    /// Destroys a subgraph with all it contains, inner subgraphs first, and in each the youngest attribute first.
    /// O(attributes + edges + what gets marked outside). The root cannot be destroyed; a destroyed one is left alone.
    @inlinable
    public func destroy(_ subgraph: SubgraphID) {
        precondition(subgraph.index != 0, "the root lives as long as the graph")
        guard isAlive(subgraph) else { return }
        var current = subgraph
        while true {
            let index = current.index
            let child = s.pointee.subgraphs.base[Int(index)].firstChild
            if child != 0 {
                current = SubgraphID(index: child, generation: s.pointee.subgraphs.base[Int(child)].generation)
                continue
            }
            destroyAttributes(of: current)
            if !isAlive(current) {
                // What the host has let go has destroyed it already.
                if !isAlive(subgraph) { return }
                current = subgraph
                continue
            }
            // Or has made something in it.
            if s.pointee.subgraphs.base[Int(index)].firstChild != 0 { continue }
            let rows = s.pointee.subgraphs.base
            let (parent, next, previous) = (
                rows[Int(index)].parent, rows[Int(index)].nextSibling, rows[Int(index)].previousSibling
            )
            if next != 0 { rows[Int(next)].previousSibling = previous }
            if previous != 0 { rows[Int(previous)].nextSibling = next } else { rows[Int(parent)].firstChild = next }
            rows[Int(index)].generation &+= 1
            if rows[Int(index)].generation != UInt32.max {
                rows[Int(index)].nextSibling = s.pointee.freeSubgraph
                s.pointee.freeSubgraph = index
            }
            if index == subgraph.index { return }
            current = SubgraphID(index: parent, generation: rows[Int(parent)].generation)
        }
    }

    /// What the host lets go may destroy the subgraph itself, and its row be taken by another.
    @inlinable
    func destroyAttributes(of subgraph: SubgraphID) {
        let (number, generation) = (Int(subgraph.index), subgraph.generation)
        while true {
            let row = s.pointee.subgraphs.base + number
            if _slowPath(row.pointee.generation != generation) { return }
            let index = row.pointee.firstVertex
            if index == 0 { return }
            row.pointee.firstVertex = s.pointee.siblings[Int(index)].next
            destroyVertex(index)
        }
    }
}
