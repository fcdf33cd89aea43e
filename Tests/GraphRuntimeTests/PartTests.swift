import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("Parts that change apart")
struct PartTests {
    private static let scene = """
        keys: { container: { v: 0, w: 0, pin: { default: { a: 1, b: 2 } } } }
        nodes:
          - id: a
            kind: container
            state: { x: 1, y: 1, items: [{ id: q, n: 1 }] }
            computed:
              count: subviews.size()
              ids: subviews.map(s, s.id)
              vs: subviews.map(s, s.containerValues.v)
              ws: subviews.filter(s, s.containerValues.w >= 0).map(s, s.containerValues.w)
              tags: subviews.map(s, s.tag())
              first: subviews[0].containerValues.v
              last: subviews[count - 1].containerValues.w
              heads: sections.map(s, s.content.size())
              all: subviews
            children:
              - { id: p, containerValues: { v: =x }, tag: =y }
              - { id: g, kind: group, containerValues: { w: =y }, children: [{ id: p, containerValues: { pin.a: =x } }] }
        """

    private static let readers = ["count", "ids", "vs", "ws", "tags", "first", "last", "heads", "all"]

    @Test("among the subviews only those that a rule names make it run") func subviews() throws {
        let graph = try Harness(PartTests.scene)
        for name in PartTests.readers { _ = try graph.value("/a." + name) }
        func runs(after change: () throws -> Void) throws -> [String] {
            try change()
            _ = graph.runs()
            for name in PartTests.readers { _ = try graph.value("/a." + name) }
            return graph.runs().filter { $0.hasPrefix("/a.") }.sorted()
        }
        #expect(try runs { try graph.set("/a.x", 2) } == ["/a.all", "/a.first", "/a.vs"])
        #expect(try runs { try graph.set("/a.y", 2) } == ["/a.all", "/a.last", "/a.tags", "/a.ws"])
        _ = try graph.apply("nodes: [{ id: new, kind: view }]", at: "/a/g")
        #expect(try graph.value("/a.ids") == ["p", "g/p", "g/new"])
        #expect(try graph.value("/a.ws") == [0, 2, 2])
    }

    @Test(
        "a rule that is given the parts it names gives what it gives over all of them",
        arguments: [
            "subviews", "sections", "subviews[0]", "sections[1]", "subviews.map(s, s)", "subviews.map(s, [s])",
            "subviews.map(s, {'s': s})",
            "subviews.filter(s, s.tag() != null)", "subviews.filter(s, s.tag() != null).map(s, s.id)",
            "subviews.slice(1, 3).map(s, s.index)",
            "subviews.reverse().map(s, s.containerValues)", "subviews.map(s, s.containerValues.pin.a)",
            "subviews.sortBy(s, s.id)[0].tag",
            "subviews.exists(s, s.containerValues.v == 1)", "subviews.all(s, has(s.containerValues.w))",
            "subviews[2].containerValues.w", "subviews[subviews.size() - 5].id", "subviews[subviews.size()].id",
            "(subviews + subviews).size()", "subviews + subviews", "subviews == subviews",
            "subviews[0] in subviews", "dyn(subviews)",
            "cel.bind(x, subviews.filter(s, s.hasTag(7)), x.map(s, s.containerValues.v))",
            "cel.bind(x, subviews[0], x.tag == 7 ? x : subviews[1])", "true ? subviews : []",
            "(true ? subviews : [])[0].id", "subviews.first().value().id",
            "subviews.last().optMap(s, s.tag())", "subviews[?0].?tag", "subviews[?9].hasValue()",
            "subviews.first().orValue(subviews[1]).containerValues.v",
            "subviews.transformList(i, s, string(i) + s.id)", "subviews.transformMapEntry(i, s, {s.id: s.tag})",
            "subviews.transformMapEntry(i, s, {s.id: s})",
            "[subviews[0], subviews[1]].map(s, s.containerValues.v)", "[subviews[0], subviews[1]]",
            "sections.map(s, s.content.map(v, v.id))",
            "sections.map(s, (s.header + s.content + s.footer).map(v, v.tag))", "sections[1].containerValues.w",
            "sections[0].content[1].containerValues.pin.a", "sections.map(s, s.containerValues.v)",
            "sections.filter(s, s.footer.size() > 0)",
            "sections[1].header[0]", "lists.range(2).map(i, sections[i].content)",
            "lists.range(2).map(i, subviews[i].containerValues.v)",
            "lists.range(2).map(i, sections[i].content.size())", "sections.map(s, s.content)[1][0].id",
            "sections.map(s, s.content).flatten()",
            "subviews.existsOne(s, s.id == 'g/p')", "subviews.map(s, s.tag() == null, s.id)", "has(subviews[0].tag)",
        ])
    func soundness(_ rule: String) throws {
        let quoted = Value.string(rule).jsonText
        let graph = try Harness(
            """
            keys: { container: { v: 0, w: 0, pin: { default: { a: 1, b: 2 } } } }
            nodes:
              - id: a
                kind: container
                computed: { r: \(quoted) }
                children:
                  - { id: p, containerValues: { v: 1 }, tag: 7 }
                  - { id: g, kind: group, containerValues: { w: 2 }, children: [{ id: p, containerValues: { pin.a: 3 } }] }
                  - { id: s, containerValues: { v: 4 }, header: [{ id: h, tag: 1 }], content: [{ id: c, tag: 9 }, { id: d }], footer: [{ id: f }] }
            """)
        func shown(_ content: Content) -> String {
            switch content {
            case .value(let value): value.description
            case .failure(let failure): failure.message
            }
        }
        guard
            case .content(let whole, _, _) = try graph.succeed(
                .eval(expression: rule, bindings: ValueMap(), at: "/a", typed: false))
        else { throw Failure(.unavailable, "no content") }
        #expect(shown(try graph.get("/a.r")) == shown(whole))
    }

    @Test("a rule that counts does not run when subviews change places") func order() throws {
        let graph = try Harness(PartTests.scene)
        for name in PartTests.readers { _ = try graph.value("/a." + name) }
        try graph.succeed(.move(path: "/a/g", to: "/a", index: 0, .init()))
        _ = graph.runs()
        for name in PartTests.readers { _ = try graph.value("/a." + name) }
        #expect(
            graph.runs().filter { $0.hasPrefix("/a.") }.sorted() == [
                "/a.all", "/a.first", "/a.ids", "/a.last", "/a.tags", "/a.vs", "/a.ws",
            ])
    }

    @Test("a child may say what its container counts") func pageOfPages() throws {
        let graph = try Harness(
            """
            keys: { container: { v: 0, page: "" } }
            nodes:
              - id: a
                kind: container
                computed: { n: subviews.size(), pages: "subviews.map(s, s.containerValues.page)" }
                children:
                  - { id: p, containerValues: { v: =n, page: "=string(self.index + 1) + ' of ' + string(n)" } }
                  - { id: q, containerValues: { v: =n * 2, page: "=string(self.index + 1) + ' of ' + string(n)" } }
            """)
        #expect(try graph.value("/a.pages") == ["1 of 2", "2 of 2"])
        _ = try graph.apply("nodes: [{ id: r, kind: view }]", at: "/a")
        #expect(try graph.value("/a.pages") == ["1 of 3", "2 of 3", ""])
    }

    @Test("a child may say what its container reads of another child") func amongChildren() throws {
        let graph = try Harness(
            """
            keys: { container: { v: 0 } }
            nodes:
              - id: a
                kind: container
                computed: { first: "subviews[0].containerValues.v" }
                children:
                  - { id: p, containerValues: { v: 5 } }
                  - { id: q, containerValues: { v: =first + 1 } }
              - { id: b, kind: container, computed: { v: "subviews[0].containerValues.v", all: "sections[0].content[1].containerValues.v" }, children: [{ id: p, containerValues: { v: 1 } }, { id: q, containerValues: { v: =v } }] }
            """)
        #expect(try graph.value("/a.first") == 5)
        #expect(try graph.value("/b.all") == 1)
    }

    @Test("a cycle names every step, those through children included") func cycles() throws {
        let graph = try Harness(
            """
            keys: { container: { v: 0 }, environment: { e: { default: 0 } }, preference: { p: { default: 0 } } }
            nodes:
              - { id: a, kind: container, computed: { n: "subviews.map(s, s.containerValues.v).size()" }, children: [{ id: p, containerValues: { v: =n } }] }
              - { id: b, kind: container, computed: { n: preferences.p }, children: [{ id: g, kind: group, children: [{ id: p, preferences: { p: =n + 1 } }] }] }
              - id: c
                kind: container
                environment: { e: =n }
                computed: { n: "subviews[0].containerValues.v" }
                children: [{ id: p, computed: { e: env.e }, containerValues: { v: =e } }]
            """)
        #expect(try graph.get("/a.n").failure?.message == "cycle: /a.n → /a.subviews → /a/p.containerValues.v → /a.n")
        #expect(
            try graph.get("/b.n").failure?.message
                == "cycle: /b.n → /b.preferences.p → /b/g.preferences.p → /b/g/p.preferences.p → /b.n")
        #expect(
            try graph.get("/c.n").failure?.message
                == "cycle: /c.n → /c.subviews[0].containerValues.v → /c/p.containerValues.v → /c/p.e → /c.environment.e → /c.n"
        )
    }

    @Test("ids of subviews are their paths from the container, so that lists can be made of them") func ids() throws {
        let graph = try Harness(
            """
            nodes:
              - id: top
                children:
                  - id: a
                    kind: container
                    state: { items: [{ id: "1/2" }, { id: a b }] }
                    preferences: {}
                    children:
                      - { id: g, kind: group, children: [{ id: a, kind: view }] }
                      - { id: h, kind: group, children: [{ id: a, kind: view }] }
                      - { id: "g/a", kind: view }
                      - { id: rows, forEach: { in: $items, node: { kind: view } } }
                    computed: { ids: "subviews.map(s, s.id)", list: "subviews.map(s, {'id': s.id, 'index': s.index})" }
            """)
        #expect(try graph.value("/top/a.ids") == ["g/a", "h/a", #""g/a""#, #"rows/"1/2""#, #"rows/"a b""#])
        _ = try graph.apply("nodes: [{ id: f, kind: group, children: [{ id: a, kind: view }] }]", at: "/top/a")
        #expect(try graph.value("/top/a.ids").list?.array.prefix(2) == ["g/a", "h/a"])
    }

    @Test("a list can be made of subviews that have the same id in two groups") func listOfSubviews() throws {
        let graph = try Harness(
            """
            keys: { preference: { views: { default: [], type: list } } }
            nodes:
              - id: top
                computed: { views: preferences.views }
                children:
                  - id: content
                    preferences: { views: "=subviews.map(s, {'id': s.id})" }
                    children:
                      - { id: g, kind: group, children: [{ id: a, kind: view }] }
                      - { id: h, kind: group, children: [{ id: a, kind: view }] }
                  - { id: texts, forEach: { in: $views, node: { kind: view } } }
            """)
        #expect(try graph.value("/top/texts.elements") == ["g/a", "h/a"])
    }

    @Test("a node reads what it inherits, not what it puts into the environment") func ownOverrides() throws {
        let graph = try Harness(
            """
            keys: { environment: { level: 1, pin: { default: { a: 1, b: 2 } } } }
            components:
              Deeper: { inherit: [level], environment: { level: =level + 1 }, computed: { twice: env.level * 2 }, children: [{ id: in, computed: { l: env.level } }] }
            nodes:
              - id: n
                inherit: { outer: level }
                environment: { level: =outer + 1, pin.a: =env.level }
                computed: { seen: env.level, a: env.pin.a }
                children:
                  - { id: m, environment: { level: =env.level * 10 }, computed: { seen: env.level }, children: [{ id: k, computed: { seen: env.level } }] }
                  - { id: d, component: Deeper, environment: { level: 50 } }
            """)
        #expect(try graph.value("/n.outer") == 1)
        #expect(try graph.value("/n.seen") == 1)
        #expect(try graph.value("/n.a") == 1)
        #expect(try graph.value("/n/m.seen") == 2)
        #expect(try graph.value("/n/m/k.seen") == 20)
        #expect(try graph.value("/n/d.level") == 50)
        #expect(try graph.value("/n/d.twice") == 100)
        #expect(try graph.value("/n/d/in.l") == 51)
    }

    @Test("a transform may change a part, reads that part as value, and leaves the readers of others alone")
    func partTransforms() throws {
        let graph = try Harness(
            """
            keys: { environment: { pin: { default: { rotation: 10, x: 3 } } } }
            nodes:
              - id: n
                state: { by: 2, x: 7 }
                transformEnvironment: { pin.rotation: value * by, pin.x: value + x }
                children: [{ id: v, computed: { r: env.pin.rotation, x: env.pin.x } }]
            """)
        #expect(try graph.value("/n/v.r") == 20)
        #expect(try graph.value("/n/v.x") == 10)
        _ = graph.runs()
        try graph.set("/n.by", 3)
        #expect(try graph.value("/n/v.r") == 30)
        #expect(try graph.value("/n/v.x") == 10)
        #expect(!graph.runs().contains("/n/v.x"))
        #expect(try Harness(document: graph.exported()).value("/n/v.r") == 30)
    }

    @Test(
        "a rule that reads one part of a map runs for no other part, wherever the map comes from",
        arguments: ["state", "let", "computed", "env", "element"])
    func parts(_ name: String) throws {
        let graph = try Harness(
            """
            keys: { environment: { pin: { default: { b: 1, c: 1 } } } }
            nodes:
              - id: n
                state: { s: { b: 1, c: 1 }, items: [{ id: x, b: 1, c: 1 }] }
                environment: { pin: =s }
                computed: { made: "{'b': s.b, 'c': s.c}" }
                children:
                  - { id: state, binding: { m: $s }, computed: { r: m.b } }
                  - { id: let, let: { m: "={'b': s.b, 'c': s.c}" }, computed: { r: m.b } }
                  - { id: computed, let: { m: $made }, computed: { r: m.b } }
                  - { id: env, computed: { r: env.pin.b } }
                  - { id: element, let: { m: $items }, computed: { r: "m[0].b" } }
            """)
        try graph.subscribe(["/n/\(name).r"], initial: true)
        _ = graph.runs()
        try graph.transact([
            Mutation(operation: .set, path: "/n.s.c", value: 2),
            Mutation(operation: .set, path: "/n.items[0].c", value: 2),
        ])
        #expect(!graph.runs().contains("/n/\(name).r"))
        #expect(graph.changes.isEmpty)
        try graph.transact([
            Mutation(operation: .set, path: "/n.s.b", value: 2),
            Mutation(operation: .set, path: "/n.items[0].b", value: 2),
        ])
        #expect(graph.changes == ["/n/\(name).r": .value(2)])
    }

    @Test("reading a part is not reading the whole, and reading the whole is reading its parts") func readings() throws
    {
        let graph = try Harness("nodes: [{ id: n, state: { a: { b: 1, c: 1 } } }]")
        try graph.subscribe(["/n.a"], events: .invalidate)
        try graph.subscribe(["/n.a.c"], events: .invalidate)
        try graph.set("/n.a.c", 2)
        #expect(graph.invalidated.sorted() == ["/n.a", "/n.a.c"])
        _ = try graph.get("/n.a.b")
        try graph.set("/n.a.c", 3)
        #expect(graph.invalidated == [])
        _ = try graph.get("/n.a")
        try graph.set("/n.a.c", 4)
        #expect(graph.invalidated.sorted() == ["/n.a", "/n.a.c"])
        _ = try graph.get("/n.a.c")
        try graph.set("/n.a.c", 5)
        #expect(graph.invalidated == ["/n.a.c"])
    }
}
