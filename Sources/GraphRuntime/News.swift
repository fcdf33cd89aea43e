import AttributeGraph
import AttributeValues
import ViewGraph
import WireProtocol

/// The news of one transaction. The topics have the parts. A runtime has one and reuses its memory.
final class News {
    /// The topics that have news, in the order in which the transaction reached them.
    private(set) var topics: [Topic] = []
    /// Cached animation settings of the scene around changed attributes.
    var surroundings = KnownSurroundings()
    /// Attributes whose new content has been given to topics, recorded once some attributes have joined.
    var collected: Set<AttributeID> = []
    private(set) var hasJoined = false
    /// True if contents that count as changed may be the old ones.
    var mayCancel = false
    /// Topics with completion events that must hear how the transaction's motions end.
    private(set) var touched: [Topic] = []
    var animated: [AttributeID] = []
    /// Attributes that were moving and got a new target, each with the transaction that had set it in motion.
    var replaced: [(transaction: UInt64, attribute: AttributeID)] = []
    /// Sent after the update, though found before it.
    var completions: [CompletionNews] = []
    /// True if updates of the transaction may be handed over as text: nothing in them moves or waits for an answer.
    var isText = false
    /// Topics that would watch more attributes than the limit allows.
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
        topics.removeEach()
        surroundings = KnownSurroundings()
        mayCancel = false
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

/// One transaction's news for one topic.
struct TopicNews {
    fileprivate var isEnlisted = false
    var changes: [Change] = []
    /// Names that lead nowhere now, and new names. A name can be both.
    var left: [(attribute: AttributeID, path: String)] = []
    var joined: [(attribute: AttributeID, path: String)] = []
    /// Attributes that may have changed, by their names. An attribute that has left is told again even if the client
    /// has not read it.
    var invalidated: [(attribute: AttributeID, paths: [String], hasLeft: Bool)] = []

    /// So many changes keep their memory.
    private static let few = 8

    /// The changes in an update: each name once.
    var update: [Change] {
        if left.isEmpty { return changes }
        // If an attribute has returned under the same name, only its value has changed.
        let live = Set(texts: changes.map(\.path))
        return left.filter { !live.contains($0.path) }.map { Change(removalOf: $0.path) } + changes
    }

    var hasUpdate: Bool { !changes.isEmpty || !left.isEmpty }

    fileprivate mutating func removeAll() {
        isEnlisted = false
        if changes.count > TopicNews.few { changes = [] }
        changes.removeEach()
        if !left.isEmpty { left = [] }
        if !joined.isEmpty { joined = [] }
        if !invalidated.isEmpty { invalidated = [] }
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
