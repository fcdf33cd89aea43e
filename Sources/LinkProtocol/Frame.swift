import AttributeValues

/// The state of a subtree that a message or a mirror has reached.
///
/// Positions of a site are ordered by term and revision.
package struct Position: Hashable, Comparable, Sendable {
    /// The number of the owner's lease. An owner takes a new one for each epoch.
    package var term: UInt64
    /// The life of the owner's graph.
    package var epoch: String
    package var revision: UInt64

    package init(term: UInt64, epoch: String, revision: UInt64) {
        (self.term, self.epoch, self.revision) = (term, epoch, revision)
    }

    package static func < (one: Position, other: Position) -> Bool {
        (one.term, one.revision) < (other.term, other.revision)
    }
}

extension Position {
    /// - Returns: nil unless both are whole numbers. Its epoch is not known.
    package init?(_ term: Value?, _ revision: Value?) {
        guard let term = UInt64(term), let revision = UInt64(revision) else { return nil }
        self.init(term: term, epoch: "", revision: revision)
    }
}

/// The first line of every NATS message of a site: `agd1 TERM EPOCH AFTER REVISION PART PARTS`.
package struct Frame: Hashable, Sendable {
    package static let maximumLength = 256
    private static let mostParts = 1 << 32

    package var position: Position
    /// The revision of the owner's message before this one.
    package var after: UInt64
    /// From 0.
    package var part = 0
    package var parts = 1

    package init(position: Position, after: UInt64, part: Int = 0, parts: Int = 1) {
        (self.position, self.after, self.part, self.parts) = (position, after, part, parts)
    }

    /// With its newline.
    package var line: String {
        let buffer = ByteBuffer(capacity: 64)
        append(to: buffer)
        return buffer.text
    }

    private func append(to buffer: ByteBuffer) {
        buffer.append("agd1 ")
        buffer.append(position.term)
        buffer.append(" ")
        buffer.append(text: position.epoch)
        for number in [after, position.revision, UInt64(part), UInt64(parts)] {
            buffer.append(" ")
            buffer.append(number)
        }
        buffer.append("\n")
    }

    /// - Returns: the frame, and the number of bytes before the body.
    /// - Throws: `invalid` if the message does not begin with a frame.
    package static func read(_ message: [UInt8]) throws(Failure) -> (frame: Frame, length: Int) {
        let head = message.prefix(Frame.maximumLength)
        guard let newline = head.firstIndex(of: UInt8(ascii: "\n")) else { throw malformed("no first line") }
        let words = head[..<newline].split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard words.count == 7, words[0].elementsEqual("agd1".utf8) else {
            throw malformed("its first line has another form")
        }
        guard let term = number(words[1]), !words[2].isEmpty, let after = number(words[3]),
            let revision = number(words[4]), let part = number(words[5]), let parts = number(words[6])
        else { throw malformed("a number in its first line is wrong") }
        guard part < parts, parts <= Frame.mostParts else { throw malformed("part \(part) of \(parts)") }
        guard after <= revision else { throw malformed("revision \(revision) follows \(after)") }
        let epoch = String(decoding: words[2], as: UTF8.self)
        let position = Position(term: term, epoch: epoch, revision: revision)
        return (Frame(position: position, after: after, part: Int(part), parts: Int(parts)), newline + 1)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        guard (1...19).contains(digits.count) else { return nil }
        var number: UInt64 = 0
        for digit in digits {
            guard (48...57).contains(digit) else { return nil }
            number = number * 10 + UInt64(digit - 48)
        }
        return number
    }

    private static func malformed(_ reason: String) -> Failure {
        Failure(.invalid, "this is not a message of agd-link: \(reason)")
    }
}

extension Frame {
    /// Cuts a body into messages of at most `limit` bytes, each with its frame.
    package static func messages(
        _ body: [UInt8], position: Position, after: UInt64, limit: Int
    ) -> [(frame: Frame, bytes: [UInt8])] {
        precondition(limit > Frame.maximumLength && after <= position.revision)
        let space = limit - Frame.maximumLength
        let parts = max(1, (body.count + space - 1) / space)
        return (0..<parts).map { part in
            let frame = Frame(position: position, after: after, part: part, parts: parts)
            let slice = body[part * space..<min(body.count, (part + 1) * space)]
            let buffer = ByteBuffer(capacity: 128 + slice.count)
            frame.append(to: buffer)
            slice.withUnsafeBufferPointer { buffer.append($0) }
            return (frame, buffer.withBytes { Array($0) })
        }
    }
}

/// Joins the parts of one message. It retains at most one incomplete message.
package struct Assembler: Sendable {
    /// Maximum bytes of a body.
    package let limit: Int
    private var first: Frame?
    private var body: [UInt8] = []
    private var next = 0

    package init(limit: Int) { self.limit = limit }

    /// Adds a part.
    /// - Returns: the whole message after its last part. Nil while parts are missing, and for a part out of order,
    ///   which discards the message. The next message then shows the gap.
    /// - Throws: `limit`, and discards the message.
    package mutating func add(_ frame: Frame, _ bytes: ArraySlice<UInt8>) throws(Failure) -> (
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
