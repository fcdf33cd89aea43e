public import AttributeValues

/// The state of a subtree that a message or a mirror has reached.
public struct Position: Hashable, Sendable {
    /// The number of the owner's lease.
    public var term: UInt64
    /// The life of the owner's graph. Revisions of different epochs cannot be compared.
    public var epoch: String
    public var revision: UInt64

    public init(term: UInt64, epoch: String, revision: UInt64) {
        self.term = term
        self.epoch = epoch
        self.revision = revision
    }
}

/// The first line of every NATS message of a site: `agd1 TERM EPOCH AFTER REVISION PART PARTS`.
public struct Frame: Hashable, Sendable {
    public static let maximumLength = 256

    public var position: Position
    /// The revision of the owner's message before this one.
    public var after: UInt64
    /// From 0.
    public var part: Int
    public var parts: Int

    public init(position: Position, after: UInt64, part: Int = 0, parts: Int = 1) {
        self.position = position
        self.after = after
        self.part = part
        self.parts = parts
    }

    /// With its newline.
    public var line: String {
        "agd1 \(position.term) \(position.epoch) \(after) \(position.revision) \(part) \(parts)\n"
    }

    /// The `Nats-Msg-Id` of a transaction. JetStream drops a transaction whose id it has had lately.
    /// - Parameter attempt: differs each time a message is sent again. JetStream may already have some of its parts,
    ///   and a mirror reads the parts of one attempt in order.
    public func messageID(attempt: UInt64) -> String {
        "\(position.term)-\(position.epoch)-\(position.revision)-\(part)-\(attempt)"
    }

    /// - Returns: the frame, and the number of bytes before the body.
    /// - Throws: `invalid` if the message does not begin with a frame.
    public static func read(_ message: some Collection<UInt8>) throws(Failure) -> (frame: Frame, length: Int) {
        let head = message.prefix(Frame.maximumLength)
        guard let newline = head.firstIndex(of: UInt8(ascii: "\n")) else { throw malformed("no first line") }
        let line = head[..<newline]
        let words = String(decoding: line, as: UTF8.self).split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 7, words[0] == "agd1" else { throw malformed("its first line has another form") }
        guard let term = UInt64(words[1]), !words[2].isEmpty, let after = UInt64(words[3]),
            let revision = UInt64(words[4]), let part = Int(words[5]), let parts = Int(words[6])
        else { throw malformed("a number in its first line is wrong") }
        guard part >= 0, part < parts else { throw malformed("part \(part) of \(parts)") }
        guard after <= revision else { throw malformed("revision \(revision) follows \(after)") }
        let position = Position(term: term, epoch: String(words[2]), revision: revision)
        return (Frame(position: position, after: after, part: part, parts: parts), line.count + 1)
    }

    private static func malformed(_ reason: String) -> Failure {
        Failure(.invalid, "this is not a message of agd-link: \(reason)")
    }
}

extension Frame {
    /// Cuts a body into messages of at most `limit` bytes, each with its frame.
    public static func messages(
        _ body: [UInt8], position: Position, after: UInt64, limit: Int
    ) -> [(frame: Frame, bytes: [UInt8])] {
        precondition(limit > Frame.maximumLength && after <= position.revision)
        let room = limit - Frame.maximumLength
        let parts = max(1, (body.count + room - 1) / room)
        return (0..<parts).map { part in
            let frame = Frame(position: position, after: after, part: part, parts: parts)
            let slice = body[part * room..<min(body.count, (part + 1) * room)]
            return (frame, Array(frame.line.utf8) + slice)
        }
    }
}

/// Joins the parts of one message. It retains at most one incomplete message.
public struct Assembler: Sendable {
    /// Maximum bytes of a body.
    public let limit: Int
    private var first: Frame?
    private var body: [UInt8] = []
    private var next = 0

    public init(limit: Int) { self.limit = limit }

    /// Adds a part.
    /// - Returns: the whole message after its last part. Nil while parts are missing, and for a part out of order,
    ///   which discards the message. The next message then shows the gap.
    /// - Throws: `limit`, and discards the message.
    public mutating func add(_ frame: Frame, _ bytes: ArraySlice<UInt8>) throws(Failure) -> (
        frame: Frame, body: [UInt8]
    )? {
        if frame.part == 0 { begin(frame) }
        guard let first, frame.part == next, frame.position == first.position, frame.parts == first.parts else {
            reset()
            return nil
        }
        guard body.count + bytes.count <= limit else {
            reset()
            throw Failure(.limit, "a message of revision \(frame.position.revision) is longer than \(limit) bytes")
        }
        body += bytes
        next += 1
        guard next == frame.parts else { return nil }
        defer { reset() }
        return (first, body)
    }

    private mutating func begin(_ frame: Frame) {
        reset()
        first = frame
    }

    private mutating func reset() {
        first = nil
        body = []
        next = 0
    }
}
