import AttributeValues
import Glibc

/// The contents of one stream of frames: running timelines with their names, sampled together and written as members of
/// a JSON object, `"/a/b.c":0.5,"/a/b.d":1.25`.
///
/// Writing the text costs more than computing the values. Therefore names are quoted once, when a timeline joins, and
/// moving numbers are rounded to a trillionth of their distance, which needs no search for the shortest text.
public struct FrameSheet {
    /// Identifies a line until it is removed or its timeline has finished.
    public typealias Line = Int

    private struct Entry {
        /// `,"name":` in `heads`.
        var head: Int
        var headEnd: Int
        var handle: FrameSampler.Handle
        var slot: Int
        /// nil if the value is not a plain double.
        var precision: DecimalPrecision?
        var isUsed = true
        var isFinished = false
        /// The position of name and value in the last `write`.
        var start = 0
        var end = 0
    }

    private var sampler = FrameSampler()
    private var entries: [Entry] = []
    /// The quoted names one after the other, so that a frame walks along them. Removed lines leave gaps.
    private var heads: [UInt8] = []
    private var unusedHeads = 0
    private var timelines: [Timeline?] = []
    private var lineOfHandle: [Line] = []
    private var free: [Line] = []
    /// The lines whose timelines finished in the last `write`. They have been removed, and their numbers may be reused.
    public private(set) var finished: [Line] = []

    public init() {}

    /// Number of lines that the next `write` writes.
    public var count: Int { sampler.count }

    /// Adds a timeline. From the next `write` on, it is written under the name.
    public mutating func insert(_ timeline: Timeline, name: String) -> Line {
        let buffer = ByteBuffer(capacity: name.utf8.count + 8)
        buffer.append(UInt8(ascii: ","))
        buffer.appendJSONString(name)
        buffer.append(UInt8(ascii: ":"))
        let line = free.popLast() ?? entries.count
        let entry = Entry(head: heads.count, headEnd: heads.count + buffer.count, handle: 0, slot: 0)
        buffer.withBytes { heads.append(contentsOf: $0) }
        if line == entries.count {
            entries.append(entry)
            timelines.append(nil)
        } else {
            entries[line] = entry
        }
        run(timeline, on: line)
        return line
    }

    /// Replaces the timeline of a name, whose value has a new target.
    public mutating func replace(_ line: Line, with timeline: Timeline) {
        precondition(entries[line].isUsed, "a line is replaced while it is there")
        sampler.remove(entries[line].handle)
        run(timeline, on: line)
    }

    public mutating func remove(_ line: Line) {
        precondition(entries[line].isUsed, "a line is removed once")
        sampler.remove(entries[line].handle)
        release(line)
    }

    private mutating func run(_ timeline: Timeline, on line: Line) {
        let handle = sampler.insert(timeline)
        while lineOfHandle.count <= handle { lineOfHandle.append(-1) }
        lineOfHandle[handle] = line
        timelines[line] = timeline
        entries[line].handle = handle
        entries[line].slot = sampler.slot(of: handle) ?? 0
        entries[line].precision =
            timeline.space == .scalar ? DecimalPrecision(distance: timeline.to.first - timeline.from.first) : nil
    }

    private mutating func release(_ line: Line) {
        entries[line].isUsed = false
        entries[line].isFinished = false
        timelines[line] = nil
        free.append(line)
        unusedHeads += entries[line].headEnd - entries[line].head
        if unusedHeads > heads.count / 2, unusedHeads > 4096 { compactHeads() }
    }

    private mutating func compactHeads() {
        var compact: [UInt8] = []
        compact.reserveCapacity(heads.count - unusedHeads)
        for line in entries.indices where entries[line].isUsed {
            let head = heads[entries[line].head..<entries[line].headEnd]
            entries[line].head = compact.count
            compact.append(contentsOf: head)
            entries[line].headEnd = compact.count
        }
        heads = compact
        unusedHeads = 0
    }

    /// Appends the displayed values at `time`, which must not go back. Moving numbers are rounded to a trillionth of
    /// their distance, values that have arrived are exact. A finished timeline is written once more and then removed.
    public mutating func write(at time: Double, into buffer: ByteBuffer) {
        finished.removeAll(keepingCapacity: true)
        sampler.sample(at: time)
        for handle in sampler.finished {
            entries[lineOfHandle[handle]].isFinished = true
            finished.append(lineOfHandle[handle])
        }
        var isFirst = true
        heads.withUnsafeBufferPointer { heads in
            for line in entries.indices where entries[line].isUsed {
                // The first line has no comma.
                let head = entries[line].head + (isFirst ? 1 : 0)
                entries[line].start = buffer.count + (isFirst ? 0 : 1)
                isFirst = false
                buffer.append(UnsafeBufferPointer(rebasing: heads[head..<entries[line].headEnd]))
                if let precision = entries[line].precision, !entries[line].isFinished {
                    buffer.append(sampler.values[entries[line].slot], precision)
                } else if let timeline = timelines[line] {
                    buffer.appendJSON(
                        entries[line].isFinished ? timeline.target : displayed(timeline, at: entries[line].slot))
                }
                entries[line].end = buffer.count
            }
        }
        for line in finished { release(line) }
    }

    /// The bytes of this line in the last `write`'s buffer, for readers that get only some lines. Also valid for a line
    /// that has finished, until its number is reused.
    public func writtenRange(of line: Line) -> Range<Int> { entries[line].start..<entries[line].end }

    private func displayed(_ timeline: Timeline, at slot: Int) -> Value {
        timeline.space.value(of: Components(sampler.values[slot..<slot + timeline.to.count]))
    }
}
