import AttributeGraph
import AttributeValues
import WireProtocol

/// Two subscriptions with equal keys get the same events, which are then assembled and encoded once for both.
struct TopicKey: Hashable {
    var patterns: [Name]
    var events: EventKinds
    var typed: Bool
    var css: Bool
    /// Updates name their author.
    var writers: Bool
    /// Changes have the time of the last report.
    var reports: Bool
}

/// The attributes that all topics together watch. A topic counts once, and for each user and principal with a
/// subscription to it.
final class WatchLedger {
    fileprivate var shares = Shares<AccessRule.Subject>()

    var count: Int { shares.used }

    func used(by owner: AccessRule.Subject) -> Int { shares.used(by: owner) }
}

/// The set of attributes that one or more subscriptions watch. It follows the changes of the tree.
final class Topic {
    let key: TopicKey
    let number: Int64
    let patterns: [PathPattern]
    /// Watched vertices with their names in this topic.
    private(set) var paths: [AttributeID: [String]] = [:]
    private(set) var order: [AttributeID] = []
    private(set) var members: [Subscription] = [] { didSet { knownReceivers = nil } }
    /// The numbers of their members.
    private(set) var owners: [AccessRule.Subject: Int] = [:]
    private var knownReceivers: [Receiver]?
    /// Some member wants fewer updates, or did.
    private(set) var isPaced = false
    /// One view for each frame rate that subscriptions want.
    var frames: [FrameView] = []
    /// The news of the present transaction for this topic. Reused, to save allocations.
    var news = TopicNews()
    /// The number of new attributes in the present transaction that its patterns match.
    var joining = 0
    /// The topic matches more than may be watched, and is about to end.
    var isOverfull = false
    /// The topic has no subscriptions any more.
    var hasEnded = false
    private let ledger: WatchLedger
    /// The topic's entry in the ledger: the number of its attributes, or the size of its patterns if that is more.
    private(set) var entered = 0
    /// The part of it that has been counted for the owners. New attributes are when the transaction has been told,
    /// removed ones no longer at once.
    private var shared = 0
    private let patternSize: Int
    /// A pattern counts as one, and one more for each 64 bytes.
    private static let bytesPerPattern = 64

    init(key: TopicKey, number: Int64, patterns: [PathPattern], _ ledger: WatchLedger) {
        self.ledger = ledger
        self.key = key
        self.number = number
        self.patterns = patterns
        patternSize = key.patterns.reduce(0) { $0 + 1 + $1.text.utf8.count / Topic.bytesPerPattern }
        enter()
    }

    deinit { ledger.shares.add(-entered) }

    private func enter() {
        let size = max(order.count, patternSize)
        ledger.shares.add(size - entered)
        entered = size
    }

    func add(_ subscription: Subscription) {
        share()
        members.append(subscription)
        if subscription.interval != nil { isPaced = true }
        if owners[subscription.owner] == nil { ledger.shares.share(shared, with: subscription.owner) }
        owners[subscription.owner, default: 0] += 1
    }

    func remove(_ subscription: Subscription) {
        share()
        members.removeAll { $0 === subscription }
        guard let count = owners[subscription.owner] else { return }
        owners[subscription.owner] = count == 1 ? nil : count - 1
        if count == 1 { ledger.shares.share(-shared, with: subscription.owner) }
    }

    func has(_ owner: AccessRule.Subject) -> Bool { owners[owner] != nil }

    /// Counts new and removed attributes for the owners.
    /// - Returns: whether there are more.
    @discardableResult
    func share() -> Bool {
        let more = entered - shared
        if more == 0 { return false }
        shared = entered
        for owner in owners.keys { ledger.shares.share(more, with: owner) }
        return more > 0
    }

    /// The members in the form that deliveries need.
    var receivers: [Receiver] {
        if let knownReceivers { return knownReceivers }
        let receivers = members.map(\.receiver)
        knownReceivers = receivers
        return receivers
    }

    /// True if it needs values; false if it only needs to know that they may have changed.
    var wantsValues: Bool { !key.events.isDisjoint(with: [.update, .frames, .completion]) }

    /// True if it watches attributes; false if it watches only the tree.
    var watchesAttributes: Bool { key.events != .structure }

    /// - Returns: whether the name is new.
    func add(_ attribute: AttributeID, _ path: String) -> Bool {
        guard let known = paths[attribute] else {
            paths[attribute] = [path]
            order.append(attribute)
            enter()
            return true
        }
        guard !known.contains(where: { $0.hasSameBytes(as: path) }) else { return false }
        paths[attribute] = known + [path]
        return true
    }

    /// Removes all names below a node, and vertices that have no other name.
    /// - Returns: the removed names, in the order in which their vertices joined.
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
        if entered < shared { share() }
    }
}
