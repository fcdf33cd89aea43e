import AttributeGraph
import AttributeValues
import WireProtocol

/// What makes two subscriptions hear the same: then an event is put together and encoded once for both.
struct TopicKey: Hashable {
    var patterns: [String]
    var events: EventKinds
    var typed: Bool
    var css: Bool
    /// Updates name who wrote.
    var writers: Bool
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
    var members: [Subscription] = [] { didSet { knownReceivers = nil } }
    private var knownReceivers: [(client: ClientID, subscription: Int64)]?
    /// The subscriptions that want displayed values: one view for each rate.
    var frames: [FrameView] = []
    /// What the present transaction has to tell it; kept for its memory.
    var news = TopicNews()
    /// New attributes of the present transaction that its patterns name.
    var joining = 0
    /// It matches more than may be watched, and is about to end.
    var isOverfull = false
    /// Nobody subscribes to it any more.
    var hasEnded = false
    private let ledger: WatchLedger
    /// The topic's entry in the ledger: the count of its attributes, or the size of its patterns where that is more.
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

    /// The members, as deliveries name them.
    var receivers: [(client: ClientID, subscription: Int64)] {
        if let knownReceivers { return knownReceivers }
        let receivers = members.map { ($0.client.id, $0.number) }
        knownReceivers = receivers
        return receivers
    }

    /// Whether a list is known to be that of the members, without a look at each.
    func isAll(_ some: [Subscription]) -> Bool {
        some.withUnsafeBufferPointer { some in
            members.withUnsafeBufferPointer { some.baseAddress == $0.baseAddress && some.count == $0.count }
        }
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
        news = TopicNews()
    }

    private func keepNamed() {
        order.removeAll { paths[$0] == nil }
        enter()
    }
}
