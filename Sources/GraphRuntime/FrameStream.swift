import AttributeGraph
import AttributeValues
import Timelines

/// All frames at one rate. Each moving value is sampled and encoded once a tick, however many topics show it; each
/// topic's frame is assembled from that text.
final class FrameStream {
    let rate: Double
    /// The next tick on the monotonic clock; nil: nothing moves.
    var nextTick: Double?
    private(set) var views: [FrameView] = []
    private var rested: [(view: FrameView, attribute: AttributeID)] = []
    private var sheet = FrameSheet()
    private var text = ByteBuffer()
    /// By line of the sheet.
    private var records: [Record] = []
    private var lines: [AttributeID: [FrameSheet.Line]] = [:]

    /// The attribute and the name that a line of the sheet is for.
    private struct Record {
        var attribute: AttributeID
        var path: String
        var timeline: UInt64
        /// The views that show it.
        var views: [FrameView]

        func isShown(in view: FrameView) -> Bool { views.contains { $0 === view } }
    }

    init(rate: Double) { self.rate = rate }

    var isIdle: Bool { sheet.count == 0 && views.allSatisfy(\.jumped.isEmpty) }

    func add(_ view: FrameView) { views.append(view) }

    func remove(_ view: FrameView) {
        views.removeAll { $0 === view }
        for line in view.lines where records[line].isShown(in: view) { hide(line, from: view) }
    }

    /// Shows a motion that begins, or that gets a new target.
    func show(_ attribute: AttributeID, _ running: Presentations.Running, in view: FrameView, at now: Double) {
        for path in view.topic.paths[attribute] ?? [] { show(attribute, path, running, in: view) }
        if nextTick == nil { nextTick = now + 1 / rate }
    }

    private func show(_ attribute: AttributeID, _ path: String, _ running: Presentations.Running, in view: FrameView) {
        guard let line = lines[attribute]?.first(where: { records[$0].path.hasSameBytes(as: path) }) else {
            let line = sheet.insert(running.timeline, name: path)
            let record = Record(attribute: attribute, path: path, timeline: running.id, views: [view])
            if line == records.count { records.append(record) } else { records[line] = record }
            lines[attribute, default: []].append(line)
            return view.lines.append(line)
        }
        if records[line].timeline != running.id {
            sheet.replace(line, with: running.timeline)
            records[line].timeline = running.id
        }
        guard !records[line].isShown(in: view) else { return }
        records[line].views.append(view)
        view.lines.append(line)
    }

    /// Stops showing an attribute that changed without motion, or left the view.
    func stop(_ attribute: AttributeID, in view: FrameView, isGone: Bool) {
        var wasShown = false
        for line in lines[attribute] ?? [] where records[line].isShown(in: view) {
            wasShown = true
            hide(line, from: view)
        }
        if wasShown, !isGone { view.jumped.append(attribute) }
    }

    private func hide(_ line: FrameSheet.Line, from view: FrameView) {
        records[line].views.removeAll { $0 === view }
        view.hasStaleLines = true
        guard records[line].views.isEmpty else { return }
        sheet.remove(line)
        release(line)
    }

    private func release(_ line: FrameSheet.Line) {
        let attribute = records[line].attribute
        lines[attribute]?.removeAll { $0 == line }
        if lines[attribute]?.isEmpty == true { lines[attribute] = nil }
        for view in records[line].views { view.hasStaleLines = true }
        records[line].views = []
    }
}

// A tick.
extension FrameStream {
    /// Samples everything that moves. Returns each view's part as members of a JSON object, for views that have
    /// something to show.
    ///
    /// - Parameter jump: the names and the value of an attribute that jumped; nil if it is no longer shown.
    func sample(
        at time: Double, jump: (FrameView, AttributeID) -> ([String], Value)?
    ) -> [(view: FrameView, members: ByteBuffer)] {
        // A receiver of the last frame may still use its text.
        if isKnownUniquelyReferenced(&text) { text.removeAll() } else { text = ByteBuffer(capacity: text.count) }
        let count = sheet.count
        sheet.write(at: time, into: text)
        var frames: [(FrameView, ByteBuffer)] = []
        for view in views {
            if view.hasStaleLines { removeStaleLines(of: view) }
            let members = view.lines.count == count && view.jumped.isEmpty ? text : gather(view, jump)
            for attribute in view.jumped { rested.append((view, attribute)) }
            view.jumped = []
            if !members.isEmpty { frames.append((view, members)) }
        }
        for line in sheet.finished {
            for view in records[line].views { rested.append((view, records[line].attribute)) }
            release(line)
        }
        return frames
    }

    /// Attributes that the last tick showed for the last time.
    func takeRested() -> [(view: FrameView, attribute: AttributeID)] {
        let taken = rested
        rested = []
        return taken
    }

    /// Removes lines that the view no longer shows. A line that it shows again is in its list twice.
    private func removeStaleLines(of view: FrameView) {
        view.hasStaleLines = false
        view.lines.sort()
        var last: FrameSheet.Line?
        view.lines.removeAll { line in
            defer { last = line }
            return line == last || !records[line].isShown(in: view)
        }
    }

    private func gather(_ view: FrameView, _ jump: (FrameView, AttributeID) -> ([String], Value)?) -> ByteBuffer {
        let members = ByteBuffer()
        text.withBytes { text in
            // Adjacent lines are copied together, with the commas between them.
            var run = 0..<0
            func copyRun() {
                if run.isEmpty { return }
                if !members.isEmpty { members.append(UInt8(ascii: ",")) }
                members.append(UnsafeBufferPointer(rebasing: text[run]))
            }
            for line in view.lines {
                let written = sheet.writtenRange(of: line)
                if !run.isEmpty, written.lowerBound == run.upperBound + 1 {
                    run = run.lowerBound..<written.upperBound
                } else {
                    copyRun()
                    run = written
                }
            }
            copyRun()
        }
        // An attribute that has begun to move since is shown moving.
        for attribute in view.jumped where lines[attribute] == nil {
            guard let (paths, value) = jump(view, attribute) else { continue }
            for path in paths {
                if !members.isEmpty { members.append(UInt8(ascii: ",")) }
                members.appendJSONString(path)
                members.append(UInt8(ascii: ":"))
                members.appendJSON(value)
            }
        }
        return members
    }
}

/// The subscriptions of one topic that want frames at one rate.
final class FrameView {
    unowned let topic: Topic
    let stream: FrameStream
    var members: [Subscription] = []
    fileprivate var lines: [FrameSheet.Line] = []
    /// Some lines may belong to others now.
    fileprivate var hasStaleLines = false
    /// Attributes whose motion ended in a jump. Their present value is shown once.
    fileprivate var jumped: [AttributeID] = []

    init(of topic: Topic, in stream: FrameStream) {
        self.topic = topic
        self.stream = stream
    }
}
