import AttributeValues
import EventLoop
import GatewayHandlers
import Glibc

/// The machine on which the gateway runs.
final class LoopMachine: Machine {
    private let loop: Loop
    /// Calls that are due before the loop sleeps. Timers that are due at once would be called again and again before
    /// the loop looks at its sockets.
    private var soon: [SoonAlarm] = []
    private let awake: Wakefulness?
    private var beforeSleep: BeforeSleep?

    init(_ loop: Loop) {
        self.loop = loop
        // Only an invalid loop has none.
        awake = try? Wakefulness(loop)
        beforeSleep = try? BeforeSleep(loop) { [unowned self] in callSoon() }
    }

    private func callSoon() {
        if soon.isEmpty { return }
        let due = soon
        soon = []
        awake?.isAwake = false
        for alarm in due { alarm.call() }
    }

    /// Its name, for people.
    static var name: String {
        var names = utsname()
        uname(&names)
        return withUnsafeBytes(of: names.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }

    var now: Double { MonotonicTime.now }
    var date: Double { WallTime.now }

    func after(_ seconds: Double, _ action: @escaping () -> Void) -> any Alarm {
        if seconds > 0 { return LoopAlarm(loop, seconds, action) }
        let alarm = SoonAlarm(action)
        soon.append(alarm)
        awake?.isAwake = true
        return alarm
    }

    func hasSocket(at path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    func connect(to path: String, _ delegate: any DaemonLineDelegate) -> (any DaemonLine)? {
        let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { return nil }
        guard SocketAddress(path)?.withAddress({ Glibc.connect(descriptor, $0, $1) }) == 0 else {
            close(descriptor)
            return nil
        }
        guard let connection = try? Connection(loop, descriptor: descriptor) else { return nil }
        return SocketLine(connection, delegate)
    }
}

private final class SoonAlarm: Alarm {
    private var action: (() -> Void)?

    init(_ action: @escaping () -> Void) { self.action = action }

    func call() {
        defer { action = nil }
        action?()
    }

    func cancel() { action = nil }
}

private final class LoopAlarm: Alarm {
    private var timer: Timer?

    init(_ loop: Loop, _ seconds: Double, _ action: @escaping () -> Void) {
        // Only an invalid loop has no timers.
        timer = try? Timer(loop) { timer in
            timer.close()
            action()
        }
        timer?.start(in: seconds)
    }

    func cancel() {
        timer?.close()
        timer = nil
    }
}

/// A connection to the daemon's socket.
///
/// Lifetime: libuv reads into `buffer`, which lives as long as this object. The connection keeps this object until it
/// is closed.
private final class SocketLine: DaemonLine, ConnectionDelegate {
    private let connection: Connection
    private weak var delegate: (any DaemonLineDelegate)?
    private var output = OutputQueue()
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)

    init(_ connection: Connection, _ delegate: any DaemonLineDelegate) {
        self.connection = connection
        self.delegate = delegate
        connection.delegate = self
        connection.startReading()
    }

    deinit { buffer.deallocate() }

    func send(_ message: ByteBuffer) {
        guard !connection.isClosed else { return }
        output.append(message)
        flush()
    }

    func close() { connection.close() }

    private func flush() {
        do throws(LoopError) { _ = try output.flush(to: connection) } catch { close() }
    }

    func connectionNeedsMemory(_ connection: Connection) -> UnsafeMutableRawBufferPointer { buffer }

    func connection(_ connection: Connection, didRead count: Int) {
        delegate?.line(self, didRead: UnsafeRawBufferPointer(rebasing: buffer.prefix(count)).bindMemory(to: UInt8.self))
    }

    func connection(_ connection: Connection, didEndReading error: LoopError?) { close() }

    func connection(_ connection: Connection, didWrite error: LoopError?) { error == nil ? flush() : close() }

    func connectionDidClose(_ connection: Connection) {
        output.removeAll()
        delegate?.lineDidClose(self)
    }
}
