import CLibuv

/// Blocking work on libuv's thread pool, which comes back to the loop as an event.
///
/// What `perform` touches belongs to it until `done` is called: the loop must leave it alone meanwhile. The compiler
/// cannot see that, because the closures travel through libuv as a pointer; so `perform` should hold only what was made
/// for it.
public enum Work {
    private final class Job {
        let perform: () -> Void
        let done: (_ wasCancelled: Bool) -> Void
        let request = UnsafeMutablePointer<uv_work_t>.allocate(capacity: 1)

        init(_ perform: @escaping () -> Void, _ done: @escaping (Bool) -> Void) {
            self.perform = perform
            self.done = done
        }

        deinit { request.deallocate() }
    }

    /// `done` is called on the loop once, after `perform` ended.
    public static func run(
        on loop: Loop, _ perform: @escaping () -> Void, then done: @escaping (_ wasCancelled: Bool) -> Void
    ) throws(LoopError) {
        let job = Job(perform, done)
        let retained = Unmanaged.passRetained(job)
        job.request.pointee.data = retained.toOpaque()
        let result = uv_queue_work(loop.raw, job.request, { request in
            guard let data = request?.pointee.data else { return }
            Unmanaged<Job>.fromOpaque(data).takeUnretainedValue().perform()
        }, { request, status in
            guard let data = request?.pointee.data else { return }
            Unmanaged<Job>.fromOpaque(data).takeRetainedValue().done(status == UV_ECANCELED.rawValue)
        })
        if result < 0 {
            retained.release()
            throw LoopError(call: "uv_queue_work", number: result)
        }
    }
}
