import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

struct TraceCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "trace", summary: "Record what each turn of the daemon does, and which rules run.",
        discussion: """
            Writes the Chrome trace format, which ui.perfetto.dev opens. Without an option, writes what has been \
            recorded so far. A new recording discards the one before. Ctrl-C ends --seconds early, and writes what was \
            recorded until then.

            Examples:
              agctl trace --seconds 5 > agd.trace.json
              agctl trace --seconds 5 --rules
              agctl trace --start
              agctl trace --stop > agd.trace.json
            """)

    @Flag(help: "Start a recording.")
    var start = false

    @Flag(help: "Stop the recording, and write it.")
    var stop = false

    @Option(help: ArgumentHelp("Record for this many seconds, then write.", valueName: "n"))
    var seconds: Double?

    @Flag(help: "Instead of the recording, show how often and how long each rule ran, the slowest first.")
    var rules = false

    @OptionGroup var common: CommonOptions

    func validate() throws(UsageError) {
        if [start, stop, seconds != nil].count(where: { $0 }) > 1 {
            throw UsageError("give only one of --start, --stop and --seconds")
        }
        if start, rules { throw UsageError("--start shows nothing yet; give --rules with --stop") }
        if let seconds, !(seconds > 0 && seconds <= 86_400) {
            throw UsageError("--seconds is above 0 and at most 86400")
        }
    }

    func run(_ session: Session) throws {
        let connection = try session.connection()
        if let seconds { return try record(seconds, connection, session) }
        let recorded = try connection.call(.trace(enable: start ? true : stop ? false : nil))
        if !start { show(recorded, session) }
    }

    /// Records for some seconds. The daemon stops recording when this returns, for any reason.
    private func record(_ seconds: Double, _ connection: Connection, _ session: Session) throws {
        let signals = try Signals()
        _ = try connection.call(.trace(enable: true))
        // No message is expected. This is a pause that notices if the daemon ends.
        let pause = Result { try connection.receive(timeout: seconds, interrupt: signals.descriptor) }
        show(try connection.call(.trace(enable: false)), session)
        _ = try pause.get()
        try signals.check()
    }

    private func show(_ recorded: Value, _ session: Session) {
        guard rules else { return session.output.json(recorded) }
        let map = recorded.map ?? ValueMap()
        let rules = map["rules"]?.list ?? []
        if session.isJSON { return session.output.json(.list(rules)) }
        let text = RuleTimes(rules.compactMap(\.map), others: map["otherRules"]?.map)
        session.output.write(session.output.isTerminal ? text.table(session.output.style) : text.lines)
    }
}

struct RuleTimes {
    /// Own milliseconds, all milliseconds, runs, path.
    private let rows: [[String]]

    init(_ rules: [ValueMap], others: ValueMap?) {
        rows = (rules + (others.map { [$0] } ?? [])).map { rule in
            func milliseconds(_ name: String) -> String { Figure.fixed((rule[name]?.number ?? 0) * 1000, places: 3) }
            let path = rule["path"]?.string.map(\.printable) ?? "all others"
            return [milliseconds("ownTime"), milliseconds("time"), rule["runs"]?.jsonText ?? "", path]
        }
    }

    /// The form for a pipe.
    var lines: String { rows.map { $0.joined(separator: "\t") + "\n" }.joined() }

    func table(_ style: Style) -> String {
        TextTable(
            rows: [["OWN ms", "ALL ms", "RUNS", "RULE"].map(style.bold)] + rows.map { [style.cyan($0[0])] + $0[1...] }
        ).text(numeric: [0, 1, 2])
    }
}
