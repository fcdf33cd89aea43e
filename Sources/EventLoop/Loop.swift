import CLibuv
import Glibc

/// libuv's event loop: one thread waits for sockets, timers and signals, and calls the registered callbacks.
///
/// Lifetime: the loop must outlive its handles. A handle keeps itself alive from its opening until libuv has closed it,
/// so a running loop never calls into freed memory. To end them all, call `closeHandles` and then `run` once more. Only
/// then may the loop be freed.
public final class Loop {
    let raw: UnsafeMutablePointer<uv_loop_t>

    public init() throws(LoopError) {
        // libuv does not change the handling of these signals. They would end the process when a peer closes during a
        // write, or when a file reaches its size limit. With the signals ignored, the calls fail with an error instead.
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

    /// Runs until there is nothing left to wait for, or until `stop` is called.
    public func run() { uv_run(raw, UV_RUN_DEFAULT) }

    /// Runs everything that is due, without waiting. Returns true while there is something left to wait for.
    @discardableResult
    public func runOnce(waiting: Bool = false) -> Bool { uv_run(raw, waiting ? UV_RUN_ONCE : UV_RUN_NOWAIT) != 0 }

    /// Milliseconds until a timer is due, as of the last iteration; 0 if something is due now, -1 if nothing waits for
    /// a time.
    package var timeout: Int32 { uv_backend_timeout(raw) }

    /// Closes all handles, so that nothing is left to wait for.
    public func closeHandles() {
        uv_walk(raw, { handle, _ in Handle.owner(handle?.pointee.data, as: Handle.self)?.close() }, nil)
    }

    /// Makes `run` return after the present iteration.
    public func stop() { uv_stop(raw) }

    /// Seconds on the monotonic clock (CLOCK_MONOTONIC), read now.
    public static var monotonicTime: Double { Double(uv_hrtime()) / 1e9 }

    /// Processor time of the calling thread, in seconds. It does not advance while the thread sleeps or waits for the
    /// disk.
    public static var processorTime: Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
