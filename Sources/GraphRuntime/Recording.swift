import AttributeGraph
import AttributeValues
import ViewGraph

/// A record of turns and of the rules that ran in them, made while it is enabled.
struct Recording {
    /// An interval in seconds: a turn, or a rule in it.
    private struct Event {
        var name: String
        var isRule: Bool
        var start: Double
        var time: Double
        var arguments: Value?
    }

    /// All runs of one rule.
    private struct RuleTotal {
        var path: String
        var runs: Int64 = 0
        var time = 0.0
        /// Without the time of inner runs.
        var ownTime = 0.0

        mutating func add(_ run: RuleRun) {
            runs += 1
            time += run.time
            ownTime += run.time - run.innerTime
        }
    }

    /// The largest number of events that are retained, and of rules that are counted separately.
    private let capacity: Int
    private(set) var isOn = false
    /// The graph's counters at the beginning of the turn.
    private(set) var countersBefore = GraphCounters()
    private var events: Ring<Event>
    private var rules: [AttributeID: RuleTotal] = [:]
    private var otherRules = RuleTotal(path: "")

    init(capacity: Int) {
        self.capacity = max(1, capacity)
        events = Ring(capacity: capacity)
    }

    /// Starts a new recording, unless one is running.
    mutating func begin() {
        if isOn { return }
        self = Recording(capacity: capacity)
        isOn = true
    }

    mutating func beginTurn(_ counters: GraphCounters) { countersBefore = counters }

    /// Ends recording. The events stay.
    mutating func end() { isOn = false }

    mutating func add(turnFrom start: Double, to end: Double, _ arguments: Value) {
        events.append(Event(name: "turn", isRule: false, start: start, time: max(0, end - start), arguments: arguments))
    }

    /// - Parameter path: the path of a rule; called once for each that is counted separately.
    mutating func add(_ run: RuleRun, path: (AttributeID) -> String) {
        let name = rules[run.attribute]?.path ?? path(run.attribute)
        if rules[run.attribute] != nil || rules.count < capacity {
            rules[run.attribute, default: RuleTotal(path: name)].add(run)
        } else {
            otherRules.add(run)
        }
        events.append(Event(name: name, isRule: true, start: run.start, time: run.time))
    }
}

extension Recording {
    /// In the Chrome trace format, with a list of the rules, the most expensive first.
    var value: Value {
        var map = ValueMap()
        map["traceEvents"] = .list((0..<events.count).map { Recording.value(of: events[$0]) })
        map["rules"] = .list(
            rules.values.sorted { ($1.ownTime, $0.path) < ($0.ownTime, $1.path) }.map { .map(Recording.value(of: $0)) })
        if otherRules.runs > 0 {
            var others = Recording.value(of: otherRules)
            others["path"] = nil
            map["otherRules"] = .map(others)
        }
        map["enabled"] = .bool(isOn)
        return .map(map)
    }

    /// A complete event; times are in microseconds.
    private static func value(of event: Event) -> Value {
        var map = ValueMap([
            ("name", .string(event.name)), ("cat", event.isRule ? "rule" : "turn"), ("ph", "X"),
            ("ts", .double(event.start * 1e6)), ("dur", .double(event.time * 1e6)), ("pid", 1), ("tid", 1),
        ])
        map["args"] = event.arguments
        return .map(map)
    }

    private static func value(of total: RuleTotal) -> ValueMap {
        ValueMap([
            ("path", .string(total.path)), ("runs", .int(total.runs)), ("time", .double(total.time)),
            ("ownTime", .double(total.ownTime)),
        ])
    }
}
