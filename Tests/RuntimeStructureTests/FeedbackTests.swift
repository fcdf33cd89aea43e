import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("Lists that depend on their own instances")
struct FeedbackTests {
    private static func scene(_ data: String, children: String = "[{ id: one, kind: view }]") -> String {
        """
        nodes:
          - id: a
            kind: container
            state: { limit: 100, other: 0 }
            computed: { n: subviews.size() }
            children:
              - { id: group, kind: group, children: \(children) }
              - { id: list, forEach: { in: '\(data)', id: self, node: { kind: view } } }
        """
    }

    @Test(
        "a list that would change without end has an error that names the loop, and no instances",
        arguments: ["=lists.range(n)", "=n == 1 ? [1] : []", "=lists.range(n * 2)"])
    func endless(_ data: String) throws {
        let graph = try Harness(FeedbackTests.scene(data))
        let failure = try #require(try graph.get("/a/list.elements").failure)
        #expect(failure.code == .cycle)
        #expect(failure.message.hasSuffix(": /a.n → /a.subviews → /a/list.elements → /a.n"), "\(failure.message)")
        #expect(try graph.value("/a.n") == 1)
        #expect(graph.runtime.graph.liveNodes == 5)
        // What has nothing to do with it changes nothing.
        let runs = graph.runtime.graph.counters.evaluations
        for number in 1...20 { try graph.set("/a.other", .int(Int64(number))) }
        #expect(graph.runtime.graph.liveNodes == 5)
        #expect(graph.runtime.graph.counters.evaluations == runs)
        #expect(try graph.get("/a/list.elements").failure == failure)
    }

    @Test("the error goes with the data that made it, and comes again with it") func healed() throws {
        let graph = try Harness(FeedbackTests.scene("=lists.range(n < limit ? n : limit)"))
        #expect(try graph.get("/a/list.elements").failure?.code == .cycle)
        try graph.subscribe(["/a/list.elements", "/a.n"], initial: true)
        try graph.set("/a.limit", 3)
        #expect(graph.changes["/a/list.elements"] == .value([0, 1, 2]))
        #expect(try graph.value("/a.n") == 4)
        try graph.set("/a.limit", 1000)
        #expect(graph.changes["/a/list.elements"]?.failure?.code == .cycle)
        #expect(try graph.value("/a.n") == 1)
        try graph.set("/a.limit", 0)
        #expect(try graph.value("/a/list.elements") == [])
    }

    @Test("another definition of what it reads is tried, although its data is the same without instances")
    func redefined() throws {
        let graph = try Harness(FeedbackTests.scene("=n == 1 ? [1] : []"))
        #expect(try graph.get("/a/list.elements").failure?.code == .cycle)
        _ = try graph.apply("nodes: [{ id: a, computed: { n: '1' } }]")
        #expect(try graph.value("/a/list.elements") == [1])
    }

    @Test("a list that comes to rest has no error") func resting() throws {
        let graph = try Harness(FeedbackTests.scene("=n > 0 ? [1] : []"))
        #expect(try graph.value("/a/list.elements") == [1])
        #expect(try graph.value("/a.n") == 2)
        try graph.succeed(.remove(path: "/a/group/one", .init()))
        #expect(try graph.value("/a.n") == 1)
    }

    @Test("two lists that chase each other both have the error, and name both") func mutual() throws {
        let graph = try Harness(
            """
            keys: { preference: { p: { default: 0, reduce: value + next }, q: { default: 0, reduce: value + next } } }
            nodes:
              - id: a
                computed: { p: preferences.p, q: preferences.q }
                children:
                  - { id: first, forEach: { in: '=q == 0 ? [1] : []', id: self, node: { preferences: { p: 1 } } } }
                  - { id: second, forEach: { in: '=p == 1 ? [1] : []', id: self, node: { preferences: { q: 1 } } } }
            """)
        let failure = try #require(try graph.get("/a/first.elements").failure)
        #expect(failure.code == .cycle)
        for name in ["/a.q", "/a/second.elements", "/a.p", "/a/first.elements"] {
            #expect(failure.message.contains(name), "\(failure.message)")
        }
        #expect(try graph.get("/a/second.elements").failure?.code == .cycle)
        #expect(graph.runtime.graph.liveNodes == 4)
    }

    @Test("a list whose ids stay, but whose elements change without end, has the error") func elements() throws {
        let graph = try Harness(
            """
            keys: { container: { v: 0 } }
            nodes:
              - id: a
                kind: container
                computed: { sum: 'subviews.size() == 0 ? 0 : subviews[0].containerValues.v' }
                children:
                  - { id: list, forEach: { in: '=[{"id": 1, "v": sum}]', as: item, node: { kind: view, containerValues: { v: =item.v + 1 } } } }
            """)
        let failure = try #require(try graph.get("/a/list.elements").failure)
        #expect(failure.code == .cycle)
        #expect(failure.message.contains("/a.sum → "), "\(failure.message)")
    }

    @Test("a chain of lists comes to rest however long it is") func chains() throws {
        let length = 80
        var lines = "nodes:\n"
        var indent = "  "
        for number in 0..<length {
            let data = number == 0 ? "$items" : "=lists.range(n\(number - 1))"
            lines += "\(indent)- id: c\(number)\n\(indent)  kind: container\n"
            if number == 0 { lines += "\(indent)  state: { items: [0, 1] }\n" }
            lines +=
                "\(indent)  computed: { n\(number): 'subviews.size() - \(number == length - 1 ? 0 : 1)' }\n\(indent)  children:\n"
            lines += "\(indent)    - { id: l, forEach: { in: '\(data)', id: self, node: { kind: view } } }\n"
            indent += "    "
        }
        let graph = try Harness(lines)
        let last = (0..<length).map { "/c\($0)" }.joined()
        #expect(try graph.value(last + ".n\(length - 1)") == 2)
        try graph.set("/c0.items", [0, 1, 2])
        #expect(try graph.value(last + ".n\(length - 1)") == 3)
        #expect(try graph.value(last + "/l.elements") == [0, 1, 2])
        try graph.set("/c0.items", [])
        #expect(try graph.value(last + ".n\(length - 1)") == 0)
    }

    @Test("lists of one container that each wait for the one before come to rest") func stairs() throws {
        let lists = (1...80).reversed().map {
            "      - { id: l\($0), forEach: { in: '=n >= \($0) ? [1] : []', id: self, node: { kind: view } } }"
        }
        let graph = try Harness(
            """
            nodes:
              - id: a
                kind: container
                state: { isOn: false }
                computed: { n: subviews.size() }
                children:
                  - { id: first, forEach: { in: '=isOn ? [1] : []', id: self, node: { kind: view } } }

            """ + lists.joined(separator: "\n"))
        #expect(try graph.value("/a.n") == 0)
        try graph.set("/a.isOn", true)
        #expect(try graph.value("/a.n") == 81)
    }

    @Test("the data of a list reads the preferences of the node around it, not those of its instances")
    func preferences() throws {
        let graph = try Harness(
            """
            keys: { preference: { ord: { default: [], type: list } } }
            nodes:
              - id: a
                children:
                  - { id: w, kind: view, state: { order: [x, y] }, preferences: { ord: =order } }
                  - { id: list, forEach: { in: =preferences.ord, id: self, node: { kind: view } } }
            """)
        #expect(try graph.value("/a/list.elements") == ["x", "y"])
        try graph.set("/a/w.order", ["z"])
        #expect(try graph.value("/a/list.elements") == ["z"])
    }
}
