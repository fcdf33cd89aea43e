import AttributeValues
import Glibc

/// What one stream of frames shows: running timelines under their names, sampled together and written as members of a JSON
/// object, `"/a/b.c":0.5,"/a/b.d":1.25`.
///
/// Writing the text costs more than computing the values, so names are quoted once, when a timeline joins, and numbers on
/// their way are written to a trillionth of their distance, which needs no search for the shortest text.
public struct FrameSheet {
    /// Names a line until it is removed or its timeline has finished.
    public typealias Line = Int

    private struct Entry {
        /// `"name":`
        var head: [UInt8]
        var handle: FrameSampler.Handle
        var slot: Int
        /// nil: not a plain double.
        var precision: DecimalPrecision?
        var isUsed = true
        var isFinished = false
        /// Where the last `write` put it, name and value.
        var start = 0
        var end = 0
    }

    private var sampler = FrameSampler()
    private var entries: [Entry] = []
    private var timelines: [Timeline?] = []
    private var lineOfHandle: [Line] = []
    private var free: [Line] = []
    /// The lines whose timelines finished in the last `write`. They are gone, and their numbers may be given out again.
    public private(set) var finished: [Line] = []

    public init() {}

    /// Lines that the next `write` writes.
    public var count: Int { sampler.count }

    /// A timeline that is written under a name from the next `write` on.
    public mutating func insert(_ timeline: Timeline, name: String) -> Line {
        let buffer = ByteBuffer(capacity: name.utf8.count + 8)
        buffer.appendJSONString(name)
        buffer.append(UInt8(ascii: ":"))
        let line = free.popLast() ?? entries.count
        let entry = Entry(head: buffer.withBytes { Array($0) }, handle: 0, slot: 0)
        if line == entries.count {
            entries.append(entry)
            timelines.append(nil)
        } else {
            entries[line] = entry
        }
        run(timeline, on: line)
        return line
    }

    /// Another timeline under the same name: its value has been given a new target.
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
        entries[line].precision = timeline.space == .scalar ? DecimalPrecision(distance: timeline.to.first - timeline.from.first) : nil
    }

    private mutating func release(_ line: Line) {
        entries[line].isUsed = false
        entries[line].isFinished = false
        entries[line].head = []
        timelines[line] = nil
        free.append(line)
    }

    /// Appends what is displayed at `time`, which must not go back: numbers on their way rounded to a trillionth of their distance,
    /// everything that has arrived exactly. What has finished is written this once more.
    public mutating func write(at time: Double, into buffer: ByteBuffer) {
        finished.removeAll(keepingCapacity: true)
        sampler.sample(at: time)
        for handle in sampler.finished {
            entries[lineOfHandle[handle]].isFinished = true
            finished.append(lineOfHandle[handle])
        }
        var isFirst = true
        for line in entries.indices where entries[line].isUsed {
            if !isFirst { buffer.append(UInt8(ascii: ",")) }
            isFirst = false
            entries[line].start = buffer.count
            entries[line].head.withUnsafeBufferPointer { buffer.append($0) }
            if let precision = entries[line].precision, !entries[line].isFinished {
                buffer.append(sampler.values[entries[line].slot], precision)
            } else if let timeline = timelines[line] {
                buffer.appendJSON(entries[line].isFinished ? timeline.target : displayed(timeline, at: entries[line].slot))
            }
            entries[line].end = buffer.count
        }
        for line in finished { release(line) }
    }

    /// The bytes of the last `write`'s buffer that are this line's member, for those who are shown only some. Of a line that has
    /// finished too, until another takes its number.
    public func place(of line: Line) -> Range<Int> { entries[line].start..<entries[line].end }

    private func displayed(_ timeline: Timeline, at slot: Int) -> Value {
        timeline.space.value(of: Components(sampler.values[slot..<slot + timeline.to.count]))
    }
}

/// How many decimals tell a number's way over a distance to a trillionth.
struct DecimalPrecision {
    let decimals: Int
    /// 10 to the power of `decimals`.
    let scale: Double
    let unit: UInt64

    /// nil for distances so small that decimals are no help, and for none.
    init?(distance: Double) {
        guard distance != 0, distance.isFinite else { return nil }
        let decimals = max(0, 12 - Int(log10(distance.magnitude).rounded(.down)))
        guard decimals <= 18 else { return nil }
        self.decimals = decimals
        var unit: UInt64 = 1
        for _ in 0..<decimals { unit *= 10 }
        self.unit = unit
        scale = Double(unit)
    }
}

extension ByteBuffer {
    /// A double as JSON with so many decimals, without trailing zeros but with one digit behind the point, so that it stays a
    /// double. What does not fit into 53 bits so, is written exactly instead.
    func append(_ number: Double, _ precision: DecimalPrecision) {
        let scaled = (number.magnitude * precision.scale).rounded()
        guard scaled < 0x1p53 else { return appendJSON(number) }
        let digits = UInt64(scaled)
        if number < 0, digits > 0 { append(UInt8(ascii: "-")) }
        append(digits / precision.unit)
        append(UInt8(ascii: "."))
        var fraction = digits % precision.unit
        guard fraction > 0 else { return append(UInt8(ascii: "0")) }
        var bound = precision.unit / 10
        while fraction < bound {
            append(UInt8(ascii: "0"))
            bound /= 10
        }
        while fraction % 10 == 0 { fraction /= 10 }
        append(fraction)
    }
}
