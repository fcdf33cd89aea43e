import AttributeValues

/// Finds the patterns that name a node without visiting the others: a tree of their segments, in which patterns with
/// the same beginning share nodes. Cost: O(ids × alternatives that wildcards leave open) to find a node, O(segments) to
/// insert or remove a pattern.
struct PatternIndex {
    /// A pattern, by its position in its topic.
    struct Entry {
        let topic: Topic
        let position: Int
    }

    /// A node of the tree: a beginning that patterns share.
    private final class Way {
        let isAnyDepth: Bool
        /// By the bytes of the ids: canonically equivalent texts differ.
        var byID: [[UInt8]: Way] = [:]
        var any: Way?
        var anyDepth: Way?
        /// Patterns that end here, by the name of their attribute.
        var byAttribute: [Name: [Entry]] = [:]
        /// Patterns that end here and name all attributes.
        var entries: [Entry] = []
        /// The step in which it was last reached.
        var reached = 0

        init(isAnyDepth: Bool = false) { self.isAnyDepth = isAnyDepth }

        var isEmpty: Bool { byID.isEmpty && any == nil && anyDepth == nil && byAttribute.isEmpty && entries.isEmpty }

        subscript(segment: PathPattern.Segment) -> Way? {
            get {
                switch segment {
                case .id(let id): byID[Array(id.utf8)]
                case .any: any
                case .anyDepth: anyDepth
                }
            }
            set {
                switch segment {
                case .id(let id): byID[Array(id.utf8)] = newValue
                case .any: any = newValue
                case .anyDepth: anyDepth = newValue
                }
            }
        }
    }

    private let root = Way()
    private var step = 0
    /// The ways to the parent of the node that was looked up last, because its siblings are often next.
    private var known: (ids: [String], ways: [Way])?

    mutating func insert(_ topic: Topic) {
        known = nil
        for (position, pattern) in topic.patterns.enumerated() {
            var way = root
            for segment in pattern.segments {
                let next = way[segment] ?? Way(isAnyDepth: segment == .anyDepth)
                way[segment] = next
                way = next
            }
            let entry = Entry(topic: topic, position: position)
            if let attribute = pattern.attribute {
                way.byAttribute[attribute, default: []].append(entry)
            } else {
                way.entries.append(entry)
            }
        }
    }

    mutating func remove(_ topic: Topic) {
        known = nil
        for pattern in topic.patterns {
            var ways = [root]
            for segment in pattern.segments {
                guard let next = ways[ways.count - 1][segment] else { return }
                ways.append(next)
            }
            let end = ways[ways.count - 1]
            if let attribute = pattern.attribute {
                end.byAttribute[attribute]?.removeAll { $0.topic === topic }
                if end.byAttribute[attribute]?.isEmpty == true { end.byAttribute[attribute] = nil }
            } else {
                end.entries.removeAll { $0.topic === topic }
            }
            for (way, segment) in zip(ways, pattern.segments).reversed() where way[segment]?.isEmpty == true {
                way[segment] = nil
            }
        }
    }

    /// The patterns that name an attribute of a node, ordered by topic and by their position in it.
    /// - Parameter ids: those of the node and its ancestors, outermost first.
    mutating func find(_ attribute: String, at ids: [String]) -> [Entry] {
        let ways = ways(to: ids)
        if ways.isEmpty { return [] }
        return inOrder(ways.flatMap { $0.entries + ($0.byAttribute[attribute] ?? []) })
    }

    /// The patterns that name a node, or any attribute of it, in the same order.
    mutating func find(at ids: [String]) -> [Entry] {
        let ways = ways(to: ids)
        if ways.isEmpty { return [] }
        return inOrder(ways.flatMap { $0.entries + $0.byAttribute.values.joined() })
    }

    private func inOrder(_ entries: [Entry]) -> [Entry] {
        guard entries.count > 1 else { return entries }
        return entries.sorted { ($0.topic.number, $0.position) < ($1.topic.number, $1.position) }
    }

    private mutating func ways(to ids: [String]) -> [Way] {
        let parent = ids.dropLast()
        var ways: [Way]
        if let known, parent.elementsEqual(known.ids) {
            ways = known.ways
        } else {
            ways = []
            step += 1
            reach(root, &ways)
            for id in parent { ways = follow(id, from: ways) }
            known = (Array(parent), ways)
        }
        return ids.last.map { follow($0, from: ways) } ?? ways
    }

    private mutating func follow(_ id: String, from before: [Way]) -> [Way] {
        var ways: [Way] = []
        let text = Array(id.utf8)
        step += 1
        for way in before {
            if way.isAnyDepth { reach(way, &ways) }
            if let next = way.byID[text] { reach(next, &ways) }
            if let next = way.any { reach(next, &ways) }
        }
        return ways
    }

    mutating func giveBack() {
        known = nil
        var pending = [root]
        while let way = pending.popLast() {
            way.byID.giveBack()
            way.byAttribute.giveBack()
            way.entries.giveBack()
            pending += Array(way.byID.values) + [way.any, way.anyDepth].compactMap { $0 }
        }
    }

    /// Adds a way once per step. `**` also matches an empty sequence of ids.
    private func reach(_ way: Way, _ ways: inout [Way]) {
        guard way.reached != step else { return }
        way.reached = step
        ways.append(way)
        if let deeper = way.anyDepth { reach(deeper, &ways) }
    }
}
