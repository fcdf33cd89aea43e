import AttributeValues
import GraphRuntime
import TestSupport
import Testing
import WireProtocol

/// Kinds of changes after which a start has once made another tree than the one that was there.
@Suite("The tree after a start")
struct SameTreeTests {
    private static let card = """
        components:
          Card: { kind: container, let: { n: { default: 0 } }, state: { start: { initial: =n } }, children: [{ id: in, state: { q: 0 } }] }

        """

    @Test("a state begins as all layers together say")
    func beginning() throws {
        let life = try Life("nodes: [{ id: a, state: { v: 2 } }]")
        try life.remove("/a")
        try life.apply("[{ id: a, state: { v: 1 } }]")
        #expect(try life.value("/a.v") == 1)
        let next = try expectKept(life)
        let panel = "components: { Panel: { kind: container, state: { q: 1 } } }\n"
        try next.apply(document: panel + "nodes: [{ id: p, component: Panel }]")
        try next.apply("[{ id: p, state: { sub: 5 } }]")
        try next.apply(document: panel.replacing("q: 1", with: "q: 1, sub: 7"))
        #expect(try next.value("/p.sub") == 5)
        try expectKept(next)
    }

    @Test("a node that comes back with its template is connected with what clients said of it")
    func template() throws {
        func rows(_ children: String) -> String {
            "{ id: rows, forEach: { in: $items, node: { kind: container, children: [\(children)] } } }"
        }
        let kid = "{ id: kid, state: { n: 0 } }"
        let life = try Life(
            "nodes: [{ id: top, kind: container, state: { v: 3, items: [{ id: x }] }, children: [\(rows(kid))] }]")
        try life.apply("[{ id: kid, let: { w: =v } }]", at: "/top/rows/x")
        try life.apply("[\(rows("{ id: far, state: { n: 0 } }"))]", at: "/top")
        #expect(life.paths.contains("/top/rows/x/far") && life.absentNodes == 1)
        try life.apply("[\(rows(kid))]", at: "/top")
        #expect(try life.value("/top/rows/x/kid.w") == 3)
        try expectKept(life)
    }

    @Test("a document is refused that says something of a node which its own declarations make anew")
    func declaredAnew() throws {
        func panel(_ kind: String, each: String = "") -> String {
            "components: { Panel: { kind: container, children: [{ id: fix, kind: \(kind) }\(each)] } }\n"
        }
        let life = try Life("nodes: [{ id: top, kind: container, state: { items: [{ id: x }] } }]")
        try life.apply(
            document: panel("container")
                + "nodes: [{ id: p, component: Panel }, { id: rows, forEach: { in: $items, component: Panel } }]",
            at: "/top")
        let each = ", { id: each, forEach: { in: [x, y], id: self, node: { children: [{ id: kid }] } } }"
        let kid = "nodes: [{ id: d, kind: container, children: [{ id: kid, state: { s: 1 } }] }]"
        let before = try (life.described(), life.rows().count)
        #expect(throws: Failure.self) {
            try life.apply(document: panel("container").replacing("kind: container, c", with: "kind: group, c"))
        }
        for path in ["/top/p/fix", "/top/rows/x/fix"] {
            #expect(throws: Failure.self) { try life.apply(document: panel("group", each: each) + kid, at: path) }
        }
        #expect(try differences(before.0, life.described()) == [])
        #expect(try life.rows().count == before.1)
        try life.apply(document: panel("group", each: each))
        try life.apply(document: kid, at: "/top/p/fix")
        #expect(life.paths.contains("/top/p/fix/d/kid"))
        try expectKept(life)
    }

    @Test(
        "children stay in their order when their component has no slot for some of them any more",
        arguments: [false, true])
    func slots(isNew: Bool) throws {
        func panel(_ children: String) -> String {
            "components: { Panel: { kind: container, children: [{ id: fix, kind: container, children: [\(children)] }] } }\n"
        }
        // Documents take many turns, so new nodes get their keys before they are in the tree.
        var limits = RuntimeLimits()
        limits.sliceSteps = 40
        let life = try Life(limits: limits)
        try life.apply(
            document: panel("{ slot: header }")
                + "nodes: [{ id: p, component: Panel, slots: { header: [{ id: kid, state: { n: 0 } }] } }]")
        if !isNew { try life.apply("[{ id: low, state: { n: 0 } }]", at: "/p") }
        try life.apply(
            document: panel("") + "nodes: [\(isNew ? "{ id: a, state: { n: 0 } }" : "")]", at: "/p")
        try expectKept(life)
    }

    @Test("a document that makes a removed node anew, without the component of the scene, makes all of it")
    func withoutComponent() throws {
        let life = try Life(SameTreeTests.card + "nodes: [{ id: b, component: Card }]")
        try life.remove("/b")
        try life.apply("[{ id: b, kind: container, state: { v: 1 }, children: [{ id: c, let: { w: =v } }] }]")
        #expect(try life.value("/b/c.w") == 1)
        try expectKept(life)
    }

    @Test("a document that declares a component with a child, and gives a use such a child, makes one of them")
    func oneChild() throws {
        func shelf(_ children: String) -> String {
            "components: { Shelf: { kind: container, children: [\(children)] } }\n"
        }
        let life = try Life()
        try life.apply(document: shelf("{ id: far }") + "nodes: [{ id: s, component: Shelf }]")
        try life.apply(
            document: shelf("{ id: in, state: { q: 1 } }") + "nodes: [{ id: in, state: { v: 5 } }]", at: "/s")
        #expect(life.paths == ["/", "/s", "/s/in"])
        #expect(try life.value("/s/in.v") == 5)
        try expectKept(life)
    }

    @Test("a first value that could not be computed is computed when the names around it can be found")
    func unbegun() throws {
        let life = try Life("nodes: [{ id: far, kind: container, state: { v: 4 } }, { id: near, kind: container }]")
        try life.apply(document: SameTreeTests.card + "nodes: [{ id: c, component: Card, let: { n: $v } }]", at: "/far")
        try life.move("/far/c", to: "/near")
        #expect(try life.value("/near/c.start") == 4)
        try expectKept(life)
        try life.apply(
            document: "agd: 1\ndangling: [v]\nnodes: [{ id: d, component: Card, let: { n: $v } }]", at: "/near")
        #expect(throws: Failure.self) { try life.value("/near/d.start") }
        try life.apply("[{ id: near, state: { v: 6 } }]")
        #expect(try life.value("/near/d.start") == 6)
        try expectKept(life)
    }
}
