import AttributeValues
import BenchmarkSupport
import Glibc

/// One attack against a daemon of its own, next to a healthy client.
struct Trial {
    let attack: Attack
    let program: String
    var isVerbose = false

    /// Seconds for which the daemon may take up what an attack has left before it is asked for its figures.
    private static let grace = 2.0
    /// Seconds of processor time that a start may take; the unit allows 60 s in all.
    private static let longestStart = 10.0
    /// Bytes that the daemon may ever have in memory, as the unit's MemoryMax.
    private static let mostMemory = 4096 << 20

    struct Outcome {
        var waits = HealthyClient.Waits()
        /// Seconds of processor time; at least that, if the daemon did not answer any more.
        var longestTurn = 0.0
        var figures: [String: Double] = [:]
        var peak = 0
        var resident = 0
        /// Seconds of processor time that the start over the store took.
        var start: Double?
        /// Seconds until the daemon had ended.
        var stop: Double?
        /// Promises that the daemon broke, in words.
        var faults: [String] = []
        var isAlive = true
    }

    /// - Returns: whether every limit was held.
    func run() throws -> Bool {
        let daemon = try DaemonProcess(program, for: attack)
        var outcome = Outcome()
        let witness = attack.ending == .stopped ? try makeWitness(daemon) : nil
        let healthy = try ChildProcess([ChildProcess.own, "--ping", daemon.socketPath])
        let before = daemon.processorTime
        let user: UInt32 = attack.hasRights ? getuid() : 65_534
        var words = [ChildProcess.own, "--attack", attack.name, daemon.socketPath, "\(user)"]
        if isVerbose { words.append("--verbose") }
        let attacker = try ChildProcess(words)
        _ = attacker.wait(upTo: attack.seconds)
        if attack.ending == .stopped { try stop(daemon, &outcome) }
        // The attacker's clients are there until its figures are known: how they go belongs to the attack that is about
        // that.
        let figures = daemon.isAlive ? daemon.figures(within: Trial.grace) : nil
        kill(attacker.id, SIGKILL)
        outcome.figures = figures ?? [:]
        outcome.peak = daemon.peakKilobytes << 10
        if figures != nil { _ = try? DaemonClient(daemon.socketPath, patience: 0).call("ping", within: Trial.grace) }
        let after = figures == nil ? nil : daemon.figures(within: Trial.grace)
        outcome.resident = daemon.residentKilobytes << 10
        healthy.endInput()
        outcome.waits = HealthyClient.read(healthy.readOutput()) ?? HealthyClient.Waits()
        outcome.longestTurn = after?["longest_turn_seconds"] ?? min(outcome.waits.worst, daemon.processorTime - before)
        judge(daemon, hasAnswered: after != nil, &outcome)
        if attack.ending == .restarted { try restart(daemon, &outcome) }
        withExtendedLifetime(witness) {}
        print(outcome)
        return outcome.faults.isEmpty
    }

    private func judge(_ daemon: DaemonProcess, hasAnswered: Bool, _ outcome: inout Outcome) {
        outcome.isAlive = hasAnswered
        if attack.ending != .stopped {
            if !daemon.isAlive {
                outcome.faults.append("the daemon died: \(daemon.log.suffix(300))")
            } else if !hasAnswered {
                outcome.faults.append("the daemon does not answer")
            }
        }
        if outcome.longestTurn > attack.longestTurn {
            outcome.faults.append("a turn of more than \(Int(attack.longestTurn * 1000)) ms")
        }
        if outcome.peak > Trial.mostMemory {
            outcome.faults.append("more than \(Trial.mostMemory >> 20) MiB of memory")
        }
        for (name, most) in attack.most.sorted(by: { $0.key < $1.key }) where outcome.figures[name] ?? 0 > most {
            outcome.faults.append("\(name) is \(Int(outcome.figures[name] ?? 0)), more than \(Int(most))")
        }
    }

    /// Ends the daemon in order and starts it over what the attack has left in its store.
    private func restart(_ daemon: DaemonProcess, _ outcome: inout Outcome) throws {
        daemon.terminate()
        if !daemon.hasEnded(within: 5) {
            outcome.faults.append("the daemon did not end within 5 s")
            daemon.killNow()
        }
        try daemon.start()
        let start = daemon.processorTime
        outcome.start = start
        if start > Trial.longestStart { outcome.faults.append("a start of more than \(Int(Trial.longestStart)) s") }
    }

    // A client that has left something for when it goes away.

    static let witnessScene = #"{"id":"witness","state":{"isThere":true}}"#

    private func makeWitness(_ daemon: DaemonProcess) throws -> DaemonClient {
        let client = try DaemonClient(daemon.socketPath)
        try client.call("onDisconnect", #"{"mutations":[{"op":"set","path":"/witness.isThere","value":false}]}"#)
        return client
    }

    /// Tells the daemon to end, and looks afterwards for the witness's last will.
    private func stop(_ daemon: DaemonProcess, _ outcome: inout Outcome) throws {
        let start = MonotonicTime.now
        daemon.terminate()
        // shutdown-time, and some for the turn at hand.
        let hasEnded = daemon.hasEnded(within: 6)
        outcome.stop = MonotonicTime.now - start
        if !hasEnded {
            outcome.faults.append("the daemon had not ended 6 s after SIGTERM")
            daemon.killNow()
        }
        try daemon.start()
        let answer = try DaemonClient(daemon.socketPath).call("get", #"{"path":"/witness.isThere"}"#)
        if !String(decoding: answer, as: UTF8.self).contains(#""value":false"#) {
            outcome.faults.append("another client's onDisconnect was not done")
        }
    }

    private func print(_ outcome: Outcome) {
        func milliseconds(_ seconds: Double) -> Double { (seconds * 100_000).rounded() / 100 }
        var fields = [
            #""benchmark":"hostile","attack":"\#(attack.name)""#,
            #""worstWaitMs":\#(milliseconds(outcome.waits.worst)),"wait999Ms":\#(milliseconds(outcome.waits.permille999)),"pings":\#(outcome.waits.pings)"#,
            #""longestTurnMs":\#(milliseconds(outcome.longestTurn)),"turnsOver100ms":\#(Int(outcome.figures["turns_over_100ms"] ?? 0))"#,
            #""peakMiB":\#(outcome.peak >> 20),"residentAfterMiB":\#(outcome.resident >> 20)"#,
        ]
        for name in attack.most.keys.sorted() { fields.append(#""\#(name)":\#(outcome.figures[name] ?? 0)"#) }
        if let start = outcome.start { fields.append(#""startMs":\#(milliseconds(start))"#) }
        if let stop = outcome.stop { fields.append(#""stopMs":\#(milliseconds(stop))"#) }
        let faults = outcome.faults.map { "\"" + $0.replacing("\"", with: "'").replacing("\n", with: " ") + "\"" }
        fields.append(#""alive":\#(outcome.isAlive),"faults":[\#(faults.joined(separator: ","))]"#)
        tell("{" + fields.joined(separator: ",") + "}")
    }
}
