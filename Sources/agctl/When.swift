import AGClient
import AttributeValues
import CommandArguments
import Glibc
import WireProtocol

struct WhenCommand: DaemonVerb {
    static let help = VerbHelp(
        name: "when", summary: "Run a command whenever a rule becomes true.",
        discussion: """
            The daemon evaluates the rule at a node whenever an attribute of the node changes. When the rule becomes \
            true, and has been true for the time of --for, the command runs once. It runs again only after the rule \
            has been false. While the rule has an error or gives null, or the node is missing, the rule counts as \
            before, but the command does not run. If the rule is true at first, the command runs, too, unless \
            --no-initial is given. A rule that gives no bool is refused.

            The command finds the node in AGD_AT, the rule in AGD_RULE, all attributes of the node as JSON in \
            AGD_VALUES, and each of them in AGD_VALUE_name: a text as it is, anything else as JSON. When the daemon \
            goes away, when waits for it; a rule that is still true afterwards does not run the command again.

            With --over, the command does not run: agd-past says when it would have run in that time. The time ends \
            now, or at --time.

            Examples:
              agctl when 'status == "critical"' --at /host --for 5m -- notify-send Trouble
              agctl when 'load > 4.0' --at /host -- sh -c 'echo "$AGD_VALUE_load" >> loads'
              agctl when 'isDone' --at /job --once
              agctl when 'status == "critical"' --at /host --for 5m --over 7d
            """)

    @Argument(help: "A rule (CEL) over the attributes of the node.")
    var rule: String

    @Argument(
        help: ArgumentHelp("The command to run, after --.", valueName: "command"), completion: .files,
        isBehindTerminator: true) var command: [String] = []

    @Option(
        help: ArgumentHelp("The node whose attributes the rule can use.", valueName: "path"),
        completion: Suggestions.nodes)
    var at = "/"

    @Option(
        "--for",
        help: ArgumentHelp("How long the rule must have been true: 90s, 5m, 1d.", valueName: "time")) var delay: String?

    @Flag("--no-initial", help: "Do not run the command for a rule that is true at first.")
    var skipsInitial = false

    @Flag(help: "End after the first time, with the status of the command.")
    var once = false

    @Option(
        help: ArgumentHelp("Print when the command would have run, for so long: 24h, 7d.", valueName: "time"))
    var over: String?

    @OptionGroup var common: CommonOptions

    private var seconds: Double? { delay.map { TimeSpan($0).map { Double($0.nanoseconds) / 1e9 } ?? -1 } }

    func validate() throws(UsageError) {
        if let seconds, seconds < 0 { throw UsageError("--for takes a time, as 5m or 90s") }
        if let over, (TimeSpan(over)?.nanoseconds ?? 0) <= 0 { throw UsageError("--over takes a time, as 24h or 7d") }
        if command.isEmpty, !once, over == nil {
            throw UsageError("a command is missing: write it after --, or give --once to only wait")
        }
    }

    func run(_ session: Session) throws {
        if let span = over.flatMap({ TimeSpan($0) }) { return try lookBack(span, session) }
        let watcher = session.newWatcher(
            .init(patterns: [Condition.pattern(at)], events: .update, initial: true, typed: true), name: "agctl when")
        let signals = try Signals()
        var condition = Condition(rule: rule, at: at, session)
        var edge = RisingEdge(delay: seconds ?? 0, skipsFirst: skipsInitial)
        // A mistake in the rule is reported at once. The first event decides whether it is true: nothing is missed
        // between that and the next events.
        try condition.check()
        // True while the daemon does not answer, although the watcher has no news of that.
        var asksAgain = false
        while true {
            if edge.takeIfDue(at: MonotonicTime.now) {
                let status = perform(condition, session)
                if once { throw EndOfCommand(code: status) }
            }
            let news = try watcher.next(
                timeout: asksAgain ? 1 : edge.wait(at: MonotonicTime.now), interrupt: signals.descriptor)
            try signals.check()
            if let news { WatchNotice(news)?.report(session.errors) }
            switch news {
            case .interrupted:
                session.disconnect()
                edge.note(nil, at: MonotonicTime.now)
                asksAgain = false
                continue
            case .event(let message): guard try condition.take(message) else { continue }
            // All values follow.
            case .resumed(isSnapshot: true): continue
            case .resumed(isSnapshot: false): break
            case nil: guard asksAgain else { continue }
            }
            let answer = try condition.holds()
            edge.note(answer.isTrue, at: MonotonicTime.now)
            asksAgain = answer.isMissing
        }
    }

    /// Prints when the command would have run.
    private func lookBack(_ span: TimeSpan, _ session: Session) throws {
        let delay = seconds ?? 0
        // If the rule was true for longer than --for before the span began, the command has run before the span.
        let lead = TimeSpan(nanoseconds: Int64((delay * 1e9).rounded()))
        let series = try RuleSeries(rule, at: at, over: span, lead: lead, points: 1, changes: true, session)
        let steps = try series.steps.map { (time: $0.time, isTrue: try Condition.truth(of: $0.value)) }
        let begin = series.from.advanced(by: lead) ?? series.from
        // The archive may begin later. Then the rule is true at first.
        let isKnown = steps.first?.isTrue != nil
        let firings = Firings(
            steps, delay: delay, skipsFirst: skipsInitial || isKnown, from: begin, to: series.to
        ).all
        if session.isJSON { return firings.forEach { session.output.json($0.json) } }
        if !firings.isEmpty { session.output.write(Firings.table(firings, to: series.to).text()) }
        let times = firings.count == 1 ? "have fired once" : "have fired \(firings.count) times"
        session.output.writeLine("it would \(firings.isEmpty ? "not have fired" : times) in \(over ?? "")")
        for gap in series.gaps { session.output.writeLine(session.output.style.dim(gap.text)) }
    }

    /// - Returns: the status of the command; 127 if it cannot be started, as in a shell.
    private func perform(_ condition: Condition, _ session: Session) -> Int32 {
        guard let program = command.first else { return 0 }
        for (name, value) in condition.variables {
            if let value { setenv(name, value, 1) } else { unsetenv(name) }
        }
        do throws(Complaint) { return try Child.run(program, Array(command.dropFirst())) } catch {
            WatchNotice(message: error.message).report(session.errors)
            return 127
        }
    }
}

/// Detects when a condition that comes and goes has become true and stayed true.
struct RisingEdge {
    /// Seconds for which it has to stay true.
    let delay: Double
    /// True if the first value alone does not make it due.
    let skipsFirst: Bool
    /// The time at which it became true; nil: it was false when it was last known.
    private var since: Double?
    private var isTaken = false
    private var isKnown = false
    private var wasKnown = false

    init(delay: Double, skipsFirst: Bool = false) { (self.delay, self.skipsFirst) = (delay, skipsFirst) }

    /// - Parameter isTrue: nil: nobody knows. Then it counts as before, and is not due.
    mutating func note(_ isTrue: Bool?, at now: Double) {
        isKnown = isTrue != nil
        guard let isTrue else { return }
        if !isTrue {
            since = nil
            isTaken = false
        } else if since == nil {
            since = now
            isTaken = skipsFirst && !wasKnown
        }
        wasKnown = true
    }

    /// Seconds until it is due; nil: not before the condition changes.
    func wait(at now: Double) -> Double? {
        isTaken || !isKnown ? nil : since.map { max(0, $0 + delay - now) }
    }

    /// True once each time that the condition has stayed true long enough.
    mutating func takeIfDue(at now: Double) -> Bool {
        guard isKnown, !isTaken, let since, now >= since + delay else { return false }
        isTaken = true
        return true
    }
}

/// A rule at a node of the daemon. It is evaluated over the values of the last event. So a change that is undone a
/// moment later is not missed, and the command gets the values that its rule has seen.
private struct Condition {
    let rule: String
    let at: String
    private let session: Session
    private let decoder = MessageDecoder()
    private var values: [String: Value] = [:]
    /// The attributes that have had a value. Those without one now have no variable.
    private var names: Set<String> = []

    init(rule: String, at: String, _ session: Session) {
        self.rule = rule
        self.at = at
        self.session = session
    }

    /// All attributes of a node.
    static func pattern(_ node: String) -> String { (node == "/" ? "/" : node) + ".*" }

    /// Throws if the daemon is not there, or the rule has a mistake or another type than bool.
    func check() throws {
        let content: Content
        do throws(ClientError) { content = try evaluate(rule) } catch {
            var complaint = Complaint(error)
            if at == "/", error.failure?.code == .ruleType, complaint.hint == nil {
                complaint.hint = "the rule can use the attributes of /; --at names another node"
            }
            throw complaint
        }
        _ = try truth(of: content)
        // An error says nothing about the type. A condition must be a bool.
        do throws(ClientError) { _ = try evaluate("(\(rule)\n) ? true : false") } catch {
            guard error.failure?.code == .ruleType else { throw error }
            throw Self.noBool()
        }
    }

    private static func noBool(_ value: Value? = nil) -> Complaint {
        Complaint(
            .data, "the rule gives no bool" + (value.map { ", but \($0.jsonText)" } ?? ""),
            hint: "it is true or false, as in load > 4.0")
    }

    /// - Returns: whether the event has changed attributes.
    mutating func take(_ message: EncodedMessage) throws(ClientError) -> Bool {
        guard
            case .event(_, .update(_, _, _, _, let isInitial, let changes, _)) = try decoder.decode(
                message, typed: true)
        else { return false }
        if isInitial { values = [:] }
        for change in changes { note(change.content, at: change.path) }
        return true
    }

    private mutating func note(_ content: Content?, at path: String) {
        guard let name = (try? AttributePath(path))?.attribute else { return }
        if case .value(let value)? = content { values[name] = value } else { values[name] = nil }
        names.insert(name)
    }

    /// - Returns: `isTrue` is nil if the rule has no value. `isMissing` is true if the daemon did not answer.
    func holds() throws -> (isTrue: Bool?, isMissing: Bool) {
        let content: Content
        do throws(ClientError) { content = try evaluate(rule) } catch {
            if let failure = error.failure {
                // The node may return.
                if failure.code == .notFound { return (nil, false) }
                throw error
            }
            session.disconnect()
            return (nil, true)
        }
        return (try truth(of: content), false)
    }

    private func evaluate(_ expression: String) throws(ClientError) -> Content {
        let bindings = ValueMap(values.map { (.string($0.key), $0.value) })
        let request = Request.eval(expression: expression, bindings: bindings, at: at, typed: true)
        return try Content(result: try session.connection(name: "agctl when").call(request), typed: true)
    }

    /// - Returns: nil for an error, and for null.
    /// - Throws: if the value is no bool.
    private func truth(of content: Content) throws(Complaint) -> Bool? {
        switch content {
        case .failure: return nil
        case .value(let value): return try Condition.truth(of: value)
        }
    }

    /// - Returns: nil for null, and if there is no value.
    static func truth(of value: Value?) throws(Complaint) -> Bool? {
        switch value {
        case nil, .null?: return nil
        case .bool(let value)?: return value
        case let value?: throw Self.noBool(value)
        }
    }

    /// The environment variables of the command.
    var variables: [(String, String?)] {
        let all = Value.map(ValueMap(values.sorted { $0.key < $1.key }.map { (.string($0.key), $0.value) }))
        return [("AGD_AT", at), ("AGD_RULE", rule), ("AGD_VALUES", all.jsonText)]
            + names.map { ("AGD_VALUE_" + $0, values[$0].map { $0.string ?? $0.jsonText }) }
    }
}
