import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

/// The news of one transaction, which the topics hold. A runtime has one and reuses its memory.
final class News {
    /// The topics that have news, in the order in which the transaction reached them.
    private(set) var topics: [Topic] = []
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

    /// A topic is about to get news.
    func enlist(_ topic: Topic) {
        if topic.news.isEnlisted { return }
        topic.news.isEnlisted = true
        topics.append(topic)
    }

    func touch(_ topic: Topic) {
        guard topic.key.events.contains(.completion), touched.last !== topic, !touched.contains(where: { $0 === topic })
        else { return }
        touched.append(topic)
    }

    /// A name of the topic leads nowhere now.
    func leave(_ attribute: AttributeID, _ path: String, _ topic: Topic) {
        enlist(topic)
        topic.news.left.append((attribute, path))
        if topic.key.events.contains(.invalidate) { topic.news.invalidated.append((attribute, [path], true)) }
    }

    /// The topic knows an attribute by a new name.
    func join(_ attribute: AttributeID, _ path: String, _ topic: Topic) {
        hasJoined = true
        enlist(topic)
        topic.news.joined.append((attribute, path))
        if topic.key.events.contains(.invalidate) { topic.news.invalidated.append((attribute, [path], false)) }
    }

    func overfill(_ topic: Topic) {
        topic.isOverfull = true
        overfull.append(topic)
    }

    func removeAll() {
        for topic in topics { topic.news.removeAll() }
        topics.removeAll(keepingCapacity: true)
        surroundings = KnownSurroundings()
        if hasJoined {
            collected = []
            hasJoined = false
        }
        if !touched.isEmpty { touched = [] }
        if !animated.isEmpty { animated = [] }
        if !replaced.isEmpty { replaced = [] }
        if !completions.isEmpty { completions = [] }
        if !overfull.isEmpty { overfull = [] }
    }
}

/// The same for one of them.
struct TopicNews {
    fileprivate var isEnlisted = false
    var changes: [Change] = []
    /// Names that lead nowhere now, and names that are new; one can be both.
    var left: [(attribute: AttributeID, path: String)] = []
    var joined: [(attribute: AttributeID, path: String)] = []
    /// Attributes that may have changed, by the names that are concerned; one that has left needs no reading to be told
    /// again.
    var invalidated: [(attribute: AttributeID, paths: [String], hasLeft: Bool)] = []

    /// So many changes keep their memory.
    private static let few = 8

    /// The changes that an update tells: each name once.
    var update: [Change] {
        if left.isEmpty { return changes }
        // An attribute that has come again by the same name is only another value.
        let live = Set(changes.map(\.path))
        return left.filter { !live.contains($0.path) }.map { Change(removalOf: $0.path) } + changes
    }

    var hasUpdate: Bool { !changes.isEmpty || !left.isEmpty }

    fileprivate mutating func removeAll() {
        isEnlisted = false
        if changes.count > TopicNews.few { changes = [] }
        while changes.popLast() != nil {}
        if !left.isEmpty { left = [] }
        if !joined.isEmpty { joined = [] }
        if !invalidated.isEmpty { invalidated = [] }
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
