import AttributeValues
import Foundation
import SceneModel
import TestSupport
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// Every scene of the project.
private let exampleFiles: [String] = {
    let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    var files: [String] = []
    for folder in ["Examples", "Examples/swiftui"] {
        let names =
            (try? FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent(folder).path)) ?? []
        files += names.filter { $0.hasSuffix(".yaml") && !$0.hasSuffix(".test.yaml") }.sorted().map {
            root.appendingPathComponent("\(folder)/\($0)").path
        }
    }
    return files
}()

@Suite("Documents and the living tree")
struct DocumentTests {
    static let scene = """
        keys: { environment: { size: 1 } }
        components:
          Row: { kind: container, let: { n: { type: int } }, state: { open: false }, computed: { t: n + 1 }, children: [{ id: inside, let: { m: =n } }] }
        nodes:
          - id: top
            state: { a: 1, gone: 2 }
            environment: { size: 2 }
            computed: { b: a + 1 }
            children:
              - { id: row, component: Row, let: { n: $a } }
              - { id: old, state: { x: 1 } }
              - { id: last, computed: { size: env.size } }

        """

    static let changed = """
        keys: { environment: { size: 1 } }
        components:
          Row: { kind: container, let: { n: { type: int } }, state: { open: false }, computed: { t: n + 2 }, children: [{ id: inside, let: { m: =n * 2 } }] }
        nodes:
          - id: top
            state: { a: 1, new: 5 }
            environment: { size: 3 }
            computed: { b: a + new }
            children:
              - { id: last, computed: { size: env.size } }
              - { id: row, component: Row, let: { n: $a } }
              - { id: fresh }

        """

    @Test("replace makes the tree what the document says, keeps the states and subscriptions of what stays")
    func replace() throws {
        let graph = try Harness(applied: DocumentTests.scene)
        try graph.set("/top.a", 10)
        try graph.set("/top/row.open", true)
        try graph.subscribe(
            ["/top.b", "/top/row.t", "/top/row/inside.m", "/top/last.size", "/top/row.open"], initial: true)
        let result = try graph.apply(DocumentTests.changed, mode: .replace)
        #expect(result.map?["added"] == ["/top/fresh"] && result.map?["removed"] == ["/top/old"])
        #expect(
            graph.changes == [
                "/top.b": .value(15), "/top/row.t": .value(12), "/top/row/inside.m": .value(20),
                "/top/last.size": .value(3),
            ])
        #expect(try graph.value("/top/row.open") == true)
        #expect(refusal { try graph.get("/top.gone") }?.code == .notFound)
        #expect(try graph.children(of: "/top") == ["last", "row", "fresh"])
        // The same again changes nothing, runs nothing and wakes nobody.
        _ = graph.runs()
        let again = try graph.apply(DocumentTests.changed, mode: .replace)
        #expect(again.map?["added"] == [] && again.map?["removed"] == [] && again.map?["changed"] == [])
        #expect(graph.runs() == [] && graph.events.isEmpty)
    }

    @Test("merge completes what is there: kinds, components, names and children that are left out stay") func merge()
        throws
    {
        let graph = try Harness(DocumentTests.scene)
        try graph.set("/top.a", 10)
        let result = try graph.apply(
            """
            nodes:
              - id: top
                computed: { c: a + b }
                children:
                  - { id: row, preferences: {}, children: [{ id: added, state: { z: 1 } }] }
                  - { id: old, computed: { y: x + 1 } }
            """)
        #expect(result.map?["added"] == ["/top/row/added"] && result.map?["removed"] == [])
        #expect(try graph.value("/top.c") == 21)
        #expect(try graph.value("/top/old.y") == 2)
        #expect(try graph.value("/top/row.t") == 11)
        #expect(try graph.value("/top/row/inside.m") == 10)
        #expect(try graph.value("/top/last.size") == 2)
    }

    @Test("a dry run tells what would come, go and change, line by line, and does nothing") func dryRun() throws {
        let graph = try Harness(applied: DocumentTests.scene)
        let revision = graph.runtime.revision
        let result = try graph.apply(DocumentTests.changed, mode: .replace, dryRun: true)
        #expect(result.map?["added"] == ["/top/fresh"] && result.map?["removed"] == ["/top/old"])
        let lines = (result.map?["differences"]?.list ?? []).compactMap(\.string)
        #expect(lines.contains("~ /top.b: computed \"a + 1\" → computed \"a + new\""))
        #expect(lines.contains("+ /top.new: state 5"))
        #expect(lines.contains("- /top.gone: state 2"))
        #expect(lines.contains("~ /top environment: {\"size\":2} → {\"size\":3}"))
        #expect(lines.contains("~ /top/row/inside.m: let \"=n\" → let \"=n * 2\""))
        #expect(graph.runtime.revision == revision)
        #expect(try graph.value("/top.b") == 2)
        #expect(try graph.value("/top/old.x") == 1)
    }

    @Test(
        "a state of another type begins anew, one of the same type keeps its value whatever the document's initial one is"
    ) func states() throws {
        let graph = try Harness("nodes: [{ id: n, state: { a: 1, b: 1 } }]")
        try graph.set("/n.a", 7)
        try graph.set("/n.b", 7)
        _ = try graph.apply("nodes: [{ id: n, state: { a: 2, b: text } }]", mode: .replace)
        #expect(try graph.value("/n.a") == 7)
        #expect(try graph.value("/n.b") == "text")
    }

    @Test("values of a document set states, those of instances too, and what takes none is told") func values() throws {
        let graph = try Harness("nodes: [{ id: place, children: [] }]")
        let result = try graph.apply(
            """
            nodes:
              - id: app
                state: { items: [], n: 1 }
                children: [{ id: rows, forEach: { in: $items, node: { state: { open: false } } } }]
            values: { /app/rows/x.open: true, /app.n: 5, "/app.items": [{ id: x }], /app.nothing: 1, /app/rows/x.index: 3 }
            """, at: "/place", mode: .create)
        #expect(result.map?["unset"] == ["/place/app.nothing", "/place/app/rows/x.index"])
        #expect(try graph.value("/place/app/rows/x.open") == true)
        #expect(try graph.value("/place/app.n") == 5)
        #expect(refusal { try graph.apply("values: { /app: 1, /a..b: 2 }") }?.message.contains("2 faults") == true)
    }

    // MARK: Export

    private func tree(_ graph: Harness, _ path: String = "/") throws -> Value { .map(try graph.described(path)) }

    /// The document as YAML, applied to an empty graph.
    private func reborn(_ document: Value) throws -> Harness {
        let text = DocumentWriter.yaml(document)
        #expect(try differences(SceneReader.value(text: text), document) == [], "\(text)")
        let graph = try Harness()
        #expect(try graph.apply(document: .string(text)).map?["unset"] == nil)
        return graph
    }

    @Test("an exported scene makes an equal tree, and exports as the same", arguments: exampleFiles)
    func examples(_ file: String) throws {
        let graph = try Harness()
        for part in try SceneImports.collect(file, read: { try String(contentsOfFile: $0, encoding: .utf8) }) {
            try graph.runtime.load(part.text, file: part.path)
        }
        let document = try graph.exported()
        let other = try reborn(document)
        #expect(try differences(tree(other), tree(graph)) == [])
        #expect(try differences(other.exported(), document) == [])
    }

    @Test("an export keeps present states: of nodes, components, instances, objects, system values") func present()
        throws
    {
        let graph = try Harness(
            """
            types: { Book: { state: { title: "", pages: 1 }, computed: { long: pages > 100 } } }
            components:
              Row: { kind: container, binding: [n], state: { open: false, book: { type: Book } }, children: [{ id: deep, state: { s: 1 } }] }
            nodes:
              - id: app
                state: { items: [{ id: x, n: 1 }, { id: y, n: 2 }], text: "==", at: { type: timestamp, initial: "2026-01-01T00:00:00Z" }, book: { type: Book }, fast: { initial: 1.5, transient: true } }
                children:
                  - { id: rows, forEach: { in: $items, as: item, component: Row, binding: { n: $item.n } } }
                  - { id: single, component: Row, binding: { n: 5 }, containerValues: {}, children: [{ id: given, state: { g: 0 } }] }
            """)
        try graph.set("/app/rows/y.open", true)
        try graph.set("/app/rows/y/deep.s", 7)
        try graph.set("/app/rows/x.n", 3)
        try graph.set("/app/single.book.title", "$money")
        try graph.set("/app/single/deep.s", 8)
        try graph.set("/app/single/given.g", 9)
        try graph.set("/app.text", "$ref")
        try graph.set("/app.fast", 2)
        try graph.set("/app.at", "2027-01-01T00:00:00Z")
        try graph.set("/app.book", ["title": "Long", "pages": 500])
        try graph.set("/.colorScheme", "dark")
        let document = try graph.exported()
        let other = try reborn(document)
        #expect(try differences(tree(other), tree(graph)).joined(separator: "\n") == "")
        #expect(try differences(other.exported(), document) == [])
        #expect(
            try other.value("/app/rows/y/deep.s") == 7 && other.value("/app.text") == "$ref"
                && other.value("/app.book.long") == true)
        // And back over the tree it comes from, it changes nothing.
        let result = try graph.apply(document: document, mode: .replace, dryRun: true)
        #expect(result.map?["added"] == [] && result.map?["removed"] == [])
    }

    /// What no literal of JSON says without its type.
    private static var odd: [Value] {
        [
            .bytes([104, 105]), .bytes([]), .uint(5), .uint(.max), .double(.nan), .double(-.infinity), .double(-0.0),
            5.0, .type("int"),
            .timestamp(.epoch), .duration(TimeSpan(nanoseconds: 1_000_000_005)), .optional(1), .optional(nil),
            ["$typed": 1], ["initial": 1],
            .map(ValueMap([(.int(1), .uint(2)), (.bool(true), .null)])), .list([.uint(1), .bytes([0]), "=x"]), "=x",
            "$x", .null,
            .opaque(ColorValue(Color(linearRed: 0.1, green: 0.2, blue: 0.3))), .opaque(VectorValue([1, .nan])),
        ]
    }

    @Test(
        "an export keeps values that plain literals do not say, and types, as YAML and as JSON",
        arguments: [true, false])
    func typedLiterals(isYAML: Bool) throws {
        let names = DocumentTests.odd.indices.map { "d\($0)" }
        let states = names.map { "\($0): { type: dyn }" }.joined(separator: ", ")
        let graph = try Harness(
            """
            keys:
              environment: { u: { default: 5, type: uint }, d: .nan, grouped: { b: !!binary aGk= } }
              container: { c: !!binary aGk= }
            types: { Box: { state: { u: { initial: 5, type: uint }, at: { type: "timestamp?" }, d: .inf } } }
            components: { Cell: { state: { \(states), n: { initial: 1, type: uint }, b: { type: "bytes?" }, nan: .nan } } }
            nodes:
              - id: a
                state: { \(states), u: { initial: 5, type: uint }, b: !!binary aGk=, d: 1.5, at: { type: "timestamp?" }, us: { initial: [1], type: list(uint) }, big: 18446744073709551615 }
                let: { nan: .nan, bytes: !!binary aGk=, list: [.inf] }
                tag: !!binary aGk=
                environment: { u: 6, d: -.inf }
                children: [{ id: cell, component: Cell }, { id: box, state: { box: { type: Box } }, inherit: [u, d, grouped] }]
            """)
        for (name, value) in zip(names, DocumentTests.odd) {
            try graph.set("/a.\(name)", value)
            try graph.set("/a/cell.\(name)", value)
        }
        let changes: [(String, Value)] = [
            ("/a.d", .double(.nan)), ("/a.at", .timestamp(.epoch)), ("/a.us", [7]), ("/a/cell.n", 8),
            ("/a/cell.b", .bytes([1])),
            ("/a/box.box.u", 9), ("/a/box.box.at", .timestamp(.epoch)),
        ]
        for (path, value) in changes { try graph.set(path, value) }
        // As it comes through a connection.
        let document = try JSONParser.parseOnce(graph.exported().jsonText.utf8)
        let text = isYAML ? DocumentWriter.yaml(document) : document.jsonText
        let other = try Harness(document: .string(text))
        for (name, value) in zip(names, DocumentTests.odd) {
            #expect(try other.value("/a.\(name)").typedJSON == value.typedJSON, "\(text)")
            #expect(try other.value("/a/cell.\(name)").typedJSON == value.typedJSON)
        }
        #expect(try differences(tree(other), tree(graph)) == [], "\(text)")
        #expect(try differences(JSONParser.parseOnce(other.exported().jsonText.utf8), document) == [])
        // And as a value.
        #expect(try differences(tree(Harness(document: document)), tree(graph)) == [])
    }

    @Test("an export tells which names lead nowhere in what a forEach makes, and none that lead somewhere")
    func danglingTemplates() throws {
        let graph = try Harness(
            """
            components: { C: { kind: container, let: [n], computed: { t: n }, children: [{ id: own, let: { m: =n } }] } }
            nodes:
              - id: p
                state: { x: 1, y: 2, z: 3, items: [{ id: a, sub: [] }] }
                children:
                  - id: rows
                    forEach:
                      in: $items
                      as: item
                      node:
                        kind: container
                        state: { s: 1 }
                        let: { w: =x + size(item.id) }
                        computed: { own: s + w }
                        tag: =index
                        containerValues: {}
                        children:
                          - { id: in, let: { v: $s, far: $y }, tag: =v }
                          - { id: use, component: C, let: { n: =s }, children: [{ id: given, let: { q: =z } }] }
                          - { id: deep, forEach: { in: =item.sub, as: part, node: { let: { e: $part.n, f: =s } } } }
              - { id: q, kind: container, state: { items: [] } }
            """)
        #expect(try graph.exported().map?["dangling"] == nil)
        try graph.succeed(.move(path: "/p/rows", to: "/q", index: nil, .init()))
        let document = try graph.exported()
        #expect(document.map?["dangling"] == ["x", "y", "z"])
        let other = try Harness(document: document)
        try other.set("/q.items", [["id": "a", "sub": []]])
        #expect(try other.get("/q/rows/a.w").failure != nil && other.value("/q/rows/a/in.v") == 1)
    }

    @Test("an export tells which names lead nowhere, and is applied with them") func dangling() throws {
        let graph = try Harness(
            """
            nodes:
              - id: p
                state: { x: 1 }
                children: [{ id: k, kind: container, let: { w: $x, r: =x + 1 }, binding: { b: $x }, tag: =x, children: [{ id: in, let: { v: $w } }] }]
              - { id: q, kind: container }
            """)
        #expect(try graph.exported().map?["dangling"] == nil)
        try graph.succeed(.move(path: "/p/k", to: "/q", index: nil, .init()))
        let document = try graph.exported()
        #expect(document.map?["dangling"] == ["x"])
        let other = try reborn(document)
        #expect(try other.get("/q/k.w").failure?.code == .dangling && other.get("/q/k/in.v").failure?.code == .dangling)
        #expect(try other.get("/q/k.r").failure?.code == .notFound)
        #expect(try differences(other.exported(), document) == [])
        try other.succeed(.move(path: "/q/k", to: "/p", index: nil, .init()))
        #expect(try other.value("/p/k.r") == 2)
    }

    @Test("a part of the tree is exported to be applied where it stands") func part() throws {
        let graph = try Harness(DocumentTests.scene)
        try graph.set("/top/row.open", true)
        let document = try graph.exported("/top/row")
        #expect(document.map?["values"] == ["/row.open": true])
        let before = try tree(graph)
        try graph.succeed(.remove(path: "/top/row", .init()))
        try graph.apply(document: document, at: "/top")
        try graph.succeed(.move(path: "/top/row", to: nil, index: 0, .init()))
        #expect(try tree(graph) == before)
    }

    @Test("a component with changes inside is exported in full") func changedInside() throws {
        let graph = try Harness(DocumentTests.scene)
        _ = try graph.apply("nodes: [{ id: inside, computed: { more: m + 1 } }]", at: "/top/row")
        let other = try reborn(try graph.exported())
        #expect(try other.value("/top/row/inside.more") == 2)
        #expect(try other.value("/top/row.t") == 2)
    }

    static let cards = """
        components:
          Card:
            kind: container
            let: { n: { default: 1 } }
            environment: { size: 7 }
            children: [{ id: inner, let: { m: =n } }, { id: box, kind: container, children: [{ id: leaf, let: { m: =n } }] }]
        keys: { environment: { size: 1 } }
        nodes:
          - id: top
            state: { v: 5 }
            children: [{ id: one, component: Card }, { id: two, component: Card, let: { n: 2 } }]

        """

    /// A node of the second card stands where the first has had one of the same id.
    private func exchanged() throws -> Harness {
        let graph = try Harness(DocumentTests.cards)
        try graph.succeed(.remove(path: "/top/one/inner", .init()))
        try graph.succeed(.move(path: "/top/two/inner", to: "/top/one", index: 0, .init()))
        return graph
    }

    @Test("a node that was moved into a component is not taken for the component's own of the same id")
    func movedInside() throws {
        let graph = try exchanged()
        #expect(try graph.get("/top/one/inner.m").failure?.code == .notFound)
        let node = try graph.exported().map?["nodes"]?.list?.first?.map?["children"]?.list?.first?.map
        #expect(node?["component"] == nil)
        #expect(node?["children"]?.list?.map { $0.map?["id"] } == ["inner", "box"])
    }

    @Test(
        "names in a merged document mean what they mean where its nodes stand: in a component, or around it",
        arguments: [true, false])
    func mergedNames(isBelow: Bool) throws {
        let graph = try Harness(
            """
            components: { Box: { kind: container, state: { s: 1 }, children: [{ id: own, kind: view }] } }
            nodes: [{ id: top, state: { around: 2 }, children: [{ id: box, component: Box }] }]
            """)
        /// The child of the box, completed from the box or from further up.
        func merge(_ child: String) throws {
            if isBelow {
                _ = try graph.apply("nodes: [\(child)]", at: "/top/box")
            } else {
                _ = try graph.apply("nodes: [{ id: top, children: [{ id: box, children: [\(child)] }] }]")
            }
        }
        try merge("{ id: own, binding: { b: $s }, let: { l: =s + 1 } }")
        #expect(try graph.value("/top/box/own.b") == 1 && graph.value("/top/box/own.l") == 2)
        try merge("{ id: given, kind: view, binding: { b: $around }, let: { l: =around + 1 } }")
        #expect(try graph.value("/top/box/given.b") == 2 && graph.value("/top/box/given.l") == 3)
        try merge("{ id: given, let: { again: $around } }")
        #expect(try graph.value("/top/box/given.again") == 2)
        for wrong in [
            "{ id: own, binding: { c: $around } }", "{ id: given, binding: { c: $s } }",
            "{ id: new, binding: { c: $s } }",
        ] {
            #expect(refusal { try merge(wrong) }?.code == .notFound, "\(wrong)")
        }
    }

    @Test("a store's rows may name what leads nowhere") func keptNames() throws {
        let graph = try Harness("nodes: [{ id: top, kind: container }]")
        let row: Value = [
            "makes": ["kind": "view", "let": ["n": "=gone + 1"], "binding": ["b": "$lost"]],
            "names": ["gone", "lost"],
        ]
        let failures = graph.runtime.restore([StoredRow(key: "/top/a", name: "", revision: 1, value: row)])
        #expect(failures.map(\.failure.message) == [])
        #expect(try graph.get("/top/a.b").failure?.code == .dangling)
    }

    @Test("merge leaves the kind of what it gives children, and the data of what it gives modifiers") func mergedKinds()
        throws
    {
        let graph = try Harness(
            """
            keys: { container: { wide: false } }
            nodes:
              - id: top
                state: { list: [a] }
                computed: { wide: "subviews.map(s, s.containerValues.wide)" }
                children:
                  - { id: group, kind: group, state: { s: 1 }, children: [{ id: one, kind: view }] }
                  - { id: section, content: [{ id: two, kind: view }], footer: [{ id: end, kind: view }] }
                  - { id: rows, forEach: { in: $list, id: self, node: { kind: view, state: { q: 1 } } } }
            """)
        try graph.set("/top/group.s", 5)
        try graph.set("/top/rows/a.q", 6)
        _ = try graph.apply(
            """
            nodes:
              - id: top
                children:
                  - { id: group, children: [{ id: more, kind: view }] }
                  - { id: section, children: [{ id: more, kind: view }] }
                  - { id: rows, containerValues: { wide: true } }
            """)
        #expect(try graph.value("/top/group.s") == 5 && graph.value("/top/rows/a.q") == 6)
        #expect(try graph.value("/top.wide") == [false, false, false, false, true])
        let refused = refusal {
            try graph.apply("nodes: [{ id: top, children: [{ id: rows, children: [{ id: a, state: { r: 1 } }] }] }]")
        }
        #expect(
            refused?.message.contains("the children of a forEach are made from its data") == true,
            "\(refused?.message ?? "")")
        #expect(try graph.value("/top/rows/a.q") == 6)
    }

    @Test(
        "a document leaves a node that was moved into a component; once removed, the component's own can be restored",
        arguments: [Request.ApplyMode.replace, .merge])
    func ownAgain(_ mode: Request.ApplyMode) throws {
        let graph = try exchanged()
        _ = try graph.apply(DocumentTests.cards, mode: mode)
        #expect(try graph.get("/top/one/inner.m").failure?.code == .notFound)
        try graph.succeed(.remove(path: "/top/one/inner", .init()))
        for path in ["/top/one/inner", "/top/two/inner"] { try graph.succeed(.restore(path: path, .init())) }
        #expect(try graph.value("/top/one/inner.m") == 1 && graph.value("/top/two/inner.m") == 2)
    }

    @Test(
        "names in what a document gives to a component mean what they mean around it, even where the component has had a node of that id"
    )
    func givenInstead() throws {
        let graph = try Harness(DocumentTests.cards)
        let card = "components: { Card: { kind: container, let: { n: 1 } } }\n"
        _ = try graph.apply(
            card
                + "nodes: [{ id: top, children: [{ id: two, component: Card, children: [{ id: inner, let: { m: =v } }] }] }]"
        )
        #expect(try graph.value("/top/two/inner.m") == 5)
    }

    @Test("a change deep inside a component is exported") func changedDeepInside() throws {
        func paths(_ node: Value) -> [Value?] {
            [node.map?["path"]] + (node.map?["children"]?.list ?? []).flatMap(paths)
        }
        let changes: [Request] = [
            .remove(path: "/top/one/box/leaf", .init()),
            .move(path: "/top/one/box/leaf", to: "/top/one", index: 2, .init()),
            .apply(
                .init(
                    document: "agd: 1\nnodes: [{ id: more }]", at: "/top/one/box", mode: .merge, dryRun: false,
                    options: .init())),
        ]
        for change in changes {
            let graph = try Harness(DocumentTests.cards)
            try graph.succeed(change)
            #expect(try paths(tree(reborn(graph.exported()), "/top")) == paths(tree(graph, "/top")), "\(change)")
        }
    }

    @Test("an export keeps what was merged over a component's own modifiers") func mergedModifiers() throws {
        let graph = try Harness(DocumentTests.cards)
        _ = try graph.apply(
            "nodes: [{ id: one, environment: { size: 3 } }, { id: reader, inherit: [size] }]", at: "/top")
        try graph.succeed(.move(path: "/top/reader", to: "/top/one/box", index: 0, .init()))
        #expect(try graph.value("/top/one/box/reader.size") == 3)
        #expect(try reborn(graph.exported()).value("/top/one/box/reader.size") == 3)
        try graph.succeed(.remove(path: "/top/one/box/reader", .init()))
        _ = try graph.apply("nodes: [{ id: reader, inherit: [size] }]", at: "/top/one")
        #expect(try reborn(graph.exported()).value("/top/one/reader.size") == 3)
    }

    @Test(
        "a use of a component that was declared again since is exported in full, also in lists and other components"
    )
    func declaredAnew() throws {
        let graph = try Harness(
            """
            components:
              Row: { let: { n: 1 }, computed: { t: n + 1 } }
              Page: { kind: container, children: [{ id: row, component: Row, let: { n: 5 } }] }
            nodes:
              - id: top
                state: { items: [{ id: x, n: 3 }] }
                children:
                  - { id: rows, forEach: { in: $items, as: item, component: Row, let: { n: =item.n } } }
                  - { id: pages, forEach: { in: $items, component: Page } }
                  - { id: page, component: Page }
            """)
        _ = try graph.apply(
            "components: { Row: { let: { n: 1 }, computed: { t: n + 100 } } }\nnodes: [{ id: later, component: Row }]")
        let other = try reborn(try graph.exported())
        for tree in [graph, other] {
            #expect(try tree.value("/top/rows/x.t") == 4 && tree.value("/top/pages/x/row.t") == 6)
            #expect(try tree.value("/top/page/row.t") == 6 && tree.value("/later.t") == 101)
        }
    }

    @Test("a definition that would be endless or too deep in full is refused or exported as a use")
    func writtenOutDeep() throws {
        // Each is repeated twice by the one before, for elements that there are none of.
        let links = (0..<200).map { number in
            let next = "component: C\(number + 1)"
            return
                "C\(number): { kind: group, state: { none: [] }, children: [{ id: a, forEach: { in: $none, \(next) } }, { id: b, forEach: { in: $none, \(next) } }] }"
        }
        let graph = try Harness(
            "components:\n  C200: {}\n  \(links.joined(separator: "\n  "))\nnodes: [{ id: top, component: C0 }]")
        #expect(try reborn(graph.exported()).value("/top.none") == [])
        _ = try graph.apply("components: { C200: { state: { new: 1 } } }")
        #expect(refusal { try graph.exported() }?.code == .limit)
        let tree = try Harness(
            """
            components: { Tree: { kind: group, let: { of: [] }, children: [{ id: twigs, forEach: { in: $of, component: Tree, let: { of: =element.of } } }] } }
            nodes: [{ id: top, state: { of: [{ id: x, of: [] }] }, children: [{ id: trees, forEach: { in: $of, component: Tree } }] }]
            """)
        _ = try tree.apply("components: { Tree: { kind: group, let: { of: [] }, state: { new: 1 } } }")
        #expect(try reborn(tree.exported()).value("/top/trees/x/twigs.elements") == [])
    }
}
