import AttributeValues
import TestSupport
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness
@testable import ViewGraph

@Suite("Large subtrees leave at once and are freed in slices")
struct UnlinkedTests {
    private static let scene = """
        nodes:
          - id: top
            kind: container
            state: { x: 1, items: [{ id: a, n: 1 }, { id: b, n: 2 }] }
            computed: { n: subviews.size() }
            children:
              - id: big
                kind: container
                state: { v: 1 }
                children:
                  - { id: in, let: { x: $x }, computed: { y: x + 1 } }
                  - { id: rows, forEach: { in: $items, as: item, node: { kind: container, computed: { m: item.n }, children: [{ id: k, let: { x: $x } }] } } }
              - { id: other, let: { x: $x }, computed: { z: x * 2 } }
        """

    /// The same with all freed at once, and in slices of a step.
    private func harnesses(_ scene: String = UnlinkedTests.scene) throws -> [Harness] {
        try [2000, 0].map { room in
            var limits = RuntimeLimits()
            limits.graph.freedAtOnce = room
            if room == 0 { limits.sliceSteps = 1 }
            return try Harness(scene, limits: limits, clients: 3)
        }
    }

    private func removals(_ graph: Harness) -> [String] {
        graph.deliveries.flatMap { delivery -> [String] in
            switch delivery {
            case .event(_, .structure(_, let added, let removed, let moved, _)):
                return [
                    "added \(added) removed \(removed.sorted()) moved \(moved)"
                ]
            case .event(_, .update(_, _, _, _, _, let changes, _)):
                return changes.map { "\($0.path) \($0.content.failure?.code.rawValue ?? "\($0.content)")" }.sorted()
            case .event(_, .invalidate(_, let paths)): return ["invalidated \(paths.sorted())"]
            default: return []
            }
        }
    }

    @Test("nodes that leave with a branch are told as removed, and their parent stays") func branch() throws {
        let scene = """
            nodes:
              - id: top
                kind: container
                state: { on: true, x: 1 }
                children:
                  - { id: first }
                  - { if: on, then: [{ id: big, state: { v: 1 }, children: [{ id: in, let: { x: $x } }] }, { id: small }] }
            """
        var told: [[String]] = []
        for graph in try harnesses(scene) {
            try graph.subscribe(["/top/**"], events: [.update], initial: true, from: 1)
            try graph.subscribe(["/**"], events: [.structure], from: 2)
            try graph.set("/top.on", false)
            told.append(removals(graph))
            #expect(try graph.value("/top.x") == 1)
            #expect(refusal { try graph.value("/top/big.v") }?.code == .notFound)
            try graph.set("/top.on", true)
            #expect(try graph.value("/top/big/in.x") == 1)
        }
        #expect(told[0] == told[1])
        #expect(told[0].contains { $0.contains("removed [\"/top/big\", \"/top/big.v\", \"/top/big/in\", ") })
    }

    @Test("watchers are told of a large subtree as of a small one, in the change that removes it") func told() throws {
        var told: [[String]] = []
        for graph in try harnesses() {
            try graph.subscribe(["/top/**"], events: [.update], initial: true, from: 1)
            try graph.subscribe(["/**"], events: [.structure], from: 2)
            try graph.subscribe(["/top/big/**"], events: [.invalidate], from: 3)
            try graph.succeed(.remove(path: "/top/big", .init()))
            told.append(removals(graph))
            #expect(try graph.value("/top.n") == 1)
            #expect(refusal { try graph.value("/top/big.v") }?.code == .notFound)
        }
        #expect(told[0] == told[1] && told[0].contains { $0.contains("removed [\"/top/big\"") })
        #expect(told[0].contains("/top/big/rows/a/k.x removed"))
    }

    @Test("an unlinked list no longer follows its data, and nobody hears of what is in it") func silent() throws {
        let graph = try harnesses()[1]
        try graph.subscribe(["/**"], events: [.update, .structure], from: 1)
        try graph.succeed(.remove(path: "/top/big", .init()))
        let nodes = graph.runtime.graph.liveNodes
        try graph.set("/top.items", [["id": "c", "n": 3], ["id": "d", "n": 4], ["id": "e", "n": 5]])
        #expect(graph.runtime.graph.hasUnlinked && graph.runtime.graph.liveNodes <= nodes)
        #expect(removals(graph).filter { !$0.hasPrefix("/top.items") } == [])
        try graph.set("/top.x", 5)
        #expect(removals(graph) == ["/top.x value(5)", "/top/other.x value(5)", "/top/other.z value(10)"])
    }

    @Test("all of an unlinked subtree is freed, and counts towards the limits until then") func freed() throws {
        var limits = RuntimeLimits()
        limits.graph.freedAtOnce = 0
        let graph = try Harness(UnlinkedTests.scene, limits: limits)
        let before = (graph.runtime.graph.liveNodes, graph.runtime.graph.liveAttributes)
        let vertices = graph.runtime.graph.counters.liveAttributes
        _ = try graph.apply(
            "nodes: [{ id: big, kind: container, state: { v: 1 }, children: [{ id: in, state: { v: 2 } }] }]")
        graph.settle()
        try graph.succeed(.remove(path: "/big", .init()))
        #expect(graph.runtime.graph.liveNodes == before.0 + 2 && graph.runtime.nextDeadline == graph.now.monotonic)
        graph.settle()
        #expect(graph.runtime.graph.liveNodes == before.0 && graph.runtime.graph.liveAttributes == before.1)
        #expect(graph.runtime.graph.counters.liveAttributes == vertices)
        #expect(graph.runtime.graph.engine.checkInvariants() == [])
    }

    @Test("a document finds the room of what was removed before it") func room() throws {
        var limits = RuntimeLimits()
        limits.graph.freedAtOnce = 0
        limits.graph.nodes = 12
        limits.sliceSteps = 60
        let graph = try Harness("nodes: []", limits: limits, clients: 2)
        let document =
            "nodes: [{ id: a, kind: container, children: [\((0..<9).map { "{ id: c\($0) }" }.joined(separator: ", "))] }]"
        for _ in 0..<5 {
            var waiting: [Command] = [
                .call(
                    ClientID(number: 1), id: .int(1),
                    .apply(
                        .init(
                            document: .string("agd: 1\n" + document), at: "/", mode: .create, dryRun: false,
                            options: .init()))),
                .call(ClientID(number: 1), id: .int(2), .remove(path: "/a", .init())),
            ]
            while !waiting.isEmpty {
                let outcome = graph.runtime.apply(waiting, at: graph.now)
                waiting = outcome.postponed
                for case .reply(_, _, .fault(let fault)) in outcome.deliveries { Issue.record("\(fault)") }
            }
        }
        graph.settle()
        #expect(graph.runtime.graph.liveNodes == 1)
    }

    @Test("a client that resumes from before a large removal gets a snapshot") func resumed() throws {
        let graph = try harnesses()[1]
        let revision = graph.runtime.revision
        try graph.succeed(.remove(path: "/top/big", .init()))
        let request = Request.Subscribe(patterns: ["/**"], since: .init(epoch: "test", revision: revision))
        #expect(try graph.map(.subscribe(request), from: 2)["resumed"] == false)
    }
}
