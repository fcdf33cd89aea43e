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
}
