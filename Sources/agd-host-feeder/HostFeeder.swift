import AGClient
import CommandArguments
import Glibc
import WireProtocol

@main
struct HostFeeder: Verb {
    static let help = VerbHelp(
        name: "agd-host-feeder",
        summary: "Feed this machine's figures to agd, for the scene host-monitor.yaml.",
        discussion: """
            Once a second it writes CPU times, memory, load, pressure, the traffic of networks and disks, the busiest \
            processes and the state of the clock, raw and as one transaction. Every five seconds it also reads file \
            systems, temperatures, fans, systemd's failed units, and control groups with their containers. One that does \
            not answer delays none of the others, and is named in 'feed.silent'. Nothing needs root.

            While the daemon does not run or takes no more clients, the feeder waits. When the feeder ends, the \
            daemon marks the figures as stale.

            In a container, the folders of the machine can be mounted elsewhere: \
            --proc /host/proc --sys /host/sys --root /host. The bus is that of DBUS_SYSTEM_BUS_ADDRESS, if it is set.

            It ends with 0 on SIGINT, SIGTERM and SIGHUP, with 1 if the daemon refuses a write, and with 64 if the \
            command line is wrong.
            """)

    @Option(
        help: ArgumentHelp(
            "The daemon's socket; otherwise AGD_SOCKET, $XDG_RUNTIME_DIR/agd/agd.sock, /run/agd/agd.sock.",
            valueName: "path")) var socket: String?

    @Option(help: "The node to write to.")
    var node = "/host"

    @Option(help: ArgumentHelp("Time between two samples, 0.01 to 3600.", valueName: "seconds"))
    var interval = 1.0

    @Option(help: ArgumentHelp("Read another folder in place of /proc.", valueName: "folder"))
    var proc = "/proc"

    @Option(help: ArgumentHelp("Read another folder in place of /sys.", valueName: "folder"))
    var sys = "/sys"

    @Option(help: ArgumentHelp("The folder below which the machine's file systems are.", valueName: "folder"))
    var root = "/"

    static func main() { HostFeeder.readCommandLine(version: Release.version).run() }

    func validate() throws(UsageError) {
        guard (0.01...3600).contains(interval) else {
            throw UsageError("--interval is 0.01 to 3600 seconds, not '\(interval)'")
        }
        guard access(proc + "/stat", R_OK) == 0 else { throw UsageError("--proc: cannot read \(proc)/stat") }
        for (option, folder) in [("--sys", sys), ("--root", root)] {
            guard access(folder, X_OK) == 0 else { throw UsageError("\(option): cannot enter the folder \(folder)") }
        }
    }

    func run() {
        let signals: Signals
        do throws(ClientError) { signals = try Signals() } catch {
            HostFeeder.report("\(error)")
            exit(1)
        }
        let machine = Machine(
            proc: SystemFolder(path: proc), sys: SystemFolder(path: sys), root: root == "/" ? "" : root)
        let feeder = Feeder(node: node, interval: interval, machine: machine, signals: signals)
        do throws(ClientError) { try feeder.run { .find(socket) } } catch {
            HostFeeder.report("\(error)" + (error.hint.map { " (\($0))" } ?? ""))
            if error.failure?.code == .notFound {
                HostFeeder.report("is the scene host-monitor.yaml loaded? 'agctl apply -f host-monitor.yaml' does it")
            }
            exit(1)
        }
    }
}
