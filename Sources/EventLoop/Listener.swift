import CLibuv
import Glibc

/// A Unix stream socket that accepts connections.
public final class Listener: Handle {
    private let onConnection: (Listener) -> Void
    private let onFailure: (LoopError) -> Void
    private let loop: Loop
    private var pipe: UnsafeMutablePointer<uv_pipe_t> { memory.assumingMemoryBound(to: uv_pipe_t.self) }

    /// Connections that wait to be accepted; the kernel caps it at `net.core.somaxconn`.
    public static let backlog: Int32 = 512

    /// Takes over a bound socket (listening or not) and listens on it. The listener owns the descriptor from then on,
    /// even if this throws.
    ///
    /// - Parameters:
    ///   - onFailure: called if the kernel could not hand over a connection.
    ///   - onConnection: called with the listener when a connection can be accepted.
    public init(
        _ loop: Loop, descriptor: Int32, onFailure: @escaping (LoopError) -> Void,
        _ onConnection: @escaping (Listener) -> Void
    ) throws(LoopError) {
        self.onConnection = onConnection
        self.onFailure = onFailure
        self.loop = loop
        super.init(of: uv_pipe_t.self)
        try check(uv_pipe_init(loop.raw, pipe, 0), "uv_pipe_init")
        adopt()
        var result = uv_pipe_open(pipe, descriptor)
        if result < 0 {
            Glibc.close(descriptor)
            close()
            throw LoopError(call: "uv_pipe_open", number: result)
        }
        result = uv_listen(stream, Listener.backlog) { stream, status in
            guard let listener = Handle.owner(stream?.pointee.data, as: Listener.self) else { return }
            if status < 0 { return listener.onFailure(LoopError(call: "accept", number: status)) }
            listener.onConnection(listener)
        }
        if result < 0 {
            close()
            throw LoopError(call: "uv_listen", number: result)
        }
    }

    private var stream: UnsafeMutablePointer<uv_stream_t> { memory.assumingMemoryBound(to: uv_stream_t.self) }

    /// Accepts the waiting connection.
    public func accept() throws(LoopError) -> Connection {
        let connection = try Connection(loop)
        let result = uv_accept(stream, connection.stream)
        if result < 0 {
            connection.close()
            throw LoopError(call: "uv_accept", number: result)
        }
        connection.didOpen()
        return connection
    }
}
