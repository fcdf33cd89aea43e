import AttributeValues
import CLibuv
import Glibc

/// Receives the events of a connection. All calls come on the loop.
public protocol ConnectionDelegate: AnyObject {
    /// Returns the buffer for the next bytes. Called just before they are read. An empty buffer postpones reading.
    func connectionNeedsMemory(_ connection: Connection) -> UnsafeMutableRawBufferPointer
    /// The connection has read `count` bytes to the start of the buffer that was returned last.
    func connection(_ connection: Connection, didRead count: Int)
    /// The connection reads nothing more: the peer has closed its side (nil), or reading failed.
    func connection(_ connection: Connection, didEndReading error: LoopError?)
    /// The bytes given to `write` have been written, or writing has failed for good.
    func connection(_ connection: Connection, didWrite error: LoopError?)
    /// The connection is closed. The delegate gets no further calls.
    func connectionDidClose(_ connection: Connection)
}

/// One peer on a Unix stream socket.
public final class Connection: Handle {
    /// Kept alive until `connectionDidClose` has been called.
    public var delegate: ConnectionDelegate?
    /// The run whose rest libuv writes.
    private var writing: OutputRun?
    private let request = UnsafeMutablePointer<uv_write_t>.allocate(capacity: 1)
    private var isReading = false
    private var socket: Int32 = -1

    private var pipe: UnsafeMutablePointer<uv_pipe_t> { memory.assumingMemoryBound(to: uv_pipe_t.self) }
    var stream: UnsafeMutablePointer<uv_stream_t> { memory.assumingMemoryBound(to: uv_stream_t.self) }

    init(_ loop: Loop) throws(LoopError) {
        super.init(of: uv_pipe_t.self)
        try check(uv_pipe_init(loop.raw, pipe, 0), "uv_pipe_init")
        adopt()
    }

    /// Takes over a connected stream socket. The connection owns the descriptor from then on, even if this throws.
    public convenience init(_ loop: Loop, descriptor: Int32) throws(LoopError) {
        try self.init(loop)
        let result = uv_pipe_open(pipe, descriptor)
        if result < 0 {
            Glibc.close(descriptor)
            close()
            throw LoopError(call: "uv_pipe_open", number: result)
        }
        didOpen()
    }

    /// Called when libuv has got the socket.
    func didOpen() { uv_fileno(handle, &socket) }

    deinit { request.deallocate() }

    override func didClose() {
        writing = nil
        delegate?.connectionDidClose(self)
        delegate = nil
    }

    /// The socket; -1 once closed.
    public var descriptor: Int32 { isClosed ? -1 : socket }
}

// Reading.
extension Connection {
    public func startReading() {
        guard !isClosed, !isReading else { return }
        isReading = true
        uv_read_start(
            stream,
            { handle, _, buffer in
                guard let connection = Handle.owner(handle?.pointee.data, as: Connection.self),
                    let delegate = connection.delegate
                else { return }
                let memory = delegate.connectionNeedsMemory(connection)
                buffer?.pointee = uv_buf_init(
                    memory.baseAddress?.assumingMemoryBound(to: CChar.self), UInt32(memory.count))
            },
            { handle, count, _ in
                guard let connection = Handle.owner(handle?.pointee.data, as: Connection.self) else { return }
                connection.didRead(count)
            })
    }

    /// Until reading starts again, received bytes stay in the kernel and the sender waits.
    public func stopReading() {
        guard isReading else { return }
        isReading = false
        if !isClosed { uv_read_stop(stream) }
    }

    /// Reads the bytes that the kernel has, without waiting and without the delegate.
    /// - Returns: the number of bytes read; 0 or less if there are none.
    public func readNow(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        isClosed ? 0 : recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
    }

    private func didRead(_ count: Int) {
        if count > 0 {
            delegate?.connection(self, didRead: count)
        } else if count == Int(UV_ENOBUFS.rawValue) {
            stopReading()
        } else if count < 0 {
            stopReading()
            let isEnd = count == Int(UV_EOF.rawValue)
            delegate?.connection(self, didEndReading: isEnd ? nil : LoopError(call: "read", number: Int32(count)))
        }
    }
}

// Writing.
extension Connection {
    /// Writes as much as the socket accepts at once, without waiting and without libuv. No write may be under way.
    /// - Returns: the number of bytes accepted; 0 if the socket is full.
    func tryWrite(_ bytes: ByteBuffer, from offset: Int = 0) throws(LoopError) -> Int {
        if isClosed { return 0 }
        let count = bytes.withBytes { bytes in
            send(
                socket, bytes.baseAddress.map { $0 + offset }, bytes.count - offset, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
        }
        if count >= 0 { return count }
        if errno == EAGAIN || errno == EINTR { return 0 }
        throw LoopError(call: "write", number: errno)
    }

    /// Writes the rest of a run as soon as the socket accepts it, then calls `didWrite`. Only one such write may be
    /// under way.
    func write(_ run: OutputRun, from offset: Int) throws(LoopError) {
        precondition(writing == nil && !isClosed)
        let result = run.bytes.withBytes { bytes in
            let start = bytes.baseAddress.map { UnsafeMutableRawPointer(mutating: $0 + offset) }
            var buffer = uv_buf_init(start?.assumingMemoryBound(to: CChar.self), UInt32(bytes.count - offset))
            return uv_write(request, stream, &buffer, 1) { request, status in
                guard let data = request?.pointee.handle.pointee.data,
                    let connection = Handle.owner(data, as: Connection.self)
                else { return }
                connection.writing = nil
                if connection.isClosed { return }
                connection.delegate?.connection(
                    connection, didWrite: status < 0 ? LoopError(call: "write", number: status) : nil)
            }
        }
        try check(result, "write")
        writing = run
    }

    public var isWriting: Bool { writing != nil }

    /// Bytes that were given to `write` and that the socket has not accepted yet.
    public var pendingBytes: Int { isClosed ? 0 : uv_stream_get_write_queue_size(stream) }

    /// Bytes in the socket that the peer has not read, as the kernel counts them: the number falls only when the peer
    /// has read a whole block.
    public var unreadBytes: Int {
        var count: Int32 = 0
        return isClosed || ioctl(descriptor, UInt(TIOCOUTQ), &count) != 0 ? 0 : Int(count)
    }
}
