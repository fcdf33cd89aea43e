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

    /// A topic with structure events, and what its patterns name of a node.
    struct Listener {
        let topic: Topic
        /// Positions in the list of the node's attributes.
        var attributes: [Int]
    }

    /// The patterns that end at a node of the tree and name the same attribute.
    private struct Ends {
        var entries: [Entry] = []
        /// Their topics with structure events, by number.
        var topics: [Topic] = []

        /// A topic's patterns are added one after the other, and topics by number.
        mutating func add(_ entry: Entry) {
            entries.append(entry)
            Ends.add(entry.topic, to: &topics)
        }

        static func add(_ topic: Topic, to topics: inout [Topic]) {
            if topic.key.events.contains(.structure), topics.last !== topic { topics.append(topic) }
        }

        mutating func remove(_ topic: Topic) {
            entries.removeRun {
                $0.topic.number < topic.number
            } while: {
                $0.topic === topic
            }
            Ends.remove(topic, from: &topics)
        }

        static func remove(_ topic: Topic, from topics: inout [Topic]) {
            topics.removeRun {
                $0.number < topic.number
            } while: {
                $0 === topic
            }
        }

        mutating func giveBack() {
            entries.giveBack()
            topics.giveBack()
        }
    }

    /// A node of the tree: a beginning that patterns share.
    private final class Way {
        let isAnyDepth: Bool
        var byID: [Name: Way] = [:]
        var any: Way?
        var anyDepth: Way?
        /// Patterns that end here, by the name of their attribute.
        var byAttribute: [Name: Ends] = [:]
        /// Patterns that end here and name all attributes.
        var all = Ends()
        /// The topics with structure events of all patterns that end here, by number.
        var topics: [Topic] = []
        /// The step in which it was last reached.
        var reached = 0

        init(isAnyDepth: Bool = false) { self.isAnyDepth = isAnyDepth }

        var isEmpty: Bool {
            byID.isEmpty && any == nil && anyDepth == nil && byAttribute.isEmpty && all.entries.isEmpty
        }

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
    /// The ways to the parent of the node that was looked up last, because its siblings are often next.
    private var known: (ids: [Name], ways: [Way])?

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
            Ends.add(topic, to: &way.topics)
            if let attribute = pattern.attribute {
                way.byAttribute[attribute, default: Ends()].add(entry)
            } else {
                way.all.add(entry)
            }
        }
    }

    mutating func remove(_ topic: Topic) {
        known = nil
        var ways: [Way] = []
        patterns: for pattern in topic.patterns {
            ways.removeAll(keepingCapacity: true)
            ways.append(root)
            for segment in pattern.segments {
                // An earlier pattern with the same way has removed the way already.
                guard let next = ways[ways.count - 1][segment] else { continue patterns }
                ways.append(next)
            }
            let end = ways[ways.count - 1]
            Ends.remove(topic, from: &end.topics)
            if let attribute = pattern.attribute {
                end.byAttribute[attribute]?.remove(topic)
                if end.byAttribute[attribute]?.entries.isEmpty == true { end.byAttribute[attribute] = nil }
            } else {
                end.all.remove(topic)
            }
            var depth = pattern.segments.count
            while depth > 0, ways[depth].isEmpty {
                depth -= 1
                ways[depth][pattern.segments[depth]] = nil
            }
        }
    }

    /// The patterns that name an attribute of a node, ordered by topic and by their position in it.
    /// - Parameter ids: those of the node and its ancestors, outermost first.
    mutating func find(_ attribute: String, at ids: [Name]) -> [Entry] {
        var entries: [Entry] = []
        var isOrdered = true
        func add(_ more: [Entry]) {
            if more.isEmpty { return }
            if entries.isEmpty {
                entries = more
            } else {
                entries += more
                isOrdered = false
            }
        }
        for way in ways(to: ids) {
            add(way.all.entries)
            if let named = way.byAttribute[attribute] { add(named.entries) }
        }
        if isOrdered { return entries }
        return entries.sorted { ($0.topic.number, $0.position) < ($1.topic.number, $1.position) }
    }

    /// The topics with structure events whose patterns name a node or any attribute that it could have, by number, with
    /// those of its attributes that they name. Cost: beside that of finding the node, O(attributes × ways to it +
    /// topics found), however many patterns the topics have.
    mutating func listeners(at ids: [Name], _ attributes: [String]) -> [Listener] {
        let ways = ways(to: ids)
        var listeners = merge(ways) { $0.topics }.map { Listener(topic: $0, attributes: []) }
        if listeners.isEmpty || attributes.isEmpty { return listeners }
        let all = merge(ways) { $0.all.topics }
        if !all.isEmpty { add(Array(attributes.indices), of: all, to: &listeners) }
        for (position, name) in attributes.enumerated() {
            let named = merge(ways) { $0.byAttribute[name]?.topics ?? [] }
            if !named.isEmpty { add([position], of: named, to: &listeners) }
        }
        return listeners
    }

    /// Adds attributes to listeners, both by number, unless they have them.
    private func add(_ attributes: [Int], of topics: [Topic], to listeners: inout [Listener]) {
        var position = 0
        for topic in topics {
            while listeners[position].topic !== topic { position += 1 }
            if let last = listeners[position].attributes.last, let first = attributes.first, last >= first { continue }
            listeners[position].attributes += attributes
        }
    }

    /// Joins the lists of several ways by number, each topic once. Nearly always at most one list has topics.
    private func merge(_ ways: [Way], _ list: (Way) -> [Topic]) -> [Topic] {
        var first: [Topic] = []
        var others: [Topic] = []
        for way in ways {
            let topics = list(way)
            if first.isEmpty { first = topics } else { others += topics }
        }
        if others.isEmpty { return first }
        var merged: [Topic] = []
        for topic in (first + others).sorted(by: { $0.number < $1.number }) where merged.last !== topic {
            merged.append(topic)
        }
        return merged
    }

    private mutating func ways(to ids: [Name]) -> [Way] {
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

    private mutating func follow(_ id: Name, from before: [Way]) -> [Way] {
        var ways: [Way] = []
        step += 1
        for way in before {
            if way.isAnyDepth { reach(way, &ways) }
            if let next = way.byID[id] { reach(next, &ways) }
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
            way.all.giveBack()
            way.topics.giveBack()
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

extension Array {
    /// Removes elements that follow each other in an ordered array. O(log elements) if there are none.
    /// - Parameters:
    ///   - isBefore: true for those before them.
    ///   - isWanted: true for them.
    fileprivate mutating func removeRun(_ isBefore: (Element) -> Bool, while isWanted: (Element) -> Bool) {
        var (start, end) = (0, count)
        while start < end {
            let middle = (start + end) / 2
            if isBefore(self[middle]) { start = middle + 1 } else { end = middle }
        }
        while end < count, isWanted(self[end]) { end += 1 }
        if start < end { removeSubrange(start..<end) }
    }
}
