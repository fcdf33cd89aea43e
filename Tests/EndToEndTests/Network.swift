import Foundation
import TestSupport

/// Machines with network cards of their own: network namespaces, joined by a bridge. Where namespaces are not allowed,
/// all machines are this one, and nothing can be cut.
final class Network {
    /// Why the machine allows no namespaces; nil if it does.
    static let obstacle: String? = {
        guard let ip else { return "there is no 'ip': Scripts/dependencies --tests installs iproute2" }
        guard getuid() == 0 else { return "network namespaces need root" }
        do { _ = try Network() } catch { return "\(ip) makes no network namespaces: \(error)" }
        return nil
    }()

    fileprivate static let ip = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }
    private static let tc = ["/usr/sbin/tc", "/sbin/tc"].first { FileManager.default.isExecutableFile(atPath: $0) }

    private let folder: Folder
    /// The namespace of the bridge. Nil where all machines are this one.
    fileprivate let name: String?
    private var machines = 0
    private var spaces: [String] = []

    /// - Parameter isReal: false to do without namespaces.
    init(isReal: Bool = true) throws {
        folder = try Folder()
        name = isReal ? "agd-\(UUID().uuidString.prefix(8))" : nil
        guard let name else { return }
        try add(name)
        try run("-n \(name) link add bridge type bridge")
        try run("-n \(name) link set bridge up")
    }

    deinit { for name in spaces { try? run("netns del \(name)") } }

    private func add(_ space: String) throws {
        try run("netns add \(space)")
        spaces.append(space)
    }

    fileprivate func run(_ arguments: String) throws {
        try run(Network.ip ?? "", arguments)
    }

    private func run(_ program: String, _ arguments: String) throws {
        let (code, text) = try Program.run(program, arguments.split(separator: " ").map(String.init), folder: folder)
        guard code == 0 else { throw Trouble("\(program) \(arguments): \(text)") }
    }

    func machine() throws -> Machine {
        machines += 1
        guard let name else { return Machine(self, nil, "127.0.0.1", card: "") }
        let (space, card) = ("\(name)-\(machines)", "card\(machines)")
        let address = "10.77.0.\(machines)"
        try add(space)
        try run("-n \(name) link add \(card) type veth peer name eth0 netns \(space)")
        try run("-n \(name) link set \(card) master bridge up")
        try run("-n \(space) address add \(address)/24 dev eth0")
        try run("-n \(space) link set eth0 up")
        try run("-n \(space) link set lo up")
        return Machine(self, space, address, card: card)
    }

    /// Slows what a machine receives and, with netem, delays and loses some of it.
    fileprivate func slow(_ machine: Machine, _ isSlow: Bool) throws {
        guard let name, let tc = Network.tc else { return }
        let root = "-n \(name) qdisc \(isSlow ? "add" : "del") dev \(machine.card) root"
        if !isSlow { return try run(tc, root) }
        do { try run(tc, "\(root) netem delay 40ms 20ms loss 2%") } catch {
            // A kernel without netem: a line of 256 kbit/s.
            try run(tc, "\(root) tbf rate 256kbit burst 4kb latency 300ms")
        }
    }
}

/// A machine of a `Network`.
final class Machine {
    let address: String
    private let network: Network
    private let space: String?
    fileprivate let card: String
    /// Since when the network does not reach it. Monotonic seconds.
    private(set) var cutAt: Double?
    private(set) var isSlow = false

    fileprivate init(_ network: Network, _ space: String?, _ address: String, card: String) {
        (self.network, self.space, self.address, self.card) = (network, space, address, card)
    }

    /// True if it has a network of its own, which can be cut.
    var isReal: Bool { space != nil }

    func start(_ program: String, _ arguments: [String], folder: Folder) throws -> Program {
        guard let space, let ip = Network.ip else { return try Program(program, arguments, folder: folder) }
        let path = program.hasPrefix("/") ? program : Program.built(program)
        return try Program(ip, ["netns", "exec", space, path] + arguments, folder: folder)
    }

    func cut() throws {
        if let name = network.name { try network.run("-n \(name) link set \(card) down") }
        cutAt = ProcessInfo.processInfo.systemUptime
    }

    func join() throws {
        if let name = network.name { try network.run("-n \(name) link set \(card) up") }
        cutAt = nil
    }

    /// Drops all that this machine sends to the other one, until it is called with false.
    func part(from other: Machine, _ isParted: Bool = true) throws {
        guard let space else { return }
        try network.run("-n \(space) route \(isParted ? "add" : "del") blackhole \(other.address)/32")
    }

    func slow(_ isSlow: Bool) throws {
        try network.slow(self, isSlow)
        self.isSlow = isSlow
    }
}
