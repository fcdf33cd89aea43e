import AGClient
import AttributeValues
import CommandArguments
import Glibc
import WireProtocol

struct TopCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "top", summary: "Show what the daemon is busy with, live.",
        discussion: """
            Shows how fast the daemon's counters grow. With patterns, also shows the attributes that change most \
            often. The daemon then runs the rules of all attributes that the patterns match. When the daemon goes \
            away, top waits for it.

            Examples:
              agctl top
              agctl top '/host/**' --interval 5
              agctl top --count 1
            """)

    @Argument(
        help: ArgumentHelp("Attributes whose changes are counted.", valueName: "pattern"),
        completion: Suggestions.places) var patterns: [String] = []

    @Option(help: ArgumentHelp("Seconds between updates.", valueName: "n"))
    var interval = 1.0

    @Option(help: ArgumentHelp("End after this many updates.", valueName: "n"))
    var count: Int?

    @OptionGroup var common: CommonOptions

    func validate() throws(UsageError) {
        if !(interval >= 0.05 && interval <= 86_400) { throw UsageError("--interval is 0.05 to 86400 seconds") }
        if let count, count < 1 { throw UsageError("--count is at least 1") }
    }

    func run(_ session: Session) throws {
        if session.output.isTerminal, count == nil, !session.isJSON {
            return try live(try LoadFeed(patterns, session), session.output.style)
        }
        let feed = try LoadFeed(patterns, session) { $0.report(session.errors) }
        let signals = try Signals()
        var left = count
        while left != 0 {
            try feed.sample(after: interval, signals.descriptor) { try signals.check() }
            left? -= 1
            if session.isJSON {
                session.output.json(feed.load.json)
            } else {
                let lines = feed.load.lines(columns: .max, rows: .max, session.output.style)
                session.output.write(lines.map { $0 + "\n" }.joined())
            }
            try session.output.flush()
        }
    }

    private func live(_ feed: LoadFeed, _ style: Style) throws {
        let screen = try LiveScreen()
        var scroll = Scroll()
        while true {
            try feed.sample(after: interval, screen.descriptor) {
                for case .key(let key) in try screen.news() {
                    _ = scroll.move(key, page: max(1, Terminal.size.rows - 2))
                }
                draw(feed, on: screen, &scroll, style)
            }
            draw(feed, on: screen, &scroll, style)
        }
    }

    /// At first shows the busiest figures of both tables, as many as fit. After scrolling, shows all of them.
    private func draw(_ feed: LoadFeed, on screen: LiveScreen, _ scroll: inout Scroll, _ style: Style) {
        let (columns, rows) = Terminal.size
        let title = feed.trouble.map { [style.red(DisplayWidth.cut($0.message, to: columns))] } ?? []
        let space = rows - title.count
        let shown = scroll.clip(feed.load.lines(columns: columns, rows: .max, style), space: space)
        let lines = scroll.offset == 0 ? feed.load.lines(columns: columns, rows: space, style) : Array(shown)
        screen.draw((title + lines).joined(separator: "\n"))
    }
}

/// The figures of a daemon. If the daemon goes away, they begin anew when it is back.
private final class LoadFeed {
    private(set) var load = LoadTable()
    /// The loss of the connection; nil while there is one.
    private(set) var trouble: WatchNotice?
    private let patterns: [String]
    private let session: Session
    private let tell: (WatchNotice) -> Void
    private var connection: Connection

    /// - Parameter tell: reports the loss and the return of the daemon.
    init(_ patterns: [String], _ session: Session, tell: @escaping (WatchNotice) -> Void = { _ in }) throws {
        self.patterns = patterns
        self.session = session
        self.tell = tell
        connection = try session.connection(name: "agctl top")
        try begin()
    }

    private func begin() throws(ClientError) {
        var load = LoadTable()
        load.learn(try connection.call(.stats(format: .openmetrics)).map?["text"]?.string ?? "")
        if !patterns.isEmpty {
            _ = try connection.call(.subscribe(.init(patterns: patterns, events: .update, initial: false)))
        }
        load.sample(try connection.call(.stats(format: .json)), at: MonotonicTime.now)
        self.load = load
    }

    /// Counts changes for some seconds, and then takes the figures.
    /// - Parameters:
    ///   - interrupt: a descriptor that ends waiting when it is readable.
    ///   - hear: called when it is readable, and when the connection is lost.
    func sample(after seconds: Double, _ interrupt: Int32, hear: () throws -> Void) throws {
        while true {
            do {
                let end = MonotonicTime.now + seconds
                while case let left = end - MonotonicTime.now, left > 0 {
                    guard let message = try connection.receive(timeout: left, interrupt: interrupt) else {
                        if MonotonicTime.now < end { try hear() }
                        continue
                    }
                    if case .event(_, .update(_, _, _, _, _, let changes, _)) = message {
                        load.tally(changes.map(\.path))
                    }
                }
                return load.sample(try connection.call(.stats(format: .json)), at: MonotonicTime.now)
            } catch ClientError.lost(let reason) {
                note(.interrupted(.lost(reason)))
                try hear()
                try session.reopen { pause in
                    let end = MonotonicTime.now + pause
                    while Wakeup.wait(for: interrupt, max(0, end - MonotonicTime.now)) { try hear() }
                } _: {
                    connection = try session.connection(name: "agctl top")
                    try begin()
                }
                note(.resumed(isSnapshot: true))
                trouble = nil
            }
        }
    }

    private func note(_ news: Watcher.News) {
        trouble = WatchNotice(news)
        if let trouble { tell(trouble) }
    }
}

/// The daemon's figures over the last interval.
struct LoadTable {
    private var counters: Swift.Set<String> = []
    private var last: [(name: String, value: Value)] = []
    private var rates: [(name: String, rate: Double, total: Value)] = []
    private var lastTime = 0.0
    private var interval = 0.0
    private var counting: [String: Int] = [:]
    private var changes: [(path: String, rate: Double)] = []

    /// Finds out from OpenMetrics text which figures only grow.
    mutating func learn(_ text: String) {
        for line in text.split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 4, words[0] == "#", words[1] == "TYPE", words[3] == "counter" else { continue }
            let name = words[2]
            counters.insert(String(name.hasPrefix("agd_") ? name.dropFirst(4) : name))
        }
    }

    mutating func tally(_ paths: [String]) {
        for path in paths { counting[path, default: 0] += 1 }
    }

    /// Takes the present figures. From the second call on there are rates.
    mutating func sample(_ stats: Value, at now: Double) {
        let figures = (stats.map ?? ValueMap()).map { (name: $0.key.string ?? "", value: $0.value) }
        interval = now - lastTime
        let before = Dictionary(last.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        rates = figures.filter { counters.contains($0.name) }.map { figure in
            let growth = (figure.value.number ?? 0) - (before[figure.name]?.number ?? figure.value.number ?? 0)
            return (figure.name, interval > 0 ? growth / interval : 0, figure.value)
        }
        changes = counting.map { ($0.key, interval > 0 ? Double($0.value) / interval : 0) }
            .sorted { ($1.rate, $0.path) < ($0.rate, $1.path) }
        counting = [:]
        last = figures
        lastTime = now
    }

    private var busiest: [(name: String, rate: Double, total: Value)] {
        rates.enumerated().sorted { ($1.element.rate, $0.offset) < ($0.element.rate, $1.offset) }.map(\.element)
    }

    var json: Value {
        [
            "seconds": .double(interval),
            "rates": .map(ValueMap(rates.map { (.string($0.name), .double($0.rate)) })),
            "figures": .map(ValueMap(last.map { (.string($0.name), $0.value) })),
            "changes": .map(ValueMap(changes.map { (.string($0.path), .double($0.rate)) })),
        ]
    }

    func lines(columns: Int, rows height: Int, _ style: Style) -> [String] {
        var lines = gauges(columns).map(style.dim)
        lines.append("")
        var table = TextTable(rows: [["PER SECOND", "TOTAL", "COUNTER"].map(style.bold)])
        for figure in busiest { table.rows.append([rate(figure.rate, style), Figure.text(figure.total), figure.name]) }
        var shown = table.rows.count
        if height < .max {
            shown = max(
                2, min(shown, height - lines.count - (changes.isEmpty ? 1 : 2 + min(changes.count, height / 2))))
        }
        table.rows = Array(table.rows.prefix(shown))
        lines += table.lines(numeric: [0, 1])
        if !changes.isEmpty {
            lines.append("")
            var table = TextTable(rows: [["PER SECOND", "CHANGED"].map(style.bold)])
            let space = height == .max ? changes.count : max(1, height - lines.count - 2)
            for change in changes.prefix(space) { table.rows.append([rate(change.rate, style), change.path]) }
            lines += table.lines(numeric: [0])
        }
        return lines
    }

    private func rate(_ rate: Double, _ style: Style) -> String {
        let text = Figure.fixed(rate, places: 1)
        return text == "0.0" ? text : style.cyan(text)
    }

    /// The figures that rise and fall, as many per line as fit.
    private func gauges(_ columns: Int) -> [String] {
        var lines: [String] = []
        for figure in last where !counters.contains(figure.name) {
            let text = "\(figure.name) \(Figure.text(figure.value))"
            if let line = lines.last, DisplayWidth.of(line) + DisplayWidth.of(text) + 3 <= min(columns, 100) {
                lines[lines.count - 1] = line + "   " + text
            } else {
                lines.append(text)
            }
        }
        return lines
    }
}
