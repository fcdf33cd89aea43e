import AttributeValues
import GraphRuntime
import StateStore
import TestSupport
import Testing
import WireProtocol

/// What clients do after a start with an edited scene, and what becomes of it at the next start.
@Suite("Edited scenes")
struct EditedSceneTests {
    @Test("a node that was moved waits while an edited scene lacks its new place, and its old place stays free")
    func lostPlace() throws {
        let home = "nodes: [{ id: top, kind: container, children: [{ id: n, state: { v: 1 } }"
        let scene = "\(home), { id: box, kind: container }] }]"
        let life = try Life(scene)
        try life.move("/top/n", to: "/top/box")
        try life.set("/top/box/n.v", 7)
        let edited = try life.next("\(home)] }]")
        #expect(edited.paths == ["/", "/top"] && edited.failures.contains { $0.contains("/top/box/n") })
        #expect(try edited.next(scene).value("/top/box/n.v") == 7)
        // Whoever wants it back can have it.
        try edited.call(.restore(path: "/top/n", .init()))
        #expect(try edited.value("/top/n.v") == 1)
        let back = try edited.next(scene)
        #expect(try back.value("/top/n.v") == 1 && back.value("/top/box/n.v") == 7)
    }

    @Test("a client's node that takes the place of a moved one is there whatever becomes of the scene")
    func takenPlace() throws {
        let home = "nodes: [{ id: top, kind: container, children: [{ id: n, state: { v: 1 } }"
        let scene = "\(home), { id: box, kind: container }] }, { id: far, kind: container }]"
        let life = try Life(scene)
        try life.move("/top/n", to: "/top/box")
        try life.apply("[{ id: n, state: { own: 1 } }]", at: "/top")
        for isRemoved in [true, false] {
            let edited = try life.next("\(home)] }, { id: far, kind: container }]")
            #expect(try edited.value("/top/n.own") == 1)
            if isRemoved { try edited.remove("/top/n") } else { try edited.move("/top/n", to: "/far") }
            let next = try edited.next()
            #expect(try differences(edited.described(), next.described()) == [])
        }
        // Nobody has changed anything in between.
        let back = try life.next("\(home)] }]").next(scene)
        let found = try differences(life.described(), back.described())
        #expect(found == [])
    }

    @Test(
        "a state whose type has changed is named with both types, and prune does not delete what is written afterwards")
    func changedType() throws {
        let life = try Life("nodes: [{ id: n, state: { x: one, y: 1 } }]")
        try life.set("/n.x", "two")
        try life.set("/n.y", 2)
        let edited = try life.next("nodes: [{ id: n, state: { x: 5 } }]")
        #expect(try edited.value("/n.x") == 5)
        #expect(
            edited.failures.count == 1 && edited.failures[0].contains("/n.x takes int, not string"),
            "\(edited.failures)")
        #expect(edited.failures[0].contains("agctl prune"))
        // The type fits again, and nobody has written the state.
        let back = try edited.next("nodes: [{ id: n, state: { x: one, y: 1 } }]")
        #expect(try back.value("/n.x") == "two" && back.value("/n.y") == 2 && back.failures.isEmpty)
        try edited.set("/n.x", 6)
        try edited.call(.prune)
        let pruned = try edited.next("nodes: [{ id: n, state: { x: 5 } }]")
        #expect(try pruned.value("/n.x") == 6 && pruned.failures.isEmpty, "\(pruned.failures)")
    }

    @Test("a moved node waits while an edited scene has its id in a branch there, and counts over one beside it")
    func takenID() throws {
        func scene(_ children: String) -> String {
            "nodes: [{ id: n, state: { v: 1 } }, { id: box, kind: container, state: { open: true }, children: [\(children)] }]"
        }
        let life = try Life(scene(""))
        try life.move("/n", to: "/box")
        try life.set("/box/n.v", 7)
        let other = "{ id: n, state: { w: 1 } }"
        for children in [other, "{ if: open, then: [\(other)] }", "{ if: '!open', then: [\(other)] }"] {
            let edited = try life.next(scene(children))
            let isBeside = children == other
            #expect(try isBeside ? edited.value("/box/n.v") == 7 : edited.failures.contains { $0.contains("a branch") })
            try edited.set("/box.open", false)
            try edited.set("/box.open", true)
            #expect(try differences(edited.described(), edited.next().described()) == [])
            #expect(try edited.next(scene("")).value("/box/n.v") == 7)
        }
    }

    @Test(
        "a client's node is kept while an edited scene has its id in a branch, shown or not", arguments: [true, false])
    func inBranch(isShown: Bool) throws {
        func scene(_ children: String) -> String {
            "nodes: [{ id: box, kind: container, state: { open: \(isShown) }, children: [\(children)] }]"
        }
        let life = try Life(scene(""))
        try life.apply("[{ id: n, state: { own: 1 } }]", at: "/box")
        try life.set("/box/n.own", 7)
        let edited = try life.next(scene("{ if: open, then: [{ id: n, state: { v: 1 } }] }"))
        #expect(edited.failures.contains { $0.contains("a branch at /box has a node n") }, "\(edited.failures)")
        try edited.set("/box.open", true)
        #expect(try edited.value("/box/n.v") == 1)
        #expect(try differences(edited.described(), edited.next().described()) == [])
        #expect(try edited.next(scene("")).value("/box/n.own") == 7)
    }

    @Test("a moved node waits while an edited scene makes a view of the node that it was moved to")
    func view() throws {
        func scene(_ box: String) -> String { "nodes: [{ id: n, state: { v: 1 } }, { id: box, \(box) }]" }
        let life = try Life(scene("kind: container"))
        try life.move("/n", to: "/box")
        try life.set("/box/n.v", 7)
        let edited = try life.next(scene("state: { w: 1 }"))
        #expect(edited.paths == ["/", "/box"])
        #expect(edited.failures.contains { $0.contains("/box takes no children") }, "\(edited.failures)")
        #expect(try edited.next(scene("kind: container")).value("/box/n.v") == 7)
    }

    @Test("a node goes with what is around the node that it was moved to, although an edited scene lacks that node")
    func goneElsewhere() throws {
        func scene(_ inside: String) -> String {
            "nodes: [{ id: n, state: { v: 1 } }, { id: box, kind: container, children: [\(inside)] }]"
        }
        let life = try Life(scene("{ id: in, kind: container }"))
        try life.move("/n", to: "/box/in")
        // The node's old place is taken.
        try life.apply("[{ id: n, state: { own: 1 } }]", at: "/")
        let edited = try life.next(scene(""))
        try edited.remove("/box")
        let next = try edited.next()
        #expect(try next.value("/n.own") == 1)
        #expect(try differences(edited.described(), next.described()) == [])
    }

    @Test("a node that leaves its component is there once, although it has not taken all of its values") func left()
        throws
    {
        func scene(_ state: String) -> String {
            """
            components: { C: { kind: container, children: [{ id: in, state: { \(state) } }] } }
            nodes: [{ id: c, component: C }, { id: l, kind: container, state: { items: [x] }, children: [{ id: rows, forEach: { in: $items, id: self, node: { kind: container } } }] }]
            """
        }
        let life = try Life(scene("v: 1"))
        try life.set("/c/in.v", 5)
        let edited = try life.next(scene("w: 1"))
        try edited.move("/c/in", to: "/l/rows/x")
        let next = try edited.next()
        #expect(try differences(edited.described(), next.described()) == [])
    }

    @Test("what a client's template adds to instances takes the values that wait for it") func added()
        throws
    {
        func scene(_ child: String) -> String {
            """
            nodes:
              - id: l
                kind: container
                state: { items: [{ id: x }] }
                children: [{ id: rows, forEach: { in: $items, node: { kind: container, children: [\(child)] } } }]
            """
        }
        let life = try Life(scene("{ id: kid, state: { n: 1 } }"))
        try life.set("/l/rows/x/kid.n", 5)
        let edited = try life.next(scene(""))
        let children = "[{ id: kid, state: { n: 2 } }]"
        try edited.apply(
            "[{ id: rows, forEach: { in: $items, node: { kind: container, children: \(children) } } }]", at: "/l")
        for life in [edited, try edited.next()] { #expect(try life.value("/l/rows/x/kid.n") == 5) }
    }

    @Test("a value that does not fit its state any more is counted, and prune or a new definition takes it")
    func otherType() throws {
        func scene(_ value: String) -> String { "nodes: [{ id: a, state: { v: \(value), w: 1 } }]" }
        let life = try Life(scene("1"))
        try life.set("/a.v", 5)
        try life.set("/a.w", 5)
        let edited = try life.next(scene("text"))
        #expect(try edited.call(.stats(format: .json)).map?["absent_rows"] == 1)
        #expect(try edited.next(scene("1")).value("/a.v") == 5)
        let other = try life.next(scene("text"))
        #expect(try edited.call(.prune) == ["pruned": 1])
        try other.apply("[{ id: a, state: { v: 3 } }]")
        // It fits the new definition.
        for life in [other, try other.next()] { #expect(try life.value("/a.v") == 5) }
        for life in [edited, other] { #expect(try life.next(scene("1")).value("/a.w") == 5) }
        #expect(try edited.next(scene("1")).value("/a.v") == 1)
    }

    @Test("what a use and the component's body set stays apart, over a restart too", arguments: [true, false])
    func usesAndBodies(isMoved: Bool) throws {
        let life = try Life(
            """
            keys: { environment: { scale: 1.0 }, container: { mark: 0 } }
            components:
              Card:
                kind: container
                environment: { scale: 3.0 }
                containerValues: { mark: 3 }
                computed: { own: env.scale }
                children: [{ id: in, inherit: [scale] }]
            nodes:
              - { id: card, component: Card, environment: { scale: 2.0, lineLimit: 2 } }
              - { id: l, kind: container, state: { items: [x] }, children: [{ id: rows, forEach: { in: $items, id: self, node: { kind: container } } }] }
            """)
        if isMoved { try life.move("/card", to: "/l/rows/x") }
        let place = isMoved ? "/l/rows/x" : "/"
        let card = isMoved ? "/l/rows/x/card" : "/card"
        for (use, own, inside) in [
            ("lineLimit: 4", 2.0, 3.0), ("scale: 5.0", 2.0, 5.0), ("component", 2.0, 3.0), ("component: 7.0", 7.0, 3.0),
            ("scale: 8.0", 7.0, 8.0),
        ] {
            let isUse = use.hasPrefix("component")
            let environment = use.replacing("component:", with: "scale:").replacing("component", with: "")
            let mark = use == "lineLimit: 4" ? ", containerValues: { mark: 4 }" : ""
            try life.apply(
                "[{ id: card\(isUse ? ", component: Card" : ""), environment: { \(environment) }\(mark) }]", at: place)
            #expect(try life.value(card + ".own") == .double(own) && life.value(card + "/in.scale") == .double(inside))
            var next = life
            for _ in 0..<2 {
                next = try next.next()
                #expect(try differences(life.described(), next.described()) == [], "\(use)")
                #expect(try differences(life.exported(), next.exported()) == [], "\(use)")
            }
        }
        try life.apply("[{ id: card, component: Card }]", at: place, mode: isMoved ? .merge : .replace)
        let next = try life.next()
        #expect(try differences(life.described(), next.described()) == [])
        #expect(try differences(life.exported(), next.exported()) == [])
    }
}
