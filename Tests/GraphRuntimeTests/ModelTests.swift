import AttributeValues
import GraphRuntime
import TestSupport
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime

@Suite("The model")
struct ModelTests {
    @Test("a binding of a binding writes the one state, and each level reads it") func bindings() throws {
        let graph = try Harness(
            """
            nodes:
              - id: top
                state: { episode: { title: T, isFavorite: false } }
                children:
                  - id: middle
                    binding: { favorite: $episode.isFavorite }
                    children:
                      - { id: toggle, kind: view, binding: { isOn: $favorite }, computed: { text: 'isOn ? "on" : "off"' } }
            """)
        try graph.subscribe(["/top/middle/toggle.text"])
        try graph.succeed(.transact([Mutation(operation: .toggle, path: "/top/middle/toggle.isOn")], .init()))
        #expect(graph.changes == ["/top/middle/toggle.text": .value("on")])
        #expect(try graph.value("/top.episode.isFavorite") == true)
        #expect(try graph.value("/top.episode.title") == "T")
    }

    @Test("a let follows its parent, and a write to it names its source") func lets() throws {
        let graph = try Harness(
            """
            nodes:
              - id: p
                state: { n: 1 }
                children:
                  - { id: c, kind: view, let: { doubled: =n * 2, same: $n }, computed: { text: string(doubled) } }
            """)
        #expect(try graph.value("/p/c.text") == "2")
        try graph.set("/p.n", 4)
        #expect(try graph.value("/p/c.text") == "8")
        let failure = #expect(throws: Failure.self) { try graph.set("/p/c.same", 3) }
        #expect(failure?.code == .readOnly && failure?.hint?.contains("/p.n") == true)
        #expect(refusal { try graph.set("/p/c.text", "x") }?.code == .readOnly)
    }

    @Test("a constant binding reads as its value and refuses writes") func constantBinding() throws {
        let graph = try Harness("nodes:\n  - { id: c, kind: view, binding: { isOn: true } }")
        #expect(try graph.value("/c.isOn") == true)
        #expect(refusal { try graph.set("/c.isOn", false) }?.code == .readOnly)
    }

    @Test("an int widens to a double, and any other type is refused with both named") func types() throws {
        let graph = try Harness("nodes:\n  - { id: t, state: { d: 1.5, s: x } }")
        try graph.set("/t.d", 2)
        #expect(try graph.value("/t.d") == 2.0)
        let failure = refusal { try graph.set("/t.s", 2) }
        #expect(failure?.message.contains("string") == true && failure?.message.contains("int") == true)
    }

    @Test("only readers below the changed override run") func environment() throws {
        let graph = try Harness(
            """
            keys: { environment: { warn: { default: 70 } } }
            nodes:
              - id: top
                state: { limit: 80 }
                children:
                  - { id: a, kind: view, computed: { w: env.warn } }
                  - id: b
                    environment: { warn: =limit }
                    children:
                      - { id: c, kind: view, computed: { w: env.warn + 1 } }
                      - { id: d, transformEnvironment: { warn: value * 2 }, children: [{ id: e, computed: { w: env.warn } }] }
            """)
        try graph.subscribe(["/**.w"])
        #expect(try graph.value("/top/a.w") == 70)
        #expect(try graph.value("/top/b/c.w") == 81)
        #expect(try graph.value("/top/b/d/e.w") == 160)
        _ = graph.runs()
        try graph.set("/top.limit", 90)
        #expect(!graph.runs().contains("/top/a.w"))
        #expect(graph.changes == ["/top/b/c.w": .value(91), "/top/b/d/e.w": .value(180)])
    }

    @Test("a grouped key is overridden field by field") func groupedEnvironment() throws {
        let graph = try Harness(
            """
            keys: { environment: { pin: { default: { rotation: 0, x: 3 } } } }
            nodes:
              - id: n
                environment: { pin.rotation: 10 }
                children: [{ id: v, computed: { r: env.pin.rotation, x: env.pin.x } }]
            """)
        #expect(try graph.value("/n/v.r") == 10)
        #expect(try graph.value("/n/v.x") == 3)
    }

    @Test("container values are read by the closest container, pass groups and stop at containers")
    func containerValues() throws {
        let graph = try Harness(
            """
            keys: { container: { mark: { default: 0 }, pin: { default: { a: 1, b: 2 } } } }
            nodes:
              - id: box
                state: { m: 1 }
                computed:
                  marks: subviews.map(s, s.containerValues.mark)
                  ids: subviews.map(s, s.id)
                  b: subviews[0].containerValues.pin
                children:
                  - { id: one, kind: view, containerValues: { mark: =m, pin.b: 5 } }
                  - id: wrapper
                    kind: group
                    containerValues: { mark: 7 }
                    children:
                      - { id: two, kind: view }
                      - { id: three, kind: view, containerValues: { mark: 8 } }
                  - id: inner
                    children:
                      - { id: hidden, kind: view, containerValues: { mark: 9 } }
            """)
        #expect(try graph.value("/box.ids") == ["one", "wrapper/two", "wrapper/three", "inner"])
        #expect(try graph.value("/box.marks") == [1, 7, 8, 0])
        #expect(try graph.value("/box.b") == ["a": 1, "b": 5])
        try graph.set("/box.m", 4)
        #expect(try graph.value("/box.marks") == [4, 7, 8, 0])
        try graph.succeed(.remove(path: "/box/wrapper/two", .init()))
        #expect(try graph.value("/box.ids") == ["one", "wrapper/three", "inner"])
    }

    @Test("marking another section featured moves it to the top") func sections() throws {
        let graph = try Harness(
            """
            keys: { container: { isFeatured: { default: false } } }
            nodes:
              - id: magazine
                kind: container
                state: { featured: fresh }
                computed:
                  top: sections.filter(s, s.containerValues.isFeatured).map(s, s.id)
                  rest: sections.filter(s, !s.containerValues.isFeatured).map(s, s.id)
                  contents: sections.map(s, s.content.map(v, v.id))
                children:
                  - id: favorites
                    kind: section
                    header: [{ id: title, kind: view }]
                    content: [{ id: red, kind: view }, { id: orange, kind: view }]
                    containerValues: { isFeatured: '=featured == self.id' }
                  - { id: fresh, kind: section, content: [{ id: green, kind: view }], containerValues: { isFeatured: '=featured == self.id' } }
                  - { id: loose, kind: view }
            """)
        #expect(try graph.value("/magazine.top") == ["fresh"])
        #expect(try graph.value("/magazine.rest") == ["favorites", "loose"])
        #expect(
            try graph.value("/magazine.contents") == [
                ["favorites/red", "favorites/orange"], ["fresh/green"], ["loose"],
            ])
        try graph.set("/magazine.featured", "favorites")
        #expect(try graph.value("/magazine.top") == ["favorites"])
    }

    @Test("instances keep their identity and state while the list changes around them") func forEach() throws {
        let graph = try Harness(listScene)
        try graph.set("/app.items", [["id": "x", "n": 1], ["id": "y", "n": 2]])
        try graph.subscribe(["/app/rows/*.text"], initial: true)
        #expect(graph.changes == ["/app/rows/x.text": .value("1"), "/app/rows/y.text": .value("2")])
        try graph.set("/app/rows/y.open", true)
        try graph.set("/app/rows/y.n", 5)
        #expect(try graph.value("/app.items[1].n") == 5)
        _ = graph.runs()
        try graph.transact([
            Mutation(operation: .insert, path: "/app.items", value: ["id": "z", "n": 9], index: 0),
            Mutation(operation: .remove, path: "/app.items[id=\"x\"]"),
        ])
        #expect(graph.runs() == ["/app/rows/z.text"])
        #expect(try graph.value("/app/rows/y.text") == "5!")
        #expect(try graph.value("/app/rows/y.index") == 1)
        #expect(throws: Failure.self) { try graph.get("/app/rows/x.text") }
        try graph.succeed(
            .transact([Mutation(operation: .append, path: "/app.items", value: ["id": "y", "n": 0])], .init()))
        #expect(try graph.get("/app/rows.elements").failure?.message.contains("y") == true)
    }

    @Test("preferences flow up in order, one writer unreduced, none gives the default") func preferences() throws {
        let graph = try Harness(
            """
            keys: { preference: { widest: { default: -1, reduce: "value > next ? value : next" } } }
            nodes:
              - id: top
                computed: { w: preferences.widest }
                children:
                  - id: inner
                    computed: { w: preferences.widest }
                    children:
                      - { id: a, kind: view, state: { w: 3 }, preferences: { widest: =w } }
                      - { id: b, kind: view, preferences: { widest: 7 } }
                  - { id: none, kind: view, computed: { w: preferences.widest } }
            """)
        #expect(try graph.value("/top.w") == 7)
        #expect(try graph.value("/top/none.w") == -1)
        try graph.set("/top/inner/a.w", 10)
        #expect(try graph.value("/top.w") == 10)
    }

    @Test("clocks tick while somebody watches, and show their last tick to whoever asks") func clocks() throws {
        let graph = try Harness(
            "nodes:\n  - { id: c, kind: view, clock: { now: every 1s }, computed: { s: now.getSeconds() } }")
        #expect(graph.runtime.nextDeadline == nil)
        graph.advance(2.5)
        #expect(try graph.value("/c.s") == 2)
        try graph.subscribe(["/c.s"], initial: true)
        #expect(graph.runtime.nextDeadline.map { abs($0 - graph.now.monotonic - 0.5) < 1e-6 } == true)
        graph.advance(0.5)
        #expect(graph.changes == ["/c.s": .value(3)])
        graph.turn([.disconnected(ClientID(number: 1))])
        #expect(graph.runtime.nextDeadline == nil)
    }

    @Test("apply merges by the difference and keeps the state of what stays") func merge() throws {
        let scene =
            "nodes:\n  - { id: n, state: { a: 1 }, computed: { b: a + 1 } }\n  - { id: m, kind: view, state: { x: 1 } }"
        let graph = try Harness(scene)
        try graph.set("/n.a", 5)
        let plan = try graph.apply(
            "nodes:\n  - { id: n, state: { a: 1 }, computed: { b: a + 2 } }\n  - { id: k, kind: view }", dryRun: true)
        #expect(plan.map?["added"] == ["/k"] && plan.map?["changed"] == ["/n"] && plan.map?["removed"] == [])
        #expect(throws: Failure.self) { try graph.get("/k.x") }
        _ = try graph.apply("nodes:\n  - { id: n, state: { a: 1 }, computed: { b: a + 2 } }", mode: .replace)
        #expect(try graph.value("/n.b") == 7)
        #expect(throws: Failure.self) { try graph.get("/m.x") }
        #expect(refusal { try graph.apply("nodes:\n  - { id: n, kind: view }", mode: .create) }?.code == .conflict)
    }

    @Test("explain names the client, the label and the chain from the write") func explain() throws {
        let graph = try Harness(
            "nodes:\n  - { id: n, state: { a: 1 }, computed: { b: a + 1, even: b % 2 == 0, t: 'even ? 1 : 0' } }")
        try graph.subscribe(["/n.t"])
        try graph.succeed(
            .set(Mutation(operation: .set, path: "/n.a", value: 2), TransactionOptions(label: "why")), from: 2)
        guard case .value(let value) = try graph.succeed(.explain(path: "/n.t", revision: nil)), let map = value.map
        else {
            Issue.record("an object")
            return
        }
        #expect(map["changed"]?.map?["label"] == "why" && map["changed"]?.map?["client"]?.map?["pid"] == 2)
        #expect(map["chain"]?.list?.last == "/n.a")
        try graph.set("/n.a", 4)
        guard case .value(let other) = try graph.succeed(.explain(path: "/n.t", revision: graph.runtime.revision))
        else { return }
        #expect(other.map?["at"]?.map?["changed"] == false && other.map?["at"]?.map?["cutOff"] == "/n.even")
    }

    private func explained(_ graph: Harness, _ path: String) throws -> ValueMap {
        guard case .value(let value) = try graph.succeed(.explain(path: path, revision: nil)) else { return ValueMap() }
        return value.map ?? ValueMap()
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
        let found = try explained(graph, "/a.dbl")
        #expect(found["changed"]?.map?["label"] == "cause" && found["chain"] == ["/a.dbl", "/a.i"])
        let inside = try explained(graph, "/a.sum")
        #expect(inside["changed"]?.map?["label"] == "inside" && inside["chain"] == ["/a.sum", "/a.m.x", "/a.m"])
    }

    @Test("explain says of a revision whether it changed there, that it is not known, or that there has been none such")
    func explainRevision() throws {
        let graph = try Harness(
            "nodes: [{ id: a, state: { x: 1, y: 1, m: { k: 1 } }, computed: { big: x > 100, more: x + 1 } }]")
        try graph.subscribe(["/a.*"])
        func at(_ path: String, _ revision: UInt64) throws -> ValueMap {
            guard case .value(let value) = try graph.succeed(.explain(path: path, revision: revision)) else {
                return ValueMap()
            }
            return value.map?["at"]?.map ?? ValueMap()
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
        #expect(try explained(graph, "/a.bad")["error"] == ["code": "ruleFailed", "message": "division by zero"])
    }

    @Test("explain of a place that nobody reads makes no vertex, and a place is forgotten with its last watcher")
    func placesForgotten() throws {
        let graph = try Harness("nodes: [{ id: a, state: { m: { x: 1 } }, computed: { all: m } }]")
        _ = try graph.value("/a.all")
        let before = graph.runtime.graph.counters.liveAttributes
        for number in 0..<200 {
            #expect(try explained(graph, "/a.m.k\(number)")["error"] != nil)
            #expect(try explained(graph, "/a.all.k\(number)")["error"] != nil)
        }
        #expect(try explained(graph, "/a.m.x")["chain"] == ["/a.m.x", "/a.m"])
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
        func described(_ path: String) throws -> ValueMap? {
            guard case .value(let value) = try graph.succeed(.describe(path: path, depth: nil)) else { return nil }
            return value.map
        }
        let first = try described("/a.l[0]")
        #expect(first?["value"] == 1 && first?["type"] == "int" && first?["kind"] == "state")
        let second = try described("/a/b.l[1]")
        #expect(second?["value"] == "two" && second?["target"] == "/a.l[1]")
        let missing = try described("/a.l[77]")
        #expect(missing?["value"] == nil && missing?["error"]?.map?["code"] == "notFound")
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
        func get(_ paths: [String]) throws -> [String: Content] {
            guard
                case .contents(let contents, _, _) = try graph.succeed(
                    .get(.init(paths: paths)))
            else { return [:] }
            #expect(Set(contents.map(\.path)).count == contents.count)
            return Dictionary(contents.map { ($0.path, $0.content) }) { first, _ in first }
        }
        let before = graph.runtime.revision
        let several = try get(["/p.*", "/**.n", "/p.n"])
        #expect(several == ["/p.m": .value(["x": 1]), "/p.n": .value(2), "/p/q.n": .value(3)])
        let inside = try get(["/*.m.x", "/nobody.*"])
        #expect(inside == ["/p.m.x": .value(1)])
        #expect(try get(["/p*"])["/p*"]?.failure?.code == .invalid)
        #expect(refusal { try get(["/**"]) }?.code == .limit)
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
            guard case .value(let explanation) = try graph.succeed(.explain(path: path, revision: nil)) else {
                return #expect(Bool(false))
            }
            #expect(explanation.map?["changed"]?.map?["time"] == .timestamp(changed), "\(path)")
        }
    }
}
