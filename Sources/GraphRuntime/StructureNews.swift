import AttributeGraph
import AttributeValues
import Timelines
import ViewGraph
import WireProtocol

/// A transaction's changes of the tree for the topics with `structure` events: the paths that their patterns match.
struct StructureNews {
    /// By topic and animation.
    private(set) var topics: [TopicStructure] = []
    private var positions: [Key: Int] = [:]
    /// The node that was told last: usually the next one, too.
    private var last = 0
    /// The number of paths that all topics are told.
    private(set) var told = 0
    private var counts: [Count] = []
    /// Places in `counts`.
    private var countsByTopic: [ObjectIdentifier: Int] = [:]
    /// The number of paths that users and principals are told, over all their topics.
    private var toldOwners: [Int] = []
    /// Places in `toldOwners`.
    private var owners: [AccessRule.Subject: Int] = [:]
    /// Topics that would have to be told more paths than all topics together may watch.
    private(set) var overfull: [Topic] = []
    private let listeners: Int
    private let limit: Int

    private struct Key: Hashable {
        var topic: ObjectIdentifier
        var animation: Animation?
    }

    /// The counts of the event for one topic.
    private struct Count {
        var paths = 0
        /// Places in `toldOwners`. None if there are many owners: what many users share is made once for all of them.
        var owners: [Int]
    }

    /// - Parameters:
    ///   - listeners: the number of topics that are not yet overfull.
    ///   - limit: paths for each of them.
    init(listeners: Int, limit: Int) {
        self.listeners = listeners
        self.limit = limit
    }

    var isHeardByNobody: Bool { overfull.count == listeners }

    /// - Parameters:
    ///   - former: those who were told of a moved node's path before the move.
    ///   - animation: how the change is animated; evaluated only for those who are told.
    mutating func tell(
        _ names: NodeNames, as kind: StructurePaths.Kind, former: [PatternIndex.Listener]? = nil,
        _ animation: @autoclosure () -> Animation?, to listeners: [PatternIndex.Listener]
    ) {
        guard listeners.contains(where: { !$0.topic.isOverfull }) else { return }
        let animation = animation()
        let node = AttributePath.describe(nodes: names.ids)
        let attributes = names.attributes.map { node + "." + AttributePath.quoteIfNeeded($0) }
        let former = former.map { Set($0.map { ObjectIdentifier($0.topic) }) }
        for listener in listeners where !listener.topic.isOverfull {
            let topic = listener.topic
            guard names.isWhole || !listener.attributes.isEmpty else { continue }
            let isNew = former.map { !$0.contains(ObjectIdentifier(topic)) } ?? false
            let told = isNew ? .entered : kind
            let position = position(of: topic, animation)
            if names.isWhole { topics[position].paths[told].append(node) }
            for attribute in listener.attributes { topics[position].paths[told].append(attributes[attribute]) }
            if names.isWhole, let transition = names.transition { topics[position].note(transition, of: node, told) }
            count((names.isWhole ? 1 : 0) + listener.attributes.count, at: position)
        }
    }

    private mutating func count(_ paths: Int, at position: Int) {
        told += paths
        let topic = topics[position].topic
        let count = topics[position].count
        counts[count].paths += paths
        // So nobody makes a change of the tree longer with many different patterns.
        var isBeyondShares = !counts[count].owners.isEmpty
        for owner in counts[count].owners {
            toldOwners[owner] += paths
            if toldOwners[owner] <= limit { isBeyondShares = false }
        }
        if counts[count].paths > limit || isBeyondShares {
            topic.isOverfull = true
            overfull.append(topic)
        }
    }

    private static let mostOwners = 4

    private mutating func position(of topic: Topic, _ animation: Animation?) -> Int {
        if last < topics.count, topics[last].topic === topic, topics[last].animation == animation { return last }
        let key = Key(topic: ObjectIdentifier(topic), animation: animation)
        if let known = positions[key] {
            last = known
            return known
        }
        last = topics.count
        positions[key] = last
        topics.append(TopicStructure(topic: topic, animation: animation, count: countPlace(of: topic)))
        return last
    }

    private mutating func countPlace(of topic: Topic) -> Int {
        if let known = countsByTopic[ObjectIdentifier(topic)] { return known }
        var owners: [Int] = []
        if topic.owners.count <= StructureNews.mostOwners {
            for owner in topic.owners.keys {
                let position = self.owners[owner] ?? toldOwners.count
                if position == toldOwners.count { toldOwners.append(0) }
                self.owners[owner] = position
                owners.append(position)
            }
        }
        countsByTopic[ObjectIdentifier(topic)] = counts.count
        counts.append(Count(owners: owners))
        return counts.count - 1
    }
}

/// A transaction's changes of the tree for one topic that are animated in the same way.
struct TopicStructure {
    let topic: Topic
    let animation: Animation?
    var paths = StructurePaths()
    /// `{insertion?, removal?}`, by path.
    private(set) var transitions = ValueMap()
    /// The position of the topic's number of paths.
    fileprivate let count: Int

    init(topic: Topic, animation: Animation?, count: Int) {
        (self.topic, self.animation, self.count) = (topic, animation, count)
    }

    mutating func note(_ transition: Transition, of node: String, _ kind: StructurePaths.Kind) {
        var said = transitions[node]?.map ?? ValueMap()
        switch kind {
        case .added: said["insertion"] = Transition.json(transition.insertion)
        case .removed: said["removal"] = Transition.json(transition.removal)
        default: return
        }
        transitions[node] = .map(said)
    }
}

struct StructurePaths {
    /// Names one of the lists.
    enum Kind { case added, removed, arrived, reordered, rearranged, entered }

    var added: [String] = []
    var removed: [String] = []
    /// The node has another path; the old one is among the removed.
    var arrived: [String] = []
    /// The node is at another position among its siblings.
    var reordered: [String] = []
    /// The node shows other subviews than before.
    var rearranged: [String] = []
    /// The node has another path, and the topic's patterns do not match the old one.
    var entered: [String] = []

    subscript(kind: Kind) -> [String] {
        get {
            switch kind {
            case .added: added
            case .removed: removed
            case .arrived: arrived
            case .reordered: reordered
            case .rearranged: rearranged
            case .entered: entered
            }
        }
        _modify {
            switch kind {
            case .added: yield &added
            case .removed: yield &removed
            case .arrived: yield &arrived
            case .reordered: yield &reordered
            case .rearranged: yield &rearranged
            case .entered: yield &entered
            }
        }
    }

    var isEmpty: Bool {
        [added, removed, arrived, reordered, rearranged, entered].allSatisfy(\.isEmpty)
    }

    /// The paths that a client is told. A node of which it may read only the new path is new for it.
    func told(to client: Client) -> StructurePaths {
        var paths = self
        if client.isPartial { paths.added += entered } else { paths.arrived += entered }
        paths.entered = []
        return paths
    }

    /// Subscriptions in groups that are told the same.
    func groupMembers(_ members: [Subscription]) -> [[Subscription]] {
        if entered.isEmpty, rearranged.isEmpty { return [members] }
        let partial = members.filter(\.client.isPartial)
        // Each knows other subviews.
        return [members.filter { !$0.client.isPartial }] + (rearranged.isEmpty ? [partial] : partial.map { [$0] })
    }
}
