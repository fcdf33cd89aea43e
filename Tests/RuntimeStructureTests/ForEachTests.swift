import AttributeValues
import TestSupport
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("forEach")
struct ForEachTests {
    static let count = 10_000

    private static func element(_ id: Int) -> Value { ["id": .string("e\(id)"), "n": .int(Int64(id))] }

    /// 10,000 watched instances.
    private func large() throws -> Harness {
        let graph = try Harness(listScene)
        try graph.set("/app.items", .list((0..<ForEachTests.count).map(ForEachTests.element)))
        try graph.subscribe(["/app/rows/*.text"], initial: true)
        #expect(graph.changes.count == ForEachTests.count)
        try graph.set("/app/rows/e9000.open", true)
        _ = graph.runs()
        return graph
    }

    /// What one change may touch, whatever the number of elements: vertices evaluated, written and marked.
    private func expectFew(_ graph: Harness, _ comment: Comment, _ change: () throws -> Void) rethrows {
        let before = graph.runtime.graph.counters
        try change()
        let after = graph.runtime.graph.counters
        #expect(after.evaluations - before.evaluations <= 12, comment)
        #expect(after.writes - before.writes <= 12, comment)
        #expect(after.invalidations - before.invalidations <= 24, comment)
    }

    @Test("instances show the elements of the list that their component is bound to anew") func rebound() throws {
        let rows = """
            components:
              Rows:
                binding: { items: { type: list } }
                children:
                  - id: rows
                    forEach:
                      in: $items
                      as: item
                      node: { kind: view, binding: { n: $item.n }, computed: { ten: n * 10, whole: item.n } }
            """
        func scene(_ list: String) -> String {
            """
            \(rows)
            nodes:
              - id: top
                state: { a: [{ id: x, n: 1 }], b: [{ id: x, n: 2 }] }
                children: [{ id: list, component: Rows, binding: { items: \(list) } }]
            """
        }
        let graph = try Harness(scene("$a"))
        let names = ["item", "n", "ten", "whole"].map { "/top/list/rows/x.\($0)" }
        func changes() -> [Value?] { names.map { graph.changes[$0]?.value } }
        try graph.subscribe(["/top/list/rows/x.*"], initial: true)
        _ = try graph.apply(scene("$b"), mode: .merge)
        #expect(changes() == [["id": "x", "n": 2], 2, 20, 2])
        try graph.set(names[1], 3)
        #expect(changes() == [["id": "x", "n": 3], 3, 30, 3])
        #expect(try graph.get("/top.a") == .value([["id": "x", "n": 1]]))
        #expect(try graph.get("/top.b") == .value([["id": "x", "n": 3]]))
    }

    @Test("an instance follows an element whose number becomes a text") func otherID() throws {
        let graph = try Harness(listScene)
        try graph.set("/app.items", [["id": 1, "n": 1]])
        try graph.subscribe(["/app/rows/1.*"], initial: true)
        try graph.set("/app.items", [["id": "1", "n": 2]])
        let names = ["item", "n", "text"].map { "/app/rows/1.\($0)" }
        #expect(names.map { graph.changes[$0]?.value } == [["id": "1", "n": 2], 2, "2"])
    }

    @Test("what is inherited follows a binding that is bound anew") func reboundEnvironment() throws {
        func scene(_ source: String) -> String {
            """
            keys: { environment: { k: { default: 0 }, g: { default: { x: 0 } } } }
            components:
              Around:
                binding: { v: { type: int }, m: { type: map } }
                environment: { k: $v, g: $m }
                children:
                  - id: inner
                    children:
                      - { id: c, kind: view, inherit: [k, g], computed: { d: k + 1, e: g.x + 1 } }
            nodes:
              - id: top
                state: { a: 1, b: 2, ma: { x: 10 }, mb: { x: 20 } }
                children: [{ id: use, component: Around, binding: { v: $\(source), m: $m\(source) } }]
            """
        }
        let graph = try Harness(scene("a"))
        let names = ["k", "d", "g", "e"].map { "/top/use/inner/c.\($0)" }
        func changes() -> [Value?] { names.map { graph.changes[$0]?.value } }
        try graph.subscribe(["/top/use/inner/c.*"], initial: true)
        #expect(changes() == [1, 2, ["x": 10], 11])
        _ = try graph.apply(scene("b"), mode: .merge)
        #expect(changes() == [2, 3, ["x": 20], 21])
        try graph.set("/top.b", 5)
        #expect(changes() == [5, 6, nil, nil])
        try graph.set("/top.mb", ["x": 50])
        #expect(changes() == [nil, nil, ["x": 50], 51])
    }

    @Test("a key path identifies elements: they keep their states, and can be bound and named by it")
    func idPath() throws {
        let graph = try Harness(
            """
            nodes:
              - id: list
                kind: container
                state: { items: { type: list, initial: [{ meta: { uuid: a }, done: false }, { meta: { uuid: b }, done: false }] } }
                children:
                  - id: rows
                    forEach:
                      in: $items
                      id: meta.uuid
                      as: item
                      node: { state: { isOpen: false }, binding: { done: $item.done } }
                  - { id: b, binding: { done: '$items[meta.uuid="b"].done' } }
                  - { id: quoted, binding: { done: '$items["meta.uuid"="b"].done' } }
            """)
        #expect(try graph.value("/list/rows.elements") == ["a", "b"])
        try graph.set("/list/rows/b.isOpen", true)
        try graph.set("/list/rows/b.done", true)
        #expect(try graph.value("/list/b.done") == true && graph.value("/list/quoted.done") == true)
        try graph.set("/list/b.done", false)
        #expect(try graph.value("/list.items[1].done") == false)
        try graph.set(
            "/list.items",
            [["meta": ["uuid": "b"], "done": true], ["meta": ["uuid": "c"], "done": false]])
        #expect(try graph.value("/list/rows.elements") == ["b", "c"])
        #expect(try graph.value("/list/rows/b.isOpen") == true && graph.value("/list/b.done") == true)
        try graph.set("/list.items", [["meta": ["id": "b"]]])
        #expect(try graph.get("/list/rows.elements").failure?.message == "element 0 has no usable meta.uuid")
    }

    @Test("a parameter named as the element or the index takes its name: one attribute to a path") func shadowed()
        throws
    {
        let graph = try Harness(
            """
            components: { Row: { let: [item, place], computed: { t: string(item) } } }
            nodes:
              - id: l
                state: { items: [{ id: x, title: T1 }] }
                children:
                  - { id: rows, forEach: { in: $items, as: item, index: place, component: Row, let: { item: =item.title, place: =place + 1 } } }
            """)
        try graph.subscribe(["/l/rows/**"], events: [.update, .structure], initial: true)
        func paths() -> [String] { graph.told.map(\.path) }
        #expect(paths().sorted() == ["/l/rows.elements", "/l/rows/x.item", "/l/rows/x.place", "/l/rows/x.t"])
        #expect(graph.changes["/l/rows/x.item"] == .value("T1") && graph.changes["/l/rows/x.place"] == .value(1))
        try graph.set("/l.items", [["id": "y", "title": "T3"], ["id": "x", "title": "T2"]])
        #expect(
            Set(paths()).count == paths().count && graph.changes["/l/rows/x.item"] == .value("T2")
                && graph.changes["/l/rows/x.place"] == .value(2))
        let (added, removed, moved, _) = try #require(graph.structures.first)
        #expect(added.sorted() == ["/l/rows/y", "/l/rows/y.item", "/l/rows/y.place", "/l/rows/y.t"])
        #expect(moved.isEmpty && removed.isEmpty)
        // The parameter goes: the names are the element's and the index's again.
        _ = try graph.apply(
            """
            components: { Row: { computed: { t: '"?"' } } }
            nodes:
              - { id: rows, forEach: { in: $items, as: item, index: place, component: Row } }
            """, at: "/l")
        #expect(
            graph.changes["/l/rows/x.item"] == .value(["id": "x", "title": "T2"])
                && graph.changes["/l/rows/x.place"] == .value(1))
        #expect(Set(paths()).count == paths().count)
        #expect(try graph.value("/l/rows/x.item") == ["id": "x", "title": "T2"] && graph.value("/l/rows/x.place") == 1)
    }

    @Test(
        "an insertion among 10,000 runs the new instance's rule alone and touches a handful of vertices",
        arguments: [0, 5000, 10_000])
    func insertion(_ place: Int) throws {
        let graph = try large()
        try expectFew(graph, "insertion at \(place)") {
            try graph.transact([
                Mutation(operation: .insert, path: "/app.items", value: ["id": "new", "n": -1], index: Int(place))
            ])
        }
        #expect(graph.runs() == ["/app/rows/new.text"])
        #expect(graph.changes == ["/app/rows/new.text": .value("-1")])
        #expect(try graph.value("/app/rows/e9000.text") == "9000!")
        #expect(try graph.value("/app/rows/new.index") == .int(Int64(place)))
        // The subscription of a survivor goes on.
        try graph.set("/app/rows/e9000.n", 1)
        #expect(graph.changes == ["/app/rows/e9000.text": .value("1!")])
    }

    @Test("a removal among 10,000 runs no rule, and only what went is told") func removal() throws {
        let graph = try large()
        try expectFew(graph, "removal") {
            try graph.transact([Mutation(operation: .remove, path: "/app.items[id=\"e17\"]")])
        }
        #expect(graph.runs() == [])
        #expect(Array(graph.changes.keys) == ["/app/rows/e17.text"])
        #expect(graph.changes["/app/rows/e17.text"]?.failure?.code == .removed)
        #expect(try graph.value("/app/rows/e9000.text") == "9000!")
    }

    @Test("a move among 10,000 runs no rule, wakes nobody who watches values, and only what moved is told") func move()
        throws
    {
        let graph = try large()
        try graph.subscribe(["/app/rows/*"], events: .structure, from: 2)
        try expectFew(graph, "move") {
            try graph.transact([
                Mutation(operation: .remove, path: "/app.items[id=\"e9000\"]"),
                Mutation(operation: .insert, path: "/app.items", value: ForEachTests.element(9000), index: 3),
            ])
        }
        #expect(graph.runs() == [])
        #expect(graph.changes.isEmpty)
        #expect(graph.events.count == 1)
        let (added, removed, moved, _) = try #require(graph.structures.first)
        #expect(added.isEmpty && removed.isEmpty && moved == ["/app/rows/e9000"])
        #expect(try graph.value("/app/rows/e9000.text") == "9000!")
        #expect(try graph.value("/app/rows/e9000.index") == 3)
    }

    @Test("a change of one element's field runs that instance's rule alone") func element() throws {
        let graph = try large()
        try expectFew(graph, "write") { try graph.set("/app.items[4000].n", 7) }
        #expect(graph.runs() == ["/app/rows/e4000.text"])
        try expectFew(graph, "write through the binding") { try graph.set("/app/rows/e4001.n", 8) }
        #expect(graph.runs() == ["/app/rows/e4001.text"])
    }

    @Test("only the readers of an index are told of a new one") func index() throws {
        let graph = try Harness(
            """
            nodes:
              - id: app
                state: { items: [{ id: a }, { id: b }, { id: c }, { id: d }] }
                children:
                  - id: rows
                    forEach: { in: $items, index: place, node: { computed: { number: place + 1, own: self.index } } }
            """)
        try graph.subscribe(["/app/rows/*.number", "/app/rows/*.own"], initial: true)
        _ = graph.runs()
        try graph.transact([Mutation(operation: .remove, path: "/app.items[1]")])
        #expect(
            graph.runs().sorted() == ["/app/rows/c.number", "/app/rows/c.own", "/app/rows/d.number", "/app/rows/d.own"])
        #expect(try graph.value("/app/rows/d.number") == 3)
        #expect(try graph.value("/app/rows/a.place") == 0)
        try graph.set("/app.items", [["id": "d"], ["id": "a"], ["id": "c"]])
        #expect(
            graph.runs().sorted()
                == [
                    "/app/rows/a.number", "/app/rows/a.own", "/app/rows/c.number", "/app/rows/c.own",
                    "/app/rows/d.number", "/app/rows/d.own",
                ].sorted())
        #expect(try graph.value("/app/rows/c.own") == 2)
        #expect(try graph.value("/app/rows.elements") == ["d", "a", "c"])
    }

    @Test("self.index follows the siblings, whoever reads it") func selfIndex() throws {
        let graph = try Harness(
            """
            components: { C: { computed: { i: self.index } } }
            nodes:
              - { id: p, children: [{ id: a, component: C }, { id: b, component: C }, { id: c, component: C }] }
              - id: app
                state: { items: [{ id: a }, { id: b }, { id: c }] }
                children:
                  - id: rows
                    forEach: { in: $items, node: { computed: { own: self.index } } }
            """)
        try graph.subscribe(["/p/*.i", "/app/rows/*.own"], initial: true)
        #expect(try graph.value("/p/c.i") == 2)
        try graph.succeed(.remove(path: "/p/a", TransactionOptions()))
        #expect(graph.changes["/p/b.i"] == .value(0) && graph.changes["/p/c.i"] == .value(1))
        try graph.succeed(.move(path: "/p/c", to: nil, index: 0, TransactionOptions()))
        #expect(try graph.value("/p/c.i") == 0)
        #expect(try graph.value("/p/b.i") == 1)
        try graph.transact([Mutation(operation: .remove, path: "/app.items[0]")])
        #expect(graph.changes["/app/rows/b.own"] == .value(0) && graph.changes["/app/rows/c.own"] == .value(1))
    }

    @Test("duplicate ids are an error that names them, and all instances stay until the list is right")
    func duplicates() throws {
        let graph = try Harness(listScene)
        try graph.set("/app.items", [["id": "x", "n": 1], ["id": "y", "n": 2], ["id": "z", "n": 3]])
        try graph.set("/app/rows/y.open", true)
        try graph.subscribe(["/app/rows.elements"], initial: true)
        try graph.set(
            "/app.items", [["id": "x", "n": 1], ["id": "z", "n": 3], ["id": "z", "n": 4], ["id": "x", "n": 5]])
        let failure = try #require(graph.changes["/app/rows.elements"]?.failure)
        #expect(failure.code == .conflict && failure.path == "/app/rows")
        #expect(
            failure.message.contains("\"z\"") && failure.message.contains("\"x\"") && !failure.message.contains("\"y\"")
        )
        #expect(try graph.value("/app/rows/y.open") == true)
        try graph.set("/app.items", [["id": "z", "n": 3], ["id": "y", "n": 2]])
        #expect(graph.changes["/app/rows.elements"] == .value(["z", "y"]))
        #expect(try graph.value("/app/rows/y.text") == "2!")
        #expect(refusal { try graph.get("/app/rows/x.text") }?.code == .notFound)
    }

    @Test(
        "ids that would name the same node, or none, are an error",
        arguments: [
            ("[1, \"1\"]", "conflict"), ("[\"a\", \"a\"]", "conflict"), ("[\"\"]", "invalid"), ("[\"**\"]", "invalid"),
            ("[\"" + String(repeating: "x", count: 300) + "\"]", "invalid"), ("[1.5]", "typeMismatch"),
        ])
    func badIDs(_ list: String, _ code: String) throws {
        let graph = try Harness(
            """
            nodes:
              - { id: app, state: { names: [ok] }, children: [{ id: rows, forEach: { in: $names, id: self, node: {} } }] }
            """)
        try graph.set("/app.names", try JSONParser.parseOnce(list.utf8))
        #expect(try graph.get("/app/rows.elements").failure?.code.rawValue == code)
        try graph.set("/app.names", ["fine", "ok"])
        #expect(try graph.value("/app/rows.elements") == ["fine", "ok"])
    }

    @Test("data that fails or is no list is the forEach's error, and heals") func badData() throws {
        let graph = try Harness(
            """
            nodes:
              - id: app
                state: { text: "[1,2]", n: 0 }
                children:
                  - { id: rows, forEach: { in: "=lists.range(6 / n)", id: self, as: i, node: { let: { square: =i * i } } } }
            """)
        #expect(try graph.get("/app/rows.elements").failure?.message.contains("division by zero") == true)
        try graph.set("/app.n", 2)
        #expect(try graph.value("/app/rows/2.square") == 4)
        try graph.set("/app.n", 0)
        #expect(try graph.value("/app/rows/2.square") == 4)
        try graph.set("/app.n", 3)
        #expect(try graph.value("/app/rows.elements") == [0, 1])
        #expect(refusal { try graph.get("/app/rows/2.square") }?.code == .notFound)
    }

    @Test("elements of data that a rule makes are read-only and followed") func madeData() throws {
        let graph = try Harness(
            """
            nodes:
              - id: app
                state: { items: [{ id: a, n: 1 }, { id: b, n: 2 }, { id: c, n: 3 }], limit: 1 }
                children:
                  - id: rows
                    forEach: { in: "=items.filter(i, i.n > limit)", as: item, node: { let: { n: =item.n } } }
            """)
        try graph.subscribe(["/app/rows/*.n"], initial: true)
        #expect(graph.changes == ["/app/rows/b.n": .value(2), "/app/rows/c.n": .value(3)])
        _ = graph.runs()
        try graph.set("/app.items[2].n", 30)
        #expect(graph.changes == ["/app/rows/c.n": .value(30)])
        #expect(!graph.runs().contains("/app/rows/b.n"))
        #expect(refusal { try graph.set("/app/rows/c.item", 1) }?.code == .readOnly)
        try graph.set("/app.limit", 2)
        #expect(graph.changes["/app/rows/b.n"]?.failure?.code == .removed)
    }

    @Test("a forEach inside a forEach follows its own element") func nested() throws {
        let graph = try Harness(
            """
            components:
              Folder:
                kind: container
                let: [entry]
                computed: { name: entry.name }
                children:
                  - { id: inside, forEach: { in: =entry.entries, id: name, as: child, component: Folder, let: { entry: =child } } }
            nodes:
              - id: disk
                state: { root: { name: top, entries: [{ name: usr, entries: [{ name: bin, entries: [] }] }, { name: etc, entries: [] }] } }
                children:
                  - { id: tree, component: Folder, let: { entry: $root } }
            """)
        try graph.subscribe(["/disk/tree/**.name"], initial: true)
        #expect(graph.changes["/disk/tree/inside/usr/inside/bin.name"] == .value("bin"))
        #expect(graph.changes.count == 4)
        _ = graph.runs()
        try graph.transact([
            Mutation(
                operation: .append, path: "/disk.root.entries[name=\"etc\"].entries",
                value: ["name": "hosts", "entries": []])
        ])
        #expect(graph.changes == ["/disk/tree/inside/etc/inside/hosts.name": .value("hosts")])
    }

    @Test("random changes of a list keep the instances in its order, each with its own state") func random() throws {
        let seed = freshSeed()
        var generator = SeededGenerator(seed: seed)
        let graph = try Harness(listScene)
        var list: [Int] = []
        var opened: Set<Int> = []
        for step in 0..<400 {
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: list.insert(1000 + step, at: Int.random(in: 0...list.count, using: &generator))
            case 1 where !list.isEmpty: list.remove(at: Int.random(in: 0..<list.count, using: &generator))
            case 2 where list.count > 1:
                let moved = list.remove(at: Int.random(in: 0..<list.count, using: &generator))
                list.insert(moved, at: Int.random(in: 0...list.count, using: &generator))
            default: list.shuffle(using: &generator)
            }
            try graph.set("/app.items", .list(list.map(ForEachTests.element)))
            opened.formIntersection(list)
            if let lucky = list.randomElement(using: &generator) {
                try graph.set("/app/rows/e\(lucky).open", true)
                opened.insert(lucky)
            }
            #expect(try graph.value("/app/rows.elements") == .list(list.map { .string("e\($0)") }), "seed \(seed)")
            for (place, id) in list.enumerated() {
                let text = "\(id)" + (opened.contains(id) ? "!" : "")
                #expect(try graph.value("/app/rows/e\(id).text") == .string(text), "seed \(seed), step \(step)")
                if step % 7 == 0 {
                    #expect(try graph.value("/app/rows/e\(id).index") == .int(Int64(place)), "seed \(seed)")
                }
            }
        }
    }

    @Test("another template changes the instances there are and keeps their states; other data begins anew")
    func template() throws {
        let graph = try Harness(
            """
            nodes:
              - id: app
                state: { items: [{ id: a, n: 1 }, { id: b, n: 2 }], others: [{ id: b, n: 20 }] }
                children:
                  - id: rows
                    forEach: { in: $items, as: item, node: { state: { open: false }, binding: { n: $item.n }, computed: { t: n + 1 } } }
            """)
        try graph.set("/app/rows/b.open", true)
        _ = try graph.apply(
            """
            nodes:
              - id: app
                children:
                  - id: rows
                    forEach: { in: $items, as: item, node: { state: { open: false }, binding: { n: $item.n }, computed: { t: n + 2 } } }
            """)
        #expect(try graph.value("/app/rows/a.t") == 3)
        #expect(try graph.value("/app/rows/b.open") == true)
        _ = try graph.apply(
            """
            nodes:
              - id: app
                children:
                  - id: rows
                    forEach: { in: $others, as: item, node: { state: { open: false }, binding: { n: $item.n }, computed: { t: n + 2 } } }
            """)
        #expect(try graph.value("/app/rows.elements") == ["b"])
        #expect(try graph.value("/app/rows/b.t") == 22)
        #expect(try graph.value("/app/rows/b.open") == true)
        try graph.set("/app/rows/b.n", 30)
        #expect(try graph.value("/app.others[0].n") == 30)
        #expect(try graph.value("/app.items[1].n") == 2)
    }

    @Test("a subscription by the path of an element waits while the element is gone, and ends with its list")
    func pathOfElement() throws {
        let graph = try Harness(
            """
            nodes:
              - id: top
                state: { items: [a, b] }
                children: [{ id: rows, forEach: { in: $items, id: self, node: { state: { x: 1 } } } }]
            """)
        try graph.subscribe(["/top/rows/a.x"], initial: true)
        try graph.set("/top.items", ["b"])
        #expect(graph.methods == ["update"])
        #expect(graph.changes["/top/rows/a.x"]?.failure?.code == .removed)
        try graph.set("/top.items", ["b", "a"])
        #expect(graph.changes == ["/top/rows/a.x": .value(1)])
        try graph.set("/top.items", ["b"])
        try graph.succeed(.remove(path: "/top/rows", .init()))
        #expect(graph.methods.last == "ended")
    }
}
