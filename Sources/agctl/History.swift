import AGClient
import AttributeValues
import CommandArguments
import WireProtocol

struct HistoryCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "history", summary: "Print the recorded past of an attribute.",
        discussion: """
            The attribute's definition says for how long it is recorded: state: { load: { initial: 0.0, history: 10m } \
            }. Each line has the beginning of a stretch of time, and the least and the greatest value within it. On a \
            terminal there is a line of bars above them, and as many stretches as fit on the screen.

            Examples:
              agctl history /host.load
              agctl history /host.load --json | jq .greatest
            """)

    @Argument(help: "The attribute.", completion: Suggestions.recorded)
    var path: String

    @OptionGroup var common: CommonOptions

    func run(_ session: Session) throws {
        let result = try session.connection().call(.history(path: path))
        if session.isJSON { return session.output.json(result) }
        let text = HistoryText(result.map ?? ValueMap())
        let size = session.output.isTerminal ? Terminal.size : nil
        if let size {
            session.output.writeLine(session.output.style.cyan(text.drawSparkline(width: max(10, size.columns))))
        }
        session.output.write(text.table(rows: size.map { max(10, $0.rows - 4) } ?? .max))
    }
}

/// A recorded past as text.
struct HistoryText {
    private var stretches: [(time: String, least: Double, greatest: Double)] = []
    /// The numbers of the stretches in time. Some are missing where nobody knows the value.
    private var numbers: [Int] = []

    init(_ map: ValueMap) {
        let (times, least, greatest) = (map["times"]?.list ?? [], map["least"]?.list ?? [], map["greatest"]?.list ?? [])
        for (at, time) in times.enumerated() where at < least.count && at < greatest.count {
            guard let low = least[at].number, let high = greatest[at].number else { continue }
            let text = time.string ?? time.jsonText
            stretches.append((text, low, high))
            let step = map["step"]?.number ?? 0
            let since = Timestamp(stretches[0].time).flatMap { Timestamp(text)?.since($0)?.seconds } ?? 0
            numbers.append(step > 0 ? Int((since / step).rounded()) : at)
        }
    }

    /// As many stretches as there is space for, neighbours joined.
    private func joined(_ count: Int) -> [(time: String, least: Double, greatest: Double)] {
        guard stretches.count > count, count > 0 else { return stretches }
        return (0..<count).map { part in
            let range = stretches[part * stretches.count / count..<(part + 1) * stretches.count / count]
            return range.dropFirst().reduce(range[range.startIndex]) { made, next in
                (made.time, min(made.least, next.least), max(made.greatest, next.greatest))
            }
        }
    }

    /// A bar for each stretch, as high as the greatest value in it, and a space where there is none.
    func drawSparkline(width: Int) -> String {
        let count = (numbers.max() ?? -1) + 1
        let columns = min(count, max(0, width))
        let low = stretches.map(\.least).min() ?? 0
        let high = stretches.map(\.greatest).max() ?? 0
        let signs = Array("▁▂▃▄▅▆▇█")
        var next = 0
        return String(
            (0..<columns).map { column -> Character in
                var greatest: Double?
                while next < numbers.count, numbers[next] < (column + 1) * count / columns {
                    greatest = max(greatest ?? -.infinity, stretches[next].greatest)
                    next += 1
                }
                guard let greatest else { return " " }
                return high > low ? signs[min(7, Int((greatest - low) / (high - low) * 8))] : signs[0]
            })
    }

    func table(rows: Int) -> String {
        guard !stretches.isEmpty else { return "nothing has been recorded yet\n" }
        let cells = joined(rows).map { [$0.time, Value.double($0.least).jsonText, Value.double($0.greatest).jsonText] }
        return TextTable(rows: [["from", "least", "greatest"]] + cells).text(numeric: [1, 2])
    }
}
