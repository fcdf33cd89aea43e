import AttributeValues
import Foundation
import TestSupport
import Testing

private var now: Double { ProcessInfo.processInfo.systemUptime }

/// Three NATS servers in a cluster, each on a machine of its own.
private final class Cluster {
    private let folder: Folder
    let machines: [Machine]
    private var ports: [(client: UInt16, route: UInt16, monitor: UInt16)] = []
    private(set) var programs: [Program?] = [nil, nil, nil]
    /// The server that the others do not reach.
    private(set) var parted: Int?

    init(_ network: Network) throws {
        folder = try Folder()
        machines = try (0..<3).map { _ in try network.machine() }
        for machine in machines {
            ports.append(
                machine.isReal ? (4222, 6222, 8222) : (try TCP.freePort(), try TCP.freePort(), try TCP.freePort()))
        }
        for number in 0..<3 { try start(number) }
    }

    var addresses: String {
        zip(machines, ports).map { "nats://\($0.address):\($1.client)" }.joined(separator: ",")
    }

    func start(_ number: Int) throws {
        let (machine, port) = (machines[number], ports[number])
        let routes = zip(machines, ports).map { "nats://\($0.address):\($1.route)" }.joined(separator: ",")
        programs[number] = try machine.start(
            NATSServer.path ?? "",
            [
                "-js", "-sd", folder.file("\(number)"), "-a", machine.address, "-p", "\(port.client)",
                "-m", "\(port.monitor)", "--server_name", "n\(number)", "--cluster_name", "agd",
                "--cluster", "nats://\(machine.address):\(port.route)", "--routes", routes,
            ], folder: folder)
    }

    func kill(_ number: Int) throws {
        programs[number]?.signal(SIGKILL)
        _ = try programs[number]?.wait()
        programs[number] = nil
    }

    /// Cuts a server off from the other servers, or joins it with them again. Its clients still reach it.
    func part(_ number: Int, _ isParted: Bool) throws {
        for other in machines.indices where other != number {
            try machines[number].part(from: machines[other], isParted)
        }
        parted = isParted ? number : nil
    }

    /// A page of a server's monitor; nil if it says nothing.
    private func ask(_ number: Int, _ page: String) throws -> Value? {
        let url = "http://\(machines[number].address):\(ports[number].monitor)/\(page)"
        guard programs[number] != nil, FileManager.default.isExecutableFile(atPath: "/usr/bin/curl") else { return nil }
        let curl = try machines[number].start("/usr/bin/curl", ["-s", "-m", "2", url], folder: folder)
        return try curl.wait() == 0 ? try? JSONParser.parseOnce(curl.text.utf8) : nil
    }

    /// The leader of each stream, as one server sees it.
    private func leaders(_ number: Int) throws -> [(stream: String, leader: String?)] {
        let accounts = try ask(number, "jsz?accounts=1&streams=1")?["account_details"]?.list ?? []
        return accounts.flatMap { $0["stream_detail"]?.list ?? [] }
            .map { ($0["name"]?.string ?? "", $0["cluster"]?["leader"]?.string) }
    }

    /// False while NATS elects a leader of a stream. The leader itself knows first.
    func isLed() throws -> Bool {
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/curl") else { return true }
        var led: Set<String> = []
        for number in machines.indices {
            for (stream, leader) in try leaders(number) where leader == "n\(number)" { led.insert(stream) }
        }
        return led.isSuperset(of: ["AGD_TX", "AGD_SNAP", "AGD_HEAD", "KV_AGD_LEASE"])
    }

    /// The server with most links.
    func busiest() throws -> Int {
        let counts = try machines.indices.map { try ask($0, "varz")?["connections"]?.int ?? 0 }
        return counts.indices.max { counts[$0] < counts[$1] } ?? 0
    }

    /// The server that leads the stream of transactions; nil if nobody says so.
    func leader() throws -> Int? {
        for number in machines.indices where machines[number].cutAt == nil {
            let leader = try leaders(number).first { $0.stream == "AGD_TX" }?.leader
            if let place = leader?.last.flatMap({ Int(String($0)) }) { return place }
        }
        return nil
    }

    var description: String {
        machines.indices.map { number in
            let streams = (try? leaders(number)) ?? []
            return "  n\(number): "
                + streams.map { "\($0.stream) is led by \($0.leader ?? "nobody")" }.joined(separator: ", ")
        }.joined(separator: "\n")
    }
}

/// A daemon with its link, on a machine of its own. The daemon keeps its states.
private final class Station {
    let machine: Machine
    private let scene: String?
    private let lines: [String]
    private(set) var daemon: Daemon
    private(set) var client: Client
    private(set) var link: Program?
    private(set) var isDaemonUp = true
    /// Since when its link cannot serve others. Monotonic seconds.
    private(set) var downAt: Double?

    init(_ network: Network, _ cluster: Cluster, scene: String?, _ lines: String...) throws {
        machine = try network.machine()
        self.scene = scene
        self.lines =
            [
                "nats = \(cluster.addresses)", "replicas = 3", "live-time = 2 s", "lease-time = 2 s",
                "snapshot-time = 3 s", "history-time = 10 s",
            ] + lines
        daemon = try Station.start(scene, nil)
        client = try daemon.client()
        try startLink()
    }

    /// Who writes through mirrors.
    private static let user = NSUserName()

    private static func start(_ scene: String?, _ folder: Folder?) throws -> Daemon {
        let folder = try folder ?? Folder()
        return try Daemon(
            scenes: scene.map { [$0] } ?? [],
            configuration: """
                state-directory = \(folder.file("state"))
                forward-time = 1 s
                access = admin everyone /**
                access = write as:\(user) /**
                """, folder: folder)
    }

    func startLink() throws {
        let file = try daemon.folder.write(lines.joined(separator: "\n"), to: "link.conf")
        link = try machine.start("agd-link", ["--config", file, "--socket", daemon.socket], folder: daemon.folder)
        note()
    }

    func killLink() throws {
        link?.signal(SIGKILL)
        _ = try link?.wait()
        link = nil
        note()
    }

    func killDaemon() throws {
        daemon.program.signal(SIGKILL)
        _ = try daemon.program.wait()
        isDaemonUp = false
        note()
    }

    func startDaemon() throws {
        daemon = try Station.start(scene, daemon.folder)
        client = try daemon.client()
        isDaemonUp = true
        note()
    }

    func cut() throws {
        try machine.cut()
        note()
    }

    func join() throws {
        try machine.join()
        note()
    }

    private func note() {
        let isUp = link != nil && isDaemonUp && machine.cutAt == nil
        downAt = isUp ? nil : downAt ?? now
    }
}

/// What an owner had at each revision, as its only writer knows: the number that all its attributes have.
private struct Truth {
    private var steps: [(revision: Int64, number: Int64)] = [(0, 0)]

    mutating func add(_ revision: Int64, _ number: Int64) { steps.append((revision, number)) }
    func number(at revision: Int64) -> Int64? { steps.last { $0.revision <= revision }?.number }
    var last: Int64 { steps.last?.number ?? 0 }
}

/// Holds what a mirror's watcher is told against the owners' truth.
private final class Validator {
    static let numbers = [".number", "/one.number", "/two.number", "/two.copy"]
    private let client: Client
    private var known: [String: Value] = [:]
    private var highest: Int64 = 0
    /// Since when the mirror has said that the site `b` is live.
    private(set) var liveSince: Double?
    private(set) var updates = 0

    init(_ station: Station) throws {
        client = try station.daemon.client()
        try client.call("subscribe", ["paths": ["/fleet/**"]])
    }

    func value(_ path: String) -> Value? { known["/fleet" + path] }
    var isLive: Bool { value("/b.isLive") == true }

    /// Reads what comes within some seconds.
    /// - Returns: the faults.
    func read(within seconds: Double, _ truths: [String: Truth]) throws -> [String] {
        var faults: [String] = []
        let deadline = Deadline(seconds)
        repeat {
            while let update = try client.waitingEvent(within: 0) {
                updates += 1
                var sites: Set<String> = []
                for change in update["changes"]?.list ?? [] {
                    guard let path = change["path"]?.string else { continue }
                    known[path] = change["value"]
                    for site in ["a", "b"] where path == "/fleet/\(site).revision" || path.hasSuffix(".number") {
                        if path.hasPrefix("/fleet/\(site)") { sites.insert(site) }
                    }
                }
                // After a restart, a daemon has the values of the last change of structure until its link has
                // connected.
                sites = sites.filter { update["initial"] != true || value("/\($0).isLive") == true }
                for site in sites { faults += check(site, truths).map { "\($0) in \(update.jsonText.prefix(600))" } }
            }
            if client.socket.isReadable(within: min(0.02, deadline.seconds)) { continue }
        } while !deadline.isOver
        return faults
    }

    private func check(_ site: String, _ truths: [String: Truth]) -> [String] {
        let found = Validator.numbers.map { value("/\(site)\($0)")?.int }
        // The nodes of a new mirror may come first.
        guard !found.contains(nil), let number = found[0], let revision = value("/\(site).revision")?.int,
            let who = value("/\(site).who")?.string
        else { return [] }
        if Set(found).count > 1 { return ["/\(site) is torn: \(found)"] }
        guard let expected = truths[who]?.number(at: revision) else { return ["/\(site) is of '\(who)'"] }
        if number != expected { return ["/\(site) has \(number) at revision \(revision) of \(who), not \(expected)"] }
        guard site == "b" else { return [] }
        defer { highest = max(highest, number) }
        return number < highest ? ["/b goes back from \(highest) to \(number)"] : []
    }
}

extension Client {
    /// The next update, if it is there in time.
    fileprivate func waitingEvent(within seconds: Double) throws -> Value? {
        guard let line = try lineIfThere(within: seconds) else { return nil }
        let message = try JSONParser.parseOnce(line.utf8)
        return message["method"] == "update" ? message["params"] : [:]
    }
}

/// A fleet that fails in a seeded order: the owner of `b`, two claimants of `a`, two mirrors, three NATS servers.
private final class Trial {
    private let network: Network
    private let cluster: Cluster
    private let claimants: [Station]
    private let owner: Station
    private let mirrors: [Station]
    private var validators: [Validator?] = []
    private var truths: [String: Truth] = [:]
    private var random: SeededGenerator
    private var number: Int64 = 0
    private var step = 0
    /// What ends a fault, with its time.
    private var repairs: [(due: Double, name: String, body: () throws -> Void)] = []
    /// Since when nothing is broken, and NATS has leaders.
    private var wholeSince: Double? = now
    private var nextLook = 0.0
    /// Seconds of `wholeSince` in which `b` was silent in a mirror.
    private var longestRecovery = 0.0
    private var faults: [String] = []
    private(set) var events: [String: Int] = [:]
    /// Faults and repairs with their times.
    private var trace: [String] = []
    private let begin = now
    /// Writes through a mirror, of which one has not been answered yet.
    private var openWrite: Int?
    private var writes = 0

    private static func scene(_ who: String) -> String {
        """
        nodes:
          - id: host
            state: { who: \(who), number: 0, total: 0, text: "" }
            children:
              - { id: one, state: { number: 0 } }
              - { id: two, state: { number: 0 }, computed: { copy: number + 0 } }
        """
    }

    init(seed: UInt64, isReal: Bool) throws {
        random = SeededGenerator(seed: seed)
        network = try Network(isReal: isReal)
        cluster = try Cluster(network)
        claimants = try ["a1", "a2"].map { [network, cluster] who in
            try Station(network, cluster, scene: Trial.scene(who), "publish = /host/** as s/a")
        }
        owner = try Station(network, cluster, scene: Trial.scene("b"), "publish = /host/** as s/b")
        mirrors = try (0..<2).map { [network, cluster] _ in
            try Station(network, cluster, scene: nil, "mirror = s/* at /fleet")
        }
        for who in ["a1", "a2", "b"] { truths[who] = Truth() }
        validators = try mirrors.map { try Validator($0) }
    }

    private var owners: [(who: String, station: Station)] {
        [("a1", claimants[0]), ("a2", claimants[1]), ("b", owner)]
    }

    // MARK: Load

    private func write(_ who: String, _ station: Station) throws {
        guard station.isDaemonUp else { return }
        step += 1
        let client = station.client
        switch random.below(12) {
        case 0:
            try client.call(
                "apply", ["document": ["nodes": [["id": .string("n\(step)"), "state": ["x": 1]]]], "at": "/host"])
            if random.chance(50) { try client.call("move", ["path": .string("/host/n\(step)"), "index": 0]) }
        case 1:
            let children = try client.call("describe", ["path": "/host"])["children"]?.list ?? []
            if let id = children.compactMap({ $0["id"]?.string }).first(where: { $0.hasPrefix("n") }) {
                try client.call("remove", ["path": .string("/host/\(id)")])
            }
        case 2 where random.chance(20):
            // Longer than a message of NATS.
            try client.set("/host.text", .string(String(repeating: "\(step) ", count: 300_000)))
        default:
            number += 1
            let mutations = ["", "/one", "/two"].map { node -> Value in
                ["op": "set", "path": .string("/host\(node).number"), "value": .int(number)]
            }
            let reply = try client.call("transact", ["mutations": .list(mutations)])
            truths[who]?.add(reply["revision"]?.int ?? 0, number)
        }
    }

    /// Writes to `b` through the first mirror, and repeats what was not answered. Each write counts once.
    private func writeThrough() throws {
        guard mirrors[0].isDaemonUp, validators[0]?.value("/b.total") != nil else { return }
        if openWrite == nil {
            writes += 1
            openWrite = writes
        }
        let reply = try mirrors[0].client.reply(
            "transact",
            [
                "mutations": [["op": "add", "path": "/fleet/b.total", "value": 1]],
                "once": .string("write \(openWrite ?? 0)"),
            ])
        note("write \(openWrite ?? 0): \(reply.jsonText.prefix(160))")
        if reply["result"] != nil { return openWrite = nil }
        let code = reply["error"]?["data"]?["code"]
        if code != "unavailable", code != "notFound" { faults.append("a write through the mirror: \(reply.jsonText)") }
    }

    // MARK: Faults

    private func note(_ event: String) { trace.append("\(((now - begin) * 100).rounded() / 100) s: \(event)") }

    private func name(_ station: Station) -> String {
        owners.first { $0.station === station }?.who ?? "mirror \(mirrors.firstIndex { $0 === station } ?? 0)"
    }

    private func later(_ name: String, _ of: String, _ body: @escaping () throws -> Void) {
        events[name, default: 0] += 1
        wholeSince = nil
        note("\(name): \(of)")
        // Sometimes for longer than `history-time`.
        let length = random.chance(4) ? 12 : random.real(0.2...4)
        repairs.append((now + length, "\(name): \(of)", body))
    }

    private func fail() throws {
        let stations = claimants + [owner] + mirrors
        let station = random.pick(stations)
        let others = cluster.programs.indices.filter {
            cluster.programs[$0] == nil || cluster.machines[$0].cutAt != nil || cluster.machines[$0].isSlow
                || cluster.parted != nil
        }
        switch random.below(10) {
        case 0 where others.isEmpty:
            let server = random.below(3)
            try cluster.kill(server)
            later("a server is killed", "\(server)") { [cluster] in try cluster.start(server) }
        case 1 where others.isEmpty:
            guard let leader = try cluster.leader() else { return }
            try cluster.kill(leader)
            later("the leader is killed", "\(leader)") { [cluster] in try cluster.start(leader) }
        case 2, 3:
            guard station.link != nil else { return }
            try station.killLink()
            later("a link is killed", name(station)) { try station.startLink() }
        case 4:
            guard station.isDaemonUp else { return }
            let place = mirrors.firstIndex { $0 === station }
            if let place { validators[place] = nil }
            try station.killDaemon()
            later("a daemon is killed", name(station)) { [self] in
                try station.startDaemon()
                if let place { validators[place] = try Validator(station) }
            }
        case 5, 6:
            guard station.machine.isReal, station.machine.cutAt == nil else { return }
            try station.cut()
            later("a machine is cut off", name(station)) { try station.join() }
        case 7 where others.isEmpty:
            let server = cluster.machines[random.below(3)]
            guard server.isReal else { return }
            try server.cut()
            later("a server is cut off", server.address) { try server.join() }
        case 8 where others.isEmpty:
            let server = random.below(3)
            guard cluster.machines[server].isReal else { return }
            try cluster.part(server, true)
            later("a server is cut off from the others", "\(server)") { [cluster] in try cluster.part(server, false) }
        case 9:
            let machine = random.pick(others.isEmpty ? stations.map(\.machine) + cluster.machines : [station.machine])
            guard machine.isReal, !machine.isSlow else { return }
            try machine.slow(true)
            later("a line is slow", machine.address) { try machine.slow(false) }
        default: break
        }
    }

    private func repair(all: Bool = false) throws {
        // One time for both: what became due between them would never be repaired.
        let time = now
        let due = repairs.filter { all || $0.due <= time }
        repairs = repairs.filter { !all && $0.due > time }
        for one in due {
            try one.body()
            note("repaired: \(one.name)")
        }
        if repairs.isEmpty, wholeSince == nil { wholeSince = now }
    }

    // MARK: Checks

    /// Seconds in which a mirror must say that an owner is silent: `live-time`, a call to a NATS that hangs, and a busy
    /// machine.
    private static let promise = 2.0 + 2 + 1.5
    /// Seconds in which all must be live if nothing is broken and NATS has leaders: TCP and pings that notice the end
    /// of a cut, a lease that lapses, calls that time out.
    private static let recovery = 25.0

    private func watch(_ seconds: Double) throws {
        let share = seconds / Double(validators.count)
        for (place, validator) in validators.enumerated() {
            guard let validator else {
                // Without its daemon, too, faults come at their pace.
                poll(nil, 0, Int32(share * 1000))
                continue
            }
            faults += try validator.read(within: share, truths).map { "mirror \(place): \($0)" }
            // A mirror cannot show anything without its daemon; without its link it shows that at once.
            let down = [owner.downAt, mirrors[place].downAt].compactMap { $0 }.min()
            if let down, now > down + Trial.promise, validator.isLive, mirrors[place].isDaemonUp {
                faults.append("mirror \(place): /b is live \(now - down) s after its end")
            }
            guard let wholeSince, !validator.isLive else { continue }
            if now >= nextLook {
                nextLook = now + 1
                // NATS elects for each stream by itself, 4 to 9 s for each attempt.
                if try !cluster.isLed() {
                    self.wholeSince = now
                    continue
                }
            }
            longestRecovery = max(longestRecovery, now - wholeSince)
            if now > wholeSince + Trial.recovery {
                faults.append("mirror \(place): /b is silent \(now - wholeSince) s after the last repair and election")
            }
        }
    }

    func run(seconds: Double) throws -> [String] {
        try settle()
        let end = now + seconds
        while now < end, faults.isEmpty {
            try repair()
            if random.chance(25) { try fail() }
            for (who, station) in owners where random.chance(60) { try write(who, station) }
            if random.chance(10) { try writeThrough() }
            try watch(random.real(0.02...0.3))
        }
        try repair(all: true)
        if faults.isEmpty { try settle() }
        return faults
    }

    /// Cuts the server with most links off from the other servers.
    /// - Returns: the faults, and the seconds until all sites were live without that server.
    func runParted() throws -> (faults: [String], seconds: Double) {
        try settle()
        let server = try cluster.busiest()
        let start = now
        try cluster.part(server, true)
        wholeSince = nil
        // Its links still hear each other for a moment.
        let end = Deadline(5)
        while !end.isOver { try watch(0.1) }
        try settle()
        let seconds = now - start
        try cluster.part(server, false)
        wholeSince = now
        try settle()
        return (faults, seconds)
    }

    /// Waits until both mirrors have what the owners have.
    private func settle() throws {
        let deadline = Deadline(Deadline.patience)
        number += 1
        for (who, station) in owners {
            let mutations = ["", "/one", "/two"].map { node -> Value in
                ["op": "set", "path": .string("/host\(node).number"), "value": .int(number)]
            }
            let reply = try station.client.call("transact", ["mutations": .list(mutations)])
            truths[who]?.add(reply["revision"]?.int ?? 0, number)
        }
        func isSettled() throws -> Bool {
            for validator in validators {
                for site in ["a", "b"] {
                    guard validator?.value("/\(site).number") == .int(number),
                        validator?.value("/\(site).isLive") == true
                    else { return false }
                }
            }
            if openWrite != nil { try writeThrough() }
            return openWrite == nil
        }
        while try !isSettled(), faults.isEmpty {
            try watch(0.1)
            guard !deadline.isOver else {
                let values = validators.map { validator in
                    ["/a.number", "/a.who", "/a.isLive", "/b.number", "/b.isLive"].map { validator?.value($0) ?? .null }
                }
                throw Trouble("the mirrors do not come to \(number): \(values), open write: \(openWrite ?? 0)\n\(logs)")
            }
        }
        guard faults.isEmpty else { return }
        for (place, mirror) in mirrors.enumerated() {
            for site in ["a", "b"] {
                var differences = ""
                // The other claimant may take over meanwhile.
                repeat {
                    let who = try mirror.client.get("/fleet/\(site).who")?.string ?? "nobody"
                    guard let source = owners.first(where: { $0.who == who })?.station else {
                        throw Trouble("/\(site) is of \(who)")
                    }
                    let expected = try SiteImage(source.client, "/host")
                    let found = try SiteImage(mirror.client, "/fleet/\(site)")
                    differences = expected == found ? "" : expected.differences(found)
                } while !differences.isEmpty && !deadline.isOver
                if !differences.isEmpty {
                    faults.append("mirror \(place): /\(site) differs from its owner: \(differences)")
                }
            }
        }
        let total = try owner.client.get("/host.total")
        if total != .int(Int64(writes)) { faults.append("\(writes) writes came to \(total ?? .null)") }
    }

    /// What happened, and the last lines of all links.
    var logs: String {
        trace.suffix(40).joined(separator: "\n") + "\n\(cluster.description)\n"
            + (owners.map { ($0.who, $0.station) } + mirrors.enumerated().map { ("mirror \($0.offset)", $0.element) })
            .map {
                let lines = ($0.1.link?.text ?? "").split(separator: "\n").suffix(16).joined(separator: "\n    ")
                return "  \($0.0):\n    \(lines)"
            }.joined(separator: "\n")
    }

    var summary: String {
        let parts = events.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        let updates = validators.reduce(0) { $0 + ($1?.updates ?? 0) }
        return "\(number) transactions, \(writes) writes through a mirror, \(updates) updates seen, "
            + "live \((longestRecovery * 10).rounded() / 10) s after the last repair and election; \(parts)"
    }
}

/// Its deadlines are real time, so it needs the machine for itself. One order of faults again: `AGD_FLEET_SEED`.
@Suite(
    "Fleet", .serialized,
    .enabled(if: NATSServer.path != nil, "nats-server is not installed: Scripts/dependencies --tests installs it"),
    .enabled(
        if: ProcessInfo.processInfo.environment["AGD_FLEET_SECONDS"] != nil,
        "it needs the machine for itself: Scripts/test runs it at the end, make endurance for an hour"))
struct FleetTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["AGD_FLEET_SEED"].flatMap { UInt64($0) } ?? .random(in: 1...99_999)
    private static let seconds = environment["AGD_FLEET_SECONDS"].flatMap { Double($0) } ?? 10

    private func run(isReal: Bool) throws {
        let trial = try Trial(seed: FleetTests.seed, isReal: isReal)
        print("fleet: AGD_FLEET_SEED=\(FleetTests.seed) AGD_FLEET_SECONDS=\(FleetTests.seconds)")
        let faults = try trial.run(seconds: FleetTests.seconds)
        print("fleet: \(trial.summary)")
        #expect(faults.isEmpty, "seed \(FleetTests.seed):\n\(faults.joined(separator: "\n"))\n\(trial.logs)")
    }

    @Test(
        "kills, partitions and slow lines: mirrors are never torn, never wrong about who lives, and end with all of it",
        .enabled(if: Network.obstacle == nil, "\(Network.obstacle ?? "")"))
    func machines() throws { try run(isReal: true) }

    @Test(
        "links leave a server that is cut off from its cluster, though it takes their connections",
        .enabled(if: Network.obstacle == nil, "\(Network.obstacle ?? "")"),
        .enabled(if: seconds >= 60, "it takes a minute: make endurance"))
    func partedServer() throws {
        let trial = try Trial(seed: FleetTests.seed, isReal: true)
        let (faults, seconds) = try trial.runParted()
        print("fleet: live \((seconds * 10).rounded() / 10) s after a server was cut off from the others")
        #expect(faults.isEmpty, "\(faults.joined(separator: "\n"))\n\(trial.logs)")
    }

    @Test(
        "kills on one machine without partitions: the same",
        .enabled(if: Network.obstacle != nil, "machines() does more"))
    func processes() throws { try run(isReal: false) }
}
