/// Messages of a site that wait for its turn.
struct MessageQueue {
    private static let most = 20_000

    /// Maximum bytes.
    private let limit: Int
    private var messages: [[UInt8]] = []
    /// Messages of the list that have been taken.
    private var taken = 0
    private var bytes = 0

    init(limit: Int) { self.limit = limit }

    var isEmpty: Bool { taken == messages.count }

    /// Drops everything if there is no space: the next message then shows a gap, and the site needs a snapshot.
    mutating func add(_ message: [UInt8]) {
        if bytes + message.count > limit || messages.count - taken >= MessageQueue.most { removeAll() }
        messages.append(message)
        bytes += message.count
    }

    mutating func takeFirst() -> [UInt8]? {
        guard !isEmpty else { return nil }
        let message = messages[taken]
        messages[taken] = []
        taken += 1
        bytes -= message.count
        if isEmpty {
            removeAll()
        } else if taken >= 1024, taken * 2 > messages.count {
            messages.removeFirst(taken)
            taken = 0
        }
        return message
    }

    mutating func removeAll() {
        messages.removeAll(keepingCapacity: messages.count < 256)
        (taken, bytes) = (0, 0)
    }
}
