import AttributeValues

/// The schedule of a clock. Its value is the date of the last tick.
public enum ClockSchedule: Hashable {
    /// Aligned to `start` (nil for the epoch). Nanoseconds > 0.
    case every(TimeSpan, start: Timestamp?)
    case everyMinute
    /// At the display rate while somebody watches: every 1/60 s, or every `minimumInterval` if that is longer.
    case animation(minimumInterval: TimeSpan?)
    /// Ascending.
    case dates([Timestamp])
    /// At local times of the day. Without a time zone it is not complete: it has that of the node's environment.
    case daily(DailySchedule)
    /// Not complete: the period is the value of an attribute, or a place in one.
    case everyValue(Reference)
}

/// Local times of the day, each once on each of its days.
public struct DailySchedule: Hashable {
    /// Seconds after midnight, ascending.
    public var times: [Int]
    /// Bit 0 is Sunday.
    public var days: UInt8
    /// nil: that of the node's environment.
    public var timeZone: String?

    public static let everyDay: UInt8 = 0x7f
    /// The names of days in documents, Sunday first.
    public static let dayNames = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]

    public init(times: [Int], days: UInt8 = DailySchedule.everyDay, timeZone: String? = nil) {
        self.times = times
        self.days = days
        self.timeZone = timeZone
    }

    /// `03:00`, with seconds if there are some.
    public static func text(of time: Int) -> String {
        func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return two(time / 3600) + ":" + two(time / 60 % 60) + (time % 60 == 0 ? "" : ":" + two(time % 60))
    }
}
