import AttributeValues
import GraphRuntime

/// How much one client may ask for: the size of a message, and the number of requests in a turn.
struct RequestShare {
    /// Among those who share a limit of the daemon. Input of a client without any right is read in small portions: its
    /// requests are short.
    var standing: Standing
    private var hasRights: Bool { standing != .rightless }
    /// The requests of this turn so far.
    private var requests = 0
    /// The estimated size of an answer in bytes.
    private var answerSize = InputBlock.smallest

    /// The limit for a client without any right: bytes of one message, and of all its messages in a turn.
    static let sizeWithoutRights = 32 << 10

    init(_ standing: Standing) { self.standing = standing }

    /// The largest message, in bytes.
    func messageSize(_ limits: ServerLimits) -> Int {
        hasRights ? limits.messageSize : min(limits.messageSize, RequestShare.sizeWithoutRights)
    }

    func messageSizeHint(_ limits: ServerLimits) -> String {
        hasRights
            ? "the setting message-size is the limit" : "a client without any right may send \(messageSize(limits))"
    }

    /// Bytes of all messages of one turn.
    var bytesPerTurn: Int { hasRights ? .max : RequestShare.sizeWithoutRights }

    /// The number of requests that may be performed in one turn. Their answers should fill at most half of the client's
    /// queue, if they are as long as the last ones. A new client begins with few.
    /// - Parameter portion: at most so many.
    func requestsPerTurn(_ limits: ServerLimits, portion: Int) -> Int {
        max(1, min(portion, limits.requestsPerTurn, limits.outputQueue / 2 / max(1, answerSize)))
    }

    mutating func note(requests count: Int) { requests += count }

    /// Updates the estimated size of answers, for the share of the next turn. The estimate decreases in steps, so that
    /// one turn of short answers does not admit many long ones.
    /// - Parameter bytes: of this turn's answers.
    mutating func endTurn(_ bytes: Int) {
        guard requests > 0 else { return }
        answerSize = max(bytes / requests, answerSize / 4)
        requests = 0
    }
}
