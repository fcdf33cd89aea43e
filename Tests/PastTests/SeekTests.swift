@testable import Archive
import AttributeValues
import Foundation
import GraphRuntime
import Replay
import SceneTesting
import TestSupport
import Testing
import ViewGraph
import WireProtocol
@testable import agd_past

@Suite("The graph of a moment")
struct SeekTests {
    /// A sensor's states and rules, and what is around it.
    private static func scene(_ sensor: String) -> String {
        """
        components:
          Sensor:
            kind: container
        \(sensor)
            onChange: [{ of: seen, perform: { append: { $log: =seen } } }]
        nodes:
          - id: clock
            clock: { now: every 1s }
            computed: { text: string(now) }
          - id: home
            kind: container
            state: { items: [{ id: a }, { id: b }], mode: 1, open: false }
            children:
              - { id: rows, forEach: { in: $items, as: item, node: { component: Sensor } } }
              - { if: open, then: [{ id: inside, component: Sensor }] }

        """
    }

    private static let plain = scene(
        """
            state: { level: 0.0, seen: { initial: 0, transient: true }, log: [], base: { initial: =level + 1.0 } }
            computed: { high: level > 5.0, line: "string(seen) + '/' + string(log.size()) + string(base)" }
        """)

    private static let timed = scene(
        """
            state:
              level: { initial: 0.0, expires: 7s }
              seen: { initial: 0, transient: true, expires: 3s }
              log: []
            computed:
              mean: "average(level, duration('20s'))"
              speed: "rate(level, duration('30s'))"
              last: "previous(level)"
              since: "changed(level)"
              high: level > 5.0
              hot: "held(high, duration('3s'))"
              most: "greatest(level, duration('15s'))"
              calm: "debounced(level, duration('2s'))"
              today: "sum(level, 'hour')"
              line: "string(seen) + '/' + string(log.size())"
        """)

    private func step(_ life: RecordedLife, _ generator: inout SeededGenerator) {
        func write(_ path: String, _ value: Value) {
            life.call(.set(Mutation(operation: .set, path: path, value: value), .init()))
        }
        let node =
            ["/home/rows/a", "/home/rows/b", "/home/rows/c", "/home/inside", "/new"].randomElement(using: &generator)
            ?? ""
        switch Int.random(in: 0..<12, using: &generator) {
        case 0: write("/home.open", .bool(Bool.random(using: &generator)))
        case 1:
            let ids = ["a", "b", "c"].shuffled(using: &generator).prefix(Int.random(in: 1...3, using: &generator))
            write("/home.items", .list(ValueList(ids.map { ["id": .string($0)] })))
        case 2: write("/home.mode", .int(Int64.random(in: 0..<3, using: &generator)))
        case 3 where Int.random(in: 0..<3, using: &generator) == 0:
            let document =
                "agd: 1\nnodes: [{ id: new, component: Sensor, state: { extra: \(Int.random(in: 0..<9, using: &generator)) } }]"
            life.call(
                .apply(.init(document: .string(document), at: "/", mode: .merge, dryRun: false, options: .init())))
        case 4 where Int.random(in: 0..<4, using: &generator) == 0: life.call(.remove(path: "/new", .init()))
        case 5, 6: write("\(node).seen", .int(Int64.random(in: 0..<99, using: &generator)))
        default: write("\(node).level", .double(Double(Int.random(in: 0..<100, using: &generator)) / 7))
        }
        life.note()
        life.wait(Int64.random(in: 100_000_001..<2_000_000_000, using: &generator))
    }

    @Test("the graph of a moment is made as a start makes it, and has no first turn") func beginning() throws {
        let will: Value = [
            "mutations": [["op": "set", "path": "/n.isAlive", "value": false]], "by": 0, "user": 1000,
        ]
        let life = try RecordedLife(
            "nodes: [{ id: n, state: { count: 0, isAlive: true }, onAppear: { add: { $count: 1 } } }]", size: 1 << 18,
            others: [StoredRow(key: StoreChange.willKey, name: "1", revision: 1, value: will)])
        life.flush()
        let last = life.daemon.runtime.revision
        func value(_ name: String, at revision: UInt64) throws -> Value? {
            let client = ClientID(number: 1)
            let graph = try PastGraph(
                life.past, at: .revision(revision, epoch: nil),
                for: PastClient(client, Peer(pid: 1, uid: 1000, gid: 1000))
            ) { 0 }
            let deliveries = graph.apply([
                .call(client, id: .int(1), .get(.init(paths: ["/n." + name], isSingle: true)))
            ])
            for case .reply(_, _, .content(.value(let value), _, _)) in deliveries { return value }
            return nil
        }
        // The scene is the first revision.
        #expect(try value("count", at: 1) == 0 && value("isAlive", at: 1) == true)
        #expect(try value("count", at: last) == 1 && value("isAlive", at: last) == true)
    }

    @Test("a seek over values alone goes on in the same graph, back and forth") func leaping() throws {
        let life = try RecordedLife(
            "nodes: [{ id: n, state: { a: 0, b: 0 }, computed: { sum: a + b } }]", size: 1 << 18)
        for number in 1...40 {
            life.set("/n.a", .int(Int64(number)))
            life.wait(200_000_000)
        }
        life.set("/n.b", 100)
        life.flush()
        var limits = RuntimeLimits()
        limits.historyLength = 3
        let past = Past(folder: life.folder, access: AccessRules(), limits: limits)
        let first = life.daemon.runtime.revision - 41
        let graph = try PastGraph(
            past, at: .revision(first + 30, epoch: nil),
            for: PastClient(ClientID(number: 1), Peer(pid: 1, uid: 1000, gid: 1000))
        ) { 0 }
        func sum(_ graph: PastGraph) -> Value? {
            tree(graph)?.map?["children"]?.list?.first?.map?["attributes"]?.map?["sum"]?.map?["value"]
        }
        for (number, value) in [(10, 10), (35, 35), (20, 20), (41, 140)] as [(UInt64, Int64)] {
            try graph.seek(to: .revision(first + number, epoch: nil))
            #expect(sum(graph) == .int(value))
        }
        #expect(graph.generation == 1)
        // Before its first write, `b` has no row, so the graph is made anew.
        try graph.seek(to: .revision(first + 40, epoch: nil))
        #expect(sum(graph) == 40 && graph.generation == 2)
    }

    private func tree(_ graph: PastGraph) -> Value? {
        for case .reply(_, _, let answer) in graph.apply([
            .call(ClientID(number: 1), id: .int(1), .describe(path: "/", depth: nil))
        ]) { return RecordedLife.described(answer) }
        return nil
    }

    /// - Parameter isTimed: with operators over time and states that expire.
    @Test(
        "each revision of a random life comes back as clients saw it, wherever one comes from",
        arguments: freshSeeds(1), [true, false])
    func seeks(seed: UInt64, isTimed: Bool) throws {
        var generator = SeededGenerator(seed: seed)
        let life = try RecordedLife(isTimed ? SeekTests.timed : SeekTests.plain, size: 1 << 18)
        for number in 0..<100 {
            step(life, &generator)
            if number % 3 == 0 { life.flush() }
        }
        life.flush()
        var limits = RuntimeLimits()
        limits.historyLength = 5
        let past = Past(folder: life.folder, access: AccessRules(), limits: limits)
        func begin(at revision: UInt64) throws -> PastGraph {
            try PastGraph(
                past, at: .revision(revision, epoch: nil),
                for: PastClient(ClientID(number: 1), Peer(pid: 1, uid: 1000, gid: 1000))
            ) { 0 }
        }
        let wanted = life.trees.sorted { $0.key < $1.key }.filter { $0.key > 0 && $0.key % 5 == seed % 5 }
        func check(_ graph: PastGraph, _ wanted: (key: UInt64, value: Value), _ how: String) -> Bool {
            #expect(graph.position.revision == wanted.key, "seed \(seed), \(how)")
            let differing = differences(wanted.value, tree(graph) ?? .null).filter { !$0.contains("scenePhase") }
            #expect(
                differing == [],
                "seed \(seed), revision \(wanted.key), \(how)\n\(differing.prefix(8).joined(separator: "\n"))")
            return differing.isEmpty
        }
        for wanted in wanted where wanted.key % 2 == 0 {
            if !check(try begin(at: wanted.key), wanted, "from the start") { return }
        }
        let graph = try begin(at: wanted.last?.key ?? 1)
        for wanted in wanted.shuffled(using: &generator) {
            let from = graph.position.revision
            try graph.seek(to: .revision(wanted.key, epoch: nil))
            if !check(graph, wanted, "from \(from)") { return }
        }
    }
}
