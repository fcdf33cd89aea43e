/// Rules and observers over fixed inputs. Their list of inputs is given at their creation and never changes. It may
/// contain an attribute twice. When an input is destroyed, its position becomes empty (0), and the host is told.
extension GraphCore where Host: ~Copyable {
    @inlinable @inline(__always)
    package func fixInputs(of reader: UInt32, _ inputs: some Collection<AttributeID>) {
        let count = inputs.count
        if count > 1 { return fixList(of: reader, inputs, count) }
        if count == 0 { return }
        guard let input = inputs.first else { return }
        let vertex = s.pointee.vertex(reader)
        if _fastPath(s.pointee.isAlive(input)) { return linkFirst(input.index, to: reader, vertex) }
        vertex.pointee.inputClass = EdgePool.single
        host.pointee.note(loss: input, of: reader, at: 0)
    }

    @inlinable @inline(__always)
    package func fixList(of reader: UInt32, _ inputs: some Collection<AttributeID>, _ count: Int) {
        reserveInputs(count, of: s.pointee.vertex(reader))
        // Getting the next element may run any code, so rows and lists are looked up each time.
        for input in inputs {
            let position = s.pointee.vertex(reader).pointee.inputs.extent
            precondition(position < count, "a collection has as many elements as it counts")
            var (end, slot): (UInt32, UInt32) = (0, 0)
            if _fastPath(s.pointee.isAlive(input)) {
                end = input.index
                slot = addReader(reader, at: position, to: end)
            } else {
                host.pointee.note(loss: input, of: reader, at: position)
            }
            let vertex = s.pointee.vertex(reader)
            let entry = Int(vertex.pointee.inputs.start &+ position)
            s.pointee.edges.ends[entry] = end
            s.pointee.edges.slots[entry] = slot
            vertex.pointee.inputs.extent = position &+ 1
        }
    }

    /// A rule depends on all its fixed inputs, even if its run does not read them, so running ones are on a cycle with
    /// it. If one were missed, the edges of valid vertices could form a cycle.
    @inlinable @inline(never)
    package func noteCycles(through vertex: UnsafeMutablePointer<Vertex>) {
        let inputs = inputs(of: vertex)
        for position in 0..<Int(inputs.count)
        where s.pointee.vertex(inputs.ends[position]).pointee.flags.contains(.running) {
            noteCycle(inputs.ends[position])
        }
    }

    /// The id that a destroyed vertex had.
    @inlinable
    package func formerID(_ index: UInt32) -> AttributeID {
        AttributeID(index: index, generation: s.pointee.vertex(index).pointee.generation &- 1)
    }
}
