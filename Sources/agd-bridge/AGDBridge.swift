import AGClient
import CommandArguments
import Glibc
import WireProtocol

@main
struct AGDBridge: Verb {
    static let help = VerbHelp(
        name: "agd-bridge",
        summary: "Bring values of other programs into the graph, and values of the graph to MQTT.",
        discussion: """
            config/bridge.conf describes all settings. Documentation/World.md shows a line for each kind of source.

            Examples:
              agd-bridge --config /etc/agd/bridge.conf
              agd-bridge --config /etc/agd/bridge.conf --check-config

            Exit status:
              0   ended by SIGTERM or SIGINT   71  operating system
              64  command line                 78  configuration, or its file missing
            """)

    @Option(help: ArgumentHelp("Read settings from this file.", valueName: "file"))
    var config: String

    @Option(help: ArgumentHelp("The daemon's socket, instead of the configuration's.", valueName: "path"))
    var socket: String?

    @Flag(help: "Print all faults of the configuration, and end.")
    var checkConfig = false

    static func main() { AGDBridge.readCommandLine(version: Release.version).run() }

    func run() {
        var settings = AGDBridge.readConfiguration(config) { (text, file) throws(ConfigurationFaults) in
            try Configuration(text: text, file: file)
        }
        AGDBridge.warnOfOpenSecrets(settings.secrets(in: config))
        if checkConfig { return }
        if let file = settings.authorities, access(file, R_OK) != 0 {
            AGDBridge.end("cannot read \(file), which 'mqtt-ca' names: \(String(cString: strerror(errno)))", 78)
        }
        if let socket { settings.socket = socket }
        signal(SIGPIPE, SIG_IGN)
        do throws(ClientError) { try Bridge(settings, signals: try Signals()).run() } catch {
            AGDBridge.end("\(error)", 71)
        }
    }
}
