import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

struct StatsCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "stats", summary: "Print the daemon's counters.",
        discussion: """
            Examples:
              agctl stats
              agctl stats --openmetrics > /var/lib/prometheus/node-exporter/agd.prom
              agctl stats --json
            """)

    @Flag(help: "In the text format of OpenMetrics, as Prometheus reads it.")
    var openmetrics = false

    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        let result = try session.connection().call(.stats(format: openmetrics ? .openmetrics : .json))
        if session.isJSON { return session.output.json(result) }
        if let text = result.map?["text"]?.string { return session.output.write(text) }
        let figures = result.map ?? ValueMap()
        guard session.output.isTerminal else {
            for (name, value) in figures {
                session.output.writeLine("\(name.string ?? "")\t\(value.string ?? value.jsonText)")
            }
            return
        }
        let style = session.output.style
        let table = TextTable(rows: figures.map { [$0.key.string ?? "", style.cyan(Figure.text($0.value))] })
        session.output.write(table.text(numeric: [1]))
    }
}

enum Figure {
    static func text(_ value: Value) -> String {
        switch value {
        case .int(let number): grouped(number)
        case .double(let number): fixed(number, places: 1)
        default: value.string ?? value.jsonText
        }
    }

    /// `1 234 567`: groups of three digits.
    static func grouped(_ number: Int64) -> String {
        let digits = Array(String(number.magnitude))
        var text = number < 0 ? "-" : ""
        for (position, digit) in digits.enumerated() {
            if position > 0, (digits.count - position) % 3 == 0 { text += " " }
            text.append(digit)
        }
        return text
    }

    /// Rounded to this number of places, all of which are shown.
    static func fixed(_ number: Double, places: Int) -> String {
        guard number.isFinite, abs(number) < 1e15 else { return number.description }
        let text = formatted("%.*f", Int32(places), number)
        // No sign before a zero.
        return text.hasPrefix("-") && !text.contains { ("1"..."9").contains($0) } ? String(text.dropFirst()) : text
    }
}
