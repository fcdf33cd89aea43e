import AttributeValues
import BenchmarkSupport
import Glibc
import TestSupport

/// A daemon and all that is done to it.
final class Soak {
    private let daemon: DaemonProcess
    private let main: DaemonClient
    private let seed: UInt64
    private var generator: SeededGenerator
    /// Counts names, so that none comes twice.
    private var names = 0
    private var writes = 0
    /// Short-lived nodes, as paths.
    private var nodes: [String] = []
    private var clients: [DaemonClient] = []
    private var subscriptions: [Int64] = []

    /// How many of each there may be at once.
    private static let most = 8

    init(_ program: String, seed: UInt64) throws {
        self.seed = seed
        generator = SeededGenerator(seed: seed)
        daemon = try DaemonProcess(program, scene: Soak.scene, settings: ["durability = off"], hasStore: true)
        main = try DaemonClient(daemon.socketPath)
    }

    private static let scene = """
        {"agd":1,
         "keys":{"environment":{"font":{"default":{"size":12,"weight":400}}},
                 "container":{"width":{"default":1}},
                 "preference":{"height":{"default":0,"reduce":"value + next"}}},
         "nodes":[
          {"id":"list","state":{"items":[],"map":{"k0":1},"key":"k0","x":0.0},
           "computed":{"chosen":"map[?key].orValue(0)","count":"items.size()","all":"subviews.size()"},
           "children":[{"id":"rows","forEach":{"in":"$items","id":"id","as":"item","node":{
             "kind":"container","state":{"open":false},"binding":{"n":"$item.n"},"containerValues":{"width":"=item.n"},
             "computed":{"y":"item.n * 2","shown":"open ? y : index","deep":"item.part.x"},
             "children":[{"id":"tags","forEach":{"in":"$item.tags","as":"tag","node":{"kind":"view","computed":{"t":"tag + '!'"}}}}]}}}]},
          {"id":"made","state":{"n":3},"children":[{"id":"rows","forEach":{"in":"=lists.range(n)","as":"i","node":{
             "kind":"view","preferences":{"height":"=i"}}}}],"computed":{"height":"preferences.height"}},
          {"id":"nodes","kind":"container"},
          {"id":"other","kind":"container"},
          {"id":"lasting","kind":"container","children":[
            {"id":"a","kind":"container","children":[{"id":"x","kind":"container","state":{"v":1},"computed":{"w":"v + 1"}}]},
            {"id":"b","kind":"container","children":[{"id":"y","kind":"container","state":{"v":1},"computed":{"w":"v + 1"}}]}]}]}
        """

    /// - Returns: what did not stay flat, in words.
    func run(seconds length: Double) throws -> [String] {
        tell(#"{"benchmark":"soak","seed":\#(seed),"seconds":\#(length)}"#)
        let interval = max(length / 10, min(length / 2, 0.5))
        let start = MonotonicTime.now
        try call("subscribe", #"{"paths":["/**"],"events":["update","invalidate","structure","completion"]}"#)
        // Of everything some, so that the first measure lacks nothing that is made once.
        let steps = Soak.steps
        for _ in 0..<4 { for step in steps { try step(self)() } }
        var first: Measure?
        var faults: [String] = []
        var (processor, before) = (daemon.processorTime, writes)
        var next = start + interval
        while next < start + length + interval / 2 {
            while MonotonicTime.now < next { try generator.pick(steps)(self)() }
            let (time, count) = (daemon.processorTime - processor, writes - before)
            try takeBack()
            let measure = try self.measure(
                at: MonotonicTime.now - start, writes: count, time / Double(max(1, count)) * 1e6)
            tell(measure.line)
            if let first { faults = measure.growth(since: first) } else { first = measure }
            (processor, before) = (daemon.processorTime, writes)
            next += interval
        }
        return faults
    }

    private func measure(at time: Double, writes: Int, _ microseconds: Double) throws -> Measure {
        let stats = try settledStats()
        func figure(_ name: String) -> Int { stats[name]?.number.map { Int($0) } ?? -1 }
        return Measure(
            seconds: time, writes: writes, microsecondsPerWrite: microseconds, vertices: figure("vertices"),
            edges: figure("edges"), storedRows: try storedRows(in: daemon.store),
            residentKilobytes: daemon.residentKilobytes)
    }

    /// Waits until nothing moves and nobody else is connected.
    private func settledStats() throws -> ValueMap {
        let deadline = MonotonicTime.now + 60
        while MonotonicTime.now < deadline {
            if let stats = try main.result("stats", "{}").map, stats["running_timelines"] == 0, stats["clients"] == 1 {
                return stats
            }
            usleep(10_000)
        }
        throw Trouble("the daemon did not come to rest: \(try main.result("stats", "{}"))")
    }

    // MARK: What is done

    private typealias Step = (Soak) -> () throws -> Void

    private static var steps: [Step] {
        [
            writeList, writeList, writeList, writePart, writeKey, writeCount, addNode, changeNode, removeNode,
            subscribe, unsubscribe,
            animate, connect, disconnect, move, redefine, ask,
        ]
    }

    @discardableResult
    private func call(_ method: String, _ parameters: String) throws -> Value { try main.result(method, parameters) }

    private func write(_ method: String, _ parameters: String) throws {
        writes += 1
        try call(method, parameters)
    }

    private func set(_ path: String, _ value: String) throws {
        try write("set", #"{"path":"\#(path)","value":\#(value)}"#)
    }

    private func newName() -> String {
        names += 1
        return "n\(names)"
    }

    private func element() -> String {
        let name = newName()
        return
            #"{"id":"\#(name)","n":\#(generator.below(100)),"part":{"x":\#(names)},"tags":["\#(name)a","\#(name)b"]}"#
    }

    private func elements(_ count: Int) -> String {
        "[" + (0..<count).map { _ in element() }.joined(separator: ",") + "]"
    }

    private func writeList() throws { try set("/list.items", elements(1 + generator.below(6))) }

    /// One element goes and another comes, the rest stays.
    private func writePart() throws {
        try set("/list.items", elements(3))
        try write(
            "transact",
            #"{"mutations":[{"op":"remove","path":"/list.items[0]"},{"op":"append","path":"/list.items","value":\#(element())}]}"#
        )
    }

    private func writeKey() throws {
        let key = newName()
        try set("/list.map", #"{"k0":1,"\#(key)":\#(names)}"#)
        try set("/list.key", #""\#(generator.chance(50) ? key : "k0")""#)
    }

    private func writeCount() throws { try set("/made.n", "\(generator.below(6))") }

    private func addNode() throws {
        if nodes.count >= Soak.most { try removeNode() }
        let name = newName()
        try write("apply", #"{"document":{"agd":1,"nodes":[\#(node(name))]},"at":"/nodes"}"#)
        nodes.append("/nodes/\(name)")
    }

    /// A node whose rules and schedule no other has.
    private func node(_ name: String) -> String {
        names += 1
        return
            #"{"id":"\#(name)","kind":"container","state":{"s":{"a":1,"b\#(names)":2}},"clock":{"now":"every \#(100 + names)s"},"#
            + #""computed":{"r":"s.a + \#(names)","q":"s.?b\#(names).orValue(0)","time":"now"},"environment":{"font.size":"=s.a + \#(names)"},"#
            + #""children":[{"id":"c","kind":"view","computed":{"f":"env.font.size"},"let":{"k":"=s.a"}}]}"#
    }

    /// A short-lived node is redefined and moved. The store forgets both when the node goes.
    private func changeNode() throws {
        guard let place = nodes.indices.randomElement(using: &generator) else { return }
        let words = nodes[place].split(separator: "/")
        let (parent, name) = (words[0], String(words[1]))
        try write("apply", #"{"document":{"agd":1,"nodes":[\#(node(name))]},"at":"/\#(parent)","mode":"merge"}"#)
        let target = parent == "nodes" ? "/other" : "/nodes"
        try write("move", #"{"path":"\#(nodes[place])","to":"\#(target)"}"#)
        nodes[place] = "\(target)/\(name)"
        try set("\(nodes[place]).s.a", "\(names)")
    }

    private func removeNode() throws {
        guard let place = nodes.indices.randomElement(using: &generator) else { return }
        try write("remove", #"{"path":"\#(nodes.remove(at: place))"}"#)
    }

    private func subscribe() throws {
        if subscriptions.count >= Soak.most { try unsubscribe() }
        let patterns = [
            "/list/**", "/list/rows/*.y", "/list.map.k0", "/list.items[0].n", "/nodes/**", "/**/c.f", "/made.height",
            "/list.x",
        ]
        let events = [
            #"["update"]"#, #"["invalidate"]"#, #"["update","frames"]"#, #"["structure"]"#, #"["update","completion"]"#,
        ]
        let reply = try call(
            "subscribe",
            #"{"paths":["\#(generator.pick(patterns))"],"events":\#(generator.pick(events)),"css":\#(generator.chance(30)),"maxRate":\#(1 + generator.below(100))}"#
        )
        if case .int(let number)? = reply.map?["subscription"] { subscriptions.append(number) }
    }

    private func unsubscribe() throws {
        guard let place = subscriptions.indices.randomElement(using: &generator) else { return }
        let number = subscriptions.remove(at: place)
        // One whose paths have gone has ended by itself.
        _ = try? call("unsubscribe", #"{"subscription":\#(number)}"#)
    }

    private func animate() throws {
        let animation = generator.pick([
            "linear(duration: 0.05)", "spring(duration: 0.05, bounce: 0.2)", "easeOut(duration: 0.1).delay(0.02)",
        ])
        try write("set", #"{"path":"/list.x","value":\#(Double(generator.below(1000))),"animation":"\#(animation)"}"#)
    }

    /// A client that subscribes, leaves something to be done when it goes, and reads nothing.
    private func connect() throws {
        if clients.count >= Soak.most { try disconnect() }
        let client = try DaemonClient(daemon.socketPath)
        try client.result("hello", #"{"client":"\#(newName())"}"#)
        try client.result("subscribe", #"{"paths":["/list/**","/nodes/**"]}"#)
        try client.result(
            "onDisconnect", #"{"mutations":[{"op":"set","path":"/made.n","value":\#(generator.below(6))}]}"#)
        clients.append(client)
    }

    private func disconnect() throws {
        guard let place = clients.indices.randomElement(using: &generator) else { return }
        clients.remove(at: place)
    }

    /// Changes of nodes that stay are a few, because the store keeps them.
    private func move() throws {
        guard generator.chance(10) else { return try changeNode() }
        let name = generator.chance(50) ? "x" : "y"
        let isInA = (try? call("describe", #"{"path":"/lasting/a/\#(name)"}"#)) != nil
        try write("move", #"{"path":"/lasting/\#(isInA ? "a" : "b")/\#(name)","to":"/lasting/\#(isInA ? "b" : "a")"}"#)
    }

    private func redefine() throws {
        if generator.chance(10) { try redefineLasting() } else { try changeNode() }
    }

    private func redefineLasting() throws {
        names += 1
        try write(
            "apply",
            #"{"document":{"agd":1,"nodes":[{"id":"c","kind":"view","clock":{"now":"every \#(100 + names)s"},"computed":{"r":"\#(names) + 1","time":"now"}}]},"at":"/lasting","mode":"merge"}"#
        )
    }

    private func ask() throws {
        try call("eval", #"{"expression":"map.?k\#(generator.below(100)).orValue(items.size())","at":"/list"}"#)
        try call("get", #"{"path":"/list.items[0].n"}"#)
        try call("get", #"{"path":"/list.map.k\#(generator.below(100))"}"#)
    }

    /// Makes everything as it was. All rules are evaluated, so that all have the edges they can have.
    private func takeBack() throws {
        clients = []
        while !subscriptions.isEmpty { try unsubscribe() }
        while !nodes.isEmpty { try removeNode() }
        try redefineLasting()
        _ = try settledStats()
        try set("/list.items", elements(4))
        try set("/list.map", #"{"k0":1}"#)
        try set("/list.key", #""k0""#)
        try set("/made.n", "3")
        try call("get", #"{"paths":["/**"]}"#)
    }
}
