import AttributeValues

/// The time of operators over time: nanoseconds that never go back, and that nobody sets.
///
/// It begins with the wall time of the start and goes on with the time since the boot, which counts sleep.
/// So a wall clock that is set neither ends a span too early nor too late. Only what is shown as a date is converted.
///
/// The store counts from an origin of its own, which is the same in all lives of the graph. The first life has it at
/// 1970. With its rows, the store has how far that time is ahead of the wall clock, and its last reading. A new life
/// goes on from there: from the wall clock and the lead, but not before the last reading. So the time after a start is
/// never before the times in the rows, whatever happened to the wall clock.
struct OperatorTime {
    /// The reading at `elapsed`.
    private var base: Int64
    /// How far this time is ahead of the wall clock.
    private(set) var lead: Int64 = 0
    /// When the store's time began, in this time.
    private(set) var origin: Int64 = 0
    private var elapsed: Int64
    /// The present moment: the time since the boot, and on the wall clock.
    private var present: Int64
    private var wall: Timestamp

    /// A wall clock that differs by less is slewed, or was read a moment later.
    private static let jump: UInt64 = 500_000_000

    /// - Parameter elapsed: the time since the machine was booted. Only differences count.
    init(wall: Timestamp, elapsed: TimeSpan) {
        base = OperatorTime.nanoseconds(wall)
        (self.elapsed, present) = (elapsed.nanoseconds, elapsed.nanoseconds)
        self.wall = wall
    }

    var now: Int64 { reading(at: present) }

    private static func nanoseconds(_ time: Timestamp) -> Int64 {
        time.since(.epoch)?.nanoseconds ?? (time < .epoch ? -Int64.max / 2 : Int64.max / 2)
    }

    /// The reading at a later moment.
    func reading(at elapsed: TimeSpan) -> Int64 { reading(at: elapsed.nanoseconds) }

    private func reading(at elapsed: Int64) -> Int64 { base &+ max(0, elapsed &- self.elapsed) }

    /// True if the wall clock was set since the last `advance`.
    func isSet(_ wall: Timestamp, elapsed: TimeSpan) -> Bool {
        let lead = reading(at: elapsed) &- OperatorTime.nanoseconds(wall)
        return (lead &- self.lead).magnitude >= OperatorTime.jump
    }

    /// Notes the time while nobody uses it, at almost no cost.
    mutating func pass(to wall: Timestamp, elapsed: TimeSpan) {
        present = max(present, elapsed.nanoseconds)
        self.wall = wall
    }

    /// - Returns: whether the wall clock was set since the last call.
    mutating func advance(to wall: Timestamp, elapsed: TimeSpan) -> Bool {
        pass(to: wall, elapsed: elapsed)
        return settle()
    }

    /// Finds out what `pass` has left open.
    /// - Returns: whether the wall clock was set since the last `advance`.
    mutating func settle() -> Bool {
        let isSet = isSet(wall, elapsed: TimeSpan(nanoseconds: present))
        (base, elapsed) = (now, present)
        if isSet { lead = now &- OperatorTime.nanoseconds(wall) }
        return isSet
    }

    func wallTime(of time: Int64) -> Timestamp {
        Timestamp.epoch.advanced(by: TimeSpan(nanoseconds: time &- lead)) ?? .epoch
    }

    /// The date of a date of this time.
    func wallTime(of time: Timestamp) -> Timestamp { time.advanced(by: TimeSpan(nanoseconds: 0 &- lead)) ?? time }

    // MARK: In the store

    /// The row that a later life goes on from.
    var row: Value { .list([.int(lead &- origin), .int(now &- origin)]) }

    /// The row of an image, from which a graph of the past goes on exactly. It says at which `elapsed` it was `now`:
    /// an image is written later than the last turn.
    var imageRow: Value { .list([.int(lead), .int(now), .int(origin), .int(present)]) }

    /// Goes on from an earlier life, or from an image.
    mutating func resume(from row: Value) {
        if let fields = row.list, fields.count == 3 || fields.count == 4, case .int(let lead) = fields[0],
            case .int(let now) = fields[1], case .int(let origin) = fields[2]
        {
            (base, self.lead, self.origin, elapsed) = (now, lead, origin, present)
            // The archives of agd 0.1 do not say it.
            if fields.count == 4, case .int(let elapsed) = fields[3] { self.elapsed = elapsed }
            return
        }
        guard let fields = row.list, fields.count == 2, case .int(let lead) = fields[0], case .int(let last) = fields[1]
        else { return }
        let wall = now &- self.lead
        origin = now &- max(wall &+ lead, last)
    }
}
