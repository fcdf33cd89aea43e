import AGClient
import AttributeValues
import CommandArguments
import Glibc
import WireProtocol

struct AlertsCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "alerts", summary: "List alerts, acknowledge or silence them.",
        discussion: """
            A line for each alert that is not quiet: its path, its phase (pending, firing, acknowledged or silenced), \
            its severity, since when, what it says, and who has acknowledged it. Status 1 if one is firing. Alerts are \
            nodes with the component Alert of alerts.yaml, a scene that comes with agd.

            Examples:
              agctl alerts
              agctl alerts /freezer --all
              agctl alerts /freezer/hot --acknowledge --comment 'the door is open'
              agctl alerts /rack --silence 2h
            """)

    @Argument(help: "Only this alert, or those below this node.", completion: Suggestions.nodes)
    var path = "/"

    @Flag(help: "List the quiet ones, too.")
    var all = false

    @Flag(help: "Say that somebody cares for what is firing: nothing more is sent until it is over.")
    var acknowledge = false

    @Option(help: ArgumentHelp("With --acknowledge: what others should know.", valueName: "text"))
    var comment: String?

    @Option(help: ArgumentHelp("Send nothing for so long: 30m, 2h.", valueName: "time"))
    var silence: String?

    @Flag(help: "End a silence before its time.")
    var unsilence = false

    @OptionGroup var common: CommonOptions

    func validate() throws(UsageError) {
        if [acknowledge, silence != nil, unsilence].count(where: { $0 }) > 1 {
            throw UsageError("--acknowledge, --silence and --unsilence contradict each other")
        }
        if comment != nil, !acknowledge { throw UsageError("--comment goes with --acknowledge") }
        if let silence, TimeSpan(silence) == nil {
            throw UsageError("'\(silence)' is no length of time", hint: "write it as 30m or 2h")
        }
    }

    func run(_ session: Session) throws {
        let alerts = try Alert.all(in: session.values(of: [Alert.attribute], atOrBelow: path))
        if alerts.isEmpty {
            throw Complaint(
                .notFound, "there is no alert at or below \(path)",
                hint: "a scene makes one with the component Alert of alerts.yaml; see Documentation/World.md")
        }
        if acknowledge {
            let firing = alerts.filter(\.isFiring)
            if firing.isEmpty { throw Complaint(.notFound, "nothing fires at or below \(path)") }
            let arguments = ValueMap(comment.map { [(.string("comment"), .string($0))] } ?? [])
            return try call("acknowledge", of: firing, arguments, session)
        }
        if let silence {
            return try call("silence", of: alerts, ValueMap([(.string("time"), .string(silence))]), session)
        }
        if unsilence { return try call("unsilence", of: alerts, ValueMap(), session) }
        show(all ? alerts : alerts.filter { !$0.isQuiet }, session)
        if alerts.contains(where: { $0.phase == "firing" }) { throw EndOfCommand(status: .different) }
    }

    private func call(_ action: String, of alerts: [Alert], _ arguments: ValueMap, _ session: Session) throws {
        let connection = try session.connection()
        for alert in alerts {
            let path = RequestPath("\(alert.path).\(action)")
            _ = try connection.call(.do(path: path, arguments: arguments, TransactionOptions()))
        }
    }

    private func show(_ alerts: [Alert], _ session: Session) {
        let output = session.output
        if session.isJSON { return output.json(.list(ValueList(alerts.map(\.json)))) }
        guard output.isTerminal else {
            for alert in alerts { output.writeLine(alert.cells.joined(separator: "\t")) }
            return
        }
        if alerts.isEmpty { return output.writeLine(output.style.green("all is quiet")) }
        let heads = ["ALERT", "PHASE", "SEVERITY", "SINCE", "WHAT", "WHO"].map(output.style.dim)
        let rows = alerts.map { alert in
            var cells = alert.cells
            switch alert.phase {
            case "firing": cells[1] = output.style.red(cells[1])
            case "pending", "silenced", "acknowledged": cells[1] = output.style.yellow(cells[1])
            default: cells[1] = output.style.green(cells[1])
            }
            return cells
        }
        output.write(TextTable(rows: [heads] + rows).text(numeric: []))
    }
}

/// The state of an instance of the component `Alert`.
struct Alert {
    static let attribute = "alert"

    var path: String
    private var values: ValueMap

    /// The alerts among values, the most severe first.
    static func all(in values: ValueMap) throws -> [Alert] {
        var alerts: [Alert] = []
        for (path, content) in values {
            guard let path = path.string, let place = try? AttributePath(path),
                let value = try Content(result: content).value?.map, value["phase"]?.string != nil
            else { continue }
            alerts.append(Alert(path: AttributePath.describe(nodes: place.nodes), values: value))
        }
        return alerts.sorted { ($0.order, $0.path) < ($1.order, $1.path) }
    }

    var phase: String { values["phase"]?.string ?? "" }
    var isFiring: Bool { ["firing", "silenced"].contains(phase) }
    var isQuiet: Bool { ["ok", "resolved"].contains(phase) }
    private var severity: String { values["severity"]?.string ?? "" }

    private var order: Int {
        let phases = ["firing", "acknowledged", "silenced", "pending"]
        let severities = ["critical", "warning", "info"]
        return (phases.firstIndex(of: phase) ?? phases.count) * 4 + (severities.firstIndex(of: severity) ?? 3)
    }

    /// Who has acknowledged it: a principal, or a user of this machine.
    private var person: String? {
        guard let acknowledged = values["acknowledged"]?.map else { return nil }
        guard acknowledged["principal"] == .null, case .int(let number)? = acknowledged["user"] else {
            return acknowledged["principal"]?.string
        }
        guard let id = uid_t(exactly: number), let entry = getpwuid(id) else { return "user \(number)" }
        return String(cString: entry.pointee.pw_name)
    }

    /// In the order of the table's columns.
    var cells: [String] {
        let words = [person, values["acknowledged"]?.map?["comment"]?.string].compactMap { $0 }.filter { !$0.isEmpty }
        return [
            path, phase, severity, values["since"]?.string ?? "", (values["summary"]?.string ?? "").printable,
            words.joined(separator: ": ").printable,
        ]
    }

    var json: Value {
        var members = ValueMap([(.string("path"), .string(path))])
        for (name, value) in values { members[name] = value }
        return .map(members)
    }
}
