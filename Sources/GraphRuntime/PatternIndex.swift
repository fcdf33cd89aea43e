import AttributeValues

/// Finds the patterns that name a node without a look at the others: a tree of their segments, in which those that begin alike
/// share a way. Cost: O(ids × ways that wildcards leave open) for a node, O(segments) for a pattern that comes or goes.
struct PatternIndex {
    /// A pattern of a topic, by its place among the topic's.
    struct Entry {
        let topic: Topic
        let position: Int
    }

    /// How far patterns that begin alike have come.
    private final class Way {
        let isAnyDepth: Bool
        var byID: [String: Way] = [:]
        var any: Way?
        var anyDepth: Way?
        /// Patterns that end here, by the attribute that they name.
        var byAttribute: [String: [Entry]] = [:]
        /// Those that name all attributes.
        var entries: [Entry] = []
        /// The step in which it was last reached.
        var reached = 0

        init(isAnyDepth: Bool = false) { self.isAnyDepth = isAnyDepth }

        var isEmpty: Bool { byID.isEmpty && any == nil && anyDepth == nil && byAttribute.isEmpty && entries.isEmpty }

        subscript(segment: PathPattern.Segment) -> Way? {
            get {
                switch segment {
                case .id(let id): byID[id]
                case .any: any
                case .anyDepth: anyDepth
                }
            }
            set {
                switch segment {
                case .id(let id): byID[id] = newValue
                case .any: any = newValue
                case .anyDepth: anyDepth = newValue
                }
            }
        }
    }

    private let root = Way()
    private var step = 0

    func insert(_ topic: Topic) {
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

    func remove(_ topic: Topic) {
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

    /// The patterns that name an attribute of a node, in the order of topics and of the patterns in them.
    /// - Parameter ids: of the node and those around it, outermost first.
    mutating func find(_ attribute: String, at ids: [String]) -> [Entry] {
        var ways: [Way] = []
        step += 1
        reach(root, &ways)
        for id in ids {
            step += 1
            let before = ways
            ways = []
            for way in before {
                if way.isAnyDepth { reach(way, &ways) }
                if let next = way.byID[id] { reach(next, &ways) }
                if let next = way.any { reach(next, &ways) }
            }
            if ways.isEmpty { return [] }
        }
        // Ids that are written with other bytes may be equal as texts.
        return ways.flatMap { $0.entries + ($0.byAttribute[attribute] ?? []) }
            .filter { $0.topic.patterns[$0.position].matches(nodes: ids) }
            .sorted { ($0.topic.number, $0.position) < ($1.topic.number, $1.position) }
    }

    func giveBack() {
        var pending = [root]
        while let way = pending.popLast() {
            way.byID.giveBack()
            way.byAttribute.giveBack()
            way.entries.giveBack()
            pending += Array(way.byID.values) + [way.any, way.anyDepth].compactMap { $0 }
        }
    }

    /// Once a step. `**` stands for nothing, too.
    private func reach(_ way: Way, _ ways: inout [Way]) {
        guard way.reached != step else { return }
        way.reached = step
        ways.append(way)
        if let deeper = way.anyDepth { reach(deeper, &ways) }
    }
}
