import AttributeValues
import Foundation
import TestSupport
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("if and switch")
struct ChoiceTests {
    private static let player = """
        nodes:
          - id: player
            kind: container
            state: { isPlaying: false, volume: 0.5 }
            computed: { shown: "subviews.map(s, s.id)" }
            children:
              - { id: title, state: { text: Episode } }
              - if: isPlaying
                then:
                  - { id: pause, state: { presses: 0 }, computed: { label: "'Pause'" } }
                  - { id: progress, let: { volume: $volume } }
                else:
                  - { id: play, state: { presses: 0 } }
              - { id: footer, computed: { place: self.index } }
        """

    private func structure(_ graph: Harness) -> [[String]] {
        graph.structures.map { $0.added.sorted() + $0.removed.sorted().map { "-" + $0 } + $0.moved.map { "~" + $0 } }
    }

    @Test("a branch is there while its condition holds, without a level of its own in paths") func branches() throws {
        let graph = try Harness(ChoiceTests.player)
        #expect(try graph.children(of: "/player") == ["title", "play", "footer"])
        #expect(try graph.value("/player.shown") == ["title", "play", "footer"])
        #expect(try graph.value("/player/footer.place") == 2)
        try graph.subscribe(["/player/**"], events: [.update, .structure])
        try graph.set("/player.isPlaying", true)
        #expect(
            structure(graph) == [
                [
                    "/player/pause", "/player/pause.label", "/player/pause.presses", "/player/progress",
                    "/player/progress.volume", "-/player/play", "-/player/play.presses",
                ]
            ])
        #expect(graph.changes["/player/pause.label"] == .value("Pause"))
        #expect(graph.changes["/player/footer.place"] == .value(3))
        #expect(graph.changes["/player.shown"] == .value(["title", "pause", "progress", "footer"]))
        #expect(try graph.children(of: "/player") == ["title", "pause", "progress", "footer"])
        #expect(try graph.value("/player/progress.volume") == 0.5)
        #expect(throws: Failure.self) { try graph.value("/player/play.presses") }
        #expect(throws: Failure.self) { try graph.value("/player/if1.data") }
    }

    @Test("a node that leaves with its branch loses its states and starts with the initial ones when it returns")
    func states() throws {
        let graph = try Harness(ChoiceTests.player)
        try graph.set("/player/play.presses", 3)
        try graph.set("/player.isPlaying", true)
        try graph.set("/player/pause.presses", 7)
        try graph.set("/player.isPlaying", false)
        #expect(try graph.value("/player/play.presses") == 0)
        try graph.set("/player.isPlaying", true)
        #expect(try graph.value("/player/pause.presses") == 0)
    }

    @Test("a write that leaves the condition as it is touches no node") func equal() throws {
        let graph = try Harness(ChoiceTests.player)
        try graph.subscribe(["/player/**"], events: [.update, .structure])
        _ = graph.runs()
        try graph.set("/player.volume", 0.25)
        #expect(structure(graph).isEmpty && graph.runs() == [])
        try graph.set("/player.isPlaying", false)
        #expect(structure(graph).isEmpty && graph.events.isEmpty)
    }

    @Test("branches may use the same id; the new node begins anew") func sameID() throws {
        let graph = try Harness(
            """
            nodes:
              - id: app
                state: { mode: list }
                children:
                  - switch: mode
                    cases:
                      list: [{ id: body, state: { rows: 3 } }]
                      grid: [{ id: body, state: { columns: 2 } }]
                    default: [{ id: empty }]
            """)
        #expect(try graph.value("/app/body.rows") == 3)
        try graph.subscribe(["/app/**"], events: [.update, .structure])
        try graph.set("/app.mode", "grid")
        #expect(structure(graph) == [["/app/body", "/app/body.columns", "-/app/body", "-/app/body.rows"]])
        #expect(try graph.value("/app/body.columns") == 2)
        try graph.set("/app.mode", "nothing of these")
        #expect(try graph.children(of: "/app") == ["empty"])
    }

    @Test("branches stand in branches, in groups, in sections, in lists and in components") func nested() throws {
        let graph = try Harness(
            """
            components:
              Row:
                let: [item]
                kind: container
                children:
                  - if: item.isOpen
                    then: [{ id: details, let: { text: =item.text } }]
            nodes:
              - id: app
                kind: container
                state: { a: true, b: true, items: [{ id: x, isOpen: true, text: X }, { id: y, isOpen: false, text: Y }] }
                computed: { ids: "subviews.map(s, s.id)", heads: "sections.map(s, s.header.size())" }
                children:
                  - { id: g, kind: group, children: [{ if: a, then: [{ if: b, then: [{ id: both }], else: [{ id: onlyA }] }] }] }
                  - { id: s, header: [{ if: b, then: [{ id: h }] }], content: [{ id: c }] }
                  - { id: rows, forEach: { in: $items, as: item, component: Row, let: { item: $item } } }
            """)
        #expect(try graph.value("/app.ids") == ["g/both", "s/c", "rows/x", "rows/y"])
        #expect(try graph.value("/app.heads") == [0, 1, 0])
        #expect(try graph.value("/app/rows/x/details.text") == "X")
        try graph.set("/app.items[id=\"y\"].isOpen", true)
        #expect(try graph.value("/app/rows/y/details.text") == "Y")
        try graph.set("/app.b", false)
        #expect(try graph.value("/app.ids") == ["g/onlyA", "s/c", "rows/x", "rows/y"])
        #expect(try graph.value("/app.heads") == [0, 0, 0])
        try graph.set("/app.a", false)
        #expect(try graph.value("/app.ids") == ["s/c", "rows/x", "rows/y"])
    }

    @Test("names in the children of a use mean what they mean around it, in branches, too") func content() throws {
        let graph = try Harness(
            """
            components: { Card: { kind: container, state: { text: inner }, children: [] } }
            nodes:
              - id: app
                state: { text: outer, isOn: true }
                children:
                  - { id: card, component: Card, children: [{ if: isOn, then: [{ id: t, let: { t: $text } }] }] }
            """)
        #expect(try graph.value("/app/card/t.t") == "outer")
        try graph.set("/app.text", "new")
        #expect(try graph.value("/app/card/t.t") == "new")
    }

    @Test("a condition that fails leaves what is there, and describe says why") func failing() throws {
        let graph = try Harness(
            """
            nodes:
              - id: app
                state: { n: { initial: 1, type: dyn } }
                children: [{ if: n > 0, then: [{ id: a, state: { s: 0 } }] }]
            """)
        try graph.set("/app/a.s", 5)
        try graph.set("/app.n", "text")
        #expect(try graph.value("/app/a.s") == 5)
        let choice = try graph.described("/app")["choices"]?.list?.first?.map
        #expect(choice?["if"] == "n > 0" && choice?["shows"] == "then")
        #expect(choice?["error"]?.map?["code"] == "ruleFailed")
        try graph.set("/app.n", 0)
        #expect(try graph.children(of: "/app").isEmpty)
        #expect(try graph.described("/app")["choices"]?.list?.first?.map?["error"] == nil)
    }

    @Test("nobody gets the id of a node in a branch beside it, also while the branch is not there") func taken() throws
    {
        let graph = try Harness(ChoiceTests.player)
        func expectConflict(_ change: () throws -> some Any, _ here: SourceLocation = #_sourceLocation) {
            #expect(refusal(change)?.code == .conflict, sourceLocation: here)
        }
        expectConflict { try graph.apply("nodes: [{ id: pause }]", at: "/player") }
        expectConflict { try graph.apply("nodes: [{ id: play }]", at: "/player", mode: .create) }
        expectConflict {
            try graph.apply("nodes: [{ if: isPlaying, id: other, then: [{ id: title }] }]", at: "/player")
        }
        _ = try graph.apply("nodes: [{ id: pause, state: { mine: 1 } }]")
        expectConflict { try graph.succeed(.move(path: "/pause", to: "/player", index: nil, .init())) }
        // A node in a branch that is there is completed.
        _ = try graph.apply("nodes: [{ id: play, state: { more: 2 } }]", at: "/player")
        #expect(try graph.value("/player/play.more") == 2)
    }

    @Test("a condition that depends on its own branch is an error that names the way") func endless() throws {
        let graph = try Harness(
            """
            nodes:
              - id: app
                kind: container
                computed: { n: subviews.size() }
                children: [{ if: n == 0, then: [{ id: a }] }]
            """)
        let choice = try graph.described("/app")["choices"]?.list?.first?.map
        #expect(choice?["error"]?.map?["code"] == "cycle")
        #expect(choice?["error"]?.map?["message"]?.string?.contains("/app.n") == true)
        #expect(try graph.value("/app.n") == 0)
    }

    @Test("a document replaces branches whole; living nodes keep their states") func applied() throws {
        let graph = try Harness(applied: ChoiceTests.player)
        try graph.set("/player.isPlaying", true)
        try graph.set("/player/pause.presses", 4)
        let again = try graph.apply(ChoiceTests.player)
        #expect(again.map?["changed"] == [] && again.map?["added"] == [] && again.map?["removed"] == [])
        let changed = ChoiceTests.player.replacingOccurrences(
            of: "{ id: progress, let: { volume: $volume } }", with: "{ id: more }")
        #expect(try graph.apply(changed, mode: .replace).map?["changed"] == ["/player"])
        #expect(try graph.children(of: "/player") == ["title", "pause", "more", "footer"])
        #expect(try graph.value("/player/pause.presses") == 4)
        let inverted = changed.replacingOccurrences(of: "if: isPlaying", with: "if: volume < 0.4")
        _ = try graph.apply(inverted, mode: .replace)
        #expect(try graph.children(of: "/player") == ["title", "play", "footer"])
        let without = """
            nodes:
              - { id: player, kind: container, state: { isPlaying: false, volume: 0.5 }, children: [{ id: title, state: { text: Episode } }] }
            """
        _ = try graph.apply(without, mode: .replace)
        #expect(try graph.children(of: "/player") == ["title"])
    }

    @Test("an export makes the same tree, with its branches and their states") func exported() throws {
        let graph = try Harness(ChoiceTests.player)
        try graph.set("/player.isPlaying", true)
        try graph.set("/player/pause.presses", 4)
        let copy = try Harness(document: graph.exported())
        #expect(try copy.value("/player/pause.presses") == 4)
        #expect(try copy.children(of: "/player") == ["title", "pause", "progress", "footer"])
        try copy.set("/player.isPlaying", false)
        #expect(try copy.children(of: "/player") == ["title", "play", "footer"])
    }

    @Test("a use in a branch is exported in full, with what its slots are given, where its component is only a layer's")
    func exportedInFull() throws {
        let box = "kind: container, children: [{ slot: header }, { slot: content }]"
        let graph = try Harness("components: { Box: { \(box) } }\nnodes: [{ id: top, kind: container }]")
        let layer = """
            agd: 1
            components: { Box: { state: { own: 1 }, \(box) } }
            nodes:
              - id: c
                kind: container
                state: { on: true }
                children:
                  - if: on
                    then: [{ id: b, component: Box, slots: { header: [{ id: h, state: { n: 1 } }] }, children: [{ id: k }] }]

            """
        var apply = Request.Apply(document: .string(layer), at: "/top", mode: .merge, dryRun: false, options: .init())
        apply.layer = "l"
        _ = try graph.succeed(.apply(apply))
        let copy = try Harness(document: graph.exported())
        for tree in [graph, copy] {
            #expect(try tree.children(of: "/top/c") == ["b"])
            #expect(try tree.children(of: "/top/c/b").sorted() == ["h", "k"])
            #expect(try tree.value("/top/c/b.own") == 1 && tree.value("/top/c/b/h.n") == 1)
        }
    }

    @Test("an animated change of a branch gives timelines and the transitions of its nodes") func animated()
        throws
    {
        let graph = try Harness(
            """
            nodes:
              - id: app
                state: { isOn: false }
                children:
                  - if: isOn
                    then: [{ id: x, transition: "move(edge: leading).combined(with: opacity)" }]
                    else: [{ id: x, transition: "asymmetric(insertion: identity, removal: scale(0.5))" }, { id: y }]
            """)
        try graph.subscribe(["/app/**"], events: [.structure])
        func motion() -> StructureDetails? { graph.structures.first?.details }
        try graph.set("/app.isOn", true, animation: "linear(duration: 2)")
        let transitions: Value = [
            "/app/x": [
                "insertion": [["move": ["edge": "leading"]], ["opacity": [:]]],
                "removal": [["scale": ["factor": 0.5]]],
            ]
        ]
        #expect((motion()?.transitions).map { .map($0) } == transitions)
        let timeline = motion()?.timeline
        #expect(timeline?["from"] == 0 && timeline?["to"] == 1 && timeline?["logical"] == 2)
        try graph.set("/app.isOn", false)
        #expect(motion()?.timeline == nil)
        #expect(motion()?.transitions["/app/x"]?.map?["insertion"] == [])
        try graph.set("/.reduceMotion", true)
        try graph.set("/app.isOn", true, animation: "linear(duration: 2)")
        #expect(motion()?.timeline == nil)
    }

    @Test("rows that change their order with an animation have a timeline") func animatedOrder() throws {
        let graph = try Harness(
            """
            nodes:
              - id: app
                state: { ids: [a, b] }
                children: [{ id: rows, forEach: { in: $ids, id: self, as: id, node: { kind: view } } }]
            """)
        try graph.subscribe(["/app/**"], events: [.structure])
        try graph.set("/app.ids", ["b", "a"], animation: "linear(duration: 2)")
        #expect(graph.structures.first?.moved.isEmpty == false)
        #expect(graph.structures.first?.details?.timeline?["logical"] == 2)
    }

    @Test("a node moves within its branch, and out of it") func moved() throws {
        let graph = try Harness(ChoiceTests.player)
        try graph.set("/player.isPlaying", true)
        try graph.succeed(.move(path: "/player/progress", to: nil, index: 0, .init()))
        #expect(try graph.children(of: "/player") == ["title", "progress", "pause", "footer"])
        try graph.succeed(.move(path: "/player/footer", to: nil, index: 0, .init()))
        #expect(try graph.children(of: "/player") == ["footer", "title", "progress", "pause"])
        #expect(try graph.value("/player/footer.place") == 0)
        try graph.succeed(.move(path: "/player/footer", to: nil, index: 3, .init()))
        #expect(try graph.children(of: "/player") == ["title", "progress", "pause", "footer"])
        try graph.set("/player/pause.presses", 2)
        try graph.succeed(.move(path: "/player/pause", to: "/", index: nil, .init()))
        try graph.set("/player.isPlaying", false)
        #expect(try graph.children(of: "/player") == ["title", "play", "footer"])
        #expect(try graph.value("/pause.presses") == 2)
    }
}
