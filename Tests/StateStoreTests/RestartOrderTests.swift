import AttributeValues
import GraphRuntime
import TestSupport
import Testing

/// What comes back where data that is fed after a start, or comes back later, makes the places for it.
@Suite("The order of coming back")
struct RestartOrderTests {
    @Test(
        "states of what came to stand where another node was moved away come back, though something before the move has to wait"
    )
    func placeTakenAnew() throws {
        let rows = "{ id: rows, forEach: { in: $list, node: { state: { q: 0 } } } }"
        let node = "{ id: n, kind: container, state: { list: [] }, children: [\(rows)] }"
        let life = try Life()
        try life.apply(
            "[{ id: t, kind: container, state: { fed: { initial: [], transient: true } }, children: [{ id: rows, forEach: { in: $fed, node: { kind: container } } }] }]"
        )
        try life.apply("[{ id: p, kind: container, children: [\(node)] }, { id: to, kind: container }]")
        try life.set("/t.fed", [["id": "x"]])
        try life.apply("[{ id: more }]", at: "/t/rows/x")
        try life.move("/p/n", to: "/to")
        try life.apply("[\(node)]", at: "/p")
        try life.set("/p/n.list", [["id": "y"]])
        try life.set("/p/n/rows/y.q", 8)
        try life.set("/to/n.list", [])
        let next = try life.next()
        #expect(try next.value("/p/n/rows/y.q") == 8)
        #expect(try differences(life.described("/to"), next.described("/to")) == [])
    }

    /// A list that is fed; its instances hold a list of their own.
    private static func document(_ kind: String = "container", as element: String = "item", _ more: String = "")
        -> String
    {
        let inner = "{ id: in, forEach: { in: $sub, node: { kind: container, children: [{ id: kid }] } } }"
        let node = "{ kind: container, state: { open: false, sub: [] }, children: [{ id: kid\(more) }, \(inner)] }"
        let rows = "{ id: rows, forEach: { in: $fed, as: \(element), node: \(node) } }"
        return "[{ id: p, kind: \(kind), state: { fed: { initial: [], transient: true } }, children: [\(rows)] }]"
    }

    @Test(
        "edits of instances that do not exist yet follow their template or node",
        arguments: [document("container", as: "item", ", let: { w: 1 }"), document(as: "other"), document("group")])
    func renewed(nodes: String) throws {
        let life = try Life()
        try life.apply(RestartOrderTests.document())
        try life.set("/p.fed", [["id": "x"]])
        try life.set("/p/rows/x.open", true)
        try life.set("/p/rows/x.sub", [["id": "y"]])
        try life.remove("/p/rows/x/kid")
        try life.apply("[{ id: more }]", at: "/p/rows/x")
        try life.remove("/p/rows/x/in/y/kid")
        let next = try life.next()
        try life.apply(nodes)
        try next.apply(nodes)
        let kept = try life.structure()
        // A client's node has another number.
        func withoutNumbers(_ rows: [String]) -> [String] { rows.map { $0.replacing(/#[0-9]+/, with: "#") } }
        #expect(try withoutNumbers(next.structure()) == withoutNumbers(kept))
        let anew = try next.next()
        for other in [next, anew] {
            for life in [life, other] { try life.set("/p.fed", [["id": "x"]]) }
            #expect(try differences(life.described(), other.described()) == [])
            #expect(other.absentNodes == 0)
        }
    }

    @Test("the key of an instance's list moves with the list around it") func remadeListMoves() throws {
        let life = try Life(
            """
            nodes:
              - id: top
                kind: container
                state: { items: [], fed: [{ id: y }] }
                children:
                  - { if: true, then: [{ id: s, kind: container }] }
                  - id: live
                    forEach: { in: $fed, node: { kind: container, state: { sub: [{ id: x }] }, children: [{ id: in, forEach: { in: $sub, node: {} } }] } }
            """)
        try life.apply("[{ id: in, forEach: { in: $items, node: { state: { q: 0 } } } }]", at: "/top/live/y")
        try life.move("/top/live", to: "/top/s")
        #expect(try differences(life.described(), life.next().described()) == [])
    }

    @Test("states come back in what a change made of a template's node") func remade() throws {
        let node = "{ kind: container, state: { q: 0 }, children: [{ id: kid, state: { n: 0 } }] }"
        let life = try Life()
        try life.apply(
            "[{ id: in, kind: container, state: { items: { initial: [], transient: true } }, children: [{ id: c, forEach: { in: $items, node: \(node) } }] }]"
        )
        try life.set("/in.items", [["id": "y"]])
        try life.set("/in/c/y.q", 3)
        try life.apply("[{ id: kid, forEach: { in: $items, node: \(node) } }]", at: "/in/c/y", mode: .replace)
        try life.set("/in/c/y/kid/y/kid.n", 1)
        let next = try life.next()
        try next.set("/in.items", [["id": "y"]])
        #expect(try differences(life.described(), next.described()) == [])
    }

    @Test(
        "instances of a fed list that was refused come back when it is fed so again, with instances in them",
        arguments: [false, true])
    func heldLists(isNestedTransient: Bool) throws {
        let sub = isNestedTransient ? "{ initial: [], transient: true }" : "[]"
        let inner = "{ id: in, forEach: { in: $sub, node: { state: { q: 0 } } } }"
        let node = "{ kind: container, state: { open: false, sub: \(sub) }, children: [\(inner)] }"
        let life = try Life()
        try life.apply(
            "[{ id: p, kind: container, state: { fed: { initial: [], transient: true } }, children: [{ id: rows, forEach: { in: $fed, node: \(node) } }] }]"
        )
        let (right, refused): (Value, Value) = ([["id": "x"], ["id": "y"]], [["id": "x"], ["id": "x"]])
        try life.set("/p.fed", right)
        try life.set("/p/rows/x.open", true)
        try life.set("/p/rows/x.sub", right)
        try life.set("/p/rows/x/in/y.q", 1)
        try life.set("/p/rows/x.sub", refused)
        try life.apply("[{ id: more, state: { m: 0 } }]", at: "/p/rows/y")
        try life.set("/p/rows/y/more.m", 1)
        func expectKept(_ life: Life) throws {
            let next = try life.next()
            try next.set("/p.fed", life.value("/p.fed"))
            if isNestedTransient { try next.set("/p/rows/x.sub", refused) }
            #expect(try differences(life.described(), next.described()) == [])
            #expect(next.absentNodes == 0)
        }
        try expectKept(life)
        try life.set("/p.fed", refused)
        try expectKept(life)
    }
}
