import AttributeValues
import GraphRuntime
import TestSupport
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("Explanations, and what else can be asked for")
struct ExplainTests {
    @Test("explain names the client, the label and the chain from the write") func explain() throws {
        let graph = try Harness(
            "nodes:\n  - { id: n, state: { a: 1 }, computed: { b: a + 1, even: b % 2 == 0, t: 'even ? 1 : 0' } }")
        try graph.subscribe(["/n.t"])
        try graph.succeed(
            .set(Mutation(operation: .set, path: "/n.a", value: 2), TransactionOptions(label: "why")), from: 2)
        let map = try graph.explained("/n.t")
        #expect(map["changed"]?.map?["label"] == "why" && map["changed"]?.map?["client"]?.map?["pid"] == 2)
        #expect(map["chain"]?.list?.last == "/n.a")
        try graph.set("/n.a", 4)
        let at = try graph.explained("/n.t", at: graph.runtime.revision)["at"]?.map
        #expect(at?["changed"] == false && at?["cutOff"] == "/n.even")
    }

    @Test("a key that a map does not have is answered with the nearest one, or with those that it has") func keys()
        throws
    {
        let graph = try Harness("nodes: [{ id: a, state: { m: { left: { width: 1 }, right: 2 } } }]")
        #expect(try graph.get("/a.m.left.widht").failure?.hint == "did you mean 'width'?")
        #expect(try graph.get("/a.m.depth").failure?.hint == "it has left, right")
        #expect(try graph.get("/a.m.right.x").failure?.hint == nil)
    }

    private func set(_ graph: Harness, _ path: String, _ value: Value, label: String) throws {
        try graph.succeed(.set(Mutation(operation: .set, path: path, value: value), TransactionOptions(label: label)))
    }

    @Test("explain names the transaction that wrote, however late the value was asked for") func explainLate() throws {
        let graph = try Harness(
            "nodes: [{ id: a, state: { i: 1, b: true, m: { x: 1, y: 1 } }, computed: { dbl: i * 2, sum: m.x + 1 } }]")
        #expect(try graph.value("/a.dbl") == 2 && graph.value("/a.sum") == 2)
        try set(graph, "/a.i", 5, label: "cause")
        try set(graph, "/a.m.x", 4, label: "inside")
        try set(graph, "/a.b", false, label: "unrelated")
        try set(graph, "/a.m.y", 7, label: "beside")
        #expect(try graph.value("/a.dbl") == 10 && graph.value("/a.sum") == 5)
        let found = try graph.explained("/a.dbl")
        #expect(found["changed"]?.map?["label"] == "cause" && found["chain"] == ["/a.dbl", "/a.i"])
        let inside = try graph.explained("/a.sum")
        #expect(inside["changed"]?.map?["label"] == "inside" && inside["chain"] == ["/a.sum", "/a.m.x", "/a.m"])
    }

    @Test("explain says of a revision whether it changed there, that it is not known, or that there has been none such")
    func explainRevision() throws {
        let graph = try Harness(
            "nodes: [{ id: a, state: { x: 1, y: 1, m: { k: 1 } }, computed: { big: x > 100, more: x + 1 } }]")
        try graph.subscribe(["/a.*"])
        func at(_ path: String, _ revision: UInt64) throws -> ValueMap {
            try #require(try graph.explained(path, at: revision)["at"]?.map)
        }
        try graph.set("/a.x", 5)
        let first = graph.runtime.revision
        try graph.set("/a.x", 6)
        try graph.set("/a.m", ["k": 2])
        let last = graph.runtime.revision
        try graph.set("/a.m", ["k": 3])
        #expect(try at("/a.x", first)["changed"] == true && at("/a.x", first + 1)["changed"] == true)
        #expect(
            try at("/a.x", last)["changed"] == false && at("/a.y", first)["changed"] == false
                && at("/a.big", first)["changed"] == false)
        for (path, revision) in [("/a.more", first), ("/a.m.k", last)] {
            let unknown = try at(path, revision)
            #expect(unknown["changed"] == .null, "\(path)")
            #expect(
                unknown["reason"]
                    == "it has changed again since then, so the history no longer tells about this revision")
        }
        let coming = try at("/a.x", 99_999)
        #expect(coming["changed"] == .null)
        #expect(coming["reason"]?.string == "there has been no such revision yet; the present one is \(last + 1)")
    }

    @Test("explain tells an error as describe does, with its code and its message on one line")
    func explainedError() throws {
        let graph = try Harness("nodes: [{ id: a, state: { n: 0 }, computed: { bad: 1 / n } }]")
        #expect(try graph.explained("/a.bad")["error"] == ["code": "ruleFailed", "message": "division by zero"])
    }

    @Test("explain of a place that nobody reads makes no vertex, and a place is forgotten with its last watcher")
    func placesForgotten() throws {
        let graph = try Harness("nodes: [{ id: a, state: { m: { x: 1 } }, computed: { all: m } }]")
        _ = try graph.value("/a.all")
        let before = graph.runtime.graph.counters.liveAttributes
        for number in 0..<200 {
            #expect(try graph.explained("/a.m.k\(number)")["error"] != nil)
            #expect(try graph.explained("/a.all.k\(number)")["error"] != nil)
        }
        #expect(try graph.explained("/a.m.x")["chain"] == ["/a.m.x", "/a.m"])
        #expect(graph.runtime.graph.counters.liveAttributes == before)
        for number in 0..<200 { try graph.subscribe(["/a.m.k\(number)", "/a.all.k\(number)", "/a.m.x"]) }
        try graph.set("/a.m.k7", 3)
        #expect(graph.changes == ["/a.m.k7": .value(3), "/a.all.k7": .value(3)])
        graph.turn([.disconnected(ClientID(number: 1))])
        #expect(graph.runtime.graph.counters.liveAttributes == before)
    }

    @Test("describe shows a place in a value, and dump takes nodes only") func describePlace() throws {
        let graph = try Harness(
            "nodes: [{ id: a, state: { l: [1, two], n: 1 }, children: [{ id: b, kind: view, binding: { l: $l } }] }]")
        let first = try graph.described("/a.l[0]")
        #expect(first["value"] == 1 && first["type"] == "int" && first["kind"] == "state")
        let second = try graph.described("/a/b.l[1]")
        #expect(second["value"] == "two" && second["target"] == "/a.l[1]")
        let missing = try graph.described("/a.l[77]")
        #expect(missing["value"] == nil && missing["error"]?.map?["code"] == "notFound")
        for path in ["/a.n", "/a.nonsense"] {
            #expect(refusal { try graph.succeed(.dump(path: path, format: .scene)) }?.code == .invalid)
        }
    }

    @Test("get takes patterns, each path once, and watches nothing") func getPatterns() throws {
        var limits = RuntimeLimits()
        limits.watchedAttributes = 4
        let graph = try Harness(
            "nodes: [{ id: p, state: { m: { x: 1 }, n: 2 }, children: [{ id: q, kind: view, state: { n: 3 } }] }]",
            limits: limits)
        let before = graph.runtime.revision
        let several = try graph.contents(["/p.*", "/**.n", "/p.n"])
        #expect(several == ["/p.m": .value(["x": 1]), "/p.n": .value(2), "/p/q.n": .value(3)])
        let inside = try graph.contents(["/*.m.x", "/nobody.*"])
        #expect(inside == ["/p.m.x": .value(1)])
        #expect(try graph.contents(["/p*"])["/p*"]?.failure?.code == .invalid)
        #expect(refusal { try graph.contents(["/**"]) }?.code == .limit)
        #expect(graph.runtime.revision == before && graph.runtime.watching.topics.watches.isEmpty)
    }

    @Test("an explanation says when the value was changed last, on the wall clock of that turn") func changeTimes()
        throws
    {
        let graph = try Harness("nodes: [{ id: a, state: { x: 1, z: 0 }, computed: { y: x + 1 } }]")
        graph.advance(5)
        try graph.set("/a.x", 2)
        let changed = graph.now.wall
        graph.advance(7)
        try graph.set("/a.z", 1)
        for path in ["/a.x", "/a.y"] {
            #expect(try graph.explained(path)["changed"]?.map?["time"] == .timestamp(changed), "\(path)")
        }
    }
}
