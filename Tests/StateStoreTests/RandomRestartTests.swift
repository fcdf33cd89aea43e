@testable import Archive
import AttributeValues
@testable import GraphRuntime
import TestSupport
import Testing
import WireProtocol

@Suite("Random lives")
struct RandomRestartTests {
    /// `AGD_RESTART_STEPS` makes lives longer.
    static let steps = Int(numberInEnvironment("AGD_RESTART_STEPS") ?? 250)

    /// Lives that went on with edited scenes, and once came back as others. `AGD_RUNS` adds fresh ones.
    static let oldFaults: [UInt64] = [
        14_594_788_717_136_786_403, 9_346_484_166_578_264_289, 105_001_710_851_522_620, 10_001_685_998_880_511_826,
        9_469_628_291_392_833_596, 14_856_167_425_949_172_656,
    ]

    private static let scene = """
        keys: { container: { mark: 0 }, environment: { scale: 1 } }
        components:
          Shelf: { kind: container, state: { q: 0 }, children: [{ slot: content }] }
          Panel: { kind: container, children: [{ id: fix, kind: group, children: [{ slot: header }] }, { slot: content }] }
          Board:
            kind: container
            computed: { ids: "subviews.map(s, s.id)" }
            children:
              - { id: high, kind: container, state: { q: 0 }, children: [{ place: "subviews.filter(s, s.containerValues.mark > 3)" }] }
              - id: low
                kind: container
                computed: { ids: "subviews.map(s, s.id)" }
                children:
                  - { slot: header, default: [{ id: none, state: { q: 0 } }] }
                  - { place: "subviews.filter(s, s.containerValues.mark <= 3)" }
          Card:
            kind: container
            let: { n: { default: 0 } }
            state: { open: false, list: [{ id: a }], start: { initial: =n } }
            computed: { text: 'string(n) + (open ? "!" : "")' }
            children:
              - { id: inside, state: { v: 1 }, let: { m: =n } }
              - { id: each, forEach: { in: $list, node: { state: { q: 0 } } } }
              - { if: open, then: [{ id: s1, kind: container, state: { q: 0 } }], else: [{ id: s2, state: { q: 1 } }] }
        nodes:
          - id: top
            kind: container
            state: { v: 1, items: [{ id: x }, { id: y }], fed: { initial: [], transient: true } }
            children:
              - { id: a, kind: container, state: { v: 2 } }
              - switch: v % 3
                cases: { 0: [{ id: s1, kind: container, state: { v: 3 } }, { id: s2, component: Card }] }
                default: [{ if: fed.size() > 0, then: [{ id: s1, kind: container, state: { n: 0 } }] }]
              - { id: rows, forEach: { in: $items, as: item, node: { kind: container, state: { open: false, sub: [], start: { initial: =item.id } }, children: [{ id: kid, state: { n: 0 } }, { id: in, forEach: { in: $sub, node: { kind: container, state: { q: 0 } } } }] } } }
              - { id: live, forEach: { in: $fed, node: { kind: container, state: { open: false, sub: [] }, children: [{ id: kid, state: { n: 0 } }, { id: in, forEach: { in: $sub, node: { kind: container, state: { q: 0 } } } }] } } }
          - { id: b, component: Card }
          - id: board
            component: Board
            slots: { header: [{ id: given, state: { q: 0 } }] }
            children: [{ id: k, state: { v: 1 }, containerValues: { mark: =v } }, { id: l, component: Card }]

        """

    /// All that stands below a described node, outer ones first.
    private struct Place {
        var path: String
        var states: [(name: String, type: String, isTransient: Bool, value: Value)]
    }

    private func places(_ tree: Value) -> [Place] {
        var found: [Place] = []
        var pending = [tree]
        while let next = pending.popLast() {
            let attributes = next.map?["attributes"]?.map ?? ValueMap()
            let states = attributes.compactMap { name, attribute -> (String, String, Bool, Value)? in
                guard attribute.map?["kind"] == "state", let name = name.string else { return nil }
                return (
                    name, attribute.map?["type"]?.string ?? "", attribute.map?["transient"] == true,
                    attribute.map?["value"] ?? .null
                )
            }
            let path = next.map?["path"]?.string ?? ""
            found.append(Place(path: path, states: path == "/" ? [] : states))
            pending += (next.map?["children"]?.list ?? []).reversed()
        }
        return found
    }

    /// Declarations of components that no scene has, each time others.
    private func declarations(_ generator: inout SeededGenerator) -> String {
        func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }
        func some(_ parts: [String]) -> String {
            parts.shuffled(using: &generator).prefix(Int.random(in: 0...parts.count, using: &generator))
                .joined(separator: ", ")
        }
        let shelf = """
            Shelf:
                kind: container
                state: { q: \(Int.random(in: 0..<3, using: &generator)) }
                environment: { \(some(["lineLimit: 2", "scale: =q"])) }
                children: [\(some(["{ slot: content }", "{ id: in, state: { q: 1 } }", "{ id: far, inherit: [scale] }"]))]
            """
        let panel = """
            Panel:
                kind: container
                let: { n: { default: \(Int.random(in: 0..<3, using: &generator)) } }
                state: { \(some(["v: 1", "open: true", "sub: [{ id: x }]", "q: { initial: =n }"])) }
                computed: { scaled: env.scale }
                environment: { \(some(["scale: =n", "lineLimit: 1"])) }
                children:
                  - { id: fix, kind: container, children: [\(some(["{ slot: header }", "{ id: d, state: { v: 3 } }"]))] }
                  - { id: shelf, component: Shelf, environment: { scale: 7 }, children: [\(some(["{ slot: content }", "{ id: c, state: { q: 4 } }"]))] }
                  - { id: each, forEach: { in: [x, y], id: self, component: Shelf, children: [{ id: kid, let: { n: $n } }] } }
            """
        return "components:\n  \(chance(3) ? "" : shelf)\n  \(panel)\n"
    }

    private func node(_ depth: Int, _ generator: inout SeededGenerator) -> String {
        func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }
        let id = ["a", "b", "c", "d", "kid", "in"].randomElement(using: &generator) ?? "a"
        switch Int.random(in: 0..<11, using: &generator) {
        case 9: return "{ id: \(id), component: Shelf, environment: { scale: 5 } }"
        case 10 where chance(2):
            return
                "{ id: \(id), state: { sub: [] }, kind: container, children: [{ id: panes, forEach: { in: $sub, component: Panel, let: { n: 4 } } }, { if: true, then: [{ id: s5, component: Shelf }] }] }"
        case 10:
            return
                "{ id: \(id), component: Panel, environment: { scale: 5 }, slots: { header: [{ id: kid, state: { n: 0 } }] } }"
        case 8:
            let given = depth == 0 ? "" : node(depth - 1, &generator) + ", "
            return
                "{ id: \(id), component: Board, children: [\(given){ id: k, state: { v: 2 }, containerValues: { mark: =v } }] }"
        case 0:
            return
                "{ id: \(id), component: Card\(chance(2) ? ", let: { n: \(Int.random(in: 0..<5, using: &generator)) }" : "") }"
        case 1: return "{ id: \(id), component: Card, let: { n: $v } }"
        case 2:
            let container =
                "kind: container, state: { q: 0, sub: [] }, let: { w: =v }, children: [{ id: kid, state: { n: 0 } }]"
            return "{ id: \(id), forEach: { in: $\(chance(2) ? "items" : "sub"), node: { \(container) } } }"
        case 3:
            return
                "{ id: \(id), state: { v: \(Int.random(in: 0..<9, using: &generator)), t: { initial: 0, transient: true } } }"
        case 4: return "{ id: \(id), let: { w: =v }, state: { s: 1 } }"
        default:
            let kind = chance(3) ? "group" : "container"
            var inside =
                depth == 0
                ? [] : (0..<Int.random(in: 0..<3, using: &generator)).map { _ in node(depth - 1, &generator) }
            if depth > 0, chance(3) {
                inside.append(
                    "{ if: v % 2 == 0, then: [{ id: s3, kind: container, state: { v: 0, q: 0 } }], else: [{ id: s4, component: Card }] }"
                )
            }
            let children = inside.isEmpty ? "" : ", children: [\(inside.joined(separator: ", "))]"
            return
                "{ id: \(id), kind: \(kind), state: { v: 1, items: \(chance(3) ? "{ initial: [], transient: true }" : "[{ id: x }]"), sub: [] }\(children) }"
        }
    }

    private func step(_ life: Life, _ generator: inout SeededGenerator, withLayers: Bool = false) throws {
        let paths = life.paths
        if withLayers, Int.random(in: 0..<4, using: &generator) == 0 { return try stepOfLayers(life, &generator) }
        guard let path = paths.randomElement(using: &generator), let other = paths.randomElement(using: &generator),
            let place = places(try life.call(.describe(path: path, depth: 0))).first
        else { return }
        let index = Bool.random(using: &generator) ? Int.random(in: 0..<3, using: &generator) : nil
        // Many of these are refused, which changes nothing.
        switch Int.random(in: 0..<16, using: &generator) {
        case 15:
            let list = Bool.random(using: &generator) ? "rows" : "live"
            let name = list == "rows" ? "rows, forEach: { in: $items, as: item" : "live, forEach: { in: $fed"
            let kid = Bool.random(using: &generator) ? "kid" : "far"
            let more = Int.random(in: 0..<3, using: &generator)
            let template =
                "kind: container, state: { open: false, sub: [], m\(more): 1 }, children: [{ id: \(kid), state: { n: \(more) } }]"
            try? life.apply("[{ id: \(name), node: { \(template) } } }]", at: "/top")
        case 14:
            let nodes = (0..<Int.random(in: 0..<2, using: &generator)).map { _ in node(2, &generator) }
            let document = "\(declarations(&generator))nodes: [\(nodes.joined(separator: ", "))]"
            _ = try? life.apply(document: document, at: place.path)
        case 0 where paths.count > 4: try? life.remove(place.path)
        case 1...3:
            try? life.move(place.path, to: Int.random(in: 0..<4, using: &generator) == 0 ? nil : other, at: index)
        case 4, 5, 6:
            let mode: Request.ApplyMode =
                Int.random(in: 0..<5, using: &generator) == 0 && place.path != "/" ? .replace : .merge
            let nodes = (0..<Int.random(in: 1..<3, using: &generator)).map { _ in node(2, &generator) }
            try? life.apply("[\(nodes.joined(separator: ", "))]", at: place.path, mode: mode)
        default:
            for state in place.states {
                let path = "\(place.path).\(state.name)"
                switch state.type {
                case "bool": _ = try? life.call(.transact([Mutation(operation: .toggle, path: path)], .init()))
                case "int":
                    _ = try? life.call(
                        .transact(
                            [
                                Mutation(
                                    operation: .add, path: path, value: .int(Int64.random(in: 1..<9, using: &generator))
                                )
                            ], .init()))
                case let type where type.hasPrefix("list"):
                    var ids =
                        ["x", "y", "z"].shuffled(using: &generator).prefix(Int.random(in: 0...3, using: &generator))
                        + []
                    // What is fed is fed rightly: which instances stay of a list that was refused at the end depends on
                    // those before it.
                    if !state.isTransient, Int.random(in: 0..<8, using: &generator) == 0, let first = ids.first {
                        ids.append(first)
                    }
                    try? life.set(path, .list(ids.map { .map(ValueMap([(.string("id"), .string($0))])) }))
                default: continue
                }
            }
        }
    }

    private func stepOfLayers(_ life: Life, _ generator: inout SeededGenerator) throws {
        let known = try life.layers().map { $0.split(separator: " ").prefix(2).map(String.init) }
        if let layer = known.randomElement(using: &generator), Bool.random(using: &generator) {
            // It is refused if a branch of what the layer hides has the id of a node beside it.
            if Int.random(in: 0..<4, using: &generator) == 0 {
                try? life.withdraw(layer[0], at: layer[1])
                return
            }
            // Its node may be missing.
            let nodes = (0..<Int.random(in: 0..<3, using: &generator)).map { _ in node(2, &generator) }
            try? life.layer(layer[0], "nodes: [\(nodes.joined(separator: ", "))]", at: layer[1])
            return
        }
        let nodes = (0..<Int.random(in: 1..<3, using: &generator)).map { _ in node(2, &generator) }
        let at = Bool.random(using: &generator) ? "/" : life.paths.randomElement(using: &generator) ?? "/"
        let name = ["one", "two"].randomElement(using: &generator) ?? "one"
        try? life.layer(name, "nodes: [\(nodes.joined(separator: ", "))]", at: at)
    }

    /// Gives transient states the values that they had, outer ones first, as whoever feeds them does after a start.
    private func feed(_ life: Life, as before: Value) throws {
        for place in places(before) {
            for state in place.states where state.isTransient {
                try? life.set("\(place.path).\(state.name)", state.value)
            }
        }
    }

    /// Takes lists away that were refused before their states became transient. Fed again they might hold other
    /// instances: those of the initial value.
    private func heal(_ life: Life) throws {
        for place in places(try life.described()) {
            for state in place.states where state.isTransient && state.type.hasPrefix("list") {
                let ids = state.value.list ?? []
                if Set(ids).count < ids.count { try life.set("\(place.path).\(state.name)", []) }
            }
        }
    }

    /// - Parameter before: a life's tree; nil: as it is now.
    private func isSame(_ before: Value? = nil, of life: Life, _ next: Life, _ claim: String) throws -> Bool {
        // Of a name that leads nowhere a document does not know the type.
        var found = try differences(before ?? life.described(), next.described()).filter {
            !$0.contains(".type: \"dyn\" ≠") && !$0.hasSuffix("≠ \"dyn\"")
        }
        found += try differences(life.exported(), next.exported()).map { "export \($0)" }
        #expect(found == [], "\(claim)\n\(found.prefix(8).joined(separator: "\n"))")
        if !found.isEmpty { tell(life, next) }
        return found.isEmpty
    }

    @Test("a killed daemon comes back with the tree, the values and the export that it had", arguments: freshSeeds(2))
    func equal(seed: UInt64) throws { try live(seed, withLayers: false) }

    @Test("a killed daemon comes back with the layers of its clients", arguments: freshSeeds(2))
    func layers(seed: UInt64) throws { try live(seed, withLayers: true) }

    private func live(_ seed: UInt64, withLayers: Bool) throws {
        var generator = SeededGenerator(seed: seed)
        var limits = RuntimeLimits()
        if seed % 2 == 0 {
            // Documents take many turns, and what is removed is freed in many.
            limits.sliceSteps = 40
            limits.graph.freedAtOnce = 1
        }
        var life = try Life(RandomRestartTests.scene, limits: limits)
        for number in 0..<RandomRestartTests.steps {
            try step(life, &generator, withLayers: withLayers)
            guard number % 5 == 4 else { continue }
            try heal(life)
            let next = try life.next()
            let before = try life.described()
            try feed(next, as: before)
            // Of a name that leads nowhere a document does not know the type.
            guard try isSame(before, of: life, next, "seed \(seed), step \(number): before ≠ after") else { return }
            // What clients said of a node that its component no longer has waits.
            #expect(next.absentNodes == life.absentNodes, "seed \(seed), step \(number)")
            if next.absentNodes != life.absentNodes { return tell(life, next) }
            if Bool.random(using: &generator) { life = next }
        }
    }

    @Test("the archive has the tree, the values and the export of each moment", arguments: freshSeeds(2))
    func archived(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var limits = RuntimeLimits()
        if seed % 2 == 0 {
            limits.sliceSteps = 40
            limits.graph.freedAtOnce = 1
        }
        let life = try Life(RandomRestartTests.scene, limits: limits)
        let folder = try Folder()
        // Small segments, so that images are made amid changes.
        try life.beginArchive(in: folder, limits: Archive.Limits(size: 1 << 18))
        if seed % 2 == 0 { life.archive?.sliceNodes = 3 }
        for number in 0..<RandomRestartTests.steps {
            try step(life, &generator)
            life.archive?.flush(at: Life.now, revision: life.runtime.revision)
            guard number % 5 == 4 else { continue }
            try heal(life)
            try life.settle()
            while life.archive?.wait != nil { life.archive?.flush(at: Life.now, revision: life.runtime.revision) }
            let past = try pastLife(folder, life.scene, limits)
            let described = try past.described()
            let missing = outline(try life.described()).symmetricDifference(outline(described))
            #expect(missing == [], "seed \(seed), step \(number)")
            let found = try differences(life.described(), described).filter {
                !$0.contains(".type: \"dyn\" ≠") && !$0.hasSuffix("≠ \"dyn\"")
            }
            #expect(found == [], "seed \(seed), step \(number)\n\(found.prefix(8).joined(separator: "\n"))")
            if !found.isEmpty { return }
        }
    }

    private func outline(_ tree: Value) -> Set<String> {
        Set(
            places(tree).flatMap { place in [place.path] + place.states.map { "\(place.path).\($0.name) = \($0.value)" }
            })
    }

    /// The graph that the newest rows of an archive make.
    private func pastLife(_ folder: Folder, _ scene: String, _ limits: RuntimeLimits) throws -> VirtualPast {
        let segments = Segment.all(in: folder.path)
        for segment in segments.reversed() {
            let reader = try #require(SegmentReader(segment.number, in: folder.path))
            var (table, hasImage, revision) = (RowTable(), false, reader.basis.revision)
            try reader.read { record in
                if case .imageEnds = record { hasImage = true }
                if case .transaction(let transaction) = record { revision = transaction.revision }
                table.apply(record, at: revision)
                return true
            }
            if hasImage { return try VirtualPast(scene, table.all, limits) }
        }
        throw Failure(.unavailable, "no segment has an image")
    }

    /// What an author may do to the scene between two starts.
    private static let edits: [(String, String)] = [
        ("id: a, kind: container, state: { v: 2 }", "id: a, kind: container, state: { v: 2, extra: 1 }"),
        ("id: a, kind: container, state: { v: 2 }", "id: other, state: { v: 2 }"),
        ("id: a, kind: container, state: { v: 2 }", "id: a, kind: container, state: { v: text }"),
        ("switch: v % 3", "switch: 6 / (v % 3)"),
        ("cases: { 0: [", "cases: { 1: ["),
        ("id: s2, component: Card }]", "id: s2, kind: container, state: { open: true } }]"),
        ("default: [{ if: fed.size() > 0,", "default: [{ if: 7 / fed.size() > 0,"),
        ("open: false, sub: [], start: { initial: =item.id } }", "sub: [{ id: x }] }"),
        ("{ id: kid, state: { n: 0 } }, { id: in", "{ id: in"),
        ("id: rows, forEach: { in: $items,", "id: rows, forEach: { in: '=items.filter(i, 4 / (v % 2) > i.size())',"),
        ("id: rows, forEach", "id: lines, forEach"),
        ("- { id: inside, state: { v: 1 }, let: { m: =n } }", "- { id: inside, state: { w: 1 } }"),
        ("{ if: open, then:", "{ if: '!open', then:"),
        ("- { id: b, component: Card }", "- { id: b, component: Board }"),
        ("- { id: b, component: Card }", ""),
        // Clients may have made nodes with these ids there.
        (
            "- { id: a, kind: container,",
            "- { id: kid, component: Card }\n      - { id: d, kind: container, state: { v: 4, q: 1 }, children: [{ id: kid, state: { n: 5, v: 2 } }, { id: in, component: Card }] }\n      - { id: a, kind: container,"
        ),
        ("- { id: high, kind: container,", "- { id: upper, kind: container,"),
        ("slots: { header: [{ id: given, state: { q: 0 } }] }", "slots: { header: [{ id: more, component: Card }] }"),
        ("id: l, component: Card", "id: l, state: { open: true }"),
        (
            "nodes:\n  - id: top",
            "nodes:\n  - { id: c, kind: container, children: [{ id: d, state: { q: 3 } }] }\n  - id: top"
        ),
    ]

    @Test(
        "a daemon has the same tree at each start with an edited scene, and the earlier one when the edits are undone",
        arguments: freshSeeds(1), [false, true])
    func edited(seed: UInt64, withLayers: Bool) throws {
        try live(seed, goesOnEdited: false, withLayers: withLayers)
    }

    @Test("clients' changes to an edited scene are there at the next start", arguments: oldFaults + freshSeeds(0))
    func goingOn(seed: UInt64) throws { try live(seed, goesOnEdited: true, withLayers: false) }

    @Test("clients' layers over an edited scene are there at the next start", arguments: freshSeeds(1))
    func goingOnWithLayers(seed: UInt64) throws { try live(seed, goesOnEdited: true, withLayers: true) }

    private func live(_ seed: UInt64, goesOnEdited: Bool, withLayers: Bool) throws {
        var generator = SeededGenerator(seed: seed)
        var life = try Life(RandomRestartTests.scene)
        for number in 0..<RandomRestartTests.steps / 2 {
            try step(life, &generator, withLayers: withLayers)
            guard number % 10 == 9 else { continue }
            var scene = RandomRestartTests.scene
            for (old, new) in RandomRestartTests.edits where Int.random(in: 0..<6, using: &generator) == 0 {
                scene = scene.replacing(old, with: new)
            }
            // Some edits do not fit together.
            guard Life.accepts(scene) else { continue }
            try heal(life)
            let claim = "seed \(seed), step \(number): \(scene)"
            let first = try life.next(scene)
            let second = try first.next()
            guard try isSame(of: first, second, "\(claim)first ≠ second") else { return }
            #expect(first.absentNodes == second.absentNodes, "\(claim)")
            let before = try life.described()
            for (next, how) in [(try life.next(), "same scene"), (try second.next(life.scene), "edits undone")] {
                try feed(next, as: before)
                guard try isSame(before, of: life, next, "\(claim)before ≠ after, \(how)") else { return }
            }
            if goesOnEdited, Bool.random(using: &generator) { life = second }
        }
    }

    // MARK: What the author did not touch

    private static let ownScene =
        scene + """
              - id: mine
                kind: container
                state: { v: 1, items: [{ id: x }], sub: [] }
                children:
                  - { id: p, kind: container, state: { own: 1, v: 3 }, children: [{ id: kid, state: { n: 0 } }] }
                  - id: q
                    kind: container
                    state: { v: 2, items: [{ id: y }], sub: [] }
                    children:
                      - { id: in, kind: container, state: { v: 1, q: 2 } }
                      - { id: rows, forEach: { in: $items, node: { kind: container, state: { q: 0 } } } }
                  - { id: r, kind: container, state: { v: 4 }, let: { w: 1 } }

            """

    /// Edits of the nodes in `/mine`, each with the nodes that may be others then, with all below.
    private static let ownEdits: [(old: String, new: String, touched: [String])] = [
        ("own: 1, v: 3", "own: 1, v: 3, extra: 1", []),
        ("own: 1, v: 3", "own: 7, v: 3", []),
        ("let: { w: 1 }", "let: { w: 2 }", []),
        ("- { id: p,", "- { id: fresh, state: { f: 1 } }\n          - { id: p,", ["/mine/fresh"]),
        ("{ id: in, kind: container, state: { v: 1, q: 2 } }", "{ id: fresh }", ["/mine/q/in", "/mine/q/fresh"]),
        ("- { id: r, kind: container, state: { v: 4 }, let: { w: 1 } }", "", ["/mine/r"]),
        ("id: q\n", "id: other\n", ["/mine/q", "/mine/other"]),
    ]

    /// The nodes that are not touched, and their states.
    private func untouched(_ tree: Value, by touched: [String]) -> [String: String] {
        func isTouched(_ path: String) -> Bool { touched.contains { path == $0 || path.hasPrefix($0 + "/") } }
        var found: [String: String] = [:]
        for place in places(tree) where !isTouched(place.path) {
            found[place.path] = ""
            for state in place.states where !["own", "extra"].contains(state.name) {
                found["\(place.path).\(state.name)"] = "\(state.value)"
            }
        }
        return found
    }

    @Test("what the author of a scene did not touch stays", arguments: freshSeeds(1))
    func untouched(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        var life = try Life(RandomRestartTests.ownScene)
        for number in 0..<RandomRestartTests.steps / 2 {
            try step(life, &generator, withLayers: true)
            guard number % 10 == 9 else { continue }
            var (scene, touched) = (life.scene, [String]())
            for edit in RandomRestartTests.ownEdits where Int.random(in: 0..<4, using: &generator) == 0 {
                let edited = scene.replacing(edit.old, with: edit.new)
                if edited != scene { touched += edit.touched }
                scene = edited
            }
            guard Life.accepts(scene) else { continue }
            try heal(life)
            let before = try life.described()
            let next = try life.next(scene)
            try feed(next, as: before)
            let (there, after) = (untouched(before, by: touched), untouched(try next.described(), by: touched))
            let lost = Set(there.keys).union(after.keys).filter { there[$0] != after[$0] }.sorted()
            #expect(
                lost == [],
                "seed \(seed), step \(number)\n\(scene)\n\(lost.prefix(8).map { "\($0): \(there[$0] ?? "-") ≠ \(after[$0] ?? "-")" })"
            )
            if !lost.isEmpty { return tell(life, next) }
            if Bool.random(using: &generator) { life = next }
        }
    }

    /// `AGD_RESTART_TOLD=1` shows what has led to a failure.
    private func tell(_ life: Life, _ next: Life) {
        guard numberInEnvironment("AGD_RESTART_TOLD") == 1 else { return }
        let acts = shortest(life, next)
        print("done:\n" + acts.map(\.text).joined(separator: "\n"))
        for (name, life) in [("before", life), ("after", next)] {
            print("waits \(name): \(life.runtime.graph.persistence.absentKeys.map(\.key))")
        }
        print("without a place:\n" + next.failures.joined(separator: "\n"))
        print("kept:\n" + ((try? texts(life.folder.copy().open().restored)) ?? []).joined(separator: "\n"))
    }

    /// A few of a life's acts after which the next life is another one; all of them, if they do not suffice.
    private func shortest(_ life: Life, _ next: Life) -> [Life.Act] {
        func isOther(_ acts: [Life.Act]) -> Bool {
            do {
                var again = try Life(RandomRestartTests.scene, limits: life.limits)
                for act in acts {
                    switch act {
                    case .request(let request): _ = try? again.call(request.fresh)
                    case .start(let scene): again = try again.next(scene)
                    }
                }
                let before = try again.described()
                let later = try again.next(next.scene)
                try feed(later, as: before)
                return try differences(before, later.described()) != []
                    || differences(again.exported(), later.exported()) != [] || again.absentNodes != later.absentNodes
            } catch { return false }
        }
        var acts = life.acts
        guard isOther(acts) else { return acts }
        var length = acts.count / 2
        while length > 0 {
            var start = 0
            while start < acts.count {
                let fewer = Array(acts[..<start] + acts[min(start + length, acts.count)...])
                if isOther(fewer) { acts = fewer } else { start += length }
            }
            length /= 2
        }
        return acts
    }
}

extension Life.Act {
    fileprivate var text: String {
        switch self {
        case .start: "start"
        case .request(.set(let mutation, _)): "set \(mutation.path) \(mutation.operand)"
        case .request(.transact(let mutations, _)):
            mutations.map { "\($0.operation) \($0.path) \($0.operand)" }.joined(separator: "; ")
        case .request(.apply(let apply)):
            "apply \(apply.mode) layer \(apply.layer ?? "-") at \(apply.at): \(apply.document.string ?? "")"
        case .request(let request): "\(request)"
        }
    }
}

extension Request {
    /// For another graph: a path remembers where it led.
    fileprivate var fresh: Request {
        switch self {
        case .set(let mutation, let options): .set(mutation.fresh, options)
        case .transact(let mutations, let options): .transact(mutations.map(\.fresh), options)
        default: self
        }
    }
}

extension Mutation {
    fileprivate var fresh: Mutation { Mutation(operation: operation, path: path, value: value, index: index) }
}
