import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

/// One transaction's news for the topics, in the order they were touched.
struct News {
    private(set) var topics: [TopicNews] = []
    /// Where topics stand in `topics`, once there are more than a few.
    private var places: [ObjectIdentifier: Int] = [:]
    private static let few = 8
    private var lastPlace = 0
    /// What the scene says of the motion of changed attributes.
    var surroundings = KnownSurroundings()
    /// Attributes whose new content the topics have been given, once some have joined.
    var collected: Set<AttributeID> = []
    private(set) var hasJoined = false
    /// Topics with completion events that want to know how it ends.
    private(set) var touched: [Topic] = []
    var animated: [AttributeID] = []
    /// Attributes that were in motion and got a new target, with the transaction that had moved them.
    var replaced: [(transaction: UInt64, attribute: AttributeID)] = []
    /// Told behind the update, though found before it.
    var completions: [CompletionNews] = []
    /// Topics that would watch more than is left for them.
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

    /// A name of the topic leads nowhere now.
    mutating func leave(_ attribute: AttributeID, _ path: String, _ topic: Topic) {
        self[topic].left.append((attribute, path))
        if topic.key.events.contains(.invalidate) { self[topic].invalidated.append((attribute, [path], true)) }
    }

    /// The topic knows an attribute by a new name.
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

/// The same for one of them.
struct TopicNews {
    let topic: Topic
    var changes: [Change] = []
    /// Names that lead nowhere now, and names that are new; one can be both.
    var left: [(attribute: AttributeID, path: String)] = []
    var joined: [(attribute: AttributeID, path: String)] = []
    /// Attributes that may have changed, by the names that are concerned; one that has left needs no reading to be told
    /// again.
    var invalidated: [(attribute: AttributeID, paths: [String], hasLeft: Bool)] = []

    /// The changes that an update tells: each name once.
    var update: [Change] {
        if left.isEmpty { return changes }
        // An attribute that has come again by the same name is only another value.
        let live = Set(changes.map(\.path))
        return left.filter { !live.contains($0.path) }.map { Change(removalOf: $0.path) } + changes
    }
}

/// One completion event and who hears it, with the names by which they know what moved.
struct CompletionNews {
    var topic: Topic
    var completion: Completion
}

extension Change {
    /// How an update tells that a name leads nowhere now.
    init(removalOf path: String) { self.init(path: path, content: .failure(Change.removed)) }

    private static let removed = Failure(.removed, "the attribute has been removed")
}
