import BenchmarkSupport
import Glibc
import TestSupport

// Runs the real daemon under everything that comes and goes: lists with changing ids, nodes, subscriptions, animations,
// clients, moves and redefinitions. At even intervals all of it is taken back, so that the daemon is where it was, and
// a line of JSON says what the daemon holds then. All that stays flat, or the program ends with status 1.
//
//     soak-benchmark [SECONDS] [--seed NUMBER] [--program PATH]
//
// What happens depends on the seed alone, how much of it on the machine. The first line prints the seed, to repeat a
// run.

struct Options {
    var seconds = 20.0
    var seed = UInt64.random(in: 0...UInt64.max)
    var program = DaemonProcess.program

    init(_ arguments: [String]) throws {
        var rest = arguments[...]
        while let word = rest.popFirst() {
            switch word {
            case "--seed":
                guard let number = rest.popFirst().flatMap({ UInt64($0) }) else { throw Options.usage }
                seed = number
            case "--program":
                guard let path = rest.popFirst() else { throw Options.usage }
                program = path
            default:
                guard let number = Double(word), number > 0 else { throw Options.usage }
                seconds = number
            }
        }
    }

    static let usage = Trouble("usage: soak-benchmark [SECONDS] [--seed NUMBER] [--program PATH]")
}

do {
    let options = try Options(Array(CommandLine.arguments.dropFirst()))
    guard let program = options.program else {
        throw Trouble("agd is not built: swift build --product agd")
    }
    let faults = try Soak(program, seed: options.seed).run(seconds: options.seconds)
    for fault in faults { tell(#"{"benchmark":"soak","fault":"\#(fault)"}"#) }
    exit(faults.isEmpty ? 0 : 1)
} catch {
    tell("soak-benchmark: \(error)")
    exit(2)
}
