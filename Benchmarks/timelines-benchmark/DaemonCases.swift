import AttributeValues
import BenchmarkSupport
import Glibc

// The whole way: a daemon of its own, reached through its socket, its processor time as the kernel counts it.

/// More than the defaults: the cases watch up to 110,000 attributes, and one request names them.
private let settings = ["watched-attributes = 200000", "request-cost = 100000000"]

/// 1,000 rows under /rows, with as many numbers each as wanted.
private func scene(numbersPerRow: Int) -> String {
    let state = (0..<numbersPerRow).map { #""v\#($0)":0.0"# }.joined(separator: ",")
    let rows = (0..<1000).map { #"{"id":"row\#($0)","state":{\#(state)}}"# }.joined(separator: ",")
    return #"{"agd":1,"nodes":[{"id":"rows","children":[\#(rows)]}]}"#
}

/// Sets all numbers in motion, with a spring of its own for each of 50 groups of rows; an hour later they still move.
private func move(_ client: DaemonClient, numbersPerRow: Int) throws {
    for group in 0..<50 {
        var mutations: [String] = []
        for row in 0..<20 {
            for number in 0..<numbersPerRow {
                let place = group * 20 + row
                mutations.append(
                    #"{"op":"set","path":"/rows/row\#(place).v\#(number)","value":\#(Double(place + number + 1))}"#)
            }
        }
        try client.result(
            "transact",
            #"{"mutations":[\#(mutations.joined(separator: ","))],"animation":"spring(duration: \#(3600 + group), bounce: 0.3)"}"#
        )
    }
}

/// Frames of 10,000 springs at 60 Hz to a client that reads them as they come: by one subscription, by ten that share
/// the springs out, and by ten of which each shows all of them.
func measureDaemonFrames(_ program: String, seconds length: Double) throws {
    func row(_ number: Int) -> String { "\"/rows/row\(number).*\"" }
    let parts = (0..<10).map { part in (0..<100).map { row(100 * part + $0) }.joined(separator: ",") }
    let wholes = (0..<10).map { #""/rows/**",\#(row($0))"# }
    var alone: Double?
    for (name, subscriptions) in [("one", [#""/rows/**""#]), ("ten parts", parts), ("ten wholes", wholes)] {
        let figures = try measureFrames(program, subscriptions, seconds: length)
        let ratio = figures.corePercent / (alone ?? figures.corePercent)
        if alone == nil { alone = figures.corePercent }
        print(
            #"{"benchmark":"timelines","case":"10,000 springs at 60 Hz through the daemon, subscriptions: \#(name)","corePercent":\#(figures.corePercent),"ofOne":\#(ratio),"framesPerSecond":\#(figures.frames),"bytesPerSecond":\#(figures.bytes)}"#
        )
    }
}

private func measureFrames(_ program: String, _ subscriptions: [String], seconds length: Double) throws -> (
    corePercent: Double, frames: Double, bytes: Double
) {
    let daemon = try DaemonProcess(program, scene: scene(numbersPerRow: 10), settings: settings)
    let client = try DaemonClient(daemon.socketPath)
    for paths in subscriptions {
        try client.result("subscribe", #"{"paths":[\#(paths)],"events":["frames"],"frames":{"rate":60}}"#)
    }
    try move(client, numbersPerRow: 10)
    try client.drain(seconds: 1)
    let (time, processor) = (MonotonicTime.now, daemon.processorTime)
    let (messages, bytes) = try client.drain(seconds: length)
    let passed = MonotonicTime.now - time
    let percent = (daemon.processorTime - processor) / passed * 100
    guard try client.result("stats", "{}").map?["running_timelines"] == 10_000 else {
        preconditionFailure("timelines ended while they were measured")
    }
    return (percent, Double(messages) / Double(subscriptions.count) / passed, Double(bytes) / passed)
}

/// 100,000 timelines that somebody watches and nobody samples: what they cost while they run.
func measureDaemonRest(_ program: String, seconds length: Double) throws {
    let daemon = try DaemonProcess(program, scene: scene(numbersPerRow: 100), settings: settings)
    let client = try DaemonClient(daemon.socketPath)
    // The updates are watched; the same values are written once before, so that what the writes themselves leave is not
    // counted.
    try client.result("subscribe", #"{"paths":["/rows/**"],"initial":false}"#)
    try client.result("transact", #"{"mutations":[{"op":"set","path":"/rows/row0.v0","value":-1}]}"#)
    let before = daemon.residentKilobytes
    try move(client, numbersPerRow: 100)
    try client.drain(seconds: 1)
    let memory = daemon.residentKilobytes - before
    let turns = try client.result("stats", "{}").map?["turns"]?.number ?? .nan
    usleep(200_000)
    let (wakes, processor) = (daemon.wakes, daemon.processorTime)
    usleep(UInt32(length * 1e6))
    let (wakesAfter, processorAfter) = (daemon.wakes, daemon.processorTime)
    let stats = try client.result("stats", "{}")
    guard stats.map?["running_timelines"] == 100_000 else {
        preconditionFailure("timelines ended while they were measured")
    }
    // The request itself is one turn.
    let turnsBetween = (stats.map?["turns"]?.number ?? .nan) - turns - 1
    print(
        #"{"benchmark":"timelines","case":"100,000 running timelines that nobody samples, \#(length) s","turns":\#(turnsBetween),"wakes":\#(wakesAfter - wakes),"processorSeconds":\#(processorAfter - processor),"bytesPerTimeline":\#(memory * 1024 / 100_000)}"#
    )
}
