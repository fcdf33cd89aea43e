import AGClient
import ArgumentParser
import AttributeValues
import Glibc
import WireProtocol

struct TraceCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Record what each turn of the daemon does.",
        discussion: """
            Writes the Chrome trace format, which ui.perfetto.dev opens. Without an option: what has been recorded so far.

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
            if start || seconds != nil { _ = try connection.call(.trace(.init(enable: true))) }
            if start { return }
            if let seconds {
                // Nothing is expected: this is a pause that notices when the daemon goes.
                _ = try connection.receive(timeout: seconds)
            }
            session.output.json(try connection.call(.trace(.init(enable: stop || seconds != nil ? false : nil))))
        }
    }
}
