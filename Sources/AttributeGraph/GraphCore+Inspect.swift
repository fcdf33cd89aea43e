/// Bytes allocated for the graph's own tables.
public struct GraphMemory: Equatable, Sendable {
    /// One vertex with its value.
    public let perVertex: Int
    /// The vertex table, used or not.
    public let vertices: Int
    /// The edge lists, used or not.
    public let edges: Int
    /// The blocks that edge lists occupy.
    public let edgesInUse: Int
    /// Stacks and reports.
    public let other: Int
}

extension GraphCore where Host: ~Copyable {
    /// The attributes that the rule read when it last ran, in that order, each once. Empty for inputs and destroyed
    /// attributes. O(inputs).
    public func inputs(of attribute: AttributeID) -> [AttributeID] {
        guard s.pointee.isAlive(attribute) else { return [] }
        let inputs = inputs(of: s.pointee.vertex(attribute.index))
        return (0..<Int(inputs.count)).compactMap { position in
            let input = inputs.ends[position]
            return input == 0 ? nil : s.pointee.id(input)
        }
    }

    /// The rules that read the attribute when they last ran, in no particular order. Empty for destroyed attributes.
    /// O(readers).
    public func readers(of attribute: AttributeID) -> [AttributeID] {
        guard s.pointee.isAlive(attribute) else { return [] }
        let readers = readers(of: s.pointee.vertex(attribute.index))
        return (0..<Int(readers.count)).map { s.pointee.id(readers.ends[$0]) }
    }

    /// True if some rule read the attribute when it last ran. False for destroyed attributes. O(1).
    @inlinable
    public func isRead(_ attribute: AttributeID) -> Bool {
        s.pointee.isAlive(attribute) && s.pointee.vertex(attribute.index).pointee.readerClass != 0
    }

    /// The revision at which the attribute's rule last ran; 0: never, an input, or destroyed.
    @inlinable
    public func evaluatedAt(_ attribute: AttributeID) -> Revision {
        guard s.pointee.isAlive(attribute) else { return 0 }
        let vertex = s.pointee.vertex(attribute.index)
        return vertex.pointee.kind == .input ? 0 : vertex.pointee.evaluatedAt
    }

    /// The input whose change made the rule run last: the first that was found changed. `nil` for a first run and for a
    /// run after `invalidate`. O(inputs).
    public func cause(of attribute: AttributeID) -> AttributeID? {
        guard s.pointee.isAlive(attribute) else { return nil }
        let vertex = s.pointee.vertex(attribute.index).pointee
        if vertex.kind == .input || vertex.cause == 0 || vertex.flags.contains(.running) { return nil }
        return inputs(of: attribute).first { $0.index == vertex.cause }
    }

    /// How often the attribute's rule has run to its end (wraps at 2³²); 0 for a destroyed attribute.
    @inlinable
    public func evaluations(of attribute: AttributeID) -> UInt32 {
        s.pointee.isAlive(attribute) ? s.pointee.evaluations(attribute.index).pointee : 0
    }

    /// True if the value may be out of date, so that a read has to look upstream. False for a destroyed attribute.
    @inlinable
    public func isInvalidated(_ attribute: AttributeID) -> Bool {
        s.pointee.isAlive(attribute) && s.pointee.vertex(attribute.index).pointee.flags.contains(.maybe)
    }

    /// Memory of the engine itself, without what values and the host refer to. O(size classes + free blocks).
    public var memory: GraphMemory {
        var free = Int(s.pointee.edges.limit - s.pointee.edges.next) + 1
        for sizeClass in 1...EdgePool.largestFreeClass {
            var block = s.pointee.edges.free[Int(sizeClass)]
            while block != 0 {
                free += Int(EdgePool.size(of: sizeClass))
                block = s.pointee.edges.ends[Int(block)]
            }
        }
        let perVertex = VertexTable<Value>.stride
        return GraphMemory(
            perVertex: perVertex,
            vertices: Int(s.pointee.vertices.capacity) * perVertex,
            edges: Int(s.pointee.edges.capacity) * 8,
            edgesInUse: (Int(s.pointee.edges.capacity) - free) * 8,
            other: s.pointee.pending.capacity * MemoryLayout<Pending>.stride + s.pointee.marking.capacity * 4
                + s.pointee.invalidated.capacity * 8
                + s.pointee.tracking.overwrittenHints.capacity * MemoryLayout<Hint>.stride)
    }
}
