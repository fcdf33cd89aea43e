import AttributeValues
import CommandArguments
import Glibc
import WireProtocol

/// Where the values of a feed come from.
protocol Source: AnyObject {
    /// The writes that bring the daemon up to date. Asked when the daemon can take them.
    func takeChanges() -> [Mutation]

    /// The daemon has none of what was taken.
    func forgetTaken()
}

/// A node that lines of the configuration write to: their states, and `isLive`, `error` and `seen`, which tell how the
/// sources are. Values wait in their sources, so that a slow daemon gets the newest ones.
final class Feed {
    private struct Health: Equatable {
        var isLive = false
        var error: String?
        var seen: Timestamp?
    }

    /// As the line stands in the configuration, for messages and metrics.
    let line: String
    let nodes: [Name]
    /// The states of lines, with the documents that make them.
    private(set) var states: [(name: String, document: Value)] = []
    private var sources: [any Source] = []
    private var health = Health()
    /// What the daemon was told; nil: nothing.
    private var told: Health?
    /// Why the daemon has refused the last values.
    private var refusal: String?
    private var isRefused = false
    /// The changes that are under way have values of sources.
    private var hasValues = false
    private var log: Log

    /// There is something to send.
    private(set) var isDirty = false
    private(set) var isUnderWay = false
    /// The node is there.
    var isReady = false
    /// Monotonic seconds.
    var prepareTime = 0.0

    private(set) var reports = 0
    private(set) var failures = 0
    private(set) var refusals = 0

    init(_ line: String, _ nodes: [Name]) {
        self.line = line
        self.nodes = nodes
        log = Log(subject: line)
    }

    func add(_ source: any Source, _ name: String, _ document: Value) {
        sources.append(source)
        states.append((name, document))
    }

    var path: String { AttributePath.describe(nodes: nodes) }

    func path(of attribute: String) -> String { AttributePath(nodes: nodes, attribute: attribute).description }

    var isLive: Bool { health.isLive }

    // MARK: From the source

    /// The source has a new value.
    func succeed() {
        reports += 1
        health = Health(isLive: true, error: nil, seen: Feed.now)
        isDirty = true
    }

    /// The source is there, and has no value yet.
    func beLive() {
        health.isLive = true
        health.error = nil
        isDirty = true
    }

    /// A value could not be used. The source is still there.
    func complain(_ message: String) {
        failures += 1
        health.error = message
        isDirty = true
        log.report("source", message)
    }

    func fail(_ message: String) {
        failures += 1
        health.isLive = false
        health.error = message
        isDirty = true
        log.report("source", message)
    }

    private static var now: Timestamp? {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(seconds: Int64(time.tv_sec), nanoseconds: Int64(time.tv_nsec))
    }

    // MARK: To the daemon

    /// The daemon, or another one, knows nothing.
    func begin() {
        (isReady, isUnderWay, told, isDirty) = (false, false, nil, true)
        for source in sources { source.forgetTaken() }
    }

    /// The states that every feed has.
    static var health: [(name: String, document: Value)] {
        [
            ("isLive", ["type": "bool", "initial": false, "transient": true]),
            ("error", ["type": "string?", "transient": true]),
            ("seen", ["type": "timestamp?", "transient": true]),
        ]
    }

    /// What to send.
    func takeChanges() -> [Mutation] {
        isDirty = false
        var changes: [Mutation] = []
        // After a refusal, the daemon first gets the reason.
        if isRefused { isRefused = false } else { for source in sources { changes += source.takeChanges() } }
        hasValues = !changes.isEmpty
        let error = health.error ?? refusal
        func set(_ name: String, _ value: Value) {
            changes.append(Mutation(operation: .set, path: path(of: name), value: value))
        }
        if told?.isLive != health.isLive { set("isLive", .bool(health.isLive)) }
        if told == nil || told?.error != error { set("error", error.map { .string($0) } ?? .null) }
        if let seen = health.seen, told?.seen != seen { set("seen", .timestamp(seen)) }
        told = Health(isLive: health.isLive, error: error, seen: health.seen)
        isUnderWay = !changes.isEmpty
        return changes
    }

    /// The daemon has the changes.
    func accepted() {
        isUnderWay = false
        guard hasValues, refusal != nil else { return }
        refusal = nil
        isDirty = true
    }

    /// The daemon has none of the changes. It gets the reason, and everything again with the next value.
    func refused(_ failure: Failure) {
        isUnderWay = false
        refusals += 1
        told = nil
        for source in sources { source.forgetTaken() }
        refusal = "agd refused it: \(failure.message)"
        log.report("agd", "agd refused it: \(failure.message)" + (failure.hint.map { " (\($0))" } ?? ""))
        // If it takes not even the reason, it gets no further one.
        isRefused = hasValues
        isDirty = hasValues
    }
}
