import AttributeGraph
import AttributeValues
import RuleLanguage
import SceneModel

/// The vertices of clocks: inputs that contain the date of their last tick. All clocks of one schedule share a vertex.
/// This type does not read the time: callers pass it to `advance`, and `nextTick` says when to call that again.
struct Clocks {
    /// The wall time.
    private(set) var time: Timestamp
    /// A time since which the graph lives; not later than the wall time, also after the wall clock was set back.
    private var beginning: Timestamp
    private var vertices: [ClockSchedule: AttributeID] = [:]
    private var schedules: [AttributeID: ClockSchedule] = [:]
    private var observations: [AttributeID: Observation] = [:]
    /// Number of times that `isObserved` was called; for tests.
    private(set) var lookups = 0

    /// True if a clock was observed (somebody watches it or what depends on it) when it was looked
    /// up last.
    private struct Observation {
        let isObserved: Bool
        let uses: UseCounts

        /// Only a use that begins can make a clock observed, and only one that ends can change
        /// that.
        func holds(_ now: UseCounts) -> Bool { isObserved ? uses.ended == now.ended : uses.begun == now.begun }
    }

    init(time: Timestamp) { (self.time, beginning) = (time, time) }

    var isEmpty: Bool { vertices.isEmpty }

    func vertex(of schedule: ClockSchedule) -> AttributeID? { vertices[schedule] }

    /// The date of a schedule's last tick. Before the first one, it is the time since which the graph lives: it stays
    /// the same until the first tick.
    mutating func reading(of schedule: ClockSchedule) -> Timestamp {
        schedule.lastTick(at: time, clock(of: schedule)) ?? min(beginning, time)
    }

    /// The local clocks that schedules use, by their time zones.
    private var localClocks: [String: LocalClock] = [:]
    /// About the number of existing zones.
    private static let mostZones = 600

    private mutating func clock(of schedule: ClockSchedule) -> LocalClock? {
        guard case .daily(let daily) = schedule, let zone = daily.timeZone else { return nil }
        return localClock(zone)
    }

    mutating func localClock(_ zone: String) -> LocalClock? {
        if let known = localClocks[zone] { return known }
        let made = LocalClock(zone)
        if localClocks.count >= Clocks.mostZones { localClocks = [:] }
        localClocks[zone] = made
        return made
    }

    mutating func add(_ vertex: AttributeID, of schedule: ClockSchedule) {
        beginning = min(beginning, time)
        vertices[schedule] = vertex
        schedules[vertex] = schedule
    }

    /// Forgets a vertex, if it is a clock's.
    mutating func remove(_ vertex: AttributeID) {
        guard let schedule = schedules.removeValue(forKey: vertex) else { return }
        vertices[schedule] = nil
        observations[vertex] = nil
    }

    /// - Returns: the new reading of each clock.
    mutating func advance(to time: Timestamp) -> [(vertex: AttributeID, reading: Timestamp)] {
        self.time = time
        if vertices.isEmpty { return [] }
        beginning = min(beginning, time)
        var readings: [(vertex: AttributeID, reading: Timestamp)] = []
        for (schedule, vertex) in vertices { readings.append((vertex, reading(of: schedule))) }
        return readings
    }

    /// When the next clock that is observed will tick; nil when none is. A clock is looked up again
    /// only if a use that may matter to it has begun or ended.
    mutating func nextTick(_ uses: UseCounts, isObserved: (AttributeID) -> Bool) -> Timestamp? {
        var next: Timestamp?
        for (schedule, vertex) in vertices {
            guard let tick = schedule.nextTick(after: time, clock(of: schedule)) else { continue }
            if observations[vertex]?.holds(uses) != true {
                lookups += 1
                observations[vertex] = Observation(isObserved: isObserved(vertex), uses: uses)
            }
            guard observations[vertex]?.isObserved == true else { continue }
            if next.map({ tick < $0 }) ?? true { next = tick }
        }
        return next
    }

    mutating func giveBack() {
        vertices.giveBack()
        schedules.giveBack()
        observations.giveBack()
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
        case .dates, .daily, .everyValue: nil
        }
    }

    private var start: Timestamp {
        if case .every(_, let start?) = self { return start }
        return .epoch
    }

    /// The date of the last tick at or before a time; nil if there was none.
    /// - Parameter clock: that of the schedule's time zone.
    func lastTick(at time: Timestamp, _ clock: LocalClock? = nil) -> Timestamp? {
        if case .daily(let daily) = self {
            return clock.flatMap { daily.ticks(around: time, $0).last { $0 <= time } }
        }
        if case .dates(let dates) = self { return dates.last { $0 <= time } }
        guard let period else { return nil }
        // A start may be too far away for a `TimeSpan`.
        let elapsed =
            Int128(time.seconds - start.seconds) * 1_000_000_000 + Int128(time.nanoseconds - start.nanoseconds)
        var rest = Int64(elapsed % Int128(period))
        if rest < 0 { rest += period }
        return time.advanced(by: TimeSpan(nanoseconds: -rest))
    }

    func nextTick(after time: Timestamp, _ clock: LocalClock? = nil) -> Timestamp? {
        if case .daily(let daily) = self {
            return clock.flatMap { daily.ticks(around: time, $0).first { $0 > time } }
        }
        if case .dates(let dates) = self { return dates.first { $0 > time } }
        guard let period else { return nil }
        return lastTick(at: time)?.advanced(by: TimeSpan(nanoseconds: period))
    }

    var text: String {
        switch self {
        case .every(let span, _): "every \(span)"
        case .everyMinute: "everyMinute"
        case .animation: "animation"
        case .dates(let dates): "of \(dates.count) dates"
        case .daily(let daily): "at " + daily.times.map(DailySchedule.text).joined(separator: ", ")
        case .everyValue: "of a period"
        }
    }
}

extension DailySchedule {
    /// The ticks of the days around a time, in order: those of a week before it and after it.
    fileprivate func ticks(around time: Timestamp, _ clock: LocalClock) -> [Timestamp] {
        let today = clock.day(at: time.seconds)
        var ticks: [Timestamp] = []
        for day in today - 8...today + 8 {
            // 1970-01-01 was a Thursday.
            let weekday = ((day + 4) % 7 + 7) % 7
            guard (Int(days) >> weekday) & 1 == 1 else { continue }
            ticks += times.compactMap { Timestamp(seconds: clock.instant(day: day, second: $0)) }
        }
        return ticks
    }
}
