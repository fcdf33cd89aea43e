import AttributeValues
import CNATS
import LinkProtocol

/// Reads the newest snapshot of a site and the transactions behind it, a step at a time. It never waits, because all
/// sites of a line share a thread.
struct Healing {
    enum Progress {
        /// Nothing has come that could be read.
        case waiting
        case reading
        case done
        /// There is no manifest.
        case nothing
        case retired
    }

    private enum Stage {
        case manifest(Question)
        case snapshot(Manifest, StreamReading)
        case transactions(StreamReading)
    }

    private static let messagesPerStep = 64

    private var stage: Stage
    private var assembler: Assembler

    /// - Parameter limit: bytes of a snapshot or a transaction.
    init(_ site: SiteName, _ nats: NATS, limit: Int) throws(NATSError) {
        stage = .manifest(try .last(nats, NATS.heads, site.manifest))
        assembler = Assembler(limit: limit)
    }

    /// Does what can be done now.
    /// - Throws: `NATSError`; a `Failure` if a message is malformed or missing.
    mutating func advance(_ copy: SiteCopy, _ nats: NATS, _ parser: JSONParser) throws -> Progress {
        switch stage {
        case .manifest(let question):
            guard let head = try question.takeLast(nats) else { return .waiting }
            if head.isEmpty { return .nothing }
            if Manifest.isRetirement(head) { return .retired }
            let manifest = try Manifest(json: head)
            if copy.feed.accepts(snapshot: manifest.position) {
                let subject = copy.site.snapshot(manifest.snapshot)
                stage = .snapshot(manifest, try StreamReading(nats, NATS.snapshots, subject, from: .sequence(1)))
            } else {
                try readTransactions(behind: manifest, copy, nats)
            }
            return .waiting
        case .snapshot(let manifest, let reading):
            for _ in 0..<Healing.messagesPerStep {
                guard let message = try reading.takeNext() else {
                    if reading.isComplete {
                        throw Failure(.unavailable, "NATS lacks parts of the snapshot \(manifest.snapshot)")
                    }
                    return .waiting
                }
                let (frame, length) = try Frame.read(message.bytes)
                // Parts of an older and longer snapshot may stand before those of this one.
                guard frame.position == manifest.position,
                    let (_, body) = try assembler.add(frame, message.bytes.dropFirst(length))
                else { continue }
                copy.apply(snapshot: try Transaction(json: body, parser), manifest.position)
                try readTransactions(behind: manifest, copy, nats)
                break
            }
            return .reading
        case .transactions(let reading):
            for _ in 0..<Healing.messagesPerStep {
                guard let message = try reading.takeNext() else { return reading.isComplete ? .done : .waiting }
                let (frame, length) = try Frame.read(message.bytes)
                guard let (whole, body) = try assembler.add(frame, message.bytes.dropFirst(length)),
                    copy.feed.step(whole) == .apply
                else { continue }
                copy.apply(try Transaction(json: body, parser), whole)
            }
            return .reading
        }
    }

    private mutating func readTransactions(behind manifest: Manifest, _ copy: SiteCopy, _ nats: NATS) throws(NATSError)
    {
        stage = .transactions(
            try StreamReading(nats, NATS.transactions, copy.site.transactions, from: .sequence(manifest.next)))
    }
}
