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
    /// Cost: O(what depends on the clocks).
    public func nextTick() -> Timestamp? {
        var next: Timestamp?
        for (schedule, attribute) in clocks {
            guard let tick = schedule.nextTick(after: wallTime), isObserved(attribute) else { continue }
            if next.map({ tick < $0 }) ?? true { next = tick }
        }
        return next
    }

    /// Whether anything downstream is watched.
    private func isObserved(_ attribute: AttributeID) -> Bool {
        var seen: Set<UInt32> = []
        var pending = [attribute]
        while let next = pending.popLast() {
            if engine.isWatched(next) { return true }
            for reader in engine.readers(of: next) where seen.insert(reader.index).inserted { pending.append(reader) }
        }
        return false
    }
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
