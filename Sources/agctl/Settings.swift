import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

/// The settings that all verbs share, after the arguments have been read.
struct Settings {
    /// Seconds for which a command waits for the daemon, if the user does not choose.
    static let defaultTimeout = 30.0

    var socket: String?
    var context: String?
    /// Maximum seconds of a wait for the daemon; nil waits without limit.
    var timeout: Double? = Settings.defaultTimeout
    /// The principal for which agctl acts.
    var principal: String?
    var isJSON = false
    var color = ColorChoice.auto
}

enum ColorChoice: String, CaseIterable, ArgumentValue { case auto, always, never }

/// The option of every verb.
struct ColorOption: Arguments {
    @Option(
        help: ArgumentHelp("Colours: auto (on a terminal, unless NO_COLOR is set), always or never.", valueName: "when")
    ) var color = ColorChoice.auto
}

/// The options that select the daemon and limit the wait for it.
struct DaemonOptions: Arguments {
    @Option(help: "The daemon's socket.", completion: .files)
    var socket: String?

    @Option(
        help: ArgumentHelp("The daemon's name in the file of contexts.", valueName: "name"),
        completion: Suggestions.contexts) var context: String?

    @Option(
        help: ArgumentHelp(
            "Wait at most this many seconds for an answer (30); 0 waits without limit.", valueName: "seconds"))
    var timeout: Double?

    @Option(
        "--as",
        help: ArgumentHelp("Act for a principal of the access lines; this needs the right admin.", valueName: "name"))
    var principal: String?

    func validate() throws(UsageError) {
        if socket != nil, context != nil { throw UsageError("--socket and --context contradict each other") }
        if let timeout, !(timeout >= 0) { throw UsageError("--timeout is 0 or more seconds") }
    }

    var settings: Settings {
        Settings(
            socket: socket, context: context,
            timeout: timeout.map { $0 == 0 ? nil : $0 } ?? Settings.defaultTimeout, principal: principal)
    }
}

/// The options of every verb that uses the daemon.
struct CommonOptions: Arguments {
    @OptionGroup var daemon: DaemonOptions

    @Flag(help: "Write JSON.")
    var json = false

    @OptionGroup var coloring: ColorOption

    var settings: Settings {
        var settings = daemon.settings
        settings.isJSON = json
        settings.color = coloring.color
        return settings
    }
}

/// One run of a verb: its output, and its connection, which is opened at its first use.
final class Session {
    let settings: Settings
    let output: Output
    let location: SocketLocation
    private var opened: Connection?

    /// - Throws: the error of an unknown context.
    init(_ settings: Settings, output: Output? = nil) throws(Complaint) {
        self.settings = settings
        location = try Contexts.location(socket: settings.socket, context: settings.context)
        self.output = output ?? Output(color: settings.color)
    }

    /// - Parameter name: the name of this client in explanations.
    func connection(name: String = "agctl") throws(ClientError) -> Connection {
        if let opened { return opened }
        let made = try newConnection(name: name)
        opened = made
        return made
    }

    func newConnection(name: String) throws(ClientError) -> Connection {
        try Connection(to: location, name: name, as: settings.principal, timeout: settings.timeout)
    }

    func newWatcher(_ request: Request.Subscribe, name: String) -> Watcher {
        Watcher(request, at: location, name: name, as: settings.principal, timeout: settings.timeout)
    }
}

extension Session {
    /// Does the work and then writes the output, even if the work fails.
    func run(_ work: (Session) throws -> Void) throws { try output.flushing { try work(self) } }
}

protocol DaemonVerb: Verb {
    var common: CommonOptions { get }
    func run(_ session: Session) throws
}

extension DaemonVerb {
    func run() throws { try Session(common.settings).run { try run($0) } }
}

extension Session {
    var errors: ErrorForm { ErrorForm(isJSON: settings.isJSON, color: settings.color) }
}
