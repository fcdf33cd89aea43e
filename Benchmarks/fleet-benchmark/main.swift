import AttributeValues
import BenchmarkSupport
import Glibc
import TestSupport

// Two daemons, their links and a NATS server on this machine, beside plain NATS with the same bytes. Prints a line of
// JSON for each case.
//
//     fleet-benchmark [--rounds NUMBER] [--seconds SECONDS] [beginning of a case's name…]

let window = 256

func text(_ number: Double) -> String { number >= 1000 ? "\(Int(number))" : "\((number * 1000).rounded() / 1000)" }

func median(_ numbers: [Double]) -> Double { numbers.sorted()[numbers.count / 2] }

/// A daemon with a counter, and one that mirrors it.
final class Pair {
    private let owner: DaemonProcess
    private let mirror: DaemonProcess
    private let links: [Link]
    private let writer: Wire
    private let watcher: Wire
    private var next = 0

    init(_ program: String, _ nats: NATSServer) throws {
        owner = try DaemonProcess(program, scene: #"{"nodes":[{"id":"host","state":{"count":0}}]}"#)
        mirror = try DaemonProcess(program)
        links = [
            try Link(owner, nats, ["publish = /host/** as bench/one"]),
            try Link(mirror, nats, ["mirror = bench/* at /fleet"]),
        ]
        writer = try Wire(owner.socketPath, attribute: "unused")
        watcher = try Wire(mirror.socketPath, attribute: "/fleet/one.count")
        try watcher.send(DaemonClient.line("subscribe", #"{"paths":["/fleet/*.count"]}"#))
        let deadline = MonotonicTime.now + 20
        while watcher.updates == 0 || watcher.value < next {
            guard MonotonicTime.now < deadline else { throw Trouble("the mirror does not come") }
            try write()
            let end = MonotonicTime.now + 0.2
            while MonotonicTime.now < end, watcher.value < next { try watcher.read(within: 0.05) }
        }
    }

    private func write() throws {
        next += 1
        try writer.send(DaemonClient.line("set", #"{"path":"/host.count","value":\#(next)}"#))
        try writer.read(within: 0)
    }

    /// Seconds from a write at the owner until the watcher of the mirror is told, one at a time.
    func waits(count: Int) throws -> [Double] {
        var waits: [Double] = []
        for _ in 0..<count {
            let start = MonotonicTime.now
            try write()
            while watcher.value < next {
                guard MonotonicTime.now < start + 5 else { throw Trouble("an update does not come") }
                try watcher.read(within: 1)
            }
            waits.append(MonotonicTime.now - start)
        }
        return waits
    }

    /// Transactions in a second that the watcher has been told one by one, and the part of all that were merged with
    /// others.
    func rate(seconds: Double) throws -> (perSecond: Double, merged: Double) {
        let (start, first, updates, conflated) = (MonotonicTime.now, next, watcher.updates, watcher.conflated)
        while MonotonicTime.now < start + seconds || watcher.value < next {
            if MonotonicTime.now < start + seconds {
                var lines = ""
                for _ in watcher.value + window > next ? next..<watcher.value + window : next..<next {
                    next += 1
                    lines += DaemonClient.line("set", #"{"path":"/host.count","value":\#(next)}"#)
                }
                if !lines.isEmpty { try writer.send(lines) }
            }
            try writer.read(within: 0)
            try watcher.read(within: 0.1)
            guard MonotonicTime.now < start + seconds + 10 else { throw Trouble("updates do not come") }
        }
        let told = Double(watcher.updates - updates - (watcher.conflated - conflated))
        return (told / (MonotonicTime.now - start), 1 - told / Double(next - first))
    }

    /// Processor time so far.
    var processorTimes: (daemons: Double, links: Double) {
        (owner.processorTime + mirror.processorTime, links.reduce(0) { $0 + $1.processorTime })
    }
}

/// 100 sites with 1,000 attributes each, all of which change once a second.
func crowd(_ program: String, _ nats: NATSServer, seconds: Double) throws -> String {
    let (sites, nodes, attributes) = (100, 50, 20)
    func name(_ site: Int) -> String { "s" + String(1000 + site).dropFirst() }
    let states = (0..<attributes).map { #""a\#($0)":0.5"# }.joined(separator: ",")
    let children = (0..<nodes).map { #"{"id":"n\#($0)","state":{\#(states)}}"# }.joined(separator: ",")
    let scene = (0..<sites).map { #"{"id":"\#(name($0))","state":{"tick":0},"children":[\#(children)]}"# }
    let owner = try DaemonProcess(
        program, scene: #"{"nodes":[\#(scene.joined(separator: ","))]}"#, settings: ["watched-attributes = 200000"])
    let mirror = try DaemonProcess(program)
    let publishing = try Link(owner, nats, (0..<sites).map { "publish = /\(name($0))/** as crowd/\(name($0))" })
    let mirroring = try Link(mirror, nats, ["mirror = crowd/* at /fleet"])
    let writer = try Wire(owner.socketPath, attribute: "unused")
    let watcher = try Wire(mirror.socketPath, attribute: ".tick")
    try watcher.send(DaemonClient.line("subscribe", #"{"paths":["/fleet/*.tick"]}"#))
    // All sites are there.
    let client = try DaemonClient(mirror.socketPath)
    let deadline = MonotonicTime.now + 120
    while true {
        let values = try client.result("get", #"{"paths":["/fleet/*.isLive"]}"#).map?["values"]?.map ?? ValueMap()
        if values.count == sites, values.allSatisfy({ $0.1.map?["value"] == true }) { break }
        guard MonotonicTime.now < deadline else { throw Trouble("\(values.count) of \(sites) sites have come") }
        try watcher.read(within: 0.2)
    }
    func transaction(_ site: Int, _ round: Int) -> String {
        var mutations = [#"{"op":"set","path":"/\#(name(site)).tick","value":\#(round)}"#]
        for node in 0..<nodes {
            for attribute in 0..<attributes {
                let value = Double((round * 7 + node * 31 + attribute * 3) % 1000) / 10 + 0.05
                mutations.append(
                    #"{"op":"set","path":"/\#(name(site))/n\#(node).a\#(attribute)","value":\#(value)}"#)
            }
        }
        return DaemonClient.line("transact", #"{"mutations":[\#(mutations.joined(separator: ","))]}"#)
    }
    let warm = 3.0
    let start = MonotonicTime.now
    var (step, begun, at): (Int, (Double, Double, Int)?, Double) = (0, nil, 0)
    while true {
        let now = MonotonicTime.now
        if begun == nil, now >= start + warm {
            begun = (mirror.processorTime, mirroring.processorTime, watcher.updates)
            at = now
        }
        if begun != nil, now >= at + seconds { break }
        // The sites are spread over the second.
        if Double(step) < (now - start) * Double(sites) {
            try writer.send(transaction(step % sites, step / sites + 1))
            step += 1
        }
        try writer.read(within: 0)
        try watcher.read(within: Double(step) < (MonotonicTime.now - start) * Double(sites) ? 0 : 0.005)
    }
    guard let begun else { return "" }
    let length = MonotonicTime.now - at
    let daemon = (mirror.processorTime - begun.0) / length
    let link = (mirroring.processorTime - begun.1) / length
    return #"{"case":"100 sites x 1000 attributes at 1 Hz","updatesPerSecond":"#
        + text(Double(watcher.updates - begun.2) / length)
        + #","mirrorDaemonCore":\#(text(daemon)),"mirrorLinkCore":\#(text(link)),"core":\#(text(daemon + link))"#
        + #","linkMegabytes":\#(mirroring.residentKilobytes / 1024),"daemonMegabytes":\#(mirror.residentKilobytes / 1024)"#
        + #","publishingLinkMegabytes":\#(publishing.residentKilobytes / 1024)}"#
}

func permille(_ waits: [Double], _ part: Int) -> Double { waits.sorted()[waits.count * part / 1000] * 1e6 }

do {
    var (rounds, seconds, names): (Int, Double, [String]) = (3, 2, [])
    var words = CommandLine.arguments.dropFirst()
    while let word = words.popFirst() {
        switch word {
        case "--rounds": rounds = max(1, words.popFirst().flatMap { Int($0) } ?? rounds)
        case "--seconds": seconds = words.popFirst().flatMap { Double($0) } ?? seconds
        default: names.append(word)
        }
    }
    guard let program = DaemonProcess.program else { throw Trouble("agd is not built: swift build --product agd") }
    guard let server = NATSServer.program else {
        tell("fleet-benchmark: nats-server is not installed: Scripts/dependencies --tests installs it", to: 2)
        exit(0)
    }
    func isWanted(_ name: String) -> Bool { names.isEmpty || names.contains(where: name.hasPrefix) }
    if isWanted("rate") || isWanted("latency") {
        let nats = try NATSServer(server)
        let pair = try Pair(program, nats)
        let plain = try PlainNATS(nats.address, window: window)
        _ = try pair.waits(count: 200)
        let bytes = try plain.last("AGD_TX", "agd.tx.bench.one")
        if isWanted("latency") {
            var (theirs, ours): ([Double], [Double]) = ([], [])
            // In turn, because the machine has other load.
            for _ in 0..<rounds {
                theirs += try plain.waits(bytes, count: 1000)
                ours += try pair.waits(count: 1000)
            }
            tell(
                #"{"case":"latency","messageBytes":\#(bytes.count),"#
                    + #""nats":{"p50Us":\#(text(permille(theirs, 500))),"p99Us":\#(text(permille(theirs, 990)))},"#
                    + #""link":{"p50Us":\#(text(permille(ours, 500))),"p99Us":\#(text(permille(ours, 990)))},"#
                    + #""p50AboveNatsUs":\#(text(permille(ours, 500) - permille(theirs, 500)))}"#)
        }
        if isWanted("rate") {
            var (single, many, ours, merged): ([Double], [Double], [Double], [Double]) = ([], [], [], [])
            var used = (daemons: 0.0, links: 0.0)
            for _ in 0..<rounds {
                single.append(try plain.rate(bytes, seconds: seconds, isOneAtATime: true))
                many.append(try plain.rate(bytes, seconds: seconds, isOneAtATime: false))
                let before = pair.processorTimes
                let result = try pair.rate(seconds: seconds)
                let after = pair.processorTimes
                used.daemons += (after.daemons - before.daemons) / (result.perSecond * seconds) * 1e6
                used.links += (after.links - before.links) / (result.perSecond * seconds) * 1e6
                ours.append(result.perSecond)
                merged.append(result.merged)
            }
            tell(
                #"{"case":"rate","messageBytes":\#(bytes.count),"natsOneAtATime":\#(text(median(single))),"#
                    + #""natsWindow\#(window)":\#(text(median(many))),"link":\#(text(median(ours))),"#
                    + #""merged":\#(text(median(merged))),"#
                    + #""daemonsUs":\#(text(used.daemons / Double(rounds))),"linksUs":\#(text(used.links / Double(rounds))),"#
                    + #""ratioOneAtATime":\#(text(median(ours) / median(single))),"#
                    + #""ratioWindow":\#(text(median(ours) / median(many)))}"#)
        }
    }
    if isWanted("100 sites") { tell(try crowd(program, try NATSServer(server), seconds: max(10, seconds))) }
} catch {
    tell("fleet-benchmark: \(error)", to: 2)
    exit(2)
}
