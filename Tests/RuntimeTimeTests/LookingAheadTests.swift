import AttributeValues
import TestSupport
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// Transactions that test a value which follows from what they have written.
@Suite("Transactions that look ahead")
struct LookingAheadTests {
    static let scene = """
        nodes:
          - id: a
            state: { x: 1, z: 0, v: 0.0, m: { p: 1, q: 2 }, l: [] }
            computed: { y: x + 1, w: x + z, p: m.p * 10, far: y + p, moved: v * 2.0, big: x > 100 }
            children:
              - { id: fe, forEach: { in: $l, id: self, node: { kind: view, state: { o: 0 } } } }
              - { id: b, kind: view, binding: { m: $m } }
        """

    private func set(_ path: String, _ value: Value) -> Mutation { Mutation(operation: .set, path: path, value: value) }
    private func test(_ path: String, _ value: Value) -> Mutation {
        Mutation(operation: .test, path: path, value: value)
    }

    /// What the last turn's updates said, in order.
    private func told(_ graph: Harness) -> [String] { graph.told.map(\.path) }

    private func explanation(_ graph: Harness, _ path: String) throws -> Value? { try graph.explained(path)["changed"] }

    @Test("an accepted transaction has a revision, an update, and a row for the store")
    func accepted() throws {
        let graph = try Harness(LookingAheadTests.scene)
        try graph.subscribe(["/a/**"], initial: true)
        try graph.subscribe(["/a.x", "/a.y"], events: .invalidate, from: 2)
        let before = graph.runtime.revision
        let request = Request.transact([set("/a.x", 5), test("/a.y", 6)], TransactionOptions(label: "cas"))
        let outcome = graph.runtime.apply([.call(ClientID(number: 1), id: .int(0), request)], at: graph.now)
        #expect(graph.runtime.revision == before + 1)
        var updates: [[String]] = []
        var invalidated: [String] = []
        for case .event(_, let event) in outcome.deliveries {
            if case .update(before + 1, _, "cas", _, _, let changes, _) = event { updates.append(changes.map(\.path)) }
            if case .invalidate(_, let paths) = event { invalidated += paths }
        }
        #expect(updates.count == 1 && updates.first?.sorted() == ["/a.far", "/a.w", "/a.x", "/a.y"])
        #expect(invalidated.sorted() == ["/a.x", "/a.y"])
        #expect(outcome.changes.map(\.revision) == [before + 1])
        #expect(outcome.changes.map(\.change) == [StoreChange(key: "/a", name: "x", value: 5)])
        #expect(try explanation(graph, "/a.x")?.map?["label"] == "cas")
    }

    @Test("writes before a test and after it are committed together") func whole() throws {
        let graph = try Harness(LookingAheadTests.scene)
        try graph.subscribe(["/a.x", "/a.y", "/a.z"], initial: true)
        let request = Request.transact(
            [set("/a.x", 7), test("/a.y", 8), set("/a.z", 1), set("/a.x", 8)], TransactionOptions())
        let outcome = graph.runtime.apply([.call(ClientID(number: 1), id: .int(0), request)], at: graph.now)
        let kept = outcome.changes.map { "\($0.change.key).\($0.change.name ?? "") \($0.change.value ?? .null)" }
        #expect(kept == ["/a.x 8", "/a.z 1"])
        #expect(try graph.value("/a.y") == 9)
    }

    @Test("instances that it makes are told") func instances() throws {
        let graph = try Harness(LookingAheadTests.scene)
        try graph.subscribe(["/a/fe/**"], initial: true)
        try graph.subscribe(["/a/fe/*"], events: .structure, from: 2)
        try graph.transact([set("/a.l", ["p"]), test("/a/fe.elements", []), test("/a.y", 2)])
        #expect(graph.changes["/a/fe/p.o"] == .value(0))
        #expect(graph.structures.contains { $0.added.contains("/a/fe/p") })
    }

    @Test("a refused transaction leaves no news, no reason, and no rule with a value of it")
    func refused() throws {
        let graph = try Harness(LookingAheadTests.scene)
        try graph.subscribe(["/a/**"], initial: true)
        try graph.subscribe(["/a.x", "/a.w"], events: .invalidate, from: 2)
        _ = try graph.get("/a.w", from: 2)
        try graph.set("/a.x", 3)
        for path in ["/a.x", "/a.w"] { _ = try graph.get(path, from: 2) }
        let reason = try explanation(graph, "/a.x")
        #expect(
            refusal { try graph.transact([set("/a.x", 5), set("/a.m.p", 9), test("/a.y", 6), test("/a.far", 999)]) }?
                .code == .conflict)
        #expect(graph.events.isEmpty)
        #expect(try explanation(graph, "/a.x") == reason && reason?.map?["revision"] != nil)
        #expect(try graph.value("/a.far") == 14)
        try graph.set("/a.z", 1)
        #expect(told(graph) == ["/a.z", "/a.w"] && graph.invalidated == ["/a.w"])
        _ = graph.runs()
        try graph.set("/a.x", 9)
        #expect(told(graph).sorted() == ["/a.far", "/a.w", "/a.x", "/a.y"])
        #expect(graph.invalidated == ["/a.x"], "the other has not been read since")
        #expect(graph.runs().sorted() == ["/a.big", "/a.far", "/a.w", "/a.y"])
    }

    @Test("a rule that runs for the first time in a refused one does not keep what it saw") func firstRun() throws {
        let graph = try Harness(LookingAheadTests.scene)
        #expect(
            refusal { try graph.transact([set("/a.x", 5), set("/a.m.p", 7), test("/a.far", 0)]) }?.code == .conflict)
        #expect(try graph.value("/a.y") == 2 && graph.value("/a.far") == 12 && graph.value("/a/b.m.p") == 1)
    }

    @Test("a write that is undone in its transaction is no change: no revision, no event, no timeline") func setBack()
        throws
    {
        let graph = try Harness(LookingAheadTests.scene)
        try graph.subscribe(["/a/**"], initial: true)
        let before = graph.runtime.revision
        try graph.transact([set("/a.x", 5), test("/a.y", 6), set("/a.x", 1)], animation: "linear(duration: 1)")
        #expect(graph.runtime.revision == before && graph.events.isEmpty && graph.runtime.presentations.running.isEmpty)
        try graph.transact([set("/a.x", 5), test("/a.y", 6), set("/a.x", 1), set("/a.z", 3)])
        #expect(graph.runtime.revision == before + 1)
        #expect(told(graph).sorted() == ["/a.w", "/a.z"])
    }

    @Test("an animated change that is tested has one timeline, which replaces nothing") func animated() throws {
        let graph = try Harness(LookingAheadTests.scene)
        try graph.subscribe(["/a.v", "/a.moved"], events: [.update, .completion], initial: true)
        try graph.transact(
            [set("/a.v", 5.0), test("/a.moved", 10.0), set("/a.v", 6.0), test("/a.moved", 12.0), set("/a.v", 8.0)],
            animation: "linear(duration: 1)")
        #expect(told(graph).sorted() == ["/a.moved", "/a.v"])
        #expect(graph.events.count == 1, "nothing is complete, nothing replaced")
        #expect(graph.runtime.presentations.running.count == 2)
        graph.advance(1)
        let ends = graph.events.compactMap {
            if case .completion(_, _, let phase, let paths) = $0 { "\(phase) \(paths.sorted())" } else { nil }
        }
        #expect(ends == ["logical", "removed"].map { "\($0) [\"/a.moved\", \"/a.v\"]" })
    }

    /// Two graphs, one of which is asked to test on the way.
    @Test("tests on the way change nothing of what is told, by whatever transactions") func property() throws {
        let seed = freshSeed()
        var random = SeededGenerator(seed: seed)
        let looking = try Harness(LookingAheadTests.scene)
        let plain = try Harness(LookingAheadTests.scene)
        for graph in [looking, plain] { try graph.subscribe(["/**"], initial: true) }
        func number() -> Int64 { Int64.random(in: 0..<4, using: &random) }
        var refused = 0
        for round in 0..<1500 {
            var all: [Mutation] = []
            var writes: [Mutation] = []
            for _ in 0..<Int.random(in: 1...5, using: &random) {
                let mutation: Mutation =
                    switch Int.random(in: 0..<6, using: &random) {
                    case 0: set("/a.x", .int(number()))
                    case 1: set("/a.z", .int(number()))
                    case 2: set("/a/b.m.p", .int(number()))
                    case 3: set("/a.l", .list((0..<number()).map { .string("i\($0)") }))
                    case 4: set("/a.m", ["p": .int(number()), "q": .int(number())])
                    default: set("/a.v", .double(Double(number())))
                    }
                all.append(mutation)
                writes.append(mutation)
                guard Bool.random(using: &random) else { continue }
                // Half of the tests on a value that is no number of any rule's: refused.
                let isRefused = Int.random(in: 0..<6, using: &random) == 0
                all.append(
                    isRefused
                        ? test(["/a.far", "/a.w", "/a.moved"].randomElement(using: &random) ?? "/a.w", -1)
                        : test("/a.big", false))
            }
            let animation: Value? = Bool.random(using: &random) ? "linear(duration: 1)" : nil
            let result = try looking.call(.transact(all, TransactionOptions(animation: animation)))
            if case .fault = result {
                refused += 1
                #expect(looking.events.isEmpty, "seed \(seed), round \(round)")
            } else {
                try plain.succeed(.transact(writes, TransactionOptions(animation: animation)))
                #expect(looking.changes == plain.changes, "seed \(seed), round \(round)")
                #expect(told(looking).sorted() == told(plain).sorted(), "seed \(seed), round \(round)")
            }
            #expect(looking.runtime.revision == plain.runtime.revision, "seed \(seed), round \(round)")
            for path in ["/a.x", "/a.m"] {
                let reasons = try (explanation(looking, path), explanation(plain, path))
                #expect(
                    reasons.0?.map?["revision"] == reasons.1?.map?["revision"], "seed \(seed), round \(round), \(path)")
            }
        }
        #expect(refused > 10)
    }
}
