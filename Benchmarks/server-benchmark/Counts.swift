import AttributeValues
import BenchmarkSupport
import Glibc
import TestSupport

/// The most that a request of a released daemon may take, a twentieth above what it takes. With a fifth, it grew by
/// a twelfth, a little at a time, and nothing said so.
private struct Limit {
    var instructions: Int
    var allocations: Int
}

/// The instructions and allocations of a request: what more requests add to those of a run under valgrind.
///
/// These counts defend second ways to do the same (decision 162 has the figures): `PlainSet` and `PlainJSON` beside the
/// parser, `write(_:toStateAt:)` beside `write`, `set` beside `transact`, `take` of a request beside that of a command.
/// Those of output are defended by the cases "round trip" and "100 watchers, 1 write".
/// - Parameter beginnings: of the names of cases; empty: all.
/// - Throws: if a request takes more than its limit.
func countRequests(_ program: String, _ beginnings: [String]) throws {
    guard access(Counting.valgrind, X_OK) == 0 else {
        return tell(#"{"case":"counts","skipped":"install valgrind"}"#)
    }
    // Otherwise two starts differ in how often keys of dictionaries are compared.
    setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
    let counting = try Counting(program)
    var excesses: [String] = []
    for (name, shape, watchers, store, archives, limit) in [
        ("set a map", Message.Shape.map, 0, Store.none, false, Limit(instructions: 6_530, allocations: 1)),
        ("set a number", .number, 0, .none, false, Limit(instructions: 4_870, allocations: 0)),
        ("set a map, 1 watcher", .map, 1, .none, false, Limit(instructions: 11_670, allocations: 1)),
        ("set a map, durable normal", .map, 0, .normal, false, Limit(instructions: 12_970, allocations: 1)),
        ("set a map, durable normal, archive", .map, 0, .normal, true, Limit(instructions: 14_200, allocations: 1)),
        ("set a number, durable normal", .number, 0, .normal, false, Limit(instructions: 9_230, allocations: 0)),
        (
            "set a number, durable normal, archive", .number, 0, .normal, true,
            Limit(instructions: 10_210, allocations: 0)
        ),
        ("set a map, transient", .map, 0, .transient, false, Limit(instructions: 6_790, allocations: 1)),
        ("set a map, transient, archive", .map, 0, .transient, true, Limit(instructions: 8_910, allocations: 1)),
        ("set a number, transient", .number, 0, .transient, false, Limit(instructions: 5_120, allocations: 0)),
        ("set a number, transient, archive", .number, 0, .transient, true, Limit(instructions: 6_040, allocations: 0)),
    ] where beginnings.isEmpty || beginnings.contains(where: name.hasPrefix) {
        let instructions = try counting.count("Collected :", ["--tool=callgrind", "--callgrind-out-file=/dev/null"]) {
            try counting.perform($0, shape, watchers: watchers, store, archives, runner: $1)
        }
        let allocations = try counting.count("total heap usage:", ["--tool=memcheck", "--leak-check=no"]) {
            try counting.perform($0, shape, watchers: watchers, store, archives, runner: $1)
        }
        tell(#"{"case":"\#(name)","instructions":\#(instructions),"allocations":\#(allocations)}"#)
        if instructions > limit.instructions || allocations > limit.allocations {
            excesses.append("\(name): \(limit.instructions) instructions, \(limit.allocations) allocations")
        }
    }
    if !excesses.isEmpty { throw Trouble("more than the limit of " + excesses.joined(separator: "; ")) }
}

/// The store of the daemon that is counted.
private enum Store {
    /// The daemon has no store.
    case none
    /// The durability `normal`.
    case normal
    /// There is a store, but the states are transient.
    case transient
}

private final class Counting {
    static let valgrind = "/usr/bin/valgrind"
    private static let window = 64
    private let folder: Folder
    /// Without debug information, which valgrind would read at each start.
    private let program: String

    init(_ program: String) throws {
        folder = try Folder()
        self.program = folder.file("agd")
        guard try ChildProcess(["/usr/bin/strip", "-g", "-o", self.program, program]).wait(upTo: 60) == 0 else {
            throw Trouble("strip \(program) failed")
        }
    }

    /// - Parameter label: stands in valgrind's log before the number.
    func count(_ label: String, _ tool: [String], _ perform: (Int, [String]) throws -> Void) throws -> Int {
        // The first requests make what the later ones reuse.
        let (few, many) = (Message.keys, Message.keys + 100 * Counting.window)
        let totals = try [few, many].map { requests in
            let log = folder.file("log")
            try perform(requests, [Counting.valgrind, "--log-file=\(log)"] + tool)
            let text = DaemonProcess.text(log)
            let line = text.split(separator: "\n").first { $0.contains(label) } ?? ""
            let digits = line.drop { $0 != ":" }.drop { !$0.isNumber }.prefix { $0.isNumber || $0 == "," }
            guard let total = Int(String(digits.filter(\.isNumber))) else { throw Trouble("valgrind says: \(text)") }
            return total
        }
        return (totals[1] - totals[0]) / (many - few)
    }

    func perform(
        _ requests: Int, _ shape: Message.Shape, watchers: Int, _ store: Store, _ archives: Bool, runner: [String]
    ) throws {
        let agd = try Agd(
            program, durability: store == .none ? nil : "normal", archives: archives, isTransient: store == .transient,
            runner: runner)
        let writer = try DaemonClient(agd.socketPath)
        let watchers = try (0..<watchers).map { _ in try DaemonClient(agd.socketPath) }
        for watcher in watchers {
            try watcher.send(agd.subscribing)
            _ = try watcher.reply()
        }
        for first in stride(from: 0, to: requests, by: Counting.window) {
            var bytes: [UInt8] = []
            for number in first..<first + Counting.window {
                var message = agd.write(number % Message.keys, shape)
                message.count(UInt64(number + 1))
                bytes += message.bytes
            }
            try writer.send(String(decoding: bytes, as: UTF8.self))
            for _ in 0..<Counting.window { _ = try writer.reply() }
            for watcher in watchers { for _ in 0..<Counting.window { _ = try watcher.nextLine() } }
        }
        agd.daemon.terminate()
        guard agd.daemon.hasEnded(within: 60) else { throw Trouble("the daemon does not end") }
    }
}
