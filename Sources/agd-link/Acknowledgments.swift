import AGClient
import AttributeValues
import CNATS
import LinkProtocol

/// Where a stream acknowledges the messages of one writer, each on a subject that ends with the message's number.
struct Acknowledgments {
    private let subject: String
    private let inbox: Inbox
    private let parser = JSONParser()

    init(_ nats: NATS) throws(NATSError) {
        subject = try nats.newInbox()
        inbox = try nats.listen("\(subject).*")
    }

    func subject(of number: UInt64) -> String { "\(subject).\(number)" }

    /// The next message that is in the stream: its number, and its sequence there.
    func takeNext() throws(NATSError) -> (number: UInt64, sequence: UInt64)? {
        while let message = try inbox.takeNext() {
            if message.isNoResponders { throw Acknowledgments.refusal("no server stores it") }
            guard let number = message.number else { continue }
            do throws(Failure) {
                let answer = try message.bytes.withUnsafeBufferPointer { (bytes) throws(Failure) in
                    try parser.parse(bytes)
                }
                guard let error = answer["error"] else { return (number, UInt64(clamping: answer["seq"]?.int ?? 0)) }
                throw Failure(.unavailable, error["description"]?.string ?? "refused")
            } catch { throw Acknowledgments.refusal(error.message) }
        }
        return nil
    }

    static func refusal(_ reason: String) -> NATSError { NATSError(call: "publish: \(reason)", status: NATS_ERR) }
}
