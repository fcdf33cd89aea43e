import CSystemd

/// How well the kernel's clock agrees with that of the world (adjtimex(2)).
struct ClockState: Equatable {
    /// True while a time service disciplines the clock.
    var isSynchronized: Bool
    /// Seconds by which the time service knows the clock to be wrong.
    var offset: Double
    /// Seconds by which the clock may be wrong at most.
    var error: Double

    init(isSynchronized: Bool, offset: Double, error: Double) {
        self.isSynchronized = isSynchronized
        self.offset = offset
        self.error = error
    }

    /// nil if the feeder may not ask.
    init?() {
        var clock = timex()
        let state = adjtimex(&clock)
        guard state >= 0 else { return nil }
        self.init(state: state, clock)
    }

    init(state: Int32, _ clock: timex) {
        let isUnsynchronized = state == TIME_ERROR || clock.status & STA_UNSYNC != 0
        let unit = clock.status & STA_NANO != 0 ? 1e9 : 1e6
        self.init(
            isSynchronized: !isUnsynchronized, offset: Double(clock.offset) / unit, error: Double(clock.maxerror) / 1e6)
    }
}
