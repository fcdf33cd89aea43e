import AGClient
import AttributeValues
import CommandArguments
import Glibc
import WireProtocol

struct StatsCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "stats", summary: "Print the daemon's counters.",
        discussion: """
            Examples:
              agctl stats
              agctl stats --prometheus --output /var/lib/prometheus/node-exporter/agd.prom
              agctl stats --openmetrics
              agctl stats --json
            """)

    @Flag(help: "In the text format of OpenMetrics, as Prometheus reads it.")
    var openmetrics = false

    @Flag(help: "In Prometheus' text format 0.0.4, as node-exporter's text collector reads it.")
    var prometheus = false

    @Option(
        help: ArgumentHelp("Replace this file, at once, so that nobody reads a part of it.", valueName: "file"),
        completion: .files) var output: String?

    @OptionGroup var common: CommonOptions

    func validate() throws(UsageError) {
        if openmetrics, prometheus { throw UsageError("--openmetrics and --prometheus contradict each other") }
        if output != nil, !openmetrics, !prometheus {
            throw UsageError("--output needs a format: --prometheus or --openmetrics")
        }
    }

    func run(_ session: Session) throws {
        let isText = openmetrics || prometheus
        let result = try session.connection().call(.stats(format: isText ? .openmetrics : .json))
        if let text = result.map?["text"]?.string, !session.isJSON || output != nil {
            let text = prometheus ? ClassicMetrics.text(text) : text
            if let output { return try OutputFile.replace(output, with: text) }
            return session.output.write(text)
        }
        if session.isJSON { return session.output.json(result) }
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

enum OutputFile {
    /// Writes a new file beside a file and puts it in its place. A reader sees the old text or the new one.
    /// - Throws: `inputOutput`. The old file then stays.
    static func replace(_ path: String, with text: String) throws(Complaint) {
        // Collectors read files by the end of their names.
        let new = "\(path).\(getpid()).new"
        func failed() -> Complaint {
            let complaint = Complaint(.inputOutput, "\(path): \(String(cString: strerror(errno)))")
            unlink(new)
            return complaint
        }
        let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw failed() }
        let isWritten = Terminal.write(text, to: descriptor)
        let code = errno
        guard close(descriptor) == 0, isWritten else {
            if !isWritten { errno = code }
            throw failed()
        }
        guard rename(new, path) == 0 else { throw failed() }
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
