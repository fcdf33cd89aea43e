import AttributeValues
import GraphRuntime
import TestSupport
import Testing
import WireProtocol

/// Changes of structure that the tree no longer stands on, and those that it does.
@Suite("Void changes")
struct VoidChangeTests {
    private static let rounds = 120
    /// Rows that the nodes of a test may have.
    private static let slack = 10

    @Test("a node that comes and goes again and again leaves nothing in the store", arguments: [true, false])
    func comesAndGoes(hasOneName: Bool) throws {
        let life = try Life()
        try life.apply("[{ id: app, kind: container, state: { v: 1 } }]")
        for round in 0..<VoidChangeTests.rounds {
            let id = hasOneName ? "n" : "n\(round)"
            try life.apply(
                "[{ id: app, children: [{ id: \(id), state: { s: 0 }, let: { w: =v }, children: [{ id: in }] }] }]")
            try life.set("/app/\(id).s", 1)
            try life.apply("[{ id: more, state: { t: 0 } }]", at: "/app/\(id)")
            if round % 37 == 0 { try expectKept(life) }
            try life.remove("/app/\(id)")
            if round % 29 == 0 { try expectKept(life) }
        }
        #expect(try life.structure().count < VoidChangeTests.slack)
        let next = try expectKept(life)
        try next.apply("[{ id: last }]", at: "/app")
        #expect(try next.structure().count < VoidChangeTests.slack)
    }

    @Test("600 moves of one node leave one row, and so do 600 definitions of it") func oneRow() throws {
        let life = try Life(
            "nodes: [{ id: p, kind: container, children: [{ id: a }, { id: b }, { id: c }] }, { id: q, kind: container }]"
        )
        for round in 0..<200 {
            try life.move("/p/a", to: "/q")
            try life.move("/q/a", to: "/p", at: round % 3)
            try life.move("/p/a", to: nil, at: (round + 1) % 3)
        }
        #expect(try life.structure().count <= 1)
        try expectKept(life)
        for round in 0..<600 {
            try life.apply("[{ id: p, children: [{ id: b, state: { v: \(round) }, tag: \(round) }] }]")
        }
        #expect(try life.structure().filter { $0.contains("/p/b") }.count == 1)
        #expect(try life.rows().count <= 3)
        try expectKept(life)
    }

    @Test("siblings that change places again and again keep their order, and their rows stay short") func shortPlaces()
        throws
    {
        let life = try Life()
        try life.apply("[{ id: p, kind: container, children: [{ id: a }, { id: b }, { id: c }, { id: d }] }]")
        for round in 0..<600 {
            try life.move("/p/\(["a", "b", "c", "d"][round % 4])", to: nil, at: round % 3 == 0 ? 0 : 1)
        }
        let rows = try life.structure()
        #expect(rows.count == 5)
        #expect(rows.allSatisfy { $0.utf8.count < 300 }, "\(rows)")
        try expectKept(life)
    }

    @Test("a node that is moved away keeps what it came from, though the rest of that goes") func movedAway() throws {
        let life = try Life()
        try life.apply("[{ id: to, kind: container }]")
        for round in 0..<VoidChangeTests.rounds {
            try life.apply(
                "[{ id: from, kind: container, children: [{ id: k\(round % 3), state: { v: 0 } }, { id: rest }] }]")
            try life.set("/from/k\(round % 3).v", .int(Int64(round)))
            if round < 3 { try life.move("/from/k\(round % 3)", to: "/to", at: 0) }
            try life.remove("/from")
        }
        #expect(try life.structure().count < VoidChangeTests.slack)
        let next = try expectKept(life)
        #expect(try next.value("/to/k2.v") == 2 && next.value("/to/k0.v") == 0)
    }

    @Test("a node that goes together with the node that it was made in leaves nothing in the store")
    func goneWithHome() throws {
        let life = try Life(
            "nodes: [{ id: home, kind: container, children: [{ id: n, kind: container }] }, { id: to, kind: container }]"
        )
        try life.move("/home/n", to: "/to")
        try life.move("/home", to: "/to/n")
        try life.remove("/to/n")
        try expectKept(life)
    }

    @Test("a node that was moved to a position stays there, whatever is removed beside it") func places() throws {
        let life = try Life()
        try life.apply("[{ id: p, kind: container, children: [{ id: a }, { id: b }, { id: c }] }]")
        try life.apply("[{ id: x }]", at: "/p")
        try life.move("/p/x", to: nil, at: 0)
        try life.move("/p/c", to: nil, at: 1)
        try life.remove("/p/x")
        for round in 0..<VoidChangeTests.rounds {
            try life.apply("[{ id: y\(round) }]", at: "/p")
            try life.move("/p/y\(round)", to: nil, at: 1)
            try life.remove("/p/y\(round)")
        }
        let next = try expectKept(life)
        #expect(try next.described("/p").map?["children"]?.list?.compactMap { $0.map?["id"] } == ["c", "a", "b"])
        #expect(try life.structure().count < VoidChangeTests.slack)
    }

    @Test("a removed node of the scene stays removed after a restart, and a declaration of a document stays")
    func scenes() throws {
        let life = try Life("nodes: [{ id: s, kind: container, state: { v: 1 }, children: [{ id: in }] }]")
        try life.remove("/s")
        for round in 0..<VoidChangeTests.rounds {
            try life.call(
                .apply(
                    .init(
                        document: .string(
                            "agd: 1\ncomponents: { C: { state: { c: 1 } } }\nnodes: [{ id: s, component: C }]"),
                        at: "/", mode: .merge,
                        dryRun: false, options: .init())))
            try life.remove("/s")
            if round % 37 == 0 { try expectKept(life) }
        }
        #expect(try life.structure().count < VoidChangeTests.slack)
        let next = try expectKept(life)
        try next.apply("[{ id: t, component: C }]")
        #expect(try next.value("/t.c") == 1)
        try expectKept(next)
    }

    @Test("edits of instances that do not exist yet are dropped or moved with their list") func waiting()
        throws
    {
        let rows =
            "children: [{ id: rows, forEach: { in: $items, node: { kind: container, state: { open: false }, children: [{ id: kid, state: { n: 0 } }] } } }]"
        let list = "{ id: l, kind: container, state: { items: { initial: [], transient: true } }, \(rows) }"
        let life = try Life()
        try life.apply("[{ id: to, kind: container }, \(list)]")
        try life.set("/l.items", [["id": "x"]])
        try life.remove("/l/rows/x/kid")
        try life.set("/l/rows/x.open", true)
        let next = try life.next()
        try next.move("/l", to: "/to")
        let moved = try next.next()
        for life in [next, moved] {
            try life.set("/to/l.items", [["id": "x"]])
            #expect(try life.value("/to/l/rows/x.open") == true)
            #expect(try life.described("/to/l/rows/x").map?["children"] == nil)
        }
        let removed = try life.next()
        try removed.remove("/l")
        let anew = try removed.next()
        for life in [removed, anew] {
            #expect(try life.structure().filter { $0.contains("rows/x") } == [])
            try life.apply("[\(list)]")
            try life.set("/l.items", [["id": "x"]])
            #expect(try life.value("/l/rows/x.open") == false && life.value("/l/rows/x/kid.n") == 0)
        }
    }

    @Test(
        "changes of an instance go with it at once, and with the list it is in; others find their way to where the list has moved"
    )
    func instances() throws {
        let life = try Life()
        try life.apply(
            "[{ id: to, kind: container }, { id: l, kind: container, state: { items: [{ id: x }, { id: y }] }, children: [{ id: rows, forEach: { in: $items, node: { kind: container, children: [{ id: kid, state: { n: 0 } }] } } }] }]"
        )
        try life.remove("/l/rows/x/kid")
        try life.apply("[{ id: more, state: { m: 0 } }]", at: "/l/rows/y")
        let before = try life.structure().count
        try life.set("/l.items", [["id": "y"]])
        #expect(try life.structure().count == before - 1)
        try life.set("/l.items", [["id": "x"], ["id": "y"]])
        try life.move("/l", to: "/to")
        try life.set("/to/l/rows/y/more.m", 5)
        let next = try expectKept(life)
        #expect(try next.value("/to/l/rows/y/more.m") == 5 && next.value("/to/l/rows/x/kid.n") == 0)
        try next.remove("/to/l")
        #expect(try next.structure().filter { $0.contains("rows/y") } == [])
    }
}
