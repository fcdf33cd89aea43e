import AttributeValues
import BenchmarkSupport
import Glibc
import TestSupport

/// One attack against a gateway of its own, next to a healthy page.
struct GatewayTrial {
    let attack: GatewayAttack
    let daemonProgram: String

    private static let seconds = 6.0
    /// Seconds that `/healthz` may take.
    private static let longestWait = 0.1
    /// Seconds of processor time that a turn may take.
    private static let turnLimit = 0.1
    /// Kilobytes that the gateway may ever have in memory, as the unit's MemoryMax.
    private static let mostMemory = 512 << 10

    /// `agd-gateway` beside the daemon's program; nil where it has not been built.
    static func gatewayProgram(beside daemon: String) -> String? {
        let path = daemon + "-gateway"
        return access(path, X_OK) == 0 ? path : nil
    }

    /// - Returns: whether every limit was held.
    func run(_ gatewayProgram: String) throws -> Bool {
        let daemon = try DaemonProcess(daemonProgram, scene: GatewayAttack.scene, settings: ["log-level = error"])
        let folder = try Folder()
        let socket = folder.file("http.sock")
        let gateway = try ChildProcess(
            [gatewayProgram, "--socket", daemon.socketPath, "--listen", "unix:\(socket)"], log: folder.file("log"))
        let target = GatewayTarget(socketPath: socket)
        let deadline = MonotonicTime.now + 10
        while (try? Self.isReady(target)) != true, MonotonicTime.now < deadline { usleep(20_000) }
        let page = try ChildProcess([ChildProcess.own, "--page", socket, daemon.socketPath])
        usleep(500_000)
        let attacker = try ChildProcess([ChildProcess.own, "--attack-gateway", attack.name, socket])
        _ = attacker.wait(upTo: GatewayTrial.seconds)
        kill(attacker.id, SIGKILL)
        usleep(500_000)
        page.endInput()
        let words = page.readOutput().split(whereSeparator: { $0 == " " || $0 == "\n" })
        let (asked, worst, updates) =
            words.count == 3 ? (Int(words[0]) ?? 0, Double(words[1]) ?? 99, Int(words[2]) ?? 0) : (0, 99, 0)
        let peak = gateway.status("VmHWM")
        var faults: [String] = []
        if gateway.wait(upTo: 0) != nil { faults.append("the gateway died") }
        if worst > GatewayTrial.longestWait { faults.append("/healthz took more than 100 ms") }
        if updates == 0 { faults.append("the page's stream broke off") }
        if peak > GatewayTrial.mostMemory { faults.append("more than 512 MiB of memory") }
        let after = MonotonicTime.now + 2
        while (try? Self.isReady(target)) != true, MonotonicTime.now < after {}
        if (try? Self.isReady(target)) != true { faults.append("the gateway is not ready") }
        let turn = (try? Self.longestTurn(of: target)) ?? 99
        if turn > GatewayTrial.turnLimit { faults.append("a turn of more than 100 ms") }
        let list = faults.map { "\"\($0)\"" }.joined(separator: ",")
        tell(
            #"{"benchmark":"hostile","attack":"\#(attack.name)","worstWaitMs":\#((worst * 100_000).rounded() / 100),"longestTurnMs":\#((turn * 10_000).rounded() / 10),"asked":\#(asked),"updates":\#(updates),"peakMiB":\#(peak >> 10),"residentAfterMiB":\#(gateway.status("VmRSS") >> 10),"faults":[\#(list)]}"#
        )
        return faults.isEmpty
    }

    private static func isReady(_ target: GatewayTarget) throws -> Bool {
        let connection = try target.connect()
        connection.send(GatewayTarget.head("GET", "/readyz"))
        return connection.receive(within: 0.5)?.hasPrefix("HTTP/1.1 200") == true
    }

    /// Seconds of processor time.
    private static func longestTurn(of target: GatewayTarget) throws -> Double? {
        let connection = try target.connect()
        connection.send(GatewayTarget.head("GET", "/metrics"))
        var text = ""
        while !text.contains("agd_gateway_calls"), let part = connection.receive(within: 2) { text += part }
        let line = text.split(separator: "\n").first { $0.hasPrefix("agd_gateway_longest_turn_seconds ") }
        return line?.split(whereSeparator: { $0 == " " || $0 == "\r" }).last.flatMap { Double($0) }
    }

    /// The healthy page: it has a stream, writes a value every now and then and waits until the stream has it, and asks
    /// for the health over a new connection each time. It prints how often it asked, the longest wait, and how many
    /// values came; 0 if the last one did not.
    static func page(_ socket: String, _ daemonSocket: String) throws {
        let target = GatewayTarget(socketPath: socket)
        let stream = try target.connect()
        stream.send(GatewayTarget.head("GET", "/watch?path=/page.x"))
        let writer = try DaemonClient(daemonSocket)
        var (asked, worst, value, text) = (0, 0.0, 0, "")
        var isEnding = false
        while !isEnding {
            let start = MonotonicTime.now
            var isHealthy = false
            if let connection = try? target.connect() {
                connection.send(GatewayTarget.head("GET", "/healthz"))
                isHealthy = connection.receive(within: 5)?.hasPrefix("HTTP/1.1 200") == true
            }
            asked += 1
            worst = max(worst, isHealthy ? MonotonicTime.now - start : 99)
            if asked % 20 == 0 {
                value += 1
                try writer.call("set", #"{"path":"/page.x","value":\#(value)}"#)
            }
            while let part = stream.receive(within: 0) { text = String((text + part).suffix(10_000)) }
            var poller = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
            isEnding = poll(&poller, 1, 5) > 0 && poller.revents != 0
        }
        value += 1
        try writer.call("set", #"{"path":"/page.x","value":\#(value)}"#)
        let deadline = MonotonicTime.now + 5
        while !text.contains(#""value":\#(value)"#), MonotonicTime.now < deadline {
            if let part = stream.receive(within: 0.5) { text = String((text + part).suffix(10_000)) }
        }
        print("\(asked) \(worst) \(text.contains(#""value":\#(value)"#) ? value : 0)")
    }
}
