import EventLoop
import Logging
import StateStore

extension Daemon {
    /// Accepts no more clients, answers received requests, and waits a bounded time until clients have read their
    /// output. A second call does not wait.
    package func stop() {
        if isStopping { return sessions.closeAll() }
        isStopping = true
        manager.stopping()
        log.notice("stopping: \(runtime.status)")
        entrance.close()
        sessions.endReading()
        do throws(LoopError) {
            let timer = try Timer(loop) { [unowned self] _ in
                log.warning("shutdown-time is over: the unread output of \(sessions.count) clients is dropped")
                sessions.closeAll()
            }
            timer.start(in: configuration.server.shutdownTime)
        } catch { sessions.closeAll() }
    }

    func closeWhenDrained() {
        if sessions.count == 0, !sessions.hasNews { loop.closeHandles() }
    }

    /// Ends at once, because the graph can no longer be stored or the daemon could not start.
    func end(because error: StartupError) {
        failure = error
        isStopping = true
        sessions.closeAll()
        loop.closeHandles()
    }

    /// Called when nothing is left on the loop.
    package func finish() throws(StartupError) {
        defer { entrance.remove() }
        // After a failure the archive has records of a turn that was not committed.
        if let failure { throw failure }
        archive?.close(at: Daemon.now(), revision: runtime.revision)
        do throws(StoreError) {
            try store?.append(
                runtime.store.lastChanges(at: Daemon.now()), revision: runtime.revision,
                resumableFrom: runtime.resumableFrom)
            try store?.close(revision: runtime.revision, at: Daemon.now().wall)
        } catch { throw StartupError(error) }
        log.notice("stopped")
    }
}
