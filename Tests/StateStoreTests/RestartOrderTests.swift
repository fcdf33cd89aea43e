import AttributeValues
import GraphRuntime
import Testing

/// What comes back where data that is fed after a start, or comes back later, makes the places for it.
@Suite("The order of coming back")
struct RestartOrderTests {
    @Test("states of what came to stand where another node was moved away come back, though something before the move has to wait")
    func placeTakenAnew() throws {
        let rows = "{ id: rows, forEach: { in: $list, node: { state: { q: 0 } } } }"
        let node = "{ id: n, kind: container, state: { list: [] }, children: [\(rows)] }"
        let life = try Life()
        try life.apply("[{ id: t, kind: container, state: { fed: { initial: [], transient: true } }, children: [{ id: rows, forEach: { in: $fed, node: { kind: container } } }] }]")
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

    @Test("instances are those of a list that is fed after it has become transient") func becomesTransient() throws {
        let life = try Life()
        try life.apply("[{ id: in, kind: container, state: { items: [{ id: x }] }, children: [{ id: rows, forEach: { in: $items, node: { state: { q: 0 } } } }] }]")
        try life.set("/in.items", [])
        try life.apply("[{ id: in, kind: container, state: { items: { initial: [], transient: true } } }]")
        let next = try life.next()
        try next.set("/in.items", [])
        #expect(try differences(life.described(), next.described()) == [])
    }
}
