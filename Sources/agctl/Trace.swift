import AGClient
import ArgumentParser
import AttributeValues
import WireProtocol

struct TraceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Record what each turn of the daemon does.",
        discussion: """
            Writes the Chrome trace format, which ui.perfetto.dev opens. Without an option: what has been recorded so far. \
            Ctrl-C ends --seconds early, with what was recorded until then.

            Examples:
              agctl trace --seconds 5 > agd.trace.json
              agctl trace --start
              agctl trace --stop > agd.trace.json
            """)

    @Flag(help: "Record from now on.")
    var start = false

    @Flag(help: "Record no longer, and write what was recorded.")
    var stop = false

    @Option(help: ArgumentHelp("Record so long, then write.", valueName: "n"))
    var seconds: Double?

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if [start, stop, seconds != nil].count(where: { $0 }) > 1 { throw ValidationError("one of --start, --stop and --seconds") }
        if let seconds, !(seconds > 0 && seconds <= 86_400) { throw ValidationError("--seconds is above 0 and at most 86400") }
    }

    func run() throws {
        try perform(common) { session in
            let connection = try session.connection()
            if let seconds { return try record(seconds, connection, session.output) }
            let result = try connection.call(.trace(.init(enable: start ? true : stop ? false : nil)))
            if !start { session.output.json(result) }
        }
    }

    /// However it ends, the daemon records no longer then.
    private func record(_ seconds: Double, _ connection: Connection, _ output: Output) throws {
        let signals = try Signals()
        _ = try connection.call(.trace(.init(enable: true)))
        // Nothing is expected: this is a pause that notices when the daemon goes.
        let pause = Swift.Result { try connection.receive(timeout: seconds, interrupt: signals.descriptor) }
        output.json(try connection.call(.trace(.init(enable: false))))
        _ = try pause.get()
        try signals.check()
    }
}
