import Glibc

enum Clock {
    /// Seconds on the machine's monotonic clock, which the daemon uses too.
    static var now: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
