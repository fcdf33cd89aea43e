import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

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

    @Option(
        help: ArgumentHelp(
            "Show the graph as it was then, from agd-past: 03:12, 1h (ago), a date and time, or a revision.",
            valueName: "time")) var time: String?

    func validate() throws(UsageError) {
        if socket != nil, context != nil { throw UsageError("--socket and --context contradict each other") }
        if let timeout, !(timeout >= 0) { throw UsageError("--timeout is 0 or more seconds") }
    }

    /// Maximum seconds of a wait for the daemon; nil waits without limit.
    var patience: Double? { timeout == 0 ? nil : timeout ?? 30 }
}

/// The options of every verb that uses the daemon.
struct CommonOptions: Arguments {
    @OptionGroup var daemon: DaemonOptions

    @Flag(help: "Write JSON.")
    var json = false

    @OptionGroup var coloring: ColorOption
}

/// One run of a verb: its output, and its connection, which is opened at its first use.
final class Session {
    let output: Output
    /// The form of standard error.
    let errors: ErrorForm
    let location: SocketLocation
    private let daemon: DaemonOptions
    private var opened: Connection?
    private var hasToldRelease = false

    /// - Throws: the error of an unknown context.
    init(_ daemon: DaemonOptions, errors: ErrorForm) throws(Complaint) {
        var location = try Contexts.location(socket: daemon.socket, context: daemon.context)
        if let time = daemon.time {
            location = SocketLocation(path: SocketPlaces.past(beside: location.path))
            location.time = try PastTime(words: time)
        }
        self.location = location
        output = Output(color: errors.color)
        self.daemon = daemon
        self.errors = errors
    }

    /// Does the work and then writes the output, even if the work fails.
    static func run(_ common: CommonOptions, _ work: (Session) throws -> Void) throws {
        let errors = ErrorForm(isJSON: common.json, color: common.coloring.color)
        let session = try Session(common.daemon, errors: errors)
        try session.output.flushing { try work(session) }
    }

    /// True if the output is JSON.
    var isJSON: Bool { errors.isJSON }

    /// - Parameter name: the name of this client in explanations.
    func connection(name: String = "agctl") throws(ClientError) -> Connection {
        if let opened { return opened }
        let made = try Connection(to: location, name: name, as: daemon.principal, timeout: daemon.patience)
        opened = made
        if let release = made.recordedBy { tell(release) }
        return made
    }

    /// A connection to agd-past, which is beside the daemon.
    func past() throws(ClientError) -> Connection {
        if location.time != nil { return try connection() }
        let past = SocketLocation(path: SocketPlaces.past(beside: location.path))
        return try Connection(to: past, name: "agctl", as: daemon.principal, timeout: daemon.patience)
    }

    /// Warns if another release recorded the moments of an answer of agd-past: their values are computed anew.
    func tellRelease(in answer: ValueMap) { if let release = answer["recordedBy"]?.string { tell(release) } }

    private func tell(_ release: String) {
        guard !hasToldRelease else { return }
        hasToldRelease = true
        let text = "agd \(release.printable) recorded this, and another release computes the values: they may differ"
        errors.tell("agctl: \(text)\n", ["warning": .string(text)])
    }

    /// The values of some attributes at all nodes at and below a node, by path.
    func values(of attributes: [String], atOrBelow node: String) throws -> ValueMap {
        let nodes: [Name]
        do throws(Failure) {
            let path = try AttributePath(node)
            guard path.attribute == nil else { throw Failure(.invalid, "\(node) is an attribute, not a node") }
            nodes = path.nodes
        } catch { throw Complaint(error, status: .data) }
        let below = nodes.isEmpty ? "" : AttributePath.describe(nodes: nodes)
        let result = try connection().call(.get(.init(paths: attributes.map { "\(below)/**.\($0)" })))
        return result.map?["values"]?.map ?? ValueMap()
    }

    /// The next `connection` is a new one.
    func disconnect() { opened = nil }

    /// Opens the connection again after a loss. It tries as often as a `Watcher` does.
    /// - Parameters:
    ///   - pause: waits for so many seconds.
    ///   - open: asks for the connection and prepares it.
    func reopen<Opened>(pause: (Double) throws -> Void, _ open: () throws -> Opened) throws -> Opened {
        var backoff = Backoff()
        while true {
            try pause(backoff.pause())
            disconnect()
            do { return try open() } catch let error as ClientError where error.mayPassAfterLoss {}
        }
    }

    /// - Parameter waits: true if the daemon and the paths may come later.
    func newWatcher(_ request: Request.Subscribe, name: String, waits: Bool = false) -> Watcher {
        Watcher(
            request, at: location, name: name, as: daemon.principal, timeout: daemon.patience,
            retry: waits ? .infinity : nil, waitsForPaths: waits)
    }
}

protocol DaemonVerb: Verb {
    var common: CommonOptions { get }
    func run(_ session: Session) throws
}

extension DaemonVerb {
    func run() throws { try Session.run(common) { try run($0) } }
}
