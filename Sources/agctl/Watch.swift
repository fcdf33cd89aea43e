import AGClient
import ArgumentParser
import AttributeValues
import Glibc
import WireProtocol

struct WatchCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show values and how they change.",
        discussion: """
            On a terminal a table that keeps itself up to date; values in motion are shown as they move. In a pipe a line for \
            every change: path, tab, JSON, where error: … stands for an attribute without a value and ~ before a value for what is \
            displayed in the middle of an animation. With --json each event as it came, one a line.

            --invalidate tells of a path as soon as it may have changed, before any rule has run. Then it reads the path, so that \
            the next change is told, too; that runs the path's rule, but for what --once or --count ends.

            --structure and --completion tell of what the patterns match: '/**' is all.

            If a pattern matches nothing at first, watch says so on standard error, and waits.

            When the daemon goes away, watch waits for it and continues where it was. It ends with status 66 when all \
            that it was to watch is gone.

            Examples:
              agctl watch '/host/**'
              agctl watch '/hosts/*.load' --max-rate 2
              agctl watch /player/playButton.scale --frames 30 | plot
              agctl watch '/app/**' --invalidate
              agctl watch '/**' --structure --completion
              agctl watch /job.state --no-initial --once && notify-send done
            """)

    @Argument(
        help: ArgumentHelp("Paths, or patterns with * and **.", valueName: "pattern"), completion: Suggestions.places)
    var patterns: [String]

    @Option(
        help: ArgumentHelp("Displayed values of what moves, so many times a second; 0 for none.", valueName: "rate"))
    var frames: Double?

    @Flag(help: "Tell what may have changed instead of values.")
    var invalidate = false

    @Flag(help: "Also tell which nodes come, go and move.")
    var structure = false

    @Flag(help: "Also tell when animations end.")
    var completion = false

    @Flag(name: .customLong("no-initial"), help: "Do not begin with the present values.")
    var skipsInitial = false

    @Option(help: ArgumentHelp("Updates per second at most; the last value is always shown.", valueName: "n"))
    var maxRate: Double?

    @Option(help: ArgumentHelp("End after so many events; the present values are the first.", valueName: "n"))
    var count: Int?

    @Flag(help: "End after the first event.")
    var once = false

    @Flag(help: "Lines, also on a terminal.")
    var lines = false

    @OptionGroup var common: CommonOptions

    func validate() throws {
        if let frames, frames < 0 { throw ValidationError("--frames is 0 or more") }
        if let maxRate, maxRate <= 0 { throw ValidationError("--max-rate is above 0") }
        if let count, count < 1 { throw ValidationError("--count is at least 1") }
        if once, count != nil { throw ValidationError("--once and --count contradict each other") }
    }

    private var events: EventKinds {
        var events: EventKinds = invalidate ? .invalidate : .update
        if structure { events.insert(.structure) }
        if completion { events.insert(.completion) }
        return events
    }

    private func request(frameRate: Double?) -> Request.Subscribe {
        let rate = frameRate.flatMap { $0 > 0 && !invalidate ? $0 : nil }
        return Request.Subscribe(
            patterns: patterns, events: events, initial: !skipsInitial && !invalidate, maxRate: maxRate, frameRate: rate
        )
    }

    func run() throws {
        try perform(common) { session in
            let limit = once ? 1 : count
            let isTable =
                session.output.isTerminal && !lines && !session.settings.isJSON && events == .update && limit == nil
            let watcher = session.newWatcher(
                request(frameRate: frames ?? (isTable ? 30 : nil)), name: "agctl watch")
            if isTable {
                try WatchScreen(watcher, patterns: patterns, session).run()
            } else {
                try WatchLines(watcher, patterns: patterns, limit: limit, acknowledges: invalidate, session).run()
            }
        }
    }
}

/// The lines about the connection that watching writes to standard error.
struct WatchNotice {
    var message: String

    init(message: String) { self.message = message }

    /// nil if there is nothing to report.
    init?(_ news: Watcher.News) {
        switch news {
        case .interrupted(let error): message = "\(error); waiting for agd"
        case .resumed(true): message = "agd is back; it does not remember what was missed, so all values were read anew"
        case .resumed(false): message = "agd is back; continued where it was"
        case .event: return nil
        }
    }

    func report(_ form: ErrorForm) {
        form.tell("\(form.style.bold("agctl:")) \(message)\n", ["notice": ["message": .string(message)]])
    }
}
