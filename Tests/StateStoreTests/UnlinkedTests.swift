import AttributeValues
@testable import GraphRuntime
import Testing
import ViewGraph
import WireProtocol

/// Large documents and removals, whose rows go to the store in slices: a daemon may be killed between any two of them.
@Suite("Subtrees that are not in the tree")
struct UnlinkedTests {
    private static let scene = """
        components: { Card: { kind: container, let: { n: { default: 0 } }, children: [{ id: in, state: { v: 1 } }] } }
        nodes:
          - { id: made, kind: container, state: { v: 0 }, children: [{ id: kid, kind: container, state: { v: 1 }, children: [{ id: deep, state: { v: 2 } }] }] }
          - id: list
            state: { items: [{ id: a }, { id: b }] }
            children: [{ id: rows, forEach: { in: $items, as: item, node: { kind: container, state: { v: 0 }, children: [{ id: kid, state: { v: 1 } }] } } }]

        """

    private static let document = """
        [{ id: big, kind: container, state: { base: 1 }, children: [
        { id: card, component: Card, children: [{ id: given, state: { v: 3 } }] },
        { id: part, kind: section, header: [{ id: h, state: { v: 0 } }], children: [{ id: c, state: { v: 4 } }], footer: [{ id: f, state: { v: 5 } }] },
        { id: each, forEach: { in: "=[1, 2]", id: self, node: { state: { q: 0 } } } },
        \((0..<12).map { "{ id: n\($0), let: { b: $base }, computed: { y: b + \($0) } }" }.joined(separator: ",\n"))] },
        { id: second, state: { v: 6 } }]
        """

    private func life(_ scene: String = scene, steps: Int = 60) throws -> Life {
        var limits = RuntimeLimits()
        limits.sliceSteps = steps
        limits.graph.freedAtOnce = 0
        return try Life(scene, limits: limits)
    }

    private func ids(_ life: Life, _ path: String) throws -> [String] {
        (try life.described(path).map?["children"]?.list ?? []).compactMap { $0.map?["id"]?.string }
    }

    @Test("a killed daemon has the whole of a large document or nothing of it, in whichever turn it ends")
    func documents() throws {
        let whole = try life(steps: 1_000_000)
        try whole.apply(UnlinkedTests.document)
        let (tree, export) = ("\(try whole.described())", "\(try whole.exported())")
        let life = try life()
        let before = "\(try life.described())"
        life.begin(
            .apply(
                .init(
                    document: .string("agd: 1\nnodes: \(UnlinkedTests.document)"), at: "/", mode: .merge, dryRun: false,
                    options: .init())))
        var (turns, partial) = (0, 0)
        while true {
            let isDone = try life.turn() != nil
            turns += 1
            if try !isDone && !life.rows().isEmpty { partial += 1 }
            let next = try life.next()
            let found = "\(try next.described())"
            #expect(found == (isDone ? tree : before), "turn \(turns)")
            #expect(next.absentNodes == 0 && next.failures == [])
            try next.settle()
            let rows = try next.rows()
            #expect(isDone || rows.isEmpty, "turn \(turns)")
            if isDone { break }
        }
        // The kills were between the first row and the last.
        #expect(turns > 20 && partial > 10)
        for life in [life, try life.next()] { #expect("\(try life.exported())" == export) }
        #expect(try life.rows().count == whole.rows().count)
        #expect(try ids(life.next(), "/big").prefix(4) == ["card", "part", "each", "n0"])
    }

    @Test("rows of a document count from its revision on, wherever its slices end and whatever others commit meanwhile")
    func waiting() throws {
        let document = """
            agd: 1
            nodes:
              - id: doc
                kind: container
                state: { v: 1 }
                computed: { own: "average(v, duration('10s'))", other: "average($/made.v, duration('10s'))" }
                children: [{ id: in, state: { w: 2 } }]
              - { id: more }
            """
        var sizes: Set<Int> = []
        for steps in stride(from: 20, to: 600, by: 20) {
            let life = try life(steps: steps)
            life.begin(
                .apply(
                    .init(
                        document: .string(document), at: "/", mode: .merge, dryRun: false, options: .init())))
            func kill(_ value: Int64) throws {
                let isThere = life.paths.contains("/doc")
                if try !isThere && life.rows().contains(where: { $0.key.hasPrefix("/doc") }) { sizes.insert(steps) }
                let claim = "\(steps) steps, \(value) commits"
                let next = try life.next()
                #expect(next.paths.contains("/doc") == isThere && next.paths.contains("/more") == isThere, "\(claim)")
                #expect(next.absentNodes == 0 && next.failures == [], "\(claim)")
                try next.settle()
                #expect(try next.value("/made.v") == .int(value), "\(claim)")
                let rows = try next.rows().map { "\($0.key) \($0.name)" }.filter { $0 != "/made v" }
                #expect(isThere ? !rows.contains("@unlinked ") : rows.isEmpty, "\(claim): \(rows)")
            }
            var commits: Int64 = 0
            while try life.turn() == nil {
                try kill(commits)
                commits += 1
                try life.commit("/made.v", .int(commits))
                try kill(commits)
            }
            try kill(commits)
            #expect(life.paths.contains("/doc"))
        }
        #expect(sizes.count > 10, "\(sizes)")
    }

    @Test("documents that follow each other stand in their order after a restart") func order() throws {
        let life = try life()
        for id in ["c", "a", "b"] {
            try life.apply("[{ id: \(id), kind: container, children: [{ id: x }, { id: y }] }]")
        }
        try life.apply("[{ id: z, kind: container, children: [{ id: w }] }]", at: "/c")
        let next = try life.next()
        #expect(try ids(next, "/") == ["made", "list", "c", "a", "b"] && ids(next, "/c") == ["x", "y", "z"])
    }

    @Test("a document that is refused at its end leaves no row behind") func refused() throws {
        let life = try life()
        life.begin(
            .apply(
                .init(
                    document: .string("agd: 1\nnodes: \(UnlinkedTests.document)"), at: "/made/kid", mode: .merge,
                    dryRun: false, options: .init())))
        while try life.rows().isEmpty { _ = try life.turn() }
        life.begin(.set(Mutation(operation: .set, path: "/list.items", value: []), .init()))
        while life.runtime.graph.hasUnlinked == false { _ = try life.turn() }
        try life.settle()
        for _ in 0..<200 { _ = try life.turn() }
        try life.remove("/made/kid")
        try life.settle()
        let rows = try life.rows().map { "\($0.key) \($0.name) \($0.value)" }
        #expect(rows.count == 2, "\(rows)")
    }

    @Test("a removed subtree is gone at once, its rows go in slices, and no kill brings it back") func removal() throws
    {
        let life = try life()
        try life.apply(UnlinkedTests.document)
        try life.set("/big.base", 5)
        try life.set("/big/card/in.v", 6)
        try life.set("/made/kid/deep.v", 7)
        // One from the scene lives in it, and one of its own lives elsewhere.
        try life.move("/made/kid", to: "/big")
        try life.move("/big/n3", to: "/made")
        life.begin(.remove(path: "/big", .init()))
        var turns = 0
        while try life.turn() == nil {}
        repeat {
            turns += 1
            let next = try life.next()
            for life in [life, next] {
                #expect(try ids(life, "/") == ["made", "list", "second"] && ids(life, "/made") == ["n3"])
            }
            #expect(next.absentNodes == 0 && next.failures == [], "turn \(turns): \(next.failures)")
            try next.settle()
            let left = try next.structure()
            #expect(left.count == 3, "turn \(turns): \(left)")
            #expect(try ids(next.next(), "/made") == ["n3"])
            _ = try life.turn()
        } while life.runtime.graph.hasUnlinked
        #expect(turns > 5)
        // The second node, the one that was moved, and the one that the scene makes no more.
        let left = try life.structure()
        #expect(left.count == 3, "\(left)")
        #expect(try life.rows().count == left.count)
    }

    @Test("a node of a scene that is removed stays removed, also when rows below it have yet to go") func tombstone()
        throws
    {
        let life = try life(steps: 1)
        try life.set("/made/kid/deep.v", 7)
        try life.set("/made/kid.v", 7)
        try life.remove("/made/kid")
        #expect(life.runtime.graph.hasUnlinked)
        #expect(try ids(life.next(), "/made") == [])
        try life.settle()
        #expect(try ids(life.next(), "/made") == [])
        #expect(try life.rows().map(\.key) == ["/made/kid"])
    }

    @Test("an instance that comes again has nothing of the one that waits to be freed, now and after a restart")
    func again() throws {
        let life = try life(steps: 1)
        try life.set("/list/rows/a.v", 1)
        try life.set("/list/rows/a/kid.v", 2)
        try life.set("/list.items", [["id": "b"]])
        try life.set("/list.items", [["id": "b"], ["id": "a"]])
        #expect(life.runtime.graph.hasUnlinked)
        #expect(try life.value("/list/rows/a.v") == 0 && life.value("/list/rows/a/kid.v") == 1)
        try life.set("/list/rows/a/kid.v", 9)
        for _ in 0..<20 {
            let next = try life.next()
            #expect(try next.value("/list/rows/a.v") == 0 && next.value("/list/rows/a/kid.v") == 9)
            _ = try life.turn()
        }
        try life.settle()
        let next = try life.next()
        #expect(try next.value("/list/rows/a.v") == 0 && next.value("/list/rows/a/kid.v") == 9)
        #expect(try next.rows().count == 2)
    }

    @Test("an instance that goes because its list is moved takes along what a client put into it")
    func movedList() throws {
        let list = "{ id: in, forEach: { in: $sub, node: { kind: container } } }"
        let node = "{ kind: container, state: { sub: [{ id: y }] }, children: [\(list)] }"
        let life = try life(
            """
            nodes:
              - id: from
                kind: container
                state: { items: [{ id: x }] }
                children: [{ id: rows, forEach: { in: $items, node: \(node) } }]
              - { id: to, kind: container, state: { sub: [] } }

            """, steps: 1)
        try life.apply("[{ id: mine, kind: container, children: [{ id: inside }] }]", at: "/from/rows/x/in/y")
        try life.move("/from/rows/x/in", to: "/to")
        #expect(life.runtime.graph.hasUnlinked)
        #expect(try life.next().absentNodes == 0)
    }
}
