import AttributeGraph
import AttributeValues
import WireProtocol

/// What makes two subscriptions hear the same: then an event is put together and encoded once for both.
struct TopicKey: Hashable {
    var patterns: [String]
    var events: EventKinds
    var typed: Bool
    var css: Bool
}

/// How many attributes all topics together watch.
final class WatchLedger {
    fileprivate(set) var count = 0
}

/// A set of attributes that one or more subscriptions watch, kept in line with the tree.
final class Topic {
    let key: TopicKey
    let number: Int64
    let patterns: [PathPattern]
    /// Watched vertices with the names the topic knows them by, in the order they joined.
    private(set) var paths: [AttributeID: [String]] = [:]
    private(set) var order: [AttributeID] = []
    var members: [(client: ClientID, subscription: Int64)] = []
    /// Who wants displayed values, and how often: one for each rate.
    var frames: [FrameView] = []
    /// It matches more than may be watched, and is about to end.
    var isOverfull = false
    /// Nobody subscribes to it any more.
    var hasEnded = false
    private let ledger: WatchLedger
    /// What stands in the ledger for it: its attributes, or its patterns where these are more.
    private var entered = 0
    private let patternSize: Int
    /// Bytes of a pattern that count as one more.
    private static let bytesPerPattern = 64

    init(key: TopicKey, number: Int64, patterns: [PathPattern], _ ledger: WatchLedger) {
        self.ledger = ledger
        self.key = key
        self.number = number
        self.patterns = patterns
        patternSize = key.patterns.reduce(0) { $0 + 1 + $1.utf8.count / Topic.bytesPerPattern }
        enter()
    }

    deinit { ledger.count -= entered }

    private func enter() {
        let size = max(order.count, patternSize)
        ledger.count += size - entered
        entered = size
    }

    /// Whether it needs values at all, or only to know that they may differ.
    var wantsValues: Bool { !key.events.isDisjoint(with: [.update, .frames, .completion]) }

    /// Whether it watches attributes, or only the tree.
    var watchesAttributes: Bool { key.events != .structure }

    /// - Returns: whether the topic did not know the vertex by this name.
    func add(_ attribute: AttributeID, _ path: String) -> Bool {
        guard let known = paths[attribute] else {
            paths[attribute] = [path]
            order.append(attribute)
            enter()
            return true
        }
        guard !known.contains(path) else { return false }
        paths[attribute] = known + [path]
        return true
    }

    /// Forgets the names of all that stood below a node, and vertices that have no other.
    /// - Returns: the names, in the order they joined.
    func forgetNames(below node: String) -> [(attribute: AttributeID, path: String)] {
        func stoodBelow(_ path: String) -> Bool {
            guard path.utf8.starts(with: node.utf8) else { return false }
            let next = path.utf8.dropFirst(node.utf8.count).first
            return next == UInt8(ascii: ".") || next == UInt8(ascii: "/")
        }
        var forgotten: [(attribute: AttributeID, path: String)] = []
        for attribute in order {
            let gone = (paths[attribute] ?? []).filter(stoodBelow)
            if gone.isEmpty { continue }
            forgotten += gone.map { (attribute, $0) }
            paths[attribute]?.removeAll(where: stoodBelow)
            if paths[attribute]?.isEmpty == true { paths[attribute] = nil }
        }
        if !forgotten.isEmpty { keepNamed() }
        return forgotten
    }

    func remove(_ attributes: Set<AttributeID>) {
        for attribute in attributes { paths[attribute] = nil }
        keepNamed()
    }

    func giveBack() {
        paths.giveBack()
        order.giveBack()
    }

    private func keepNamed() {
        order.removeAll { paths[$0] == nil }
        enter()
    }
}

/// One client's wish to hear of a topic.
struct Subscription {
    let client: ClientID
    let topic: Topic
    /// Seconds between events; nil: as they come.
    let interval: Double?
    /// News that the client has not been sent: it is behind, wants fewer updates, or is not told of the subscription yet.
    var pending: Pending? = Pending()
    /// When the next update may go out, monotonic seconds.
    var nextAllowed = 0.0
    /// The revision of the last bookmark.
    var bookmarked: UInt64 = 0
    /// Attributes reported as invalid and not read by the client since.
    var outstanding: Set<AttributeID> = []

    init(client: ClientID, topic: Topic, interval: Double?) {
        self.client = client
        self.topic = topic
        self.interval = interval
    }
}

/// What is known of a watched vertex.
final class Watch {
    fileprivate let generation: UInt32
    /// As last evaluated for somebody who wants values; nil before.
    var content: Content?
    var topics: [Topic] = []

    fileprivate init(generation: UInt32) { self.generation = generation }
}

/// What is watched, by row of the engine: a change that reaches many looks up each without hashing.
struct WatchTable {
    private var rows: [Watch?] = []
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }
    var capacity: Int { rows.capacity }

    subscript(attribute: AttributeID) -> Watch? {
        let row = Int(attribute.index)
        guard row < rows.count, let watch = rows[row], watch.generation == attribute.generation else { return nil }
        return watch
    }

    /// A watch of an attribute that had none.
    mutating func insert(_ attribute: AttributeID) -> Watch {
        let row = Int(attribute.index)
        if row >= rows.count { rows += Array(repeating: nil, count: row + 1 - rows.count) }
        if rows[row] == nil { count += 1 }
        let made = Watch(generation: attribute.generation)
        rows[row] = made
        return made
    }

    mutating func remove(_ attribute: AttributeID) {
        guard self[attribute] != nil else { return }
        rows[Int(attribute.index)] = nil
        count -= 1
        if count == 0 { rows = [] }
    }

    /// Gives back the rows behind the last watch.
    mutating func giveBack() {
        let used = rows.lastIndex { $0 != nil }.map { $0 + 1 } ?? 0
        rows = Array(rows.prefix(used))
    }
}
