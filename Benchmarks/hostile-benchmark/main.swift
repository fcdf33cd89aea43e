import BenchmarkSupport
import Glibc
import TestSupport

/// Attacks the real daemon, each time a fresh one, next to a healthy client that pings about every millisecond, and
/// prints one JSON line for each attack: how long the healthy client waited at worst and in 999 of 1000 cases, the
/// longest turn in the daemon's processor time, its memory, and which limits were passed. Ends with 1 if one was.
///
///     hostile-benchmark [--verbose] [NAME …]    all attacks, or those whose names begin so; --list names them
///     hostile-benchmark search [NAME …]         looks for requests that are not charged for their time
let arguments = Array(CommandLine.arguments.dropFirst())

/// As many clients as the kernel allows.
func raiseDescriptors() {
    var limit = rlimit()
    getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
}

/// Plays the attacker: becomes the user, attacks, and stays until it is killed, so that its connections stay, too.
func attack(_ name: String, _ socketPath: String, user: UInt32, isVerbose: Bool) throws {
    guard let attack = Attack.all.first(where: { $0.name == name }) else { throw Trouble("no attack \(name)") }
    if user != getuid() {
        guard setgroups(0, nil) == 0, setgid(user) == 0, setuid(user) == 0 else { throw Trouble(call: "setuid") }
    }
    do {
        try attack.run(Target(socketPath: socketPath, isVerbose: isVerbose))
    } catch let trouble as Trouble where !isVerbose {
        // The daemon may disconnect or refuse an attacker.
        _ = trouble
    }
}

func runAll(_ wanted: [String], isVerbose: Bool) throws -> Bool {
    guard let program = DaemonProcess.program else {
        tell(#"{"benchmark":"hostile","skipped":"build agd first, in the same configuration"}"#)
        return true
    }
    var isGood = true
    for attack in Attack.all where wanted.isEmpty || wanted.contains(where: { attack.name.hasPrefix($0) }) {
        if !attack.hasRights, getuid() != 0 {
            tell(
                #"{"benchmark":"hostile","attack":"\#(attack.name)","skipped":"only root can attack as a user without rights"}"#
            )
            continue
        }
        if try !Trial(attack: attack, program: program, isVerbose: isVerbose).run() { isGood = false }
    }
    return try runAgainstGateway(wanted, program) && isGood
}

/// The same for the gateway, next to a healthy page that asks for its health.
func runAgainstGateway(_ wanted: [String], _ daemon: String) throws -> Bool {
    let attacks = GatewayAttack.all.filter { attack in wanted.isEmpty || wanted.contains { attack.name.hasPrefix($0) } }
    guard let program = GatewayTrial.gatewayProgram(beside: daemon) else {
        if !attacks.isEmpty {
            tell(#"{"benchmark":"hostile","skipped":"build agd-gateway first, in the same configuration"}"#)
        }
        return true
    }
    var isGood = true
    for attack in attacks where try !GatewayTrial(attack: attack, daemonProgram: daemon).run(program) { isGood = false }
    return isGood
}

raiseDescriptors()
signal(SIGPIPE, SIG_IGN)
do {
    let isVerbose = arguments.contains("--verbose")
    let words = arguments.filter { $0 != "--verbose" }
    switch words.first {
    case "--list": for name in Attack.all.map(\.name) + GatewayAttack.all.map(\.name) { print(name) }
    case "--page": try GatewayTrial.page(words[1], words[2])
    case "--attack-gateway":
        // The gateway may close an attacker's connections.
        try? GatewayAttack.all.first { $0.name == words[1] }?.run(GatewayTarget(socketPath: words[2]))
        sleep(600)
    case "search": exit(try Dimension.searchAll(Array(words.dropFirst())) ? 0 : 1)
    case "--ping": try HealthyClient.main(words[1])
    case "--attack": try attack(words[1], words[2], user: UInt32(words[3]) ?? getuid(), isVerbose: isVerbose)
    default: exit(try runAll(words, isVerbose: isVerbose) ? 0 : 1)
    }
} catch {
    tell("hostile-benchmark: \(error)", to: 2)
    exit(2)
}
