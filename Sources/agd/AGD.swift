import AttributeValues
import CommandArguments
import DaemonServer
import Glibc
import Logging
import WireProtocol

@main
struct AGD: Verb {
    static let help = VerbHelp(
        name: "agd",
        summary: "The attribute-graph daemon: hosts a live graph of values and rules behind a Unix socket.",
        discussion: """
            Without a configuration file everything has its default; config/agd.conf describes every setting. The \
            socket is the one given here, else the configuration's, else $AGD_SOCKET, else \
            $XDG_RUNTIME_DIR/agd/agd.sock, else /run/agd/agd.sock. Sockets passed by systemd replace all of them.

            Examples:
              agd --scene Examples/podcast.yaml
              agd --config /etc/agd/agd.conf --check-config

            Signals:
              SIGTERM, SIGINT  answer what has come in, remove the socket, end;
                               a second signal ends at once
              SIGHUP           read the configuration again

            Exit status:
              0   normal end             71  operating system
              64  command line            72  store damaged or foreign
              65  scene                   73  socket
              66  scene file missing      74  store cannot be read or written
              69  socket or store in use  77  rights
              78  configuration, or its file missing
            """)

    @Option(help: ArgumentHelp("Read settings from this file.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("Listen on this Unix socket.", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "Load this scene at start, after those of the configuration; may be repeated.", valueName: "file"))
    var scene: [String] = []

    @Option(
        help: ArgumentHelp(
            "Store definitions and states in this folder, so that they survive restarts.", valueName: "dir"))
    var stateDirectory: String?

    @Flag(
        help: """
            Start with the readable rows of a damaged store. The log names what is lost; the damaged file is kept.
            """) var recover = false

    @Flag(
        help: """
            Only check the configuration and its scenes: print all faults, and exit with 0 or with the status of a \
            start that meets the first fault.
            """) var checkConfig = false

    @Option(
        help: ArgumentHelp(
            "Only send SIGHUP to the daemon with this process id, as kill(1) does where it is installed.",
            valueName: "pid")) var reload: Int?

    @Option(help: "How the log is written: text, or json for one object a line.")
    var logFormat = StandardErrorLog.Format.text

    @Option(
        help: ArgumentHelp(
            "Only write the store of the state directory into this file, also while a daemon runs.", valueName: "file"))
    var backup: String?

    func validate() throws(UsageError) {
        if let reload, reload < 2 || Int32(exactly: reload) == nil {
            throw UsageError("--reload: \(reload) is no process id of a daemon")
        }
    }

    /// The release, the commit, and the numbers of the formats, each on a line of its own.
    private static var version: String {
        "\(Release.version)\ncommit \(Release.commit ?? "unknown: not built by make release")\n\(Formats.summary)"
    }

    static func main() {
        do throws(StartupError) { try AGD.readCommandLine(version: version).run() } catch {
            printError(error.description)
            exit(error.status.rawValue)
        }
    }

    func run() throws(StartupError) {
        if let backup { return try backUp(to: backup) }
        if let reload { return try askForReload(reload) }
        if checkConfig { return try check() }
        let configuration: Configuration
        do throws(ConfigurationFaults) { configuration = try readConfiguration() } catch {
            throw StartupError(.configuration, error.description)
        }
        if recover, configuration.stateDirectory == nil {
            throw StartupError(.usage, "there is no store to recover; name its folder with --state-directory")
        }
        AttributePath.maximumLength = configuration.pathLength
        var log = Logger(label: "agd") { _ in StandardErrorLog(level: configuration.logLevel, format: logFormat) }
        log.logLevel = configuration.logLevel
        var random = SystemRandomNumberGenerator()
        var reader: Daemon.ConfigurationReader?
        if config != nil { reader = readConfiguration }
        let daemon = try Daemon(configuration, reader: reader, recover: recover, log: log) {
            String(random.next(), radix: 36)
        }
        try daemon.run()
    }

    private func askForReload(_ process: Int) throws(StartupError) {
        guard kill(pid_t(process), SIGHUP) == 0 else {
            throw StartupError(.osError, "kill \(process): \(String(cString: strerror(errno)))")
        }
    }

    private func backUp(to file: String) throws(StartupError) {
        let configuration: Configuration
        do throws(ConfigurationFaults) { configuration = try readConfiguration() } catch {
            throw StartupError(.configuration, error.description)
        }
        print(try Daemon.backUp(configuration, to: AGD.absolute(file)))
    }

    /// Reports the faults of the file together with those of everything that it names.
    private func check() throws(StartupError) {
        let read = config.map(Configuration.reading(file:))
        let configuration = overridden(read?.configuration ?? Configuration())
        AttributePath.maximumLength = configuration.pathLength
        let faults =
            (read?.faults ?? []).map { StartupError(.configuration, $0.description) } + Daemon.check(configuration)
        if let first = faults.first {
            throw StartupError(first.status, faults.map(\.description).joined(separator: "\n"))
        }
        let scenes = configuration.scenes.count
        print("\(config ?? "the built-in configuration"): valid, with \(scenes) \(scenes == 1 ? "scene" : "scenes")")
    }

    /// The settings of the configuration file, overridden by those of the command line.
    private func readConfiguration() throws(ConfigurationFaults) -> Configuration {
        overridden(
            try config.map { (file) throws(ConfigurationFaults) in try Configuration(file: file) } ?? Configuration())
    }

    private func overridden(_ configuration: Configuration) -> Configuration {
        var configuration = configuration
        configuration.override(socket: socket.map(AGD.absolute), stateDirectory: stateDirectory, scenes: scene)
        return configuration
    }

    /// A path on the command line may be relative to the working directory.
    private static func absolute(_ path: String) -> String {
        guard !path.hasPrefix("/"), let directory = getcwd(nil, 0) else { return path }
        defer { free(directory) }
        return String(cString: directory) + "/" + path
    }

    private static func printError(_ text: String) {
        for line in text.split(separator: "\n") {
            StandardError.write((StandardError.isJournal ? "<3>" : "agd: ") + line + "\n")
        }
    }
}

extension StandardErrorLog.Format: ArgumentValue {}
