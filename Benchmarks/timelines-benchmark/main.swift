import AttributeValues
import BenchmarkSupport
import Glibc
import Timelines

/// Measures sampling, retargeting and easing, and a running daemon that sends frames or rests (only that, with the
/// argument `daemon`). Each case prints one JSON line: name, nanoseconds per operation, and for sampling the share of
/// one core that 100,000 values at 60 Hz take, for whole frames as text that of 10,000. The least of several runs
/// counts: it has the fewest interruptions.
let clock = ContinuousClock()

/// Nanoseconds of the fastest run.
func best(of runs: Int, _ body: () throws -> Void) rethrows -> Double {
    var best = Double.infinity
    for _ in 0..<runs {
        let duration = try clock.measure(body)
        best = min(best, Double(duration.components.seconds) * 1e9 + Double(duration.components.attoseconds) * 1e-9)
    }
    return best
}

func measure(_ name: String, operations: Int, runs: Int = 7, samples: Bool = false, _ body: () throws -> Void) rethrows
{
    let each = try best(of: runs, body) / Double(operations)
    var line = #"{"benchmark":"timelines","case":"\#(name)","ns":\#(each)"#
    if samples { line += #","corePercentAt100kx60Hz":\#(each * 100_000 * 60 / 1e9 * 100)"# }
    print(line + "}")
}

/// Something that the optimizer cannot see through.
@inline(never) func consume(_ value: Double) { sink += value }
nonisolated(unsafe) var sink = 0.0

if let program = DaemonProcess.program {
    try measureDaemonFrames(program, seconds: 10)
    try measureDaemonRest(program, seconds: 5)
} else {
    print(#"{"benchmark":"timelines","case":"the daemon","skipped":"build agd first, in the same configuration"}"#)
}
if CommandLine.arguments.contains("daemon") { exit(0) }

let count = 100_000

func sampler(_ texts: [String]) throws -> FrameSampler {
    let animations = try texts.map { try Animation($0) }
    var sampler = FrameSampler()
    for i in 0..<count {
        let timeline = Timeline(
            from: 0, to: Components(Double(i + 1)), velocity: Components(Double(i % 7)),
            animation: animations[i % animations.count], start: Double(i % 100) * 1e-3)
        _ = sampler.insert(timeline)
    }
    sampler.sample(at: 0.2)
    return sampler
}

func sampling(_ name: String, _ texts: [String], frames: Int = 60) throws {
    var sampler = try sampler(texts)
    var time = 0.2
    measure(name, operations: count * frames, runs: 5, samples: true) {
        for _ in 0..<frames {
            time += 1.0 / 60
            sampler.sample(at: time)
        }
        consume(sampler.values[count / 2])
    }
    guard sampler.count == count else { preconditionFailure("timelines ended while they were measured") }
}

try sampling("frames of 100,000 springs, one kind", ["spring(duration: 50, bounce: 0.3)"])
try sampling("frames of 100,000 springs, 64 kinds", (0..<64).map { "spring(duration: \(50 + $0), bounce: 0.3)" })
try sampling("frames of 100,000 easeInOut", ["easeInOut(duration: 50)"], frames: 30)

/// A frame of 10,000 moving springs as the JSON text that one subscriber gets, `{"/a/b.c":0.5,…}`.
func frames(_ name: String, _ body: (Double, ByteBuffer) -> Void) {
    let (values, frames) = (10_000, 30)
    let buffer = ByteBuffer(capacity: 1 << 20)
    var time = 0.2
    var bytes = 0
    let each =
        best(of: 7) {
            for _ in 0..<frames {
                time += 1.0 / 60
                buffer.removeAll()
                body(time, buffer)
                bytes = buffer.count
            }
        } / Double(values * frames)
    print(
        #"{"benchmark":"timelines","case":"\#(name)","ns":\#(each),"corePercentAt10kx60Hz":\#(each * 10_000 * 60 / 1e9 * 100),"bytesPerFrame":\#(bytes)}"#
    )
}

func writeFrames() throws {
    let animations = try (0..<64).map { try Animation("spring(duration: \(50 + $0), bounce: 0.3)") }
    let timelines = (0..<10_000).map {
        Timeline(from: 0, to: Components(Double($0 + 1)), animation: animations[$0 % 64], start: 0)
    }
    let paths = timelines.indices.map { "/hosts/row\($0).load" }
    frames("text of 10,000 springs, each by its formula") { time, buffer in
        var values: [(path: String, value: Value)] = []
        for (path, timeline) in zip(paths, timelines) where !timeline.isFinished(at: time) {
            values.append((path, timeline.displayed(at: time)))
        }
        for (path, value) in values {
            buffer.append(UInt8(ascii: ","))
            buffer.appendJSONString(path)
            buffer.append(UInt8(ascii: ":"))
            buffer.appendJSON(value)
        }
    }
    var sampler = FrameSampler()
    let slots = timelines.map { sampler.slot(of: sampler.insert($0)) ?? 0 }
    frames("text of 10,000 springs, sampled as frames") { time, buffer in
        sampler.sample(at: time)
        for (path, slot) in zip(paths, slots) {
            buffer.append(UInt8(ascii: ","))
            buffer.appendJSONString(path)
            buffer.append(UInt8(ascii: ":"))
            buffer.appendJSON(sampler.values[slot])
        }
    }
    var sheet = FrameSheet()
    for (path, timeline) in zip(paths, timelines) { _ = sheet.insert(timeline, name: path) }
    frames("text of 10,000 springs, as a frame sheet") { time, buffer in sheet.write(at: time, into: buffer) }
    guard sheet.count == timelines.count else { preconditionFailure("timelines ended while they were measured") }
}
try writeFrames()

let spring = Spring(duration: 0.5, bounce: 0.3)
for (name, spring) in [
    ("under-damped", spring), ("critical", Spring(duration: 0.5, bounce: 0)),
    ("over-damped", Spring(duration: 0.5, bounce: -0.5)),
] {
    measure("closed form, \(name)", operations: 1_000_000, samples: true) {
        var sum = 0.0
        for i in 0..<1_000_000 { sum += spring.state(from: 0, to: 1, velocity: 0, at: Double(i) * 1e-6 + 0.2).value }
        consume(sum)
    }
}
measure("Bézier", operations: 1_000_000, samples: true) {
    var sum = 0.0
    let curve = CubicBezier(0.42, 0, 0.58, 1)
    for i in 0..<1_000_000 { sum += curve.sample(at: Double(i) * 1e-6).value }
    consume(sum)
}
let timeline = Timeline(from: 0, to: 1, animation: .bouncy, start: 0)
measure("timeline's displayed scalar", operations: 1_000_000, samples: true) {
    var sum = 0.0
    for i in 0..<1_000_000 { sum += timeline.firstComponent(at: Double(i) * 8e-7) }
    consume(sum)
}
measure("retarget of a running spring", operations: 100_000) {
    var running = timeline
    for i in 0..<100_000 {
        running = running.retarget(to: Components(Double(i % 10)), animation: .bouncy, at: Double(i) * 0.05)
    }
    consume(running.from.first)
}
try measure("parse of 'spring(duration: 0.5, bounce: 0.3).delay(0.2)'", operations: 20_000) {
    for _ in 0..<20_000 { consume(try Animation("spring(duration: 0.5, bounce: 0.3).delay(0.2)").logicalDuration) }
}
measure("CSS easing of bouncy, made", operations: 100) {
    for _ in 0..<100 {
        var cache = EasingCache()
        consume(cache.css(for: timeline)?.duration ?? 0)
    }
}
measure("CSS easing of bouncy, remembered", operations: 100_000) {
    var cache = EasingCache()
    for _ in 0..<100_000 { consume(cache.css(for: timeline)?.duration ?? 0) }
}
measure("start, seal and end of one transaction with one timeline", operations: 100_000) {
    var tracker = CompletionTracker()
    for i in UInt64(0)..<100_000 {
        tracker.start(i, in: i, logical: Double(i) + 0.5, end: Double(i) + 0.8)
        consume(Double(tracker.seal(i, at: Double(i)).count))
        if i % 1000 == 0 { consume(Double(tracker.advance(to: Double(i)).count)) }
    }
}
print(#"{"benchmark":"timelines","case":"memory of one scalar timeline","bytes":\#(MemoryLayout<Timeline>.stride)}"#)
