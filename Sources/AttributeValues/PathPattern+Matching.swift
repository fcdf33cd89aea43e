extension PathPattern {
    /// One attribute by name, or all of a node's. Steps into the value are left out: they belong to the attribute.
    public init(attributesAt path: AttributePath) {
        segments = path.nodes.map { .id($0) }
        attribute = path.attribute
        steps = []
    }

    /// Every attribute of a node and below it.
    public init(subtreeAt nodes: some Sequence<String>) {
        segments = nodes.map { .id($0) } + [.anyDepth]
        attribute = nil
        steps = []
    }

    /// Every attribute there is: `/**`.
    public static var everything: PathPattern { PathPattern(subtreeAt: []) }

    /// Whether a node with these ids is among those named. Iterative, O(segments × nodes).
    public func matches(nodes: [String]) -> Bool {
        var reach = Reach(segments)
        for node in nodes { reach.read(.id(node)) }
        return reach.isWhole
    }

    /// Whether all that another pattern can ever match is matched by this one. Iterative, O(segments × segments) at worst: the
    /// answer is given as soon as it is known, so a pattern of another part of the tree costs no more than the ids that agree.
    ///
    /// A `*` of the other is covered by `*` and `**` here, a `**` by `**` alone. So a pattern that only says the same in other
    /// words (`/*/**` for `/**/*`) may be taken for one that is not covered; never the other way round.
    ///
    /// - Parameter steps: counts the segments that were looked at.
    public func covers(_ other: PathPattern, steps read: inout Int) -> Bool {
        read += 1
        if let attribute {
            guard let name = other.attribute, name.hasSameBytes(as: attribute), other.steps.starts(with: steps) else { return false }
        }
        // Most patterns begin with ids; the others are told apart there.
        var start = 0
        while start < segments.count, case .id(let id) = segments[start] {
            read += 1
            guard start < other.segments.count, case .id(let name) = other.segments[start], name.hasSameBytes(as: id) else { return false }
            start += 1
        }
        if start == segments.count { return other.segments.count == start }
        var reach = Reach(Array(segments[start...]))
        for segment in other.segments[start...] {
            if reach.cannotFail { return true }
            if reach.isLost { return false }
            read += reach.size
            reach.read(segment)
        }
        return reach.isWhole
    }

    public func covers(_ other: PathPattern) -> Bool {
        var steps = 0
        return covers(other, steps: &steps)
    }

    /// How far into a pattern's segments one can have come with what was read so far.
    private struct Reach {
        private let segments: [Segment]
        /// Whether the first so many segments can stand for what was read.
        private var reached: [Bool]

        init(_ segments: [Segment]) {
            self.segments = segments
            reached = [Bool](repeating: false, count: segments.count + 1)
            reached[0] = true
            passAnyDepth()
        }

        var isWhole: Bool { reached[segments.count] }

        /// Whether whatever is still to be read is matched, too.
        var cannotFail: Bool { segments.last == .anyDepth && isWhole }

        /// Whether nothing that is still to be read can lead to the end.
        var isLost: Bool { !reached.contains(true) }

        var size: Int { segments.count }

        mutating func read(_ next: Segment) {
            // From the end on, so that each place looks at what its neighbour was before.
            for position in stride(from: segments.count, through: 0, by: -1) {
                let stays = position < segments.count && reached[position] && segments[position] == .anyDepth
                reached[position] = stays || position > 0 && reached[position - 1] && Reach.stands(segments[position - 1], for: next)
            }
            passAnyDepth()
        }

        /// `**` stands for nothing, too.
        private mutating func passAnyDepth() {
            for (position, segment) in segments.enumerated() where reached[position] && segment == .anyDepth {
                reached[position + 1] = true
            }
        }

        private static func stands(_ segment: Segment, for next: Segment) -> Bool {
            switch (segment, next) {
            case (.id(let id), .id(let name)): id.hasSameBytes(as: name)
            case (.any, .id), (.any, .any): true
            default: false
            }
        }
    }
}
