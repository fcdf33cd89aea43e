import Glibc

/// The clock that the daemon's timelines are placed on.
public enum MonotonicTime {
    /// Seconds.
    public static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
    }

    /// Seconds as `poll` takes them: rounded up, none below 0, and at most what it can wait.
    public static func milliseconds(_ seconds: Double) -> Int32 {
        // What is no number waits for nothing.
        Int32(max(0, min((seconds * 1000).rounded(.up), Double(Int32.max))))
    }
}
