@testable import Archive
import AttributeValues
import Foundation
import GraphRuntime
import SceneTesting
import TestSupport
import Testing
import ViewGraph
import WireProtocol
@testable import agd_past

@Suite("The graph of a moment")
struct SeekTests {
    private static let scene = """
        components:
          Sensor:
            kind: container
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
                life.past, at: .revision(revision, epoch: nil), for: client, Peer(pid: 1, uid: 1000, gid: 1000)
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

    @Test("each revision of a random life comes back as clients saw it", arguments: freshSeeds(2))
    func seeks(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let life = try RecordedLife(SeekTests.scene, size: 1 << 18)
        for number in 0..<150 {
            step(life, &generator)
            if number % 3 == 0 { life.flush() }
        }
        life.flush()
        let client = ClientID(number: 1)
        let peer = Peer(pid: 1, uid: 1000, gid: 1000)
        for (revision, wanted) in life.trees.sorted(by: { $0.key < $1.key })
        where revision > 0 && revision % 5 == seed % 5 {
            let graph = try PastGraph(life.past, at: .revision(revision, epoch: nil), for: client, peer) { 0 }
            #expect(graph.position.revision == revision, "seed \(seed)")
            let deliveries = graph.apply([.call(client, id: .int(1), .describe(path: "/", depth: nil))])
            var found: Value?
            for case .reply(_, _, let answer) in deliveries { found = RecordedLife.described(answer) }
            let differing = differences(wanted, found ?? .null).filter { !$0.contains("scenePhase") }
            #expect(
                differing == [], "seed \(seed), revision \(revision)\n\(differing.prefix(8).joined(separator: "\n"))")
            if !differing.isEmpty { return }
        }
    }
}
