import CLibuv
import Glibc

/// libuv's event loop: one thread waits here for sockets, timers and signals, and calls what was registered.
///
/// Lifetime: the loop outlives its handles. Each handle keeps itself alive from the moment it is opened until libuv has
/// closed it, so a running loop never calls into freed memory; `close` on every handle, then `run` once more, ends them
/// all, and only then may the loop go.
public final class Loop {
    let raw: UnsafeMutablePointer<uv_loop_t>

    public init() throws(LoopError) {
        // libuv leaves signals as they are: a peer that goes away in mid-write would end the process, and so would a file that
        // reaches its limit. As errors of their calls both are dealt with.
        for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
        raw = .allocate(capacity: 1)
        let result = uv_loop_init(raw)
        if result < 0 {
            raw.deallocate()
            throw LoopError(call: "uv_loop_init", number: result)
        }
    }

    deinit {
        precondition(uv_loop_close(raw) == 0, "a loop outlives its handles")
        raw.deallocate()
    }

    /// Runs until nothing is left to wait for, or `stop` was called.
    public func run() { uv_run(raw, UV_RUN_DEFAULT) }

    /// Runs what is due, without waiting for more. True while something is left to wait for.
    @discardableResult
    public func runOnce(waiting: Bool = false) -> Bool { uv_run(raw, waiting ? UV_RUN_ONCE : UV_RUN_NOWAIT) != 0 }

    /// Ends `run` after the present iteration.
    public func stop() { uv_stop(raw) }

    /// Seconds on the monotonic clock (CLOCK_MONOTONIC), read now.
    public static var monotonicTime: Double { Double(uv_hrtime()) / 1e9 }

    /// Seconds that the calling thread has run on a processor. It stands still while the thread sleeps or waits for the disk.
    public static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
