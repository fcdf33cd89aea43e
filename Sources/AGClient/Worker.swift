import Glibc

/// A thread of its own for work that blocks, so that it never takes one of the few that Swift's tasks share.
enum Worker {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// - Throws: `system` when no thread can be had.
    static func start(_ run: @escaping @Sendable () -> Void) throws(ClientError) {
        let body = Unmanaged.passRetained(Body(run))
        var thread = pthread_t()
        let code = pthread_create(&thread, nil, { argument in
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
