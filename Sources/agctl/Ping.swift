import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

struct PingCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "ping", summary: "See whether the daemon answers.",
        discussion: """
            Examples:
              agctl ping
              agctl ping --count 100
              until agctl ping --quiet; do sleep 1; done
            """)

    @Option(help: ArgumentHelp("The number of requests, one after the other.", valueName: "n"))
    var count = 1

    @Flag(help: "Print nothing, even if no daemon answers.")
    var quiet = false

    @OptionGroup var common: CommonOptions

    func validate() throws(UsageError) {
        if count < 1 { throw UsageError("--count is at least 1") }
    }

    func run(_ session: Session) throws {
        do throws(ClientError) {
            let connection = try session.connection()
            let hello = try connection.call(.hello(client: "agctl ping"))
            var times: [Double] = []
            for _ in 0..<count {
                let start = MonotonicTime.now
                _ = try connection.call(.ping)
                times.append(MonotonicTime.now - start)
            }
            if !quiet { report(hello.map ?? ValueMap(), times.sorted(), session) }
        } catch {
            if quiet { throw EndOfCommand(status: ExitStatus(error)) }
            throw error
        }
    }

    private func report(_ hello: ValueMap, _ times: [Double], _ session: Session) {
        let median = times[times.count / 2]
        if session.isJSON {
            var map = hello
            map["socket"] = .string(session.location.path)
            map["seconds"] = .double(median)
            return session.output.json(.map(map))
        }
        func text(_ name: String) -> String { hello[name].map { $0.string ?? $0.jsonText } ?? "?" }
        func microseconds(_ seconds: Double) -> String { Figure.fixed(seconds * 1e6, places: 0) }
        let spread =
            times.count > 1
            ? " (median of \(times.count); \(microseconds(times.first ?? 0))–\(microseconds(times.last ?? 0)))" : ""
        session.output.writeLine(
            "\(text("server")) answers in \(microseconds(median)) µs\(spread): "
                + "protocol \(text("protocol")), epoch \(text("epoch")), revision \(text("revision"))")
    }
}
