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
            has been false. A rule that fails, or gives something else than true, counts as false. If the rule is true \
            at first, that counts, too.

            The command finds the node in AGD_AT, the rule in AGD_RULE, all attributes of the node as JSON in \
            AGD_VALUES, and each of them in AGD_VALUE_name: a text as it is, anything else as JSON. When the daemon \
            goes away, when waits for it; a rule that is still true afterwards does not run the command again.

            Examples:
              agctl when 'status == "critical"' --at /host --for 5m -- notify-send Trouble
              agctl when 'load > 4.0' --at /host -- sh -c 'echo $AGD_VALUE_load >> loads'
              agctl when 'isDone' --at /job --once
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

    @Flag(help: "End after the first time, with the status of the command.")
    var once = false

    @OptionGroup var common: CommonOptions

    private var seconds: Double? { delay.map { TimeSpan($0).map { Double($0.nanoseconds) / 1e9 } ?? -1 } }

    func validate() throws(UsageError) {
        if let seconds, seconds < 0 { throw UsageError("--for takes a time, as 5m or 90s") }
        if command.isEmpty, !once {
            throw UsageError("a command is missing: write it after --, or give --once to only wait")
        }
    }

    func run(_ session: Session) throws {
        let watcher = session.newWatcher(
            .init(patterns: [Condition.pattern(at)], events: .update, initial: true, typed: true), name: "agctl when")
        let signals = try Signals()
        var condition = Condition(rule: rule, at: at, session)
        var edge = RisingEdge(delay: seconds ?? 0)
        // A mistake in the rule is reported at once. The first event decides whether it is true: nothing is missed
        // between that and the next events.
        try condition.check()
        while true {
            if edge.takeIfDue(at: MonotonicTime.now) {
                let status = perform(condition, session)
                if once { throw EndOfCommand(code: status) }
            }
            let news = try watcher.next(timeout: edge.wait(at: MonotonicTime.now), interrupt: signals.descriptor)
            try signals.check()
            guard let news else { continue }
            WatchNotice(news)?.report(session.errors)
            if case .interrupted = news { session.disconnect() }
            guard case .event(let message) = news, try condition.take(message) else { continue }
            if let holds = try condition.holds() { edge.note(holds, at: MonotonicTime.now) }
        }
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
    /// The time at which it became true; nil: it is false.
    private var since: Double?
    private var isTaken = false

    init(delay: Double) { self.delay = delay }

    mutating func note(_ isTrue: Bool, at now: Double) {
        if !isTrue {
            since = nil
            isTaken = false
        } else if since == nil {
            since = now
        }
    }

    /// Seconds until it is due; nil: not before the condition changes.
    func wait(at now: Double) -> Double? { isTaken ? nil : since.map { max(0, $0 + delay - now) } }

    /// True once each time that the condition has stayed true long enough.
    mutating func takeIfDue(at now: Double) -> Bool {
        guard !isTaken, let since, now >= since + delay else { return false }
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

    /// Throws if the daemon is not there, or the rule has a mistake.
    func check() throws {
        do throws(ClientError) { _ = try evaluate() } catch {
            var complaint = Complaint(error)
            if at == "/", error.failure?.code == .ruleType, complaint.hint == nil {
                complaint.hint = "the rule can use the attributes of /; --at names another node"
            }
            throw complaint
        }
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

    /// - Returns: nil if the daemon is away. The caller asks again when the watcher has news.
    func holds() throws(ClientError) -> Bool? {
        do throws(ClientError) { return try evaluate() } catch {
            if let failure = error.failure {
                // The node may return.
                if failure.code == .notFound { return false }
                throw error
            }
            session.disconnect()
            return nil
        }
    }

    private func evaluate() throws(ClientError) -> Bool {
        let bindings = ValueMap(values.map { (.string($0.key), $0.value) })
        let request = Request.eval(expression: rule, bindings: bindings, at: at, typed: true)
        return try session.connection(name: "agctl when").call(request).map?["value"] == Value.bool(true).typedJSON
    }

    /// The environment variables of the command.
    var variables: [(String, String?)] {
        let all = Value.map(ValueMap(values.sorted { $0.key < $1.key }.map { (.string($0.key), $0.value) }))
        return [("AGD_AT", at), ("AGD_RULE", rule), ("AGD_VALUES", all.jsonText)]
            + names.map { ("AGD_VALUE_" + $0, values[$0].map { $0.string ?? $0.jsonText }) }
    }
}
