import AGClient
import ArgumentParser
import AttributeValues

/// The settings that all verbs share, after the arguments have been read.
struct Settings {
    var socket: String?
    /// For whom agctl acts.
    var principal: String?
    var isJSON = false
    var color = ColorChoice.auto
}

enum ColorChoice: String, CaseIterable, ExpressibleByArgument {
    case auto, always, never
}

/// The option of every verb.
struct ColorOption: ParsableArguments {
    @Option(
        help: ArgumentHelp("Colours: auto (on a terminal, unless NO_COLOR is set), always or never.", valueName: "when")
    )
    var color = ColorChoice.auto
}

/// The options of every verb that uses the daemon.
struct CommonOptions: ParsableArguments {
    @Option(help: "The daemon's socket.", completion: .file())
    var socket: String?

    @Option(
        name: .customLong("as"),
        help: ArgumentHelp("Act for a principal of the access lines; this needs the right admin.", valueName: "name"))
    var principal: String?

    @Flag(help: "Write JSON.")
    var json = false

    @OptionGroup var coloring: ColorOption

    var settings: Settings { Settings(socket: socket, principal: principal, isJSON: json, color: coloring.color) }
}

/// One run of a verb: its output, and its connection, which is opened at its first use.
final class Session {
    let settings: Settings
    let output: Output
    private var opened: Connection?

    init(_ settings: Settings, output: Output? = nil) {
        self.settings = settings
        self.output = output ?? Output(color: settings.color)
    }

    convenience init(_ options: CommonOptions) { self.init(options.settings) }

    var location: SocketLocation { .find(settings.socket) }

    func connection() throws(ClientError) -> Connection {
        if let opened { return opened }
        let made = try Connection(to: location, name: "agctl", as: settings.principal)
        opened = made
        return made
    }
}

extension Session {
    /// Does the work and then writes the output, even if the work fails.
    func run(_ work: (Session) throws -> Void) throws {
        try output.flushing { try work(self) }
    }
}

extension ParsableCommand {
    func perform(_ options: CommonOptions, _ work: (Session) throws -> Void) throws {
        try Session(options).run(work)
    }
}

extension Session {
    var errors: ErrorForm { ErrorForm(isJSON: settings.isJSON, color: settings.color) }
}
