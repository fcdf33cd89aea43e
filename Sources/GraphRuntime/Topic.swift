import AttributeGraph
import AttributeValues
import Timelines
import WireProtocol

/// What makes two subscriptions hear the same: then an event is put together and encoded once for both.
struct TopicKey: Hashable {
    var patterns: [String]
    var events: EventKinds
    var typed: Bool
    var css: Bool
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
    /// By rate: who wants displayed values how often.
    var frames: [Double: FrameGroup] = [:]

    init(key: TopicKey, number: Int64, patterns: [PathPattern]) {
        self.key = key
        self.number = number
        self.patterns = patterns
    }

    /// Whether it needs values at all, or only to know that they may differ.
    var wantsValues: Bool { !key.events.isDisjoint(with: [.update, .frames, .completion]) }

    /// Whether it watches attributes, or only the tree.
    var watchesAttributes: Bool { key.events != .structure }

    /// - Returns: whether the vertex is new to the topic.
    func add(_ attribute: AttributeID, _ path: String) -> Bool {
        guard let known = paths[attribute] else {
            paths[attribute] = [path]
            order.append(attribute)
            return true
        }
        if !known.contains(path) { paths[attribute] = known + [path] }
        return false
    }

    func remove(_ attributes: Set<AttributeID>) {
        for attribute in attributes { paths[attribute] = nil }
        order.removeAll { attributes.contains($0) }
    }
}

/// Subscriptions of one topic that want frames at one rate, what moves for them, and when the next frame is due.
struct FrameGroup {
    var members: [(client: ClientID, subscription: Int64)] = []
    /// nil: nothing moves.
    var nextTick: Double?
    /// The timelines that run, sampled and written together.
    private var sheet = FrameSheet()
    private var lines: [AttributeID: [FrameSheet.Line]] = [:]
    private var attributes: [FrameSheet.Line: AttributeID] = [:]
    /// Attributes whose motion ended in a jump: shown once where they are now.
    private var jumped: [AttributeID] = []

    var isEmpty: Bool { sheet.count == 0 && jumped.isEmpty }

    /// A motion begins, or the one that runs gets a new target.
    mutating func move(_ attribute: AttributeID, _ paths: [String], _ timeline: Timeline) {
        if let running = lines[attribute] {
            for line in running { sheet.replace(line, with: timeline) }
            return
        }
        let made = paths.map { sheet.insert(timeline, name: $0) }
        lines[attribute] = made
        for line in made { attributes[line] = attribute }
    }

    /// The attribute changed without motion, or went.
    mutating func stop(_ attribute: AttributeID, isGone: Bool) {
        guard let running = lines.removeValue(forKey: attribute) else { return }
        for line in running {
            sheet.remove(line)
            attributes[line] = nil
        }
        if !isGone { jumped.append(attribute) }
    }

    /// Writes what is displayed; `jump` gives the paths and the value of an attribute that jumped.
    mutating func write(at time: Double, into buffer: ByteBuffer, jump: (AttributeID) -> ([String], Value)?) {
        sheet.write(at: time, into: buffer)
        for line in sheet.finished {
            guard let attribute = attributes.removeValue(forKey: line) else { continue }
            lines[attribute]?.removeAll { $0 == line }
            if lines[attribute]?.isEmpty == true { lines[attribute] = nil }
        }
        for attribute in jumped {
            guard let (paths, value) = jump(attribute) else { continue }
            for path in paths {
                if !buffer.isEmpty { buffer.append(UInt8(ascii: ",")) }
                buffer.appendJSONString(path)
                buffer.append(UInt8(ascii: ":"))
                buffer.appendJSON(value)
            }
        }
        jumped = []
    }
}

/// One client's wish to hear of a topic.
struct Subscription {
    let client: ClientID
    let topic: Topic
    /// Seconds between events; nil: as they come.
    let interval: Double?
    let frameRate: Double?
    let bookmarks: Bool
    /// Attributes with news that the client has not been sent, because it is behind or wants fewer events.
    var pending: Set<AttributeID> = []
    /// The first revision that `pending` spans.
    var pendingFrom: UInt64?
    /// The label, while only one transaction is pending.
    var pendingLabel: String?
    /// Attributes that went while the client was behind.
    var pendingRemoved: [String] = []
    /// When the next event may go out, monotonic seconds.
    var nextAllowed = 0.0
    /// Attributes reported as invalid and not read by the client since.
    var outstanding: Set<AttributeID> = []

    init(client: ClientID, topic: Topic, interval: Double?, frameRate: Double?, bookmarks: Bool) {
        self.client = client
        self.topic = topic
        self.interval = interval
        self.frameRate = frameRate
        self.bookmarks = bookmarks
    }
}

/// What is known of a watched vertex.
struct Watch {
    /// As last evaluated for somebody who wants values; nil before.
    var content: Content?
    var topics: [Topic] = []
}
