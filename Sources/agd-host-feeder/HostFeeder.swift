import AGClient
import ArgumentParser
import WireProtocol

@main
struct HostFeeder: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "agd-host-feeder",
        abstract: "Feeds this machine's figures from /proc to agd, for the scene host-monitor.yaml.",
        discussion: """
            Once a second it writes CPU times, memory, load, pressure, network and disk traffic and the busiest processes, raw \
            and as one transaction. While the daemon does not run or has no room for another client, it waits. When it ends \
            itself, the daemon marks the figures as stale.

            It ends with 0 on SIGINT and SIGTERM, and with 1 when the daemon refuses what it writes.
            """,
        version: Release.version)

    @Option(help: "The daemon's socket; otherwise AGD_SOCKET, $XDG_RUNTIME_DIR/agd/agd.sock, /run/agd/agd.sock.")
    var socket: String?

    @Option(help: "The node to write to.")
    var node = "/host"

    @Option(help: "Seconds between two samples, 0.01 to 3600.")
    var interval = 1.0

    @Option(help: ArgumentHelp("Read another folder in place of /proc.", visibility: .hidden))
    var proc = "/proc"

    func validate() throws {
        guard (0.01...3600).contains(interval) else { throw ValidationError("--interval is 0.01 to 3600 seconds") }
    }

    func run() throws {
        let feeder = try Feeder(node: node, interval: interval, proc: ProcFolder(path: proc), interrupt: StopSignal())
        do throws(ClientError) {
            try feeder.run { .find(socket) }
        } catch {
            report("\(error)" + (error.hint.map { " (\($0))" } ?? ""))
            if error.failure?.code == .notFound {
                report("is the scene host-monitor.yaml loaded? 'agctl apply -f host-monitor.yaml' does it")
            }
            throw ExitCode.failure
        }
    }
}
