import EventLoop

/// The sockets through which clients come: the daemon's own, or those that the service manager has opened.
final class Entrance {
    /// nil if the service manager owns the sockets.
    private let own: ListeningSocket?
    /// Descriptors from the service manager, until the daemon listens on them.
    var inherited: [Int32]
    private var listeners: [Listener] = []
    /// Listeners with a connection that waits for the next turn.
    private var waiting: [Listener] = []

    init(_ configuration: Configuration, _ environment: ProcessEnvironment) throws(StartupError) {
        inherited = try Activation.sockets(environment)
        own = inherited.isEmpty ? try Entrance.makeSocket(configuration, environment) : nil
    }

    private static func makeSocket(
        _ configuration: Configuration, _ environment: ProcessEnvironment
    ) throws(StartupError) -> ListeningSocket {
        let path = configuration.socket ?? SocketPath.standard(environment)
        do throws(StartupError) {
            try SocketPath.makeDirectory(for: path)
            return try ListeningSocket(path: path, mode: configuration.socketMode, group: configuration.socketGroup)
        } catch {
            // The first start by hand, as a user without a folder for such files.
            guard error.status == .noPermission else { throw error }
            throw StartupError(error.status, "\(error); --socket chooses another path")
        }
    }

    func open(_ loop: Loop, to sessions: Sessions) throws(LoopError) {
        let sockets = own.map { [$0.descriptor] } ?? inherited
        inherited = []
        for descriptor in sockets {
            let listener = try Listener(loop, descriptor: descriptor, onFailure: sessions.didFailToAccept) {
                [unowned self] in accept(from: $0, to: sessions)
            }
            listeners.append(listener)
        }
    }

    /// Accepts a waiting connection, or leaves it to the next turn if clients have sent much in this turn.
    private func accept(from listener: Listener, to sessions: Sessions) {
        guard sessions.mayAccept else { return waiting.append(listener) }
        do throws(LoopError) { sessions.accept(try listener.accept()) } catch { sessions.didFailToAccept(error) }
    }

    /// Accepts what the last turn has left.
    func acceptOn(to sessions: Sessions) {
        if waiting.isEmpty { return }
        let listeners = waiting
        waiting = []
        for listener in listeners where !listener.isClosed { accept(from: listener, to: sessions) }
    }

    /// Accepts no more clients.
    func close() {
        for listener in listeners { listener.close() }
        listeners = []
        own?.removeFile()
    }

    func remove() { own?.remove() }
}
