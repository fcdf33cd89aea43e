import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("Environment")
struct EnvironmentTests {
    @Test("a changed override runs only the readers of its key below it, of 10,000 readers of 100 keys")
    func precision() throws {
        var scene = "keys:\n  environment:\n"
        for key in 0..<100 { scene += "    k\(key): 0\n" }
        scene += "components:\n"
        for key in 0..<100 { scene += "  R\(key): { inherit: [k\(key)], computed: { v: k\(key) + 1 } }\n" }
        scene += "nodes:\n"
        // Ten overriding nodes with a thousand readers each: every key is read ten times below each.
        for group in 0..<10 {
            scene += "  - id: g\(group)\n    state: { own: 5 }\n    environment: { k42: =own }\n    children:\n"
            for reader in 0..<1000 { scene += "      - { id: r\(reader), component: R\(reader % 100) }\n" }
        }
        let graph = try Harness(scene)
        try graph.subscribe(["/**.v"], initial: true)
        #expect(graph.changes.count == 10_000)
        _ = graph.runs()
        let before = graph.runtime.graph.counters
        try graph.set("/g3.own", 6)
        let wanted = (0..<10).map { "/g3/r\($0 * 100 + 42).v" }
        #expect(Set(graph.changes.keys) == Set(wanted))
        #expect(Set(graph.runs()) == Set(wanted + ["/g3.\"environment.k42\""]))
        let after = graph.runtime.graph.counters
        // The override's rule and, for each reader, its attribute with the inherited value and the rule over it.
        #expect(after.evaluations - before.evaluations == 21)
    }

    @Test("overrides nest, a transform builds on what is inherited, a part of a grouped key leaves the rest")
    func nesting() throws {
        let graph = try Harness(
            """
            keys:
              environment: { scale: 1.0, pin: { default: { rotation: 0, x: 3, y: { deep: 1 } } } }
            components: { Reader: { computed: { scale: env.scale, rotation: env.pin.rotation, x: env.pin.x, deep: env.pin.y.deep } } }
            nodes:
              - id: a
                state: { s: 2.0, r: 10 }
                environment: { scale: =s, pin.rotation: =r }
                children:
                  - { id: plain, component: Reader }
                  - id: b
                    transformEnvironment: { scale: value * 10.0 }
                    environment: { pin.y.deep: 7 }
                    children:
                      - { id: inner, component: Reader }
                      - { id: c, environment: { scale: 0.5 }, transformEnvironment: { scale: value + 0.25 }, children: [{ id: last, component: Reader }] }
            """)
        try graph.subscribe(["/a/**.scale", "/a/**.rotation", "/a/**.x", "/a/**.deep"], initial: true)
        #expect(graph.changes["/a/plain.scale"] == .value(2.0) && graph.changes["/a/plain.rotation"] == .value(10))
        #expect(graph.changes["/a/b/inner.scale"] == .value(20.0) && graph.changes["/a/b/inner.deep"] == .value(7))
        #expect(graph.changes["/a/b/inner.rotation"] == .value(10) && graph.changes["/a/b/inner.x"] == .value(3))
        #expect(graph.changes["/a/b/c/last.scale"] == .value(0.75))
        _ = graph.runs()
        try graph.set("/a.r", 20)
        #expect(Set(graph.changes.keys) == ["/a/plain.rotation", "/a/b/inner.rotation", "/a/b/c/last.rotation"])
        // A change of one part runs no reader of another.
        #expect(
            Set(graph.runs()).isSubset(of: [
                "/a.\"environment.pin field\"", "/a/plain.rotation", "/a/b/inner.rotation", "/a/b/c/last.rotation",
            ]))
        try graph.set("/a.s", 3.0)
        #expect(graph.changes == ["/a/plain.scale": .value(3.0), "/a/b/inner.scale": .value(30.0)])
    }

    @Test("an override that is added, changed or taken away reaches the readers below it live") func live() throws {
        let scene =
            "nodes: [{ id: a, kind: container, %children: [{ id: r, kind: view, computed: { l: env.locale } }] }]"
        func with(_ text: String) -> String { scene.replacing("%", with: text) }
        let graph = try Harness(applied: with(""))
        try graph.subscribe(["/a/r.l"], initial: true)
        #expect(graph.changes == ["/a/r.l": .value("en_US")])
        _ = try graph.apply(with("environment: { locale: de_DE }, "))
        #expect(graph.changes == ["/a/r.l": .value("de_DE")])
        _ = try graph.apply(with("environment: { locale: fr_FR }, "))
        #expect(graph.changes == ["/a/r.l": .value("fr_FR")])
        _ = try graph.apply(with(""), mode: .replace)
        #expect(graph.changes == ["/a/r.l": .value("en_US")])
    }

    @Test("an operator sets a system value and its readers follow, except below an override") func systemValues() throws
    {
        let graph = try Harness(
            """
            nodes:
              - { id: a, kind: view, computed: { scheme: env.colorScheme } }
              - { id: b, environment: { colorScheme: light }, children: [{ id: c, kind: view, computed: { scheme: env.colorScheme } }] }
            """)
        try graph.subscribe(["/a.scheme", "/b/c.scheme"], initial: true)
        try graph.set("/.colorScheme", "dark")
        #expect(graph.changes == ["/a.scheme": .value("dark")])
        #expect(refusal { try graph.set("/.colorScheme", 4) }?.code == .typeMismatch)
    }

    @Test("scenePhase is active while anybody watches, whatever is watched, and background after") func scenePhase()
        throws
    {
        let graph = try Harness(
            "nodes: [{ id: a, kind: view, state: { n: 1 }, computed: { phase: env.scenePhase } }, { id: b, kind: view }]",
            clients: 3)
        #expect(try graph.value("/a.phase") == "background")
        try graph.subscribe(["/a.phase"], initial: true)
        // The first thing that the subscription hears is its snapshot, which knows already.
        #expect(graph.events.count == 1 && graph.changes == ["/a.phase": .value("active")])
        let second = try graph.subscribe(["/a.n"], events: .invalidate, from: 2)
        graph.turn([.disconnected(ClientID(number: 1))])
        #expect(try graph.value("/a.phase") == "active")
        try graph.succeed(.unsubscribe(subscription: second), from: 2)
        #expect(try graph.get("/a.phase", from: 2) == .value("background"))
        // A subscription that ends because what it named is gone counts no more.
        try graph.subscribe(["/a.n"], from: 3)
        #expect(try graph.get("/a.phase", from: 2) == .value("active"))
        try graph.succeed(.remove(path: "/a", .init()))
        _ = try graph.apply("nodes: [{ id: c, kind: view, computed: { phase: env.scenePhase } }]")
        #expect(try graph.get("/c.phase", from: 2) == .value("background"))
    }

    @Test("reduceMotion stops animations where it holds, live, and nowhere else") func reduceMotion() throws {
        let graph = try Harness(
            """
            nodes:
              - id: g
                state: { v: 0.0, calm: false }
                children:
                  - { id: a, kind: view, binding: { b: $v } }
                  - { id: b, kind: view, environment: { reduceMotion: =calm }, binding: { b: $v } }
            """)
        try graph.subscribe(["/g/a.b", "/g/b.b"], initial: true)
        func moving() -> Set<String> { Set(graph.told.filter { $0.timeline != nil }.map(\.path)) }
        try graph.set("/g.v", 1, animation: "linear(duration: 1)")
        #expect(moving() == ["/g/a.b", "/g/b.b"])
        graph.advance(5)
        try graph.set("/g.calm", true)
        try graph.set("/g.v", 2, animation: "linear(duration: 1)")
        #expect(moving() == ["/g/a.b"])
        // Also the successor of one that runs.
        graph.advance(0.5)
        try graph.set("/.reduceMotion", true)
        try graph.set("/g.v", 3, animation: "linear(duration: 1)")
        #expect(moving() == [] && graph.changes.count == 2 && graph.runtime.presentations.running.isEmpty)
        #expect(try graph.value("/g/a.b", presentation: true) == 3.0)
    }

    @Test(
        "a merged override stands where the one stood that it replaces: before its node's transforms, around the component"
    ) func merged() throws {
        let graph = try Harness(
            """
            keys: { environment: { n: 1, g: { a: 1, b: 2 } } }
            components:
              P: { kind: container, environment: { g.a: 5 }, children: [{ id: r, kind: view, computed: { g: env.g } }] }
            nodes:
              - { id: m, kind: container, environment: { n: 5 }, transformEnvironment: { n: value * 2 }, children: [{ id: r, kind: view, computed: { n: env.n } }] }
              - { id: p, component: P, transformEnvironment: { g: "{'a': value.a * 10, 'b': value.b * 10}" } }
            """)
        #expect(try graph.value("/m/r.n") == 10)
        _ = try graph.apply("nodes: [{ id: m, environment: { n: 7 } }, { id: p, environment: { n: 3 } }]")
        #expect(try graph.value("/m/r.n") == 14)
        #expect(try graph.value("/p/r.g") == ["a": 5, "b": 20])
        _ = try graph.apply("nodes: [{ id: m, transformEnvironment: { n: value + 1 } }]")
        #expect(try graph.value("/m/r.n") == 8)
    }

    @Test("modifiers at the use of a component stand outside its own, as those of a group around it do") func uses()
        throws
    {
        let ten = "{ g: \"{'a': value.a * 10, 'b': value.b * 10}\" }"
        let graph = try Harness(
            """
            keys: { environment: { g: { a: 1, b: 2 } } }
            components:
              P: { kind: container, environment: { g.a: 5 }, children: [{ id: r, kind: view, computed: { g: env.g } }] }
              Q: { kind: container, environment: { g.a: 5 }, transformEnvironment: { g: "{'a': value.a + 1, 'b': value.b + 1}" }, children: [{ id: r, kind: view, computed: { g: env.g } }] }
              R: { component: P, transformEnvironment: \(ten) }
              S: { kind: container, environment: { g: { a: 0, b: 0 } }, children: [{ id: r, kind: view, computed: { g: env.g } }] }
            nodes:
              - { id: p, component: P, transformEnvironment: \(ten) }
              - { id: q, component: Q, transformEnvironment: \(ten) }
              - { id: r, component: R, environment: { g.b: 7 } }
              - { id: s, component: S, transformEnvironment: \(ten) }
              - { id: around, kind: group, transformEnvironment: \(ten), children: [{ id: p, component: P }, { id: q, component: Q }, { id: s, component: S }] }
            """)
        for (path, a, b) in [
            ("/p", 5, 20), ("/q", 6, 21), ("/r", 5, 70), ("/s", 0, 0), ("/around/p", 5, 20), ("/around/q", 6, 21),
            ("/around/s", 0, 0),
        ] as [(String, Int64, Int64)] {
            #expect(try graph.value(path + "/r.g") == ["a": .int(a), "b": .int(b)], "\(path)")
        }
        _ = try graph.apply(
            """
            keys: { environment: { n: 1, m: 0 } }
            components:
              T: { kind: container, environment: { n: =env.n + 1, m: =env.n }, transformEnvironment: { m: value + env.n }, children: [{ id: r, kind: view, computed: { n: env.n, m: env.m } }] }
              U: { component: T, environment: { n: =env.n * 10 } }
            nodes:
              - { id: t, component: T, environment: { n: 5 } }
              - { id: u, component: U, environment: { n: 5 } }
              - { id: v, kind: group, environment: { n: 5 }, children: [{ id: t, component: T }] }
              - { id: w, kind: group, environment: { n: 5 }, children: [{ id: t, component: T, environment: { n: =env.n * 10 } }] }
            """)
        for (path, n, m) in [("/t", 6, 10), ("/v/t", 6, 10), ("/u", 51, 100), ("/w/t", 51, 100)]
            as [(String, Value, Value)]
        {
            #expect(try graph.value(path + "/r.n") == n && graph.value(path + "/r.m") == m, "\(path)")
        }
        let export = try graph.runtime.graph.scene(at: .root, limit: 100)
        let again = try Harness(document: export)
        #expect(try again.value("/q/r.g") == graph.value("/q/r.g"))
        #expect(try again.runtime.graph.scene(at: .root, limit: 100) == export)
    }
}

@Suite("Containers and sections")
struct ContainerTests {
    @Test("featured section on top: marking another one moves it, in content given to a component") func magazine()
        throws
    {
        let graph = try Harness(
            """
            keys: { container: { isFeatured: false } }
            components:
              Magazine:
                kind: container
                state: { chosen: none of the content's business }
                computed:
                  featured: sections.filter(s, s.containerValues.isFeatured).map(s, s.id)
                  order: featured + sections.filter(s, !s.containerValues.isFeatured).map(s, s.id)
                  views: subviews.filter(s, s.containerValues.isFeatured).map(s, s.id)
            nodes:
              - id: content
                state: { chosen: second }
                children:
                  - id: magazine
                    component: Magazine
                    children:
                      - { id: first, containerValues: { isFeatured: '=chosen == self.id' }, header: [{ id: title }], content: [{ id: red }, { id: orange }] }
                      - { id: second, containerValues: { isFeatured: '=chosen == self.id' }, content: [{ id: green }] }
                      - { id: loose }
            """)
        try graph.subscribe(["/content/magazine.order", "/content/magazine.views"], initial: true)
        #expect(
            graph.changes == [
                "/content/magazine.order": .value(["second", "first", "loose"]),
                "/content/magazine.views": .value(["second/green"]),
            ])
        try graph.set("/content.chosen", "first")
        #expect(
            graph.changes == [
                "/content/magazine.order": .value(["first", "second", "loose"]),
                "/content/magazine.views": .value(["first/red", "first/orange"]),
            ])
    }

    @Test("sections have header, content and footer; subviews around them form sections of their own; slices work")
    func sections() throws {
        let graph = try Harness(
            """
            nodes:
              - id: box
                kind: container
                computed:
                  ids: sections.map(s, s.id)
                  heads: sections.map(s, s.header.map(v, v.id))
                  contents: sections.map(s, s.content.map(v, v.id))
                  feet: sections.map(s, s.footer.map(v, v.id))
                  all: subviews.map(s, s.id)
                  rest: subviews.slice(1, 3).map(s, s.id)
                  places: subviews.map(s, s.index)
                  count: sections.size()
                children:
                  - { id: a }
                  - { id: g, kind: group, children: [{ id: b }, { id: inner, content: [{ id: c }] }, { id: d }] }
                  - { id: e }
                  - { id: s, header: [{ id: h1 }, { id: h2 }], content: [{ id: f }, { id: deep, children: [{ id: hidden }] }], footer: [{ id: foot }] }
            """)
        #expect(try graph.value("/box.contents") == [["a", "g/b"], ["g/inner/c"], ["g/d", "e"], ["s/f", "s/deep"]])
        #expect(try graph.value("/box.ids") == ["a", "g/inner", "g/d", "s"])
        #expect(try graph.value("/box.heads") == [[], [], [], ["s/h1", "s/h2"]])
        #expect(try graph.value("/box.feet") == [[], [], [], ["s/foot"]])
        #expect(try graph.value("/box.all") == ["a", "g/b", "g/inner/c", "g/d", "e", "s/f", "s/deep"])
        #expect(try graph.value("/box.rest") == ["g/b", "g/inner/c"])
        #expect(try graph.value("/box.places") == [0, 1, 2, 3, 4, 5, 6])
        try graph.succeed(.remove(path: "/box/s", .init()))
        #expect(try graph.value("/box.count") == 3)
    }

    @Test(
        "innermost wins, groups and forEach mark all inside, a container in between stops, parts of a key keep the rest"
    ) func values() throws {
        let graph = try Harness(
            """
            keys: { container: { mark: 0, pin: { default: { a: 1, b: 2 } } } }
            nodes:
              - id: box
                kind: container
                state: { items: [{ id: x }, { id: y }] }
                computed:
                  marks: subviews.map(s, s.containerValues.mark)
                  pins: subviews.map(s, s.containerValues.pin)
                  own: sections.map(s, s.containerValues.mark)
                children:
                  - { id: one, containerValues: { mark: 1, pin.b: 20 } }
                  - id: g
                    kind: group
                    containerValues: { mark: 2, pin.a: 10 }
                    children: [{ id: two }, { id: three, containerValues: { mark: 3, pin.b: 30 } }]
                  - { id: rows, containerValues: { mark: 4 }, forEach: { in: $items, node: { kind: view } } }
                  - { id: stack, children: [{ id: hidden, containerValues: { mark: 9 } }] }
                  - { id: s, containerValues: { mark: 5 }, content: [{ id: four }] }
            """)
        #expect(try graph.value("/box.marks") == [1, 2, 3, 4, 4, 0, 5])
        #expect(
            try graph.value("/box.pins") == [
                ["a": 1, "b": 20], ["a": 10, "b": 2], ["a": 10, "b": 30], ["a": 1, "b": 2], ["a": 1, "b": 2],
                ["a": 1, "b": 2], ["a": 1, "b": 2],
            ])
        #expect(try graph.value("/box.own") == [0, 5])
    }

    @Test("a container value that changes runs the readers of its own container alone") func precision() throws {
        let graph = try Harness(
            """
            keys: { container: { mark: 0 } }
            nodes:
              - id: outer
                kind: container
                computed: { marks: "subviews.map(s, s.containerValues.mark)" }
                children:
                  - id: inner
                    kind: container
                    state: { m: 1 }
                    computed: { marks: "subviews.map(s, s.containerValues.mark)" }
                    children: [{ id: a, kind: view, containerValues: { mark: =m } }]
            """)
        try graph.subscribe(["/outer.marks", "/outer/inner.marks"], initial: true)
        #expect(graph.changes == ["/outer.marks": .value([0]), "/outer/inner.marks": .value([1])])
        _ = graph.runs()
        try graph.set("/outer/inner.m", 2)
        #expect(!graph.runs().contains("/outer.marks"))
        #expect(graph.changes == ["/outer/inner.marks": .value([2])])
    }

    @Test("tags are found by type as well as value, on wrappers too, and tag() gives them back") func tags() throws {
        let graph = try Harness(
            """
            nodes:
              - id: picker
                kind: container
                state: { selection: { type: dyn, initial: 1 } }
                computed:
                  selected: subviews.filter(s, s.hasTag(selection)).map(s, s.id)
                  all: subviews.map(s, s.tag)
                  again: subviews.map(s, s.tag())
                children:
                  - { id: int, tag: 1 }
                  - { id: text, tag: "1" }
                  - { id: double, tag: 1.0 }
                  - { id: none }
                  - { id: g, kind: group, tag: 2, children: [{ id: two }, { id: three, tag: 3 }] }
            """)
        #expect(try graph.value("/picker.selected") == ["int"])
        #expect(try graph.value("/picker.all") == [1, "1", 1.0, .null, 2, 3])
        try graph.set("/picker.selection", "1")
        #expect(try graph.value("/picker.selected") == ["text"])
        try graph.set("/picker.selection", 1.0)
        #expect(try graph.value("/picker.selected") == ["double"])
        try graph.set("/picker.selection", 2)
        #expect(try graph.value("/picker.selected") == ["g/two"])
    }

    @Test("a parameter's default can be a rule over what the node inherits; a use replaces it") func ruleDefaults()
        throws
    {
        let graph = try Harness(
            """
            keys: { environment: { scale: 2 } }
            components:
              Label:
                let:
                  size: { default: =env.scale * 10, type: double }
                  name: { default: =self.id }
                computed: { text: "name + ' ' + string(size)" }
            nodes:
              - { id: g, environment: { scale: 3 }, children: [{ id: a, component: Label }] }
              - { id: b, component: Label, let: { size: 1.5, name: own } }
            """)
        #expect(try graph.value("/g/a.size") == 30.0 && graph.value("/g/a.name") == "a")
        #expect(try graph.value("/b.text") == "own 1.5")
        try graph.subscribe(["/g/a.size", "/b.size"], initial: true)
        _ = graph.runs()
        _ = try graph.apply("nodes: [{ id: g, environment: { scale: 4 } }]")
        #expect(graph.changes["/g/a.size"] == .value(40.0))
        #expect(!graph.runs().contains("/b.size"))
        let wrong = refusal {
            _ = try graph.apply("components: { C: { let: { size: { default: =self.id, type: int } } } }")
        }
        #expect(wrong?.message.contains("'default' is an int, but this is a string") == true, "\(wrong?.message ?? "")")
    }

    @Test("a node has a tag of each type: its own, its element's id, and those of wrappers; the innermost wins")
    func severalTags() throws {
        let graph = try Harness(
            """
            nodes:
              - id: picker
                state: { items: { type: list, initial: [{ id: 1, name: a }, { id: x, name: b }] }, outer: 2 }
                computed:
                  all: subviews.map(s, s.tag)
                  first: subviews.map(s, s.tag())
                  texts: subviews.map(s, s.tag(string))
                  ones: subviews.filter(s, s.hasTag(1)).size()
                  lists: subviews.filter(s, s.hasTag([1])).size()
                children:
                  - { id: both, tag: [7, seven, 8] }
                  - id: g
                    kind: group
                    tag: $outer
                    children: [{ id: inner, tag: in }, { id: same, tag: 3 }]
                  - { id: rows, forEach: { in: $items, as: item, node: { tag: $item.name } } }
                  - { id: plain, forEach: { in: [1, u], id: self, node: {} } }
                  - { if: outer > 0, then: [{ id: chosen }] }
            """)
        #expect(
            try graph.value("/picker.all") == [
                [7, "seven"], ["in", 2], 3, ["a", 1], "b", 1, "u", .null,
            ])
        #expect(try graph.value("/picker.first") == [7, "in", 3, "a", "b", 1, "u", .null])
        #expect(try graph.value("/picker.texts") == ["seven", "in", .null, "a", "b", .null, "u", .null])
        #expect(try graph.value("/picker.ones") == 2)
        #expect(try graph.value("/picker.lists") == 0)
        try graph.subscribe(["/picker.texts", "/picker.ones"], initial: true)
        try graph.set("/picker.items", [["id": "y", "name": "c"], ["id": 1, "name": "a"]])
        #expect(graph.changes["/picker.texts"] == .value(["seven", "in", .null, "c", "a", .null, "u", .null]))
        #expect(try graph.value("/picker.ones") == 2, "the element has moved")
        try graph.set("/picker.items", [["id": "y", "name": "c"]])
        #expect(try graph.value("/picker.ones") == 1)
    }

    @Test("keys that are declared again, or anew, reach who gathers their values") func declaredAgain() throws {
        func keys(_ width: Int, _ reduce: String) -> String {
            "keys: { container: { width: \(width) }, preference: { height: { default: \(width), reduce: \(reduce) } } }"
        }
        let graph = try Harness(
            """
            \(keys(1, "value + next"))
            nodes:
              - id: n
                computed: { width: "subviews[0].containerValues.width", loose: "sections[0].containerValues.width", height: preferences.height }
                children: [{ id: v, kind: view }]
              - id: p
                computed: { height: preferences.height }
                children: [{ id: a, kind: view, preferences: { height: 3 } }, { id: b, kind: view, preferences: { height: 4 } }]
            """)
        try graph.subscribe(["/**"], initial: true)
        #expect(try graph.value("/p.height") == 7)
        _ = try graph.apply(keys(2, "value * next"))
        #expect(
            graph.changes == [
                "/n.width": .value(2), "/n.loose": .value(2), "/n.height": .value(2), "/p.height": .value(12),
            ])
        _ = try graph.apply(
            "keys: { container: { depth: 5 } }\nnodes: [{ id: n, computed: { depth: 'subviews[0].containerValues.depth' } }]"
        )
        #expect(try graph.value("/n.depth") == 5)
        _ = graph.runs()
        _ = try graph.apply(keys(2, "value * next"))
        #expect(graph.runs() == [])
    }
}

@Suite("Preferences")
struct PreferenceTests {
    static let scene = """
        keys:
          preference:
            title: { default: untitled, reduce: 'value + "+" + next' }
            last: { default: 0 }
        nodes:
          - id: top
            kind: container
            computed: { title: preferences.title, last: preferences.last }
            children:
              - id: left
                kind: container
                state: { on: a }
                children:
                  - { id: one, kind: view, preferences: { title: =on, last: 1 } }
                  - { id: two, kind: view, preferences: { title: b } }
              - { id: right, kind: view, state: { t: c }, preferences: { title: =t, last: 2 } }
              - { id: quiet, kind: container, computed: { title: preferences.title }, children: [{ id: v, kind: view }] }

        """

    private var scene: String {
        PreferenceTests.scene.replacing("state: { on: a }", with: "state: { s: a }").replacing(
            "preferences: { title: =on, last: 1 }", with: "let: { s: =s }, preferences: { title: =s, last: 1 }")
    }

    @Test("writers are merged in the order of the tree; one passes through, none gives the default") func order() throws
    {
        let graph = try Harness(scene)
        #expect(try graph.value("/top.title") == "a+b+c")
        #expect(try graph.value("/top.last") == 2)
        #expect(try graph.value("/top/quiet.title") == "untitled")
        try graph.set("/top/left.s", "A")
        #expect(try graph.value("/top.title") == "A+b+c")
        try graph.succeed(.move(path: "/top/right", to: nil, index: 0, .init()))
        #expect(try graph.value("/top.title") == "c+A+b")
        try graph.succeed(.remove(path: "/top/left", .init()))
        #expect(try graph.value("/top.title") == "c")
    }

    @Test("nothing is computed until somebody reads, and then only the way that changed") func lazy() throws {
        let graph = try Harness(scene)
        try graph.set("/top/left.s", "B")
        #expect(graph.runtime.graph.counters.evaluations == 0)
        try graph.subscribe(["/top.title"], initial: true)
        _ = graph.runs()
        let before = graph.runtime.graph.counters.evaluations
        try graph.set("/top/right.t", "C")
        #expect(graph.changes == ["/top.title": .value("B+b+C")])
        #expect(!graph.runs().contains { $0.hasPrefix("/top/left") })
        // The writer's rule, its output, the merged preference and the rule that reads it.
        #expect(graph.runtime.graph.counters.evaluations - before <= 5)
    }

    @Test(
        "preferredColorScheme travels up to the presentation that shows the content, and sets the scheme for all of it")
    func colorScheme() throws {
        let graph = try Harness(
            """
            keys: { preference: { preferredColorScheme: { default: null, type: "string?" } } }
            components:
              Content: { state: { wish: { type: "string?", initial: dark } }, preferences: { preferredColorScheme: =wish }, inherit: [colorScheme] }
            nodes:
              - id: window
                inherit: [colorScheme]
                children:
                  - id: popover
                    environment: { colorScheme: "=preferences.preferredColorScheme == null ? env.colorScheme : preferences.preferredColorScheme" }
                    children:
                      - { id: content, component: Content }
                      - { id: frame, inherit: [colorScheme] }
            """)
        try graph.subscribe(
            ["/window.colorScheme", "/window/popover/frame.colorScheme", "/window/popover/content.colorScheme"],
            initial: true)
        #expect(
            graph.changes == [
                "/window.colorScheme": .value("light"), "/window/popover/frame.colorScheme": .value("dark"),
                "/window/popover/content.colorScheme": .value("dark"),
            ])
        try graph.set("/window/popover/content.wish", .null)
        #expect(
            graph.changes == [
                "/window/popover/frame.colorScheme": .value("light"),
                "/window/popover/content.colorScheme": .value("light"),
            ])
        try graph.set("/.colorScheme", "dark")
        #expect(graph.changes.count == 3)
    }
}
