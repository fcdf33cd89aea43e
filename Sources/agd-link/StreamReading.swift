import AttributeValues
import CNATS
import LinkProtocol

/// A request to JetStream whose answer is looked for later, so that the thread does not wait for it.
struct Question {
    private let call: String
    private let inbox: Inbox
    /// Monotonic seconds.
    private let end: Double

    /// - Parameters:
    ///   - request: a subject of JetStream without its prefix.
    ///   - call: what is asked, for messages.
    init(_ nats: NATS, _ request: String, _ parameters: Value, _ call: String) throws(NATSError) {
        try self.init(nats, sending: Array(parameters.jsonText.utf8), to: "\(nats.requests).\(request)", call)
    }

    private init(_ nats: NATS, sending bytes: [UInt8], to target: String, _ call: String) throws(NATSError) {
        self.call = call
        let subject = try nats.newInbox()
        inbox = try nats.listen(subject)
        try nats.send(target, bytes, replyTo: subject)
        end = MonotonicTime.now + NATS.patience
    }

    /// Has a stream keep a message.
    static func publish(_ nats: NATS, _ subject: String, _ bytes: [UInt8]) throws(NATSError) -> Question {
        try Question(nats, sending: bytes, to: subject, "publish to \(subject)")
    }

    /// Asks for the last message that a stream has of a subject.
    static func last(_ nats: NATS, _ stream: String, _ subject: String) throws(NATSError) -> Question {
        try Question(nats, "STREAM.MSG.GET.\(stream)", ["last_by_subj": .string(subject)], "read \(subject)")
    }

    /// - Returns: nil if it is not there yet.
    /// - Throws: if it does not come in time, or is a refusal.
    func takeAnswer(_ nats: NATS) throws(NATSError) -> Value? {
        guard let message = try inbox.takeNext() else {
            if MonotonicTime.now > end { try nats.check(NATS_TIMEOUT, call) }
            return nil
        }
        if message.isNoResponders { try nats.check(NATS_NO_RESPONDERS, call) }
        let answer = (try? JSONParser.parseOnce(message.bytes)) ?? .null
        guard let error = answer.map?["error"]?.map else {
            try nats.check(NATS_OK, call)
            return answer
        }
        let code = jsErrCode(rawValue: UInt32(clamping: UInt64(error["err_code"]) ?? 0))
        let text = error["description"]?.string ?? "refused"
        try nats.check(NATS_ERR, "\(call): \(text)", code)
        return answer
    }

    /// The answer to `last`.
    /// - Returns: nil if it is not there yet; no bytes if the stream has no message of the subject.
    func takeLast(_ nats: NATS) throws(NATSError) -> [UInt8]? {
        do throws(NATSError) {
            return try takeAnswer(nats).map { $0.map?["message"]?.map?["data"]?.string.flatMap(Base64.decode) ?? [] }
        } catch {
            guard error.code == JSNoMessageFoundErr else { throw error }
            return []
        }
    }
}

/// The messages that a stream has of a subject, in order, and those that come later. The thread does not wait for
/// them.
///
/// Lifetime: NATS has a consumer for it, which it deletes some seconds after the reading is freed.
final class StreamReading {
    enum Start {
        case lastOfEachSubject
        case sequence(UInt64)
    }

    /// Seconds between two messages that NATS sends at least.
    private static let heartbeat = 2.0

    private let nats: NATS
    private let call: String
    private let inbox: Inbox
    private var question: Question?
    /// The number of messages that the stream had at the beginning; nil before NATS has said so.
    private var expected: UInt64?
    private var received: UInt64 = 0
    /// When NATS has sent something, and when it has sent a message of the stream. Monotonic seconds.
    private var (heard, advanced) = (MonotonicTime.now, MonotonicTime.now)

    init(_ nats: NATS, _ stream: String, _ subject: String, from start: Start) throws(NATSError) {
        self.nats = nats
        call = "read \(subject)"
        let deliver = try nats.newInbox()
        inbox = try nats.listen(deliver)
        var consumer = ValueMap([
            ("deliver_subject", .string(deliver)), ("filter_subject", .string(subject)), ("ack_policy", "none"),
            ("max_deliver", 1), ("replay_policy", "instant"), ("flow_control", true),
            ("idle_heartbeat", .int(Int64(StreamReading.heartbeat * 1e9))),
        ])
        switch start {
        case .lastOfEachSubject: consumer["deliver_policy"] = "last_per_subject"
        case .sequence(let sequence):
            consumer["deliver_policy"] = "by_start_sequence"
            consumer["opt_start_seq"] = .uint(max(1, sequence))
        }
        question = try Question(
            nats, "CONSUMER.CREATE.\(stream)", ["stream_name": .string(stream), "config": .map(consumer)], call)
    }

    /// True once NATS has agreed.
    var hasBegun: Bool { expected != nil }

    /// True if all messages have been taken that the stream had at the beginning.
    var isComplete: Bool { expected.map { received >= $0 } ?? false }

    /// - Returns: nil if there is no message yet.
    /// - Throws: if NATS says nothing for too long, refuses, or a message is lost.
    func takeNext() throws(NATSError) -> Inbox.Message? {
        if let answer = try question?.takeAnswer(nats)?.map {
            question = nil
            // Some may have been sent before the answer was written.
            let sent = UInt64(answer["delivered"]?.map?["consumer_seq"]) ?? 0
            expected = sent + (UInt64(answer["num_pending"]) ?? 0)
        }
        while let message = try inbox.takeNext() {
            heard = MonotonicTime.now
            // NATS waits for an answer to this before it sends more than the link has read.
            if let reply = message.reply, reply.hasPrefix("$JS.FC.") {
                try nats.send(reply, [])
                continue
            }
            guard let number = message.reply.flatMap(StreamReading.consumerSequence) else { continue }
            received += 1
            advanced = heard
            guard number == received else {
                throw NATSError(call: "\(call): messages were lost on the way", status: NATS_ERR)
            }
            return message
        }
        let isLate =
            isComplete
            ? MonotonicTime.now > heard + 3 * StreamReading.heartbeat : MonotonicTime.now > advanced + NATS.patience
        if isLate { try nats.check(NATS_TIMEOUT, call) }
        return nil
    }

    /// The number of a message at its consumer. The subject for acknowledgments has it:
    /// `$JS.ACK.STREAM.CONSUMER.DELIVERED.SEQUENCE.NUMBER.TIME.PENDING`, perhaps with a domain and an account before
    /// the stream.
    static func consumerSequence(_ reply: String) -> UInt64? {
        let words = reply.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard words.count >= 9, reply.hasPrefix("$JS.ACK.") else { return nil }
        return UInt64(Substring(words[words.count >= 11 ? 8 : 6]))
    }
}
