import CSimulatedKernel
import Glibc

/// `simulate --seed N` runs one world, the same each time. `simulate --seconds S` runs worlds of fresh seeds, each in a
/// process of its own, and shrinks the first one that fails. With `--quick` it does not shrink, and counts seconds of
/// processor time, so that others on the machine do not matter.
@main
enum Simulate {
    static let steps = 1000
    enum Kind {
        case world
        /// Two worlds with another hidden part.
        case interference
        /// Machines that mirror one another.
        case links
    }
    /// The kind of a seed's world, by the remainder.
    static let kinds: [Kind] = [.world, .links, .world, .interference, .world]

    static func main() {
        setenv("TZ", "UTC", 1)
        for name in ["LC_ALL", "LANG"] { unsetenv(name) }
        var arguments = Array(CommandLine.arguments.dropFirst())
        var values: [String: String] = [:]
        var isTelling = false
        var isQuick = false
        while !arguments.isEmpty {
            let name = arguments.removeFirst()
            if name == "--tell" {
                isTelling = true
            } else if name == "--quick" {
                isQuick = true
            } else if ["--seed", "--seconds", "--steps", "--only"].contains(name), !arguments.isEmpty {
                values[name] = arguments.removeFirst()
            } else {
                fail("simulate [--seed N [--steps N] [--only STEP,STEP…] [--tell]] [--seconds S [--quick]]")
            }
        }
        let only = values["--only"].map { Set($0.split(separator: ",").compactMap { Int($0) }) }
        let steps = values["--steps"].flatMap { Int($0) } ?? Simulate.steps
        if let seed = values["--seed"].flatMap({ UInt64($0) }) {
            // The hashing of a process is decided before it begins.
            guard getenv("SIMULATE_HASHING") != nil else {
                setenv("SIMULATE_HASHING", "\(seed)", 1)
                setenv("SWIFT_DETERMINISTIC_HASHING", "1", 1)
                // Some orders depend on the addresses of objects.
                sim_place_memory_alike()
                let arguments = CommandLine.arguments.map { strdup($0) } + [nil]
                execv("/proc/self/exe", arguments)
                fail("exec: \(String(cString: strerror(errno)))")
            }
            run(seed, steps, only, isTelling)
        }
        Search(seconds: values["--seconds"].flatMap { Double($0) } ?? 45, shrinks: !isQuick).run()
    }

    static func fail(_ text: String) -> Never {
        print(text)
        exit(64)
    }

    /// Seconds of processor time.
    private static var now: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }

    private static func run(_ seed: UInt64, _ steps: Int, _ only: Set<Int>?, _ isTelling: Bool) -> Never {
        let start = now
        switch kinds[Int(seed % UInt64(kinds.count))] {
        case .links:
            let (faults, messages) = Links(seed: seed, isTelling: isTelling).run()
            for fault in faults.prefix(12) { print(fault) }
            print("seed \(seed): \(messages) messages between machines")
            exit(faults.isEmpty ? 0 : 1)
        case .interference:
            let (faults, requests) = Interference(seed: seed, isTelling: isTelling).run()
            for fault in faults.prefix(12) { print(fault) }
            print(
                "seed \(seed): \(requests) requests, \(Int(Double(requests) / (now - start))) a second; two worlds with another hidden part"
            )
            exit(faults.isEmpty ? 0 : 1)
        case .world:
            let world = World(seed: seed, isTelling: isTelling)
            world.run(steps: steps) { only?.contains($0) ?? true }
            let seconds = now - start
            for fault in world.faults.prefix(12) { print(fault) }
            let figures = world.judgement.figures
            print(
                "seed \(seed): \(world.requests) requests, \(Int(Double(world.requests) / seconds)) a second; "
                    + "\(world.turns) turns, \(world.restarts) restarts, \(figures.operations) changes, \(figures.reads) reads, "
                    + "\(figures.events) events, \(figures.refusals) refusals, "
                    + "\(world.archived) archived records, \(world.compared) past values")
            exit(world.faults.isEmpty ? 0 : 1)
        }
    }
}

/// Worlds one after another, until one fails.
private struct Search {
    let seconds: Double
    let shrinks: Bool

    private struct Result {
        var hasFailed: Bool
        var output: String
        /// The first fault's promise.
        var promise: String {
            guard let start = output.firstIndex(of: "["), let end = output.firstIndex(of: "]"), start < end else {
                return ""
            }
            return String(output[start...end])
        }
        /// The step of the first fault.
        var step: Int? {
            let line = output.split(separator: "\n").first { $0.hasPrefix("step ") }
            return line.flatMap { Int($0.dropFirst(5).prefix { $0 != ":" }) }
        }
        var requests: Int {
            let line = output.split(separator: "\n").last { $0.hasPrefix("seed ") && $0.contains(" requests") }
            return line.flatMap { $0.split(separator: " ").dropFirst(2).first.flatMap { Int($0) } } ?? 0
        }
    }

    func run() -> Never {
        let start = sim_real_seconds()
        var (worlds, requests) = (0, 0)
        while (shrinks ? sim_real_seconds() - start : Search.processorSeconds) < seconds {
            // The kinds take turns, so that even a short search has all of them.
            let kinds = Simulate.kinds.count
            let seed = UInt64.random(in: 0..<1_000_000_000_000 / UInt64(kinds)) * UInt64(kinds) + UInt64(worlds % kinds)
            let result = world(seed, Simulate.steps, nil)
            worlds += 1
            requests += result.requests
            if result.hasFailed {
                print(
                    "the world of seed \(seed) fails, after \(Int(Search.processorSeconds)) s of processor time:\n\(result.output)"
                )
                if shrinks { shrink(seed, result) }
                exit(1)
            }
        }
        print(
            "\(worlds) worlds with \(requests) requests kept all promises, in \(Int(Search.processorSeconds)) s of processor time"
        )
        exit(0)
    }

    /// What all worlds have taken.
    private static var processorSeconds: Double {
        var usage = rusage()
        getrusage(__rusage_who_t(RUSAGE_CHILDREN.rawValue), &usage)
        return Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
            + Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6
    }

    /// Leaves out steps as long as the same promise is broken.
    private func shrink(_ seed: UInt64, _ first: Result) {
        let end = sim_real_seconds() + 120
        var steps = (first.step ?? Simulate.steps - 1) + 1
        if !fails(seed, steps, nil, first) { steps = Simulate.steps }
        var left = Array(0..<steps)
        var size = left.count / 2
        while size >= 1, sim_real_seconds() < end {
            var place = 0
            while place < left.count, sim_real_seconds() < end {
                var fewer = left
                fewer.removeSubrange(place..<min(place + size, left.count))
                if fails(seed, steps, fewer, first) { left = fewer } else { place += size }
            }
            size /= 2
        }
        let only = left.map { "\($0)" }.joined(separator: ",")
        print("\(left.count) steps are left:\n\(world(seed, steps, left, isTelling: true).output)")
        print("again: Scripts/simulate --seed \(seed) --steps \(steps) --only \(only) --tell")
    }

    private func fails(_ seed: UInt64, _ steps: Int, _ only: [Int]?, _ first: Result) -> Bool {
        let result = world(seed, steps, only)
        return result.hasFailed && result.promise == first.promise
    }

    private func world(_ seed: UInt64, _ steps: Int, _ only: [Int]?, isTelling: Bool = false) -> Result {
        var arguments = ["simulate", "--seed", "\(seed)", "--steps", "\(steps)"]
        if let only { arguments += ["--only", only.map { "\($0)" }.joined(separator: ",")] }
        if isTelling { arguments.append("--tell") }
        var pipes: (Int32, Int32) = (0, 0)
        guard
            withUnsafeMutablePointer(to: &pipes, { $0.withMemoryRebound(to: Int32.self, capacity: 2) { pipe($0) } })
                == 0
        else {
            Simulate.fail("pipe: \(String(cString: strerror(errno)))")
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, pipes.1, 1)
        posix_spawn_file_actions_adddup2(&actions, pipes.1, 2)
        posix_spawn_file_actions_addclose(&actions, pipes.0)
        let names = arguments.map { strdup($0) }
        defer { for name in names { free(name) } }
        var process: pid_t = 0
        let number = posix_spawn(&process, "/proc/self/exe", &actions, nil, names + [nil], environ)
        posix_spawn_file_actions_destroy(&actions)
        close(pipes.1)
        guard number == 0 else { Simulate.fail("posix_spawn: \(String(cString: strerror(number)))") }
        var output: [UInt8] = []
        var block = [UInt8](repeating: 0, count: 1 << 16)
        let end = sim_real_seconds() + 300
        var hasEnded = false
        while !hasEnded {
            var poll = pollfd(fd: pipes.0, events: Int16(POLLIN), revents: 0)
            if Glibc.poll(&poll, 1, 1000) > 0 {
                let count = Glibc.read(pipes.0, &block, block.count)
                if count > 0 { output += block[..<count] } else { hasEnded = true }
            } else if sim_real_seconds() > end {
                kill(process, SIGKILL)
                output += "step 0: [Time] the world does not end\n".utf8
                hasEnded = true
            }
        }
        close(pipes.0)
        var status: Int32 = 0
        waitpid(process, &status, 0)
        return Result(hasFailed: status != 0, output: String(decoding: output, as: UTF8.self))
    }
}
