import AttributeGraph
import AttributeValues
import Timelines
import ViewGraph
import WireProtocol

/// A transaction's changes of the tree for the topics with `structure` events: the paths that their patterns match.
struct StructureNews {
    /// By topic and animation.
    private(set) var topics: [TopicStructure] = []
    private var places: [Key: Int] = [:]
    /// The number of paths that all topics are told.
    private(set) var told = 0
    /// The number of paths that each topic is told.
    private var counts: [ObjectIdentifier: Int] = [:]
    /// The number of paths that users and principals are told, over all their topics.
    private var countsOfOwners: [AccessRule.Holder: Int] = [:]
    /// Topics that would have to be told more paths than all topics together may watch.
    private(set) var overfull: [Topic] = []
    private let listeners: Int
    private let limit: Int

    private struct Key: Hashable {
        var topic: ObjectIdentifier
        var animation: Animation?
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
        let listeners = listeners.filter { !$0.topic.isOverfull }
        guard !listeners.isEmpty else { return }
        let animation = animation()
        let node = AttributePath.describe(nodes: names.ids)
        let attributes = names.attributes.map { node + "." + AttributePath.quoteIfNeeded($0) }
        let former = former.map { Set($0.map { ObjectIdentifier($0.topic) }) }
        for listener in listeners {
            let topic = listener.topic
            let isNew = former.map { !$0.contains(ObjectIdentifier(topic)) } ?? false
            let told = isNew ? \.entered : kind
            let named = listener.attributes.map { attributes[$0] }
            guard names.isWhole || !named.isEmpty else { continue }
            add((names.isWhole ? [node] : []) + named, as: told, of: topic, animation)
            if names.isWhole, let transition = names.transition {
                topics[place(of: topic, animation)].note(transition, of: node, told)
            }
        }
    }

    private mutating func add(
        _ paths: [String], as kind: StructurePaths.Kind, of topic: Topic, _ animation: Animation?
    ) {
        topics[place(of: topic, animation)].paths[keyPath: kind] += paths
        told += paths.count
        counts[ObjectIdentifier(topic), default: 0] += paths.count
        if counts[ObjectIdentifier(topic), default: 0] > limit || isBeyondShare(paths.count, of: topic) {
            topic.isOverfull = true
            overfull.append(topic)
        }
    }

    /// True if everybody who has a subscription to the topic is told more paths than all topics may watch. So nobody
    /// makes a change of the tree longer with many different patterns.
    private mutating func isBeyondShare(_ more: Int, of topic: Topic) -> Bool {
        // What many users share is made once for all of them.
        guard topic.owners.count <= StructureNews.mostOwners else { return false }
        var isBeyond = true
        for owner in topic.owners.keys {
            countsOfOwners[owner, default: 0] += more
            if countsOfOwners[owner, default: 0] <= limit { isBeyond = false }
        }
        return isBeyond
    }

    private static let mostOwners = 4

    private mutating func place(of topic: Topic, _ animation: Animation?) -> Int {
        let key = Key(topic: ObjectIdentifier(topic), animation: animation)
        if let known = places[key] { return known }
        places[key] = topics.count
        topics.append(TopicStructure(topic: topic, animation: animation))
        return topics.count - 1
    }
}

/// A transaction's changes of the tree for one topic that are animated in the same way.
struct TopicStructure {
    let topic: Topic
    let animation: Animation?
    var paths = StructurePaths()
    /// `{insertion?, removal?}`, by path.
    private(set) var transitions = ValueMap()

    init(topic: Topic, animation: Animation?) { (self.topic, self.animation) = (topic, animation) }

    mutating func note(_ transition: Transition, of node: String, _ kind: StructurePaths.Kind) {
        var said = transitions[node]?.map ?? ValueMap()
        switch kind {
        case \.added: said["insertion"] = Transition.json(transition.insertion)
        case \.removed: said["removal"] = Transition.json(transition.removal)
        default: return
        }
        transitions[node] = .map(said)
    }
}

struct StructurePaths {
    /// One of the lists.
    typealias Kind = WritableKeyPath<StructurePaths, [String]>

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

    var isEmpty: Bool {
        [added, removed, arrived, reordered, rearranged, entered].allSatisfy(\.isEmpty)
    }

    /// As a client is told. One that may read only the new path of a node does not know it.
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
