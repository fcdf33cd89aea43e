import AttributeGraph
import AttributeValues
import SceneModel

// Clocks are inputs that show the date of their last tick. All clocks of one schedule share a vertex. The graph never looks at
// a real clock: `advance(to:)` is told the time, and `nextTick` says when it wants to be told again.

extension ViewGraph {
    func clock(_ schedule: ClockSchedule) -> AttributeID {
        if let existing = clocks[schedule] { return existing }
        let made = createInput(
            .value(.timestamp(schedule.lastTick(at: wallTime))), node: NodeID.root.row, name: "clock \(schedule.text)",
            kind: .clock, type: .timestamp, source: .system)
        clocks[schedule] = made
        clockSchedules[made] = schedule
        idleVertices.append(made)
        return made
    }

    /// Sets every clock to its last tick at or before `time`; a clock that has not ticked since changes nothing.
    public func advance(to time: Timestamp) {
        wallTime = time
        for (schedule, attribute) in clocks {
            setInput(attribute, .value(.timestamp(schedule.lastTick(at: time))))
        }
    }

    /// When the next clock that somebody watches will tick; nil when nobody watches any.
    /// Cost: O(clocks), and O(what depends on one) when a watch or an edge has come or gone that may matter to it.
    public func nextTick() -> Timestamp? {
        var next: Timestamp?
        for (schedule, attribute) in clocks {
            guard let tick = schedule.nextTick(after: wallTime), isObserved(attribute) else { continue }
            if next.map({ tick < $0 }) ?? true { next = tick }
        }
        return next
    }

    private func isObserved(_ clock: AttributeID) -> Bool {
        let counters = engine.counters
        let begun = counters.edgesAdded &+ watchesBegun
        let ended = counters.edgesRemoved &+ watchesEnded
        if let known = clockObservations[clock], known.holds(begun, ended) { return known.isObserved }
        clockLookups += 1
        let found = engine.isWatchedDownstream(of: clock)
        clockObservations[clock] = ClockObservation(isObserved: found, begun: begun, ended: ended)
        return found
    }
}

/// Whether a clock was observed (somebody watches it or what depends on it) when it was looked up last.
struct ClockObservation {
    let isObserved: Bool
    /// Edges and watches that had ever come, and those that had gone.
    let begun: UInt64
    let ended: UInt64

    /// Only what comes can make a clock observed, and only what goes can end that.
    func holds(_ begun: UInt64, _ ended: UInt64) -> Bool { isObserved ? self.ended == ended : self.begun == begun }
}

extension ClockSchedule {
    /// Nanoseconds of a display frame.
    static let frame: Int64 = 16_666_667

    private var period: Int64? {
        switch self {
        case .every(let span, _): span.nanoseconds
        case .everyMinute: 60_000_000_000
        case .animation(let minimum): max(ClockSchedule.frame, minimum?.nanoseconds ?? 0)
        case .dates: nil
        }
    }

    private var start: Timestamp {
        if case .every(_, let start?) = self { return start }
        return .epoch
    }

    /// The date of the last tick at or before a time; the time itself where none has come yet.
    func lastTick(at time: Timestamp) -> Timestamp {
        if case .dates(let dates) = self { return dates.last { $0 <= time } ?? time }
        guard let period, let elapsed = time.since(start) else { return time }
        var rest = elapsed.nanoseconds % period
        if rest < 0 { rest += period }
        return time.advanced(by: TimeSpan(nanoseconds: -rest)) ?? time
    }

    func nextTick(after time: Timestamp) -> Timestamp? {
        if case .dates(let dates) = self { return dates.first { $0 > time } }
        guard let period else { return nil }
        return lastTick(at: time).advanced(by: TimeSpan(nanoseconds: period))
    }

    var text: String {
        switch self {
        case .every(let span, _): "every \(span)"
        case .everyMinute: "everyMinute"
        case .animation: "animation"
        case .dates(let dates): "of \(dates.count) dates"
        }
    }
}
