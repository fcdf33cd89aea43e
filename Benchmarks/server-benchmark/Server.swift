import BenchmarkSupport
import Glibc
import TestSupport

/// A running server that takes writes on a Unix socket.
protocol Server: AnyObject {
    var socketPath: String { get }
    /// Seconds of processor time that it has had.
    var processorTime: Double { get }
    /// Where the processor may be chosen for it.
    var process: pid_t { get }
    /// A write of one of `Message.keys` places.
    func write(_ place: Int, _ shape: Message.Shape) -> Message
    /// What a watcher of all places sends first.
    var subscribing: String { get }
}

/// A request with digits in it that differ each time, because an equal value is no change.
struct Message {
    enum Shape { case number, map }

    static let keys = 1024
    /// Digits of a value that change.
    static let digits = 9

    var bytes: [UInt8]
    /// Where the digits begin.
    let variable: Int

    init(_ text: String) {
        let bytes = Array(text.utf8)
        let mark = [UInt8](repeating: 48, count: Message.digits)
        variable = (0...bytes.count - mark.count).first { bytes[$0..<$0 + mark.count].elementsEqual(mark) } ?? 0
        self.bytes = bytes
    }

    mutating func count(_ number: UInt64) {
        var rest = number
        for place in (variable..<variable + Message.digits).reversed() {
            bytes[place] = UInt8(48 + rest % 10)
            rest /= 10
        }
    }

    static func name(_ place: Int) -> String { "cpu" + String(10_000 + place).dropFirst() }

    /// Four entries, as a monitor sends them.
    static func map(_ place: Int) -> String {
        #"{"id":"\#(name(place).dropFirst(3))","v":12.3,"unit":"percent","t":1000000000.5}"#
    }
}

/// The daemon, with a state of each shape in each of the places.
final class Agd: Server {
    let daemon: DaemonProcess

    /// - Parameter isTransient: of the states.
    init(
        _ program: String, durability: String?, archives: Bool = true, isTransient: Bool = false,
        runner: [String] = []
    ) throws {
        let keeping = isTransient ? #","transient":true"# : ""
        let nodes = (0..<Message.keys).map { place in
            #"{"id":"\#(Message.name(place))","state":{"load":{"initial":\#(Message.map(place))\#(keeping)},"#
                + #""v":{"initial":0.0\#(keeping)}}}"#
        }
        daemon = try DaemonProcess(
            program, scene: #"{"nodes":[{"id":"host","children":[\#(nodes.joined(separator: ","))]}]}"#,
            settings: ["clients = 2000"] + (durability.map { ["durability = \($0)"] } ?? [])
                + (archives ? [] : ["archive-size = 0"]),
            hasStore: durability != nil, runner: runner)
    }

    var socketPath: String { daemon.socketPath }
    var processorTime: Double { daemon.processorTime }
    var process: pid_t { daemon.processID }

    func write(_ place: Int, _ shape: Message.Shape) -> Message {
        let (name, value) = shape == .map ? ("load", Message.map(place)) : ("v", "1000000000.5")
        return Message(
            DaemonClient.line("set", #"{"path":"/host/\#(Message.name(place)).\#(name)","value":\#(value)}"#))
    }

    var subscribing: String {
        DaemonClient.line("subscribe", #"{"paths":["/host/*.load","/host/*.v"],"initial":false}"#)
    }
}

/// redis, if it is installed. Its channels stand for watched attributes.
final class Redis: Server {
    private let folder: Folder
    private let child: ChildProcess
    private let publishes: Bool

    static let program = ["/usr/bin/redis-server", "/usr/local/bin/redis-server"].first { (path: String) in
        access(path, X_OK) == 0
    }

    /// - Parameter fsync: of its append-only file; nil: nothing is written to disk.
    init(_ program: String, fsync: String?, publishes: Bool) throws {
        folder = try Folder()
        self.publishes = publishes
        var words = [
            program, "--port", "0", "--unixsocket", folder.file("redis.sock"), "--save", "", "--dir", folder.path,
            "--logfile", folder.file("log"), "--maxclients", "2000",
        ]
        if let fsync { words += ["--appendonly", "yes", "--appendfsync", fsync] }
        child = try ChildProcess(words)
        _ = try DaemonClient(socketPath, patience: 10)
    }

    var socketPath: String { folder.file("redis.sock") }
    var processorTime: Double { child.processorTime }
    var process: pid_t { child.id }

    func write(_ place: Int, _ shape: Message.Shape) -> Message {
        let words = [
            publishes ? "PUBLISH" : "SET", "host.\(Message.name(place)).load",
            shape == .map ? Message.map(place) : "1000000000.5",
        ]
        return Message("*3\r\n" + words.map { "$\($0.utf8.count)\r\n\($0)\r\n" }.joined())
    }

    var subscribing: String { "PSUBSCRIBE host.*\r\n" }
}
