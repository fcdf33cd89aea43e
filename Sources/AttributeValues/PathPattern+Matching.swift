extension PathPattern {
    /// One attribute by name, or all attributes of a node. Steps into the value are ignored: they belong to the
    /// attribute.
    public init(attributesAt path: AttributePath) {
        segments = path.nodes.map { .id($0) }
        attribute = path.attribute
        steps = []
    }

    /// Every attribute of a node and of all nodes below it.
    public init(subtreeAt nodes: some Sequence<Name>) {
        segments = nodes.map { .id($0) } + [.anyDepth]
        attribute = nil
        steps = []
    }

    /// Every attribute: `/**`.
    public static var everything: PathPattern { PathPattern(subtreeAt: []) }

    /// True if the pattern matches a node with these ids. Iterative, O(segments × nodes).
    public func matches(nodes: [Name]) -> Bool {
        var reach = Reach(segments)
        for node in nodes { reach.read(.id(node)) }
        return reach.isWhole
    }

    /// True if this pattern matches everything that another pattern can ever match. Iterative, at worst O(segments ×
    /// segments). It returns as soon as the answer is known, so a pattern of another part of the tree costs no more
    /// than the ids that agree.
    ///
    /// `*` and `**` here cover a `*` of the other pattern, and only `**` covers a `**`. So a pattern with the same
    /// meaning in another form (`/*/**` for `/**/*`) may be reported as not covered. The opposite never happens.
    ///
    /// - Parameter steps: grows by the number of segments that were compared.
    public func covers(_ other: PathPattern, steps read: inout Int) -> Bool {
        read += 1
        if let attribute {
            guard let name = other.attribute, name.hasSameBytes(as: attribute), other.steps.starts(with: steps) else {
                return false
            }
        }
        // Most patterns begin with ids. This decides most of the other cases.
        var start = 0
        while start < segments.count, case .id(let id) = segments[start] {
            read += 1
            guard start < other.segments.count, case .id(let name) = other.segments[start], name == id
            else { return false }
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

    /// The positions in a pattern's segments that the input so far can reach.
    private struct Reach {
        private let segments: [Segment]
        /// For each number of segments, true if that many can match the input so far.
        private var reached: [Bool]

        init(_ segments: [Segment]) {
            self.segments = segments
            reached = [Bool](repeating: false, count: segments.count + 1)
            reached[0] = true
            passAnyDepth()
        }

        var isWhole: Bool { reached[segments.count] }

        /// True if every further input matches too.
        var cannotFail: Bool { segments.last == .anyDepth && isWhole }

        /// True if no further input can match.
        var isLost: Bool { !reached.contains(true) }

        var size: Int { segments.count }

        mutating func read(_ next: Segment) {
            // From the end, so that each position sees the previous state of its neighbour.
            for position in stride(from: segments.count, through: 0, by: -1) {
                let stays = position < segments.count && reached[position] && segments[position] == .anyDepth
                reached[position] =
                    stays || position > 0 && reached[position - 1] && Reach.stands(segments[position - 1], for: next)
            }
            passAnyDepth()
        }

        /// `**` also matches nothing.
        private mutating func passAnyDepth() {
            for (position, segment) in segments.enumerated() where reached[position] && segment == .anyDepth {
                reached[position + 1] = true
            }
        }

        private static func stands(_ segment: Segment, for next: Segment) -> Bool {
            switch (segment, next) {
            case (.id(let id), .id(let name)): id == name
            case (.any, .id), (.any, .any): true
            default: false
            }
        }
    }
}
