import Glibc

/// The clock on which the daemon places timelines.
public enum MonotonicTime {
    /// In seconds.
    public static var now: Double { seconds(on: CLOCK_MONOTONIC) }

    /// Seconds in the form that `poll` needs: rounded up, at least 0, and at most its maximum.
    public static func milliseconds(_ seconds: Double) -> Int32 {
        // `max` turns NaN into 0.
        Int32(max(0, min((seconds * 1000).rounded(.up), Double(Int32.max))))
    }
}

/// The wall clock of this machine.
package enum WallTime {
    /// Seconds since 1970.
    package static var now: Double { seconds(on: CLOCK_REALTIME) }

    /// Seconds since this machine was started. Nobody sets this clock.
    package static var sinceStart: Double { seconds(on: CLOCK_BOOTTIME) }
}

private func seconds(on clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}
