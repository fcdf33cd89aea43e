import AttributeValues
import CommandArguments
import DaemonServer
import Glibc
import Replay
import WireProtocol

@main
struct AGDPast: Verb {
    static let help = VerbHelp(
        name: "agd-past",
        summary: "Serve the past of an agd: the archive, and the graph as it was.",
        discussion: """
            It reads the settings of agd: the folder of the archive, the access lines, and the limits. It reads the \
            archive, and packs the files that are complete, so it can be started and ended at any time. Each connection \
            has a process of its own, and begins with the graph of the newest moment, which is made after the first one.

            The socket is the one given here, else past.sock beside the socket of agd.

            Examples:
              agd-past --config /etc/agd/agd.conf
              agctl log --from 1h

            Exit status:
              0   ended by SIGTERM or SIGINT   71  operating system
              64  command line                 73  socket
              66  no archive                   78  configuration, or its file missing
            """)

    @Option(help: ArgumentHelp("Read the settings of agd from this file.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("Listen on this Unix socket.", valueName: "path"))
    var socket: String?

    @Option(help: ArgumentHelp("The state directory of agd, as agd was given it.", valueName: "dir"))
    var stateDirectory: String?

    @Option(help: ArgumentHelp("At most so many connections at a time (16).", valueName: "n"))
    var connections: Int?

    @Flag(help: "Pack the files of the archive that agd does not write to any more, and end.")
    var pack = false

    @Flag(help: "Serve the connection on descriptor 3 alone, as systemd passes it with Accept=yes.")
    var connected = false

    func validate() throws(UsageError) {
        if let connections, connections < 1 || connections > 1000 {
            throw UsageError("--connections is a number from 1 to 1000")
        }
    }

    static func main() {
        do throws(StartupError) { try AGDPast.readCommandLine(version: Release.version).run() } catch {
            StandardError.write("agd-past: \(error.description)\n")
            exit(error.status.rawValue)
        }
    }

    func run() throws(StartupError) {
        signal(SIGPIPE, SIG_IGN)
        let (configuration, past) = try read()
        if pack { return try Packer(past.folder).run() }
        _ = nice(10)
        if connected { return PastConnection(3, past).run() }
        let path = socket ?? AGDPast.standardSocket(configuration)
        let listener = try ListeningSocket(
            path: path, mode: configuration.socketMode, group: configuration.socketGroup)
        try Listener(listener, past, connections: connections ?? 16) { () throws(StartupError) in try read().past }
            .run()
    }

    private func read() throws(StartupError) -> (configuration: Configuration, past: Past) {
        var configuration = Configuration()
        if let config {
            do throws(ConfigurationFaults) { configuration = try Configuration(file: config) } catch {
                throw StartupError(.configuration, error.description)
            }
        }
        configuration.override(socket: nil, stateDirectory: stateDirectory, scenes: [])
        AttributePath.maximumLength = configuration.pathLength
        guard let folder = configuration.archiveFolder else {
            throw StartupError(
                .noInput, "the settings name no archive: see archive-directory and state-directory in agd.conf")
        }
        return (configuration, Past(folder: folder, configuration))
    }

    /// `past.sock` in the folder of the daemon's socket.
    private static func standardSocket(_ configuration: Configuration) -> String {
        SocketPlaces.past(
            beside: configuration.socket ?? SocketPlaces.find({ getenv($0).map { String(cString: $0) } }).path)
    }
}
