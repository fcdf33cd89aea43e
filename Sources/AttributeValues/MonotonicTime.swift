import Glibc

/// The clock on which the daemon places timelines.
public enum MonotonicTime {
    /// In seconds.
    public static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// Seconds in the form that `poll` needs: rounded up, at least 0, and at most its maximum.
    public static func milliseconds(_ seconds: Double) -> Int32 {
        // `max` turns NaN into 0.
        Int32(max(0, min((seconds * 1000).rounded(.up), Double(Int32.max))))
    }
}
