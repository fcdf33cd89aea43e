import AttributeValues
@testable import GraphRuntime
@testable import RuntimeHarness
import TestSupport
import Testing
import WireProtocol

@Suite("Completion events")
struct CompletionTests {
    private static let scene = """
        nodes:
          - { id: a, state: { x: 0.0, y: 0.0, label: "" } }
          - { id: b, state: { x: 0.0 } }
        """

    private struct Completion: Equatable {
        var transaction: UInt64
        var phase: String
        var paths: [String]
    }

    private func completions(_ graph: Harness) -> [Completion] {
        graph.events.compactMap { event in
            guard case .completion(_, let transaction, let phase, let paths) = event else { return nil }
            return Completion(transaction: transaction, phase: phase, paths: paths)
        }
    }

    @Test(
        "a transaction's animations complete logically and are removed, each once, under the names they were watched by"
    )
    func once() throws {
        let graph = try Harness(CompletionTests.scene)
        try graph.subscribe(["/a/**"], events: [.update, .completion])
        let changes: [(String, Value)] = [("/a.x", 1), ("/a.y", 2), ("/a.label", "moving"), ("/b.x", 3)]
        try graph.transact(changes.map { Mutation(operation: .set, path: $0, value: $1) }, animation: "bouncy")
        let revision = graph.runtime.revision
        #expect(completions(graph).isEmpty)
        var found: [Completion] = []
        for _ in 0..<20 {
            graph.advance(0.1)
            found += completions(graph)
        }
        #expect(
            found
                == ["logical", "removed"].map { Completion(transaction: revision, phase: $0, paths: ["/a.x", "/a.y"]) })
    }

    @Test("without an animation both completions come at once, after the update")
    func nothingAnimated() throws {
        let graph = try Harness(CompletionTests.scene)
        try graph.subscribe(["/a/**"], events: [.update, .completion])
        try graph.set("/a.label", "still", animation: "bouncy")
        let revision = graph.runtime.revision
        #expect(
            completions(graph)
                == ["logical", "removed"].map { Completion(transaction: revision, phase: $0, paths: []) })
        #expect(graph.methods.first == "update")
    }

    @Test("a subscription hears nothing of transactions that touch nothing it watches")
    func others() throws {
        let graph = try Harness(CompletionTests.scene)
        try graph.subscribe(["/a/**"], events: [.update, .completion])
        try graph.subscribe(["/b/**"], from: 2)
        try graph.set("/b.x", 1.0, animation: "bouncy")
        for _ in 0..<10 {
            #expect(completions(graph).isEmpty)
            graph.advance(0.2)
        }
        #expect(graph.runtime.presentations.moves.isEmpty)
    }

    @Test("a replaced animation is told of, its logical completion comes at its own time, and removed when all is gone")
    func replaced() throws {
        let graph = try Harness(CompletionTests.scene)
        try graph.subscribe(["/a/**"], events: [.update, .completion])
        try graph.transact(
            [Mutation(operation: .set, path: "/a.x", value: 1), Mutation(operation: .set, path: "/a.y", value: 2)],
            animation: "linear(duration: 1)")
        let first = graph.runtime.revision
        graph.advance(0.25)
        try graph.set("/a.x", 5.0, animation: "linear(duration: 2)")
        let second = graph.runtime.revision
        #expect(completions(graph) == [Completion(transaction: first, phase: "replaced", paths: ["/a.x"])])
        #expect(graph.methods.first == "update")
        graph.advance(0.5)
        #expect(completions(graph).isEmpty)
        graph.advance(0.25)
        #expect(
            completions(graph).map(\.phase) == ["logical", "removed"]
                && completions(graph).allSatisfy { $0.transaction == first })
        graph.advance(1.25)
        #expect(
            completions(graph).map(\.phase) == ["logical", "removed"]
                && completions(graph).allSatisfy { $0.transaction == second })
    }

    @Test("a jump replaces a motion; removed does not come before logical")
    func jumped() throws {
        let graph = try Harness(CompletionTests.scene)
        try graph.subscribe(["/a.x"], events: [.completion])
        try graph.set("/a.x", 1.0, animation: "linear(duration: 1)")
        let first = graph.runtime.revision
        graph.advance(0.5)
        try graph.set("/a.x", 0.0)
        let second = graph.runtime.revision
        #expect(
            completions(graph) == [
                Completion(transaction: first, phase: "replaced", paths: ["/a.x"]),
                Completion(transaction: second, phase: "logical", paths: []),
                Completion(transaction: second, phase: "removed", paths: []),
            ])
        graph.advance(0.5)
        #expect(
            completions(graph)
                == ["logical", "removed"].map { Completion(transaction: first, phase: $0, paths: ["/a.x"]) })
    }

    @Test("an endless animation completes when it is replaced, and stops with its node")
    func endless() throws {
        let graph = try Harness(CompletionTests.scene)
        try graph.subscribe(["/**"], events: [.update, .completion, .frames], frames: 10)
        try graph.set("/a.x", 1.0, animation: "linear(duration: 1).repeatForever")
        let first = graph.runtime.revision
        graph.advance(1000.25)
        #expect(completions(graph).isEmpty && graph.runtime.nextDeadline != nil)
        try graph.set("/a.x", 2.0, animation: "linear(duration: 1).repeatForever")
        let second = graph.runtime.revision
        #expect(
            completions(graph)
                == ["replaced", "logical", "removed"].map { Completion(transaction: first, phase: $0, paths: ["/a.x"]) }
        )
        try graph.succeed(.remove(path: "/a", TransactionOptions()))
        #expect(completions(graph).prefix(2).map(\.phase) == ["logical", "removed"])
        #expect(completions(graph).prefix(2).allSatisfy { $0.transaction == second && $0.paths == ["/a.x"] })
        for _ in 0..<3 { graph.advance(1) }
        #expect(graph.runtime.nextDeadline == nil && graph.runtime.presentations.running.isEmpty)
    }

    @Test("every transaction completes once each way, whatever replaces what")
    func property() throws {
        let seed = freshSeed()
        var random = SeededGenerator(seed: seed)
        let graph = try Harness(CompletionTests.scene)
        try graph.subscribe(["/**"], events: [.completion])
        let animations: [Value?] = [
            nil, "linear(duration: 1)", "bouncy", "smooth.delay(0.5)", "bouncy.repeatForever", "easeIn(duration: 0)",
        ]
        var logical: [UInt64: Int] = [:]
        var removed: [UInt64: Int] = [:]
        var began: Set<UInt64> = []
        func note() {
            for completion in completions(graph) {
                switch completion.phase {
                case "logical": logical[completion.transaction, default: 0] += 1
                case "removed":
                    removed[completion.transaction, default: 0] += 1
                    #expect(logical[completion.transaction] == 1, "seed \(seed): removed before logical")
                default: #expect(completion.phase == "replaced")
                }
            }
        }
        for _ in 0..<2000 {
            let path = ["/a.x", "/a.y", "/b.x"].randomElement(using: &random) ?? "/a.x"
            let before = graph.runtime.revision
            try graph.set(
                path, .double(Double(Int.random(in: 0..<100, using: &random))),
                animation: animations.randomElement(using: &random) ?? nil)
            if graph.runtime.revision > before { began.insert(graph.runtime.revision) }
            note()
            graph.advance(Double.random(in: 0...0.4, using: &random))
            note()
        }
        for path in ["/a.x", "/a.y", "/b.x"] {
            try graph.set(path, -1)
            began.insert(graph.runtime.revision)
            note()
        }
        graph.advance(1000)
        note()
        for transaction in began {
            #expect(logical[transaction] == 1 && removed[transaction] == 1, "seed \(seed), transaction \(transaction)")
        }
        #expect(Set(logical.keys) == began && graph.runtime.presentations.moves.isEmpty)
    }
}
