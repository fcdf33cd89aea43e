import AGClient
import AttributeValues
import WireProtocol

/// Watching in a pipe: one line for each change, written as soon as its event arrives.
final class WatchLines {
    private let watcher: Watcher
    private let session: Session
    private let decoder = MessageDecoder()
    private let acknowledges: Bool
    private var left: Int?
    /// nil if it goes on when a change is complete.
    private var settling: Settling?
    /// Patterns for which no attribute has been seen. nil after the first values.
    private var unmatched: [String]?
    private var log = ChangeLog()
    /// True if there has been a connection.
    private var hasBegun = false

    /// - Parameters:
    ///   - endsSettled: true if it ends when a change is complete.
    ///   - acknowledges: true if all invalidations are watched, not only the first of each path.
    init(
        _ watcher: Watcher, patterns: [String], limit: Int?, endsSettled: Bool, acknowledges: Bool, _ session: Session
    ) {
        self.watcher = watcher
        settling = endsSettled ? Settling() : nil
        self.session = session
        self.acknowledges = acknowledges
        left = limit
        unmatched = patterns.filter(GetCommand.isPattern)
    }

    func run() throws {
        while left != 0 {
            guard let news = try watcher.next(interrupt: session.output.pipe) else { throw Output.readerHasGone() }
            WatchNotice(news, isFirst: !hasBegun)?.report(session.errors)
            switch news {
            // Its completion may come while nobody listens. A snapshot says what still moves.
            case .interrupted: if settling != nil { watcher.forgetPosition() }
            case .resumed(let isSnapshot):
                hasBegun = true
                if isSnapshot { log.expectSnapshot() }
                settling?.resume()
                // Invalidations come without a snapshot, and without motions.
                if acknowledges, settling?.hasChange == true { return }
            case .event(let message):
                hasBegun = true
                try show(message)
                try session.output.flush()
                left? -= 1
                if settling != nil, case .event(_, let event) = try decoder.decode(message),
                    settling?.isOver(after: event) == true
                {
                    return
                }
                if acknowledges, left != 0 { try acknowledge(message) }
            }
        }
    }

    /// The daemon reports the next invalidation of a path only after the path has been read.
    private func acknowledge(_ message: EncodedMessage) throws {
        if case .event(_, .invalidate(_, let paths)) = try decoder.decode(message) { watcher.acknowledge(paths) }
    }

    /// After the first values: reports the patterns that match nothing, because they may be mistyped.
    private func noteUnmatched(_ event: Event) {
        guard let patterns = unmatched, case .update(_, _, _, _, true, let changes, _) = event else { return }
        unmatched = nil
        for text in patterns {
            let pattern = try? PathPattern(text)
            let isMatched = changes.contains { change in
                (try? PathPattern(change.path)).map { pattern?.covers($0) == true } ?? true
            }
            if !isMatched { WatchNotice(message: "nothing matches \(text) yet").report(session.errors) }
        }
    }

    private func show(_ message: EncodedMessage) throws {
        if session.isJSON {
            if unmatched?.isEmpty == false, case .event(_, let event) = try decoder.decode(message) {
                noteUnmatched(event)
            }
            session.output.writeLine(String(decoding: message.bytes, as: UTF8.self).printable)
            return
        }
        guard case .event(_, let event) = try decoder.decode(message) else { return }
        noteUnmatched(event)
        for (path, text, content) in log.formatLines(of: event) {
            let style = session.output.style
            session.output.writeLine(
                "\(style.yellow(path.printable))\t\(content.map { style.content(text, of: $0) } ?? style.dim(text))")
        }
    }
}

/// Waits for the end of a change that was made while it watched, and whose motions no other change has taken over.
struct Settling {
    private var first: UInt64?
    private var replaced: Set<UInt64> = []
    private var values = WatchedValues()

    var hasChange: Bool { first != nil }

    /// The connection was lost and is back. The next update has all values.
    mutating func resume() { values.resume(isSnapshot: true) }

    /// - Returns: true if the event says that such a change is complete.
    mutating func isOver(after event: Event) -> Bool {
        let isFirst = values.contents.isEmpty
        let (changes, gone) = values.take(event)
        switch event {
        case .update(_, _, _, _, true, _, _):
            let differs = !isFirst && (!gone.isEmpty || changes.contains { $0.before != $0.change.content })
            guard differs || hasChange else { return false }
            // The daemon may have begun to count revisions anew. The change began whatever still moves.
            first = 0
            return changes.allSatisfy { $0.change.timeline == nil }
        case .update(let revision, let from, _, _, false, _, _): first = first ?? from ?? revision
        case .invalidate(let revision, _), .structure(let revision, _, _, _, _): first = first ?? revision
        case .completion(_, let transaction, "replaced", _): replaced.insert(transaction)
        case .completion(_, let transaction, "removed", _):
            return first.map { $0 <= transaction } == true && !replaced.contains(transaction)
        default: break
        }
        return false
    }
}

/// Events as lines. After a restart of the daemon, all values arrive anew; only those that differ are printed.
struct ChangeLog {
    private var known: [Name: String] = [:]
    /// The last printed frames of the paths, without the `~`, until the next update of each path.
    private var frames: [Name: String] = [:]
    private var awaitsSnapshot = false

    mutating func expectSnapshot() { awaitsSnapshot = true }

    /// The path, the text, and the content if there is one.
    mutating func formatLines(of event: Event) -> [(path: String, text: String, content: Content?)] {
        switch event {
        case .update(_, _, _, _, let isInitial, let changes, _):
            guard isInitial, awaitsSnapshot else { return changes.map { note($0.path, $0.content) } }
            awaitsSnapshot = false
            let (before, moved) = (known, frames)
            (known, frames) = ([:], [:])
            let lines = changes.compactMap { change in
                let line = note(change.path, change.content)
                // If the motion has ended meanwhile, the last printed frame is not the value.
                let last = change.timeline == nil ? moved[change.path] : nil
                return (last ?? before[change.path]) == line.text ? nil : line
            }
            let gone = before.keys.filter { known[$0] == nil }.sorted()
            return gone.map { ($0.text, "error: removed", .failure(Failure(.removed, "removed"))) } + lines
        case .invalidate(_, let paths): return paths.map { ($0, "invalid", nil) }
        case .structure(_, let added, let removed, let moved, _):
            return added.map { ($0, "added", nil) } + removed.map { ($0, "removed", nil) }
                + moved.map { ($0, "moved", nil) }
        // Only the daemon writes events this way. Received events are always read into values.
        case .updateText, .frameSheet: return []
        case .frames(_, let values):
            return values.map { path, value in
                let text = value.jsonText.printable
                frames[path] = text
                return (path, "~" + text, .value(value))
            }
        case .completion(_, let transaction, let phase, let paths):
            let text = "completed \(phase) \(transaction)"
            return paths.isEmpty ? [("-", text, nil)] : paths.map { ($0, text, nil) }
        case .bookmark, .forward, .ended: return []
        }
    }

    private mutating func note(_ path: String, _ content: Content) -> (path: String, text: String, content: Content?) {
        let text = ContentRow.describe(content)
        (known[path], frames[path]) = (text, nil)
        return (path, text, content)
    }
}
