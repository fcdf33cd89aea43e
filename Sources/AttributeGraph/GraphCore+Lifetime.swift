extension GraphCore where Host: ~Copyable {
    /// Destroys an attribute. Its readers must run again, and then read the host's value of a removed attribute.
    ///
    /// O(its edges + marked vertices). Its ids are dead at once. Not while something runs. Destroying a destroyed
    /// attribute does nothing.
    @inlinable
    public func destroy(_ attribute: AttributeID) {
        guard s.pointee.isAlive(attribute) else { return }
        precondition(s.pointee.pending.count == 0, "nothing is destroyed while something runs")
        let index = attribute.index
        let vertex = s.pointee.vertex(index)
        s.pointee.counters.attributesDestroyed &+= 1
        vertex.pointee.generation &+= 1
        if vertex.pointee.readerClass != 0 { abandonReaders(of: index) }
        if vertex.pointee.inputClass != 0 {
            if vertex.pointee.inputClass == EdgePool.single {
                dropOnlyInput(of: vertex)
            } else {
                dropInputs(of: index, from: 0)
            }
        }
        let isEmpty = vertex.pointee.flags.contains(.empty)
        vertex.pointee.flags = .empty
        vertex.pointee.kind = .free
        // A row with no generations left is retired.
        if vertex.pointee.generation != UInt32.max {
            vertex.pointee.hint = s.pointee.vertices.free
            s.pointee.vertices.free = index
        }
        if !isEmpty { s.pointee.value(index).deinitialize(count: 1) }
    }

    /// Every reader loses this input and must run again.
    @inlinable
    package func abandonReaders(of index: UInt32) {
        let vertex = s.pointee.vertex(index)
        s.pointee.revision &+= 1
        let readers = readers(of: vertex)
        for slot in 0..<Int(readers.count) {
            let reader = readers.ends[slot]
            let position = Int(readers.slots[slot])
            let inputs = inputs(of: s.pointee.vertex(reader))
            inputs.ends[position] = 0
            inputs.slots[position] = 0
            s.pointee.counters.edgesRemoved &+= 1
            makeStale(reader)
        }
        emptyReaders(of: vertex)
    }
}
