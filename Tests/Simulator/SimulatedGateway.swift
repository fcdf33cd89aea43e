import AttributeValues
import CSimulatedKernel
import GatewayHandlers
import GatewayHarness

/// The gateway's handlers in a world: a process of its own beside the daemon, whose clients are pages.
final class SimulatedGateway: Machine {
    private final class DueCall: Alarm {
        let time: Double
        var action: (() -> Void)?

        init(_ time: Double, _ action: @escaping () -> Void) { (self.time, self.action) = (time, action) }

        func cancel() { action = nil }
    }

    /// A connection to the daemon's socket.
    private final class Line: DaemonLine {
        let connection: Int32
        weak var delegate: (any DaemonLineDelegate)?
        var output: [UInt8] = []
        var isClosed = false

        init(_ connection: Int32, _ delegate: any DaemonLineDelegate) {
            (self.connection, self.delegate) = (connection, delegate)
        }

        func send(_ message: ByteBuffer) {
            message.withBytes { output += $0 }
            flush()
        }

        func flush() {
            guard !output.isEmpty, !isClosed else { return }
            let count = output.withUnsafeBytes { sim_send(connection, $0.baseAddress, $0.count) }
            output.removeFirst(count)
        }

        func close() { isClosed = true }

        /// What has come; nil if there is nothing.
        func receive() -> [UInt8]? {
            let count = sim_waiting(connection)
            if count == 0 { return nil }
            var bytes = [UInt8](repeating: 0, count: count)
            _ = bytes.withUnsafeMutableBytes { sim_receive(connection, $0.baseAddress, $0.count) }
            return bytes
        }
    }

    static let user: UInt32 = 900
    static let process: Int32 = 99
    static let tokenFile = "/sim/tokens"

    private var alarms: [DueCall] = []
    private var lines: [Line] = []
    private(set) lazy var door = FrontDoor(
        settings: Gateway.Settings(hosts: ["localhost"], isWritable: true, socket: World.socket),
        tokens: try? Tokens(file: SimulatedGateway.tokenFile), self)

    func start() {
        sim_be_another(true)
        defer { sim_be_another(false) }
        door.start()
    }

    /// The process is killed.
    func die() {
        for line in lines { sim_hang_up(line.connection) }
        lines = []
        alarms = []
    }

    /// The tokens of principals, by name. A token is the name.
    static func writeTokens(_ principals: [String]) {
        sim_write_file(tokenFile, principals.map { "\($0) \(SHA256.hex("token-\($0)"))\n" }.joined())
    }

    /// Connections to the daemon.
    var lineCount: Int { lines.count }
    var pageCount: Int { door.gateways.values.reduce(0) { $0 + $1.pageCount } }
    var watchCount: Int { door.gateways.values.reduce(0) { $0 + $1.watchCount } }
    var subscriptionCount: Int { door.gateways.values.reduce(0) { $0 + $1.subscriptionCount } }

    /// Reads what the daemon has sent, and calls what is due.
    func turn() {
        sim_be_another(true)
        defer { sim_be_another(false) }
        for line in lines {
            line.flush()
            while !line.isClosed, let bytes = line.receive() {
                bytes.withUnsafeBufferPointer { line.delegate?.line(line, didRead: $0) }
            }
            guard line.isClosed || sim_is_over(line.connection) else { continue }
            line.isClosed = true
            sim_hang_up(line.connection)
            lines.removeAll { $0 === line }
            line.delegate?.lineDidClose(line)
        }
        let now = now
        let due = alarms.filter { $0.time <= now }.sorted { $0.time < $1.time }
        if due.isEmpty { return }
        alarms.removeAll { $0.time <= now }
        for alarm in due { alarm.action?() }
    }

    // MARK: Machine

    var now: Double { Double(sim_monotonic()) / 1e9 }
    var date: Double { now + 1.7e9 }

    func after(_ seconds: Double, _ action: @escaping () -> Void) -> any Alarm {
        let alarm = DueCall(now + seconds, action)
        alarms.append(alarm)
        return alarm
    }

    func hasSocket(at path: String) -> Bool { false }

    func connect(to path: String, _ delegate: any DaemonLineDelegate) -> (any DaemonLine)? {
        let connection = sim_connect(path, SimulatedGateway.process, SimulatedGateway.user, SimulatedGateway.user)
        guard connection >= 0 else { return nil }
        let line = Line(connection, delegate)
        lines.append(line)
        return line
    }
}
