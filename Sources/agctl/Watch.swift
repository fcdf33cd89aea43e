import AGClient
import AttributeValues
import CommandArguments
import Glibc
import WireProtocol

struct WatchCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "watch", summary: "Show values and how they change.",
        discussion: """
            On a terminal, shows a table that updates itself, with values as they move. In a pipe, prints a line for \
            every change: path, tab, JSON. error: … means that the attribute has no value. ~ before a value means that \
            it is displayed during an animation. With --json, prints each event, one a line.

            --invalidate shows a path as soon as it may have changed, before any rule has run. watch then reads the \
            path, which runs its rule, so that the daemon also reports the next change. It does not read after the \
            last event of --once or --count.

            --structure and --completion report what the patterns match: '/**' matches everything. --settled ends when a \
            change that it has shown is complete, or the change that took its motion over.

            If a pattern matches nothing at first, watch says so on standard error, and waits.

            When the daemon goes away, watch waits for it and continues where it was. With --wait, it also waits for a \
            daemon that is not there yet, and for paths that are not there yet. It ends with status 66 when \
            everything that it watches has been removed.

            Examples:
              agctl watch '/host/**'
              agctl watch '/hosts/*.load' --max-rate 2
              agctl watch /player/playButton.scale --frames 30 | plot
              agctl watch /player/playButton.scale --frames 30 --settled
              agctl watch --wait /host.status
              agctl watch '/app/**' --invalidate
              agctl watch '/**' --structure --completion
              agctl watch /job.state --no-initial --once && notify-send done
            """)

    @Argument(
        help: ArgumentHelp("Paths, or patterns with * and **.", valueName: "pattern"), completion: Suggestions.places)
    var patterns: [String]

    @Option(
        help: ArgumentHelp(
            "Displayed values of moving attributes, this many times a second; 0 for none.", valueName: "rate"))
    var frames: Double?

    @Flag(help: "Show paths that may have changed, instead of values.")
    var invalidate = false

    @Flag(help: "Also show which nodes are added, removed and moved.")
    var structure = false

    @Flag(help: "Also show when animations end.")
    var completion = false

    @Flag(help: "As --completion, and end when a change is complete and nothing that it moved moves any more.")
    var settled = false

    @Flag("--no-initial", help: "Do not begin with the present values.")
    var skipsInitial = false

    @Option(help: ArgumentHelp("Updates per second at most; the last value is always shown.", valueName: "n"))
    var maxRate: Double?

    @Option(help: ArgumentHelp("End after this many events; the present values are the first.", valueName: "n"))
    var count: Int?

    @Flag(help: "End after the first event.")
    var once = false

    @Flag(help: "Wait for a daemon, and for paths, that are not there yet.")
    var wait = false

    @Flag(help: "Print lines, also on a terminal.")
    var lines = false

    @OptionGroup var common: CommonOptions

    func validate() throws(UsageError) {
        if let frames, frames < 0 { throw UsageError("--frames is 0 or more") }
        if let maxRate, maxRate <= 0 { throw UsageError("--max-rate is above 0") }
        if let count, count < 1 { throw UsageError("--count is at least 1") }
        if once, count != nil { throw UsageError("--once and --count contradict each other") }
    }

    private var events: EventKinds {
        var events: EventKinds = invalidate ? .invalidate : .update
        if structure { events.insert(.structure) }
        if completion || settled { events.insert(.completion) }
        return events
    }

    private func request(frameRate: Double?) -> Request.Subscribe {
        let rate = frameRate.flatMap { $0 > 0 && !invalidate ? $0 : nil }
        return Request.Subscribe(
            patterns: patterns, events: events, initial: !skipsInitial && !invalidate, maxRate: maxRate, frameRate: rate
        )
    }

    func run(_ session: Session) throws {
        let limit = once ? 1 : count
        let isTable =
            session.output.isTerminal && !lines && !session.isJSON && events == .update && limit == nil
        let watcher = session.newWatcher(
            request(frameRate: frames ?? (isTable ? 30 : nil)), name: "agctl watch", waits: wait)
        if isTable {
            try WatchScreen(watcher, patterns: patterns, session).run()
        } else {
            try WatchLines(
                watcher, patterns: patterns, limit: limit, endsSettled: settled, acknowledges: invalidate, session
            ).run()
        }
    }
}

/// The lines about the connection that watching writes to standard error.
struct WatchNotice {
    var message: String

    init(message: String) { self.message = message }

    /// nil if there is nothing to report.
    /// - Parameter isFirst: true if there was no connection before.
    init?(_ news: Watcher.News, isFirst: Bool = false) {
        switch news {
        case .interrupted(let error): message = "\(error); waiting for \(error.failure == nil ? "agd" : "it")"
        case .resumed where isFirst: message = "agd is there"
        case .resumed(true): message = "agd is back; some changes may have been missed, so all values were read again"
        case .resumed(false): message = "agd is back; continued where it was"
        case .event: return nil
        }
    }

    func report(_ form: ErrorForm) {
        form.tell("\(form.style.bold("agctl:")) \(message)\n", ["notice": ["message": .string(message)]])
    }
}
