import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

/// One transaction's news for the topics, in the order in which the topics were touched.
struct News {
    private(set) var topics: [TopicNews] = []
    /// The positions of topics in `topics`, once there are more than a few.
    private var places: [ObjectIdentifier: Int] = [:]
    private static let few = 8
    private var lastPlace = 0
    /// Cached animation settings of the scene around changed attributes.
    var surroundings = KnownSurroundings()
    /// Attributes whose new content has been given to topics, recorded once some attributes have joined.
    var collected: Set<AttributeID> = []
    private(set) var hasJoined = false
    /// Topics with completion events that must hear how the transaction's motions end.
    private(set) var touched: [Topic] = []
    var animated: [AttributeID] = []
    /// Attributes that were moving and got a new target, each with the transaction that had set it in motion.
    var replaced: [(transaction: UInt64, attribute: AttributeID)] = []
    /// Sent after the update, though found before it.
    var completions: [CompletionNews] = []
    /// Topics that would watch more attributes than the limit allows.
    private(set) var overfull: [Topic] = []

    subscript(topic: Topic) -> TopicNews {
        get { place(of: topic).map { topics[$0] } ?? TopicNews(topic: topic) }
        _modify {
            let place: Int
            if lastPlace < topics.count, topics[lastPlace].topic === topic {
                place = lastPlace
            } else if let known = self.place(of: topic) {
                place = known
            } else {
                place = topics.count
                topics.append(TopicNews(topic: topic))
                if place == News.few {
                    for (place, news) in topics.enumerated() { places[ObjectIdentifier(news.topic)] = place }
                } else if place > News.few {
                    places[ObjectIdentifier(topic)] = place
                }
            }
            lastPlace = place
            yield &topics[place]
        }
    }

    private func place(of topic: Topic) -> Int? {
        topics.count > News.few ? places[ObjectIdentifier(topic)] : topics.firstIndex { $0.topic === topic }
    }

    mutating func touch(_ topic: Topic) {
        guard topic.key.events.contains(.completion), touched.last !== topic, !touched.contains(where: { $0 === topic })
        else { return }
        touched.append(topic)
    }

    /// A name of the topic no longer leads to an attribute.
    mutating func leave(_ attribute: AttributeID, _ path: String, _ topic: Topic) {
        self[topic].left.append((attribute, path))
        if topic.key.events.contains(.invalidate) { self[topic].invalidated.append((attribute, [path], true)) }
    }

    /// The topic gets a new name of an attribute.
    mutating func join(_ attribute: AttributeID, _ path: String, _ topic: Topic) {
        hasJoined = true
        self[topic].joined.append((attribute, path))
        if topic.key.events.contains(.invalidate) { self[topic].invalidated.append((attribute, [path], false)) }
    }

    mutating func overfill(_ topic: Topic) {
        topic.isOverfull = true
        overfull.append(topic)
    }

    mutating func forEachTopic(_ body: (inout TopicNews) -> Void) {
        for place in topics.indices { body(&topics[place]) }
    }
}

/// One transaction's news for one topic.
struct TopicNews {
    let topic: Topic
    var changes: [Change] = []
    /// Names that lead nowhere now, and new names. A name can be both.
    var left: [(attribute: AttributeID, path: String)] = []
    var joined: [(attribute: AttributeID, path: String)] = []
    /// Attributes that may have changed, by their names. An attribute that has left is told again even if the client
    /// has not read it.
    var invalidated: [(attribute: AttributeID, paths: [String], hasLeft: Bool)] = []

    /// The changes in an update: each name once.
    var update: [Change] {
        if left.isEmpty { return changes }
        // If an attribute has returned under the same name, only its value has changed.
        let live = Set(changes.map(\.path))
        return left.filter { !live.contains($0.path) }.map { Change(removalOf: $0.path) } + changes
    }
}

/// One completion event and the topic that gets it. Its paths are the topic's names of the attributes that moved.
struct CompletionNews {
    var topic: Topic
    var completion: Completion
}

extension Change {
    /// The change of an update that tells that a name leads nowhere now.
    init(removalOf path: String) { self.init(path: path, content: .failure(Change.removed)) }

    private static let removed = Failure(.removed, "the attribute has been removed")
}
