import AGClient
import Glibc
import ProgramOptions
import WireProtocol

@main
struct HostFeeder {
    static let options = ProgramOptions(
        program: "agd-host-feeder", version: Release.version,
        summary: "Feeds this machine's figures from /proc to agd, for the scene host-monitor.yaml.",
        discussion: """
            Once a second it writes CPU times, memory, load, pressure, network and disk traffic and the busiest \
            processes, raw and as one transaction. While the daemon does not run or has no room for another client, it \
            waits. When it ends itself, the daemon marks the figures as stale.

            It ends with 0 on SIGINT and SIGTERM, and with 1 when the daemon refuses what it writes.
            """,
        [
            .value(
                "socket", "PATH",
                "The daemon's socket; otherwise AGD_SOCKET, $XDG_RUNTIME_DIR/agd/agd.sock, /run/agd/agd.sock."),
            .value("node", "NODE", "The node to write to (default: /host)."),
            .value("interval", "SECONDS", "Time between two samples, 0.01 to 3600 (default: 1)."),
            .value("proc", "FOLDER", "Read another folder in place of /proc.", isHidden: true),
        ])

    static func main() {
        var (socket, node, interval, proc): (String?, String, Double, String) = (nil, "/host", 1, "/proc")
        for (name, value) in options.read() {
            switch name {
            case "socket": socket = value
            case "node": node = value
            case "proc": proc = value
            default:
                guard let seconds = Double(value), (0.01...3600).contains(seconds) else {
                    options.refuse("--interval is 0.01 to 3600 seconds, not '\(value)'")
                }
                interval = seconds
            }
        }
        let interrupt: Wakeup
        do throws(ClientError) { interrupt = try StopSignal.install() } catch {
            options.report("\(error)")
            exit(1)
        }
        let feeder = Feeder(node: node, interval: interval, proc: ProcFolder(path: proc), interrupt: interrupt)
        do throws(ClientError) { try feeder.run { .find(socket) } } catch {
            options.report("\(error)" + (error.hint.map { " (\($0))" } ?? ""))
            if error.failure?.code == .notFound {
                options.report("is the scene host-monitor.yaml loaded? 'agctl apply -f host-monitor.yaml' does it")
            }
            exit(1)
        }
    }
}
