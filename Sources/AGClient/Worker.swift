import Glibc

/// A thread of its own for blocking work, so that the work does not occupy one of the few threads of Swift's tasks.
package enum Worker {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// - Throws: `system` if the system cannot create a thread.
    package static func start(_ run: @escaping @Sendable () -> Void) throws(ClientError) {
        let body = Unmanaged.passRetained(Body(run))
        var thread = pthread_t()
        let code = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, body.toOpaque())
        guard code == 0 else {
            body.release()
            throw .system(call: "pthread_create", errno: code)
        }
        pthread_detach(thread)
    }
}
