/// Bytes that a graph holds for its own tables.
public struct GraphMemory: Equatable, Sendable {
    /// Of one vertex with its value.
    public let perVertex: Int
    /// Of the vertex table, used or not.
    public let vertices: Int
    /// Of the edge lists, used or not.
    public let edges: Int
    /// Of the blocks that edge lists occupy.
    public let edgesInUse: Int
    /// Of stacks and reports.
    public let other: Int
}

extension GraphCore where Host: ~Copyable {
    /// What the rule read when it last ran, in that order, each attribute once; of one over fixed inputs these, as
    /// they were given. Empty for inputs and destroyed attributes. O(inputs).
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

    /// Whether rules read the attribute when they last ran. False for destroyed attributes. O(1).
    @inlinable
    public func isRead(_ attribute: AttributeID) -> Bool {
        s.pointee.isAlive(attribute) && s.pointee.vertex(attribute.index).pointee.readerClass != 0
    }

    /// When the attribute's rule last ran; 0: never, an input, or destroyed.
    @inlinable
    public func evaluatedAt(_ attribute: AttributeID) -> Revision {
        guard s.pointee.isAlive(attribute) else { return 0 }
        let vertex = s.pointee.vertex(attribute.index)
        return vertex.pointee.kind == .input ? 0 : vertex.pointee.evaluatedAt
    }

    /// An input whose change made the rule run last: the first that was found changed, or of several fixed ones the
    /// last to change, unless that has changed again since. `nil` for a first run, and for one that `invalidate` asked
    /// for. O(inputs).
    public func cause(of attribute: AttributeID) -> AttributeID? {
        guard s.pointee.isAlive(attribute) else { return nil }
        let vertex = s.pointee.vertex(attribute.index).pointee
        if vertex.kind == .input || vertex.cause == 0 || vertex.flags.contains(.running) { return nil }
        let inputs = inputs(of: attribute)
        guard vertex.cause == Pending.unknown else { return inputs.first { $0.index == vertex.cause } }
        // What had changed last when it ran had done so since it ran before.
        return inputs.filter { changedAt($0) <= vertex.evaluatedAt }.max { changedAt($0) < changedAt($1) }
    }

    /// How often the attribute's rule has run to its end (wraps at 2³²); 0 for a destroyed attribute.
    @inlinable
    public func evaluations(of attribute: AttributeID) -> UInt32 {
        s.pointee.isAlive(attribute) ? s.pointee.vertex(attribute.index).pointee.evaluations : 0
    }

    /// Whether the value may be out of date, so that a read would have to look upstream. False for a destroyed
    /// attribute.
    @inlinable
    public func isInvalidated(_ attribute: AttributeID) -> Bool {
        markDeferred()
        return s.pointee.isAlive(attribute) && s.pointee.vertex(attribute.index).pointee.flags.contains(.maybe)
    }

    /// Memory held by the engine itself, without what values and the host refer to. O(size classes + free blocks).
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
