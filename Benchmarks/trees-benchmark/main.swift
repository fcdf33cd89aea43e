import AttributeValues
import BenchmarkSupport
import Glibc
import TestSupport

// Measures the real daemon with large trees: memory, `apply`, `get`, a start from the store, and the longest turn.
// Prints a line of JSON for each case.
//
//     trees-benchmark [--nodes NUMBER]

/// A document of nodes with one state and two rules each.
enum Shape: String, CaseIterable {
    /// The nodes are instances of one component.
    case instances
    /// Each node has rules of its own, with the same texts.
    case ownRules
    /// Each node has rules of its own, with other constants than the rules of the other nodes.
    case ownConstants
    /// The nodes are instances made from a list.
    case list

    /// The state and the rules of a node.
    private func members(_ factor: Int = 2, _ limit: Int = 9) -> String {
        #""state":{"v":0.5},"computed":{"twice":"v * \#(factor).0","status":"v > \#(limit).0 ? \"hot\" : \"ok\""}"#
    }

    var head: String {
        switch self {
        case .instances, .list: return #"{"agd":1,"components":{"Cell":{\#(members())}},"nodes":["#
        case .ownRules, .ownConstants: return #"{"agd":1,"nodes":["#
        }
    }

    func document(_ count: Int) -> String {
        let grid = #"{"id":"grid","kind":"container","#
        switch self {
        case .instances:
            let nodes = (0..<count).map { #"{"id":"c\#($0)","component":"Cell"}"# }
            return head + grid + #""children":[\#(nodes.joined(separator: ","))]}]}"#
        case .ownRules, .ownConstants:
            let nodes = (0..<count).map {
                #"{"id":"c\#($0)",\#(self == .ownRules ? members() : members($0, $0))}"#
            }
            return head + grid + #""children":[\#(nodes.joined(separator: ","))]}]}"#
        case .list:
            return head + grid
                + #""state":{"size":0},"children":[{"id":"cells","forEach":{"in":"=lists.range(size)","id":"self","as":"i","component":"Cell"}}]}]}"#
        }
    }
}

/// A daemon, its client, and the figures since the case began.
final class Bench {
    let daemon: DaemonProcess
    private(set) var client: DaemonClient
    private var processor = 0.0
    private var before = 0.0
    let empty: Int

    init(_ program: String, _ count: Int) throws {
        daemon = try DaemonProcess(
            program,
            settings: [
                "nodes = 3000000", "attributes = 10000000", "request-cost = 1000000000",
                "watched-attributes = 10000000",
                "message-size = \(max(16, count / 5000)) MiB",
                "message-values = \(count * 40)", "described-nodes = 3000000",
                "output-maximum = 512 MiB", "output-queue = 512 MiB", "output-total = 1 GiB",
            ], hasStore: true)
        client = try DaemonClient(daemon.socketPath)
        empty = daemon.residentKilobytes
    }

    func restart() throws {
        daemon.terminate()
        guard daemon.hasEnded(within: 30) else { throw Trouble("the daemon does not end: \(daemon.log.suffix(300))") }
        (processor, before) = (0, MonotonicTime.now)
        try daemon.start()
        client = try DaemonClient(daemon.socketPath)
    }

    func begin() { (processor, before) = (daemon.processorTime, MonotonicTime.now) }

    /// Prints how long it took since `begin`, in the daemon's processor time and by the clock.
    func end(_ name: String, _ fields: String = "") throws {
        let (spent, passed) = (daemon.processorTime - processor, MonotonicTime.now - before)
        let stats = try client.result("stats")
        let turn = stats.map?["longest_turn_seconds"]?.number ?? 0
        tell(
            #"{"case":"\#(name)","processorSeconds":\#(rounded(spent)),"seconds":\#(rounded(passed)),"longestTurnMs":\#(rounded(turn * 1000))\#(fields)}"#
        )
    }

    /// Nodes are freed in slices, and memory is given back a second after the last one.
    func waitForMemory() {
        let deadline = MonotonicTime.now + 20
        var before = 0
        while MonotonicTime.now < deadline, daemon.residentKilobytes != before {
            before = daemon.residentKilobytes
            usleep(2_500_000)
        }
    }

    /// Prints what memory is left when what was only read has been given back.
    func rest(_ name: String, _ count: Int) throws {
        begin()
        waitForMemory()
        try end(name, memory(count))
    }

    func rounded(_ number: Double) -> Double { (number * 1000).rounded() / 1000 }

    /// Memory since the start, for each of so many nodes, and how much more it was at most.
    func memory(_ count: Int) -> String {
        let (now, peak) = (daemon.residentKilobytes - empty, daemon.peakKilobytes - empty)
        return #","bytesPerNode":\#(now * 1024 / count),"peak":\#(rounded(Double(peak) / Double(max(1, now))))"#
    }
}

do {
    var count = 100_000
    var shapes = Shape.allCases
    var words = CommandLine.arguments.dropFirst()
    while let word = words.popFirst() {
        if word == "--nodes", let number = words.popFirst().flatMap({ Int($0) }) { count = number }
        if let shape = Shape(rawValue: word) { shapes = [shape] }
    }
    guard let program = DaemonProcess.program else { throw Trouble("build agd first: swift build --product agd") }
    for shape in shapes {
        let bench = try Bench(program, count)
        let document = shape.document(count)
        bench.begin()
        try bench.client.result("apply", #"{"document":\#(document)}"#)
        if shape == .list { try bench.client.result("set", #"{"path":"/grid.size","value":\#(count)}"#) }
        try bench.end("\(shape) \(count), apply", bench.memory(count))
        try bench.rest("\(shape) \(count), a second after apply", count)
        bench.begin()
        let values = try bench.client.result("get", #"{"paths":["/grid/**"]}"#).map?["values"]?.map?.count ?? 0
        try bench.end("\(shape) \(count), get", #","values":\#(values)\#(bench.memory(count))"#)
        if shape != .list {
            bench.begin()
            try bench.client.result("apply", #"{"document":\#(document),"mode":"merge"}"#)
            try bench.end("\(shape) \(count), apply again")
        }
        try bench.restart()
        try bench.end("\(shape) \(count), start", bench.memory(count))
        try bench.rest("\(shape) \(count), a second after the start", count)
        bench.begin()
        try bench.client.result("remove", #"{"path":"/grid"}"#)
        bench.waitForMemory()
        try bench.end("\(shape) \(count), remove", bench.memory(count))
    }
} catch {
    tell("trees-benchmark: \(error)")
    exit(2)
}
