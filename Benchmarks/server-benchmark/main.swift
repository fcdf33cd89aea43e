import BenchmarkSupport
import Glibc
import TestSupport

// Runs the same load against redis and the daemon in turn: writes, round trips, watchers, durable writes. Prints a line
// of JSON for each case, with the medians of both and their ratio; above 1, the daemon does more. Without redis it
// prints the daemon's figures alone.
//
// Where valgrind is installed, `counts` prints the instructions and allocations of a request, which depend on no
// machine. `seeks` measures how long agd-past takes to go to a moment.
//
//     server-benchmark [--rounds NUMBER] [--seconds SECONDS] [counts] [seeks] [beginning of a case's name…]

struct Case {
    let name: String
    var shape = Message.Shape.map
    var writers = 1
    var watchers = 0
    var window = 64
    /// The daemon's setting, and redis' that comes nearest.
    var durability: (agd: String, redis: String)?
    /// Load and server share a processor, so that no interrupt between two of them is measured.
    var isOnOneCore = false
}

let cases = [
    Case(name: "set a map, 1 writer x 64"),
    Case(name: "set a map, 16 writers x 64", writers: 16),
    Case(name: "set a number, 1 writer x 64", shape: .number),
    Case(name: "set a number, 16 writers x 64", shape: .number, writers: 16),
    Case(name: "round trip", window: 1, isOnOneCore: true),
    Case(name: "1 watcher, 64 writes", watchers: 1),
    Case(name: "100 watchers, 1 write", watchers: 100, window: 1),
    Case(name: "100 watchers, 64 writes", watchers: 100),
    Case(name: "1000 watchers, 1 write", watchers: 1000, window: 1),
    Case(name: "1000 watchers, 64 writes", watchers: 1000),
    Case(name: "durable normal, 16 writers x 64", writers: 16, durability: ("normal", "everysec")),
    Case(name: "durable full, 16 writers x 64", writers: 16, durability: ("full", "always")),
    Case(name: "durable full, one at a time", window: 1, durability: ("full", "always")),
]

/// Leaves a process these processors, as `taskset` writes them.
func pin(_ process: pid_t, to processors: String) throws {
    guard try ChildProcess(["/usr/bin/taskset", "-a", "-c", "-p", processors, "\(process)"]).wait(upTo: 5) == 0 else {
        throw Trouble("taskset -c -p \(processors) \(process) failed")
    }
}

func measure(_ server: Server, _ one: Case, seconds: Double) throws -> Load.Result {
    if one.isOnOneCore { for process in [getpid(), server.process] { try pin(process, to: "0") } }
    defer { if one.isOnOneCore { try? pin(getpid(), to: "0-\(sysconf(Int32(_SC_NPROCESSORS_ONLN)) - 1)") } }
    return try Load(server, one.shape, writers: one.writers, watchers: one.watchers, window: one.window)
        .run(seconds: seconds)
}

func median(_ results: [Load.Result], _ figure: (Load.Result) -> Double) -> Double {
    results.map(figure).sorted()[results.count / 2]
}

func text(_ number: Double) -> String { number >= 1000 ? "\(Int(number))" : "\((number * 100).rounded() / 100)" }

func figures(_ results: [Load.Result]) -> String {
    let wait = median(results, \.median)
    let waits = wait > 0 ? #","p50Us":\#(text(wait)),"p99Us":\#(text(median(results, \.permille990)))"# : ""
    return
        #"{"perSecond":\#(text(median(results, \.perSecond))),"processorUs":\#(text(median(results, \.processorTime)))\#(waits)}"#
}

do {
    var (rounds, seconds, names): (Int, Double, [String]) = (3, 1, [])
    var words = CommandLine.arguments.dropFirst()
    while let word = words.popFirst() {
        switch word {
        case "--rounds": rounds = max(1, words.popFirst().flatMap { Int($0) } ?? rounds)
        case "--seconds": seconds = words.popFirst().flatMap { Double($0) } ?? seconds
        default: names.append(word)
        }
    }
    guard let program = DaemonProcess.program else { throw Trouble("agd is not built: swift build --product agd") }
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = min(limit.rlim_max, 8192)
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    for one in cases where names.isEmpty || names.contains(where: one.name.hasPrefix) {
        var (theirs, ours): ([Load.Result], [Load.Result]) = ([], [])
        for _ in 0..<rounds {
            if let redis = Redis.program {
                let server = try Redis(redis, fsync: one.durability?.redis, publishes: one.watchers > 0)
                theirs.append(try measure(server, one, seconds: seconds))
            }
            ours.append(try measure(try Agd(program, durability: one.durability?.agd), one, seconds: seconds))
        }
        var line = #"{"case":"\#(one.name)","agd":\#(figures(ours))"#
        if !theirs.isEmpty {
            let ratio =
                one.isOnOneCore
                ? median(theirs, \.median) / median(ours, \.median)
                : median(ours, \.perSecond) / median(theirs, \.perSecond)
            line += #","redis":\#(figures(theirs)),"ratio":\#(text(ratio))"#
        }
        tell(line + "}")
    }
    if names.isEmpty || names.contains("counts") { try countRequests(program, names.filter { $0 != "counts" }) }
    if names.contains("seeks") { try measureSeeks(program) }
} catch {
    tell("server-benchmark: \(error)")
    exit(2)
}
