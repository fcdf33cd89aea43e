import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("Motion")
struct MotionTests {
    static let gauge = """
        nodes:
          - id: g
            state: { v: 0.0, label: x }
            children:
              - { id: bound, kind: view, binding: { b: { to: $v, animation: "linear(duration: 2)" } } }
              - { id: own, kind: container, animation: { curve: "easeIn(duration: 4)", value: =shown }, binding: { shown: $v } }
              - { id: still, kind: view, environment: { reduceMotion: true }, binding: { shown: $v } }
        """

    @Test("an animated change comes with a timeline, and what is displayed moves along it") func moves() throws {
        let graph = try Harness(MotionTests.gauge)
        try graph.subscribe(["/g.v"], initial: true)
        try graph.set("/g.v", 10, animation: "linear(duration: 1)")
        let found = try #require(graph.timeline("/g.v"))
        #expect(found["from"]?.number == 0 && found["to"]?.number == 10)
        #expect(try graph.value("/g.v") == 10.0)
        graph.advance(0.5)
        #expect(try graph.value("/g.v", presentation: true).number.map { abs($0 - 5) < 1e-9 } == true)
        graph.advance(0.6)
        #expect(try graph.value("/g.v", presentation: true) == 10.0)
    }

    @Test("a change on the way continues from what is displayed, value and velocity") func retargets() throws {
        let graph = try Harness(MotionTests.gauge)
        try graph.subscribe(["/g.v"], initial: true)
        try graph.set("/g.v", 10, animation: "linear(duration: 1)")
        graph.advance(0.5)
        try graph.set("/g.v", 0, animation: "smooth")
        let found = try #require(graph.timeline("/g.v"))
        #expect(found["from"]?.number.map { abs($0 - 5) < 1e-9 } == true)
        #expect(found["velocity"]?.number.map { abs($0 - 10) < 1e-9 } == true)
        #expect(found["replaces"]?.number == 1)
    }

    @Test("disablesAnimations, then the node's modifier, then the binding, then the transaction decides")
    func precedence() throws {
        let graph = try Harness(MotionTests.gauge)
        try graph.subscribe(["/g.v", "/g/own.shown", "/g/still.shown"], initial: true)
        try graph.set("/g.v", 1, animation: "linear(duration: 1)")
        #expect(graph.timeline("/g.v")?["settle"]?.number == 1)
        #expect(graph.timeline("/g/own.shown")?["settle"]?.number == 4)
        #expect(graph.timeline("/g/still.shown") == nil)
        graph.advance(10)
        try graph.set("/g/bound.b", 2)
        #expect(graph.timeline("/g.v")?["settle"]?.number == 2)
        graph.advance(10)
        try graph.succeed(
            .set(
                Mutation(operation: .set, path: "/g/bound.b", value: 3),
                TransactionOptions(animation: "bouncy", disablesAnimations: true)))
        #expect(graph.timeline("/g.v") == nil && graph.timeline("/g/own.shown") == nil)
    }

    @Test("nobody looks, nothing moves") func unobserved() throws {
        let graph = try Harness(MotionTests.gauge)
        try graph.set("/g.v", 10, animation: "linear(duration: 1)")
        graph.advance(0.5)
        #expect(try graph.value("/g.v", presentation: true) == 10.0)
        #expect(graph.runtime.nextDeadline == nil)
    }

    @Test("an animation that cannot be read is refused, and nothing is written") func badAnimation() throws {
        let graph = try Harness(MotionTests.gauge)
        let failure = #expect(throws: Failure.self) { try graph.set("/g.v", 1, animation: "bouncee") }
        #expect(failure?.code == .invalid)
        #expect(try graph.value("/g.v") == 0.0)
    }

    @Test("the status counts attributes and subscriptions as people do") func status() throws {
        let graph = try Harness("nodes: [{ id: a, state: { x: 1 } }]")
        let attributes = graph.runtime.graph.namedAttributes
        #expect(graph.runtime.status == "\(attributes) attributes, 0 subscriptions, revision \(graph.runtime.revision)")
        try graph.subscribe(["/a.x"])
        #expect(graph.runtime.status.contains(" 1 subscription, "))
        try graph.subscribe(["/a.x"])
        #expect(graph.runtime.status.contains(" 2 subscriptions, "))
    }

    @Test("a read asks for the next invalidation also of what was told to somebody else and never read")
    func readOfOthersNews() throws {
        let graph = try Harness("nodes: [{ id: a, state: { o: { x: 0 } } }]", clients: 2)
        try graph.subscribe(["/a.o.x"], events: .invalidate)
        try graph.set("/a.o.x", 1)
        #expect(graph.invalidated == ["/a.o.x"])
        try graph.subscribe(["/a.o.x"], events: .invalidate, from: 2)
        _ = try graph.get("/a.o.x", from: 2)
        try graph.set("/a.o.x", 2)
        #expect(graph.invalidated == ["/a.o.x"])
    }
}
