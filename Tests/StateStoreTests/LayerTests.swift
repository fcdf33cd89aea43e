import AttributeValues
@testable import GraphRuntime
import TestSupport
import Testing
import WireProtocol

extension Life {
    func layer(
        _ name: String, _ document: String, at path: String = "/", since revision: UInt64? = nil
    ) throws {
        var apply = Request.Apply(
            document: .string("agd: 1\n" + document), at: path, mode: .merge, dryRun: false, options: .init())
        apply.layer = name
        apply.condition = revision.map { Request.Position(epoch: runtime.epoch, revision: $0) }
        try call(.apply(apply))
    }

    func withdraw(_ name: String, at path: String = "/") throws {
        try call(.withdraw(layer: name, at: path, .init()))
    }

    /// The layers, lower ones first: name, node, number of parts, and of those that wait.
    func layers(_ path: String = "/") throws -> [String] {
        let answer = try call(.layers(path: path))
        return (answer.map?["layers"]?.list ?? []).compactMap(\.map).map { layer in
            ["name", "at", "nodes", "waiting"].map { layer[.string($0)].map { $0.string ?? $0.jsonText } ?? "" }
                .joined(separator: " ")
        }
    }
}

@Suite("Named layers")
struct LayerTests {
    private static let scene =
        "nodes: [{ id: box, kind: container, state: { v: 1 }, children: [{ id: old, state: { x: 1 } }] }]"
    private static let document = """
        nodes:
          - id: box
            state: { w: 2 }
            children: [{ id: lamp, kind: container, state: { on: false }, children: [{ id: bulb, state: { n: 0 } }] }]
          - { id: own, state: { y: 3 } }
        """

    @Test("a layer completes and makes nodes, over which the edits lie, and is there at the next start")
    func restart() throws {
        let life = try Life(LayerTests.scene)
        try life.layer("lights", LayerTests.document)
        #expect(life.paths == ["/", "/box", "/box/old", "/box/lamp", "/box/lamp/bulb", "/own"])
        try life.apply("[{ id: box, children: [{ id: lamp, state: { level: 5 } }] }]")
        try life.set("/box/lamp.on", true)
        try life.set("/box.w", 7)
        #expect(try life.layers() == ["lights / 4 0"])
        #expect(try life.described("/box/lamp").map?["layers"] == [["name": "lights", "at": "/"]])
        let next = try expectKept(life, times: 2)
        #expect(try next.layers() == ["lights / 4 0"])
        #expect(try next.value("/box/lamp.level") == 5 && next.value("/box.w") == 7)
    }

    @Test("applied again, a layer writes only the rows that differ, and what it no longer has goes")
    func again() throws {
        let life = try Life(LayerTests.scene)
        try life.layer("lights", LayerTests.document)
        let before = try life.rows().filter { $0.key.hasPrefix("@layer") }
        #expect(before.count == 5)
        try life.layer("lights", LayerTests.document)
        #expect(try life.rows().map(\.revision).max() == before.map(\.revision).max())
        try life.layer(
            "lights",
            LayerTests.document.replacing("{ id: bulb, state: { n: 0 } }", with: "{ id: bulb, state: { n: 0, m: 1 } }"))
        let after = try life.rows().filter { $0.key.hasPrefix("@layer") }
        #expect(zip(before, after).filter { $0.revision != $1.revision }.map(\.1.name) == ["/box/lamp/bulb"])
        try life.layer("lights", "nodes: [{ id: own, state: { y: 3 } }]")
        #expect(life.paths == ["/", "/box", "/box/old", "/own"])
        #expect(throws: Failure.self) { try life.value("/box.w") }
        try expectKept(life)
    }

    @Test("a layer that no longer says the kind of its node makes it anew, whatever the layers above say")
    func kinds() throws {
        let list = "nodes: [{ id: own, forEach: { in: [x], id: self, node: { state: { q: 0 } } } }]"
        let plain = "nodes: [{ id: own, state: { s: 1 } }]"
        let life = try Life(LayerTests.scene)
        try life.layer("lights", list)
        try life.layer("lights", plain)
        #expect(life.paths == ["/", "/box", "/box/old", "/own"])
        #expect(try life.described("/own").map?["kind"] == "view")
        try expectKept(life)
        try life.layer("above", list)
        try life.layer("lights", plain.replacing("s: 1", with: "s: 2"))
        #expect(life.paths == ["/", "/box", "/box/old", "/own", "/own/x"])
        try expectKept(life)
        try life.withdraw("above")
        try life.apply("[{ id: own, kind: group, children: [{ id: kid }] }]", mode: .replace)
        try life.layer("lights", plain)
        let next = try expectKept(life)
        #expect(try next.layers() == ["lights / 1 0"])
    }

    @Test("a node that waited stands at the same place after a start, also if one was made meanwhile")
    func waited() throws {
        let life = try Life(LayerTests.scene)
        try life.layer("lights", "nodes: [{ id: own, state: { y: 3 } }]")
        try life.move("/own", to: nil, at: nil)
        try life.layer("lights", "nodes: []")
        try life.apply("[{ id: last }, { id: a }]")
        try life.layer("lights", "nodes: [{ id: own, state: { y: 3 } }]")
        try expectKept(life)
    }

    @Test("a withdrawn layer leaves what scenes and clients say; edits of its nodes wait until it is back")
    func withdrawn() throws {
        let life = try Life(LayerTests.scene)
        try life.layer("lights", LayerTests.document)
        try life.apply("[{ id: lamp, state: { level: 5 } }]", at: "/box")
        try life.withdraw("lights")
        #expect(life.paths == ["/", "/box", "/box/old"])
        #expect(try life.layers() == [] && life.absentNodes == 1)
        #expect(throws: Failure.self) { try life.withdraw("lights") }
        let next = try life.next()
        #expect(try differences(life.described(), next.described()) == [])
        try next.layer("lights", LayerTests.document)
        #expect(try next.value("/box/lamp.level") == 5 && next.absentNodes == 0)
        try expectKept(next)
    }

    @Test("of two layers the later one counts, also when the earlier one is applied again")
    func order() throws {
        let life = try Life()
        try life.layer("low", "nodes: [{ id: a, let: { x: 1 } }, { id: b, let: { x: 1 } }]")
        try life.layer("high", "nodes: [{ id: a, let: { x: 2 } }]")
        try life.layer("low", "nodes: [{ id: a, let: { x: 3, y: 3 } }, { id: c, let: { x: 3 } }]")
        #expect(life.paths == ["/", "/a", "/c"])
        #expect(try life.value("/a.x") == 2 && life.value("/a.y") == 3)
        try expectKept(life)
        try life.withdraw("high")
        #expect(try life.value("/a.x") == 3)
        try expectKept(life)
    }

    @Test("a node of a layer that a client has removed stays away until the layer says it anew, or it is restored")
    func removed() throws {
        let life = try Life(LayerTests.scene)
        try life.layer("lights", LayerTests.document)
        try life.remove("/box/lamp")
        try life.layer("lights", LayerTests.document)
        #expect(life.paths == ["/", "/box", "/box/old", "/own"])
        let next = try expectKept(life)
        #expect(try next.layers() == ["lights / 4 0"])
        try next.call(.restore(path: "/box/lamp", .init()))
        #expect(next.paths == ["/", "/box", "/box/old", "/box/lamp", "/box/lamp/bulb", "/own"])
        try expectKept(next)
        try life.layer("lights", LayerTests.document.replacing("on: false", with: "on: false, dim: 1"))
        #expect(try life.value("/box/lamp.dim") == 1)
        try expectKept(life)
    }

    @Test("what a layer says of a node that an edited scene lacks waits, and is named")
    func waiting() throws {
        let life = try Life(LayerTests.scene)
        try life.layer("lights", LayerTests.document)
        let edited = try life.next("nodes: []")
        #expect(edited.paths == ["/", "/own"])
        #expect(try edited.layers() == ["lights / 4 3"])
        #expect(
            edited.failures.contains { $0.contains("the layer lights at / says of 3 nodes waits") },
            "\(edited.failures)")
        let back = try edited.next(LayerTests.scene)
        #expect(try differences(life.described(), back.described()) == [])
    }

    @Test("a layer inside an instance waits with it")
    func instance() throws {
        let life = try Life(
            "nodes: [{ id: rows, state: { items: [{ id: x }] } }, { id: each, forEach: { in: [a, b], id: self, node: { kind: container } } }, { id: top, kind: container, state: { on: true }, children: [{ if: on, then: [{ id: lit, kind: container }] }] }]"
        )
        try life.layer("more", "nodes: [{ id: extra, state: { n: 1 } }]", at: "/each/a")
        try life.layer("more", "nodes: [{ id: extra, state: { n: 1 } }]", at: "/top/lit")
        try life.set("/each/a/extra.n", 4)
        try expectKept(life)
        try life.set("/top.on", false)
        #expect(try life.layers() == ["more /each/a 1 0", "more /top/lit 1 1"])
        try life.set("/top.on", true)
        #expect(try life.value("/top/lit/extra.n") == 1)
        try expectKept(life)
        #expect(try life.layers("/top") == ["more /top/lit 1 0"])
    }

    @Test("a layer is not applied if it has changed since a revision; writes of values do not count")
    func condition() throws {
        let life = try Life(LayerTests.scene)
        try life.layer("lights", LayerTests.document)
        let seen = life.runtime.revision
        try life.set("/own.y", 8)
        try life.layer("lights", "nodes: [{ id: own, state: { y: 3, z: 1 } }]", since: seen)
        let failure = #expect(throws: Failure.self) {
            try life.layer("lights", LayerTests.document, since: seen)
        }
        #expect(failure?.code == .conflict)
        try life.layer("lights", LayerTests.document, since: life.runtime.revision)
    }

    @Test("without a layer, a document is not applied if the edits of its nodes have changed since a revision")
    func edits() throws {
        let life = try Life(LayerTests.scene)
        let seen = life.runtime.revision
        func apply(_ id: String, at path: String = "/", since revision: UInt64 = seen, in life: Life = life) throws {
            var apply = Request.Apply(
                document: ["nodes": [["id": .string(id), "state": ["w": 1]]]], at: path, mode: .merge, dryRun: false,
                options: .init())
            apply.condition = Request.Position(epoch: life.runtime.epoch, revision: revision)
            try life.call(.apply(apply))
        }
        // Values, layers and the edits of other nodes do not count.
        try life.set("/box.v", 5)
        try life.layer("lights", LayerTests.document)
        try life.apply("[{ id: other, kind: container, children: [{ id: in, state: { n: 1 } }] }]")
        try life.apply("[{ id: old, state: { y: 1 } }]", at: "/box")
        try apply("box")
        #expect(throws: Failure.self) { try apply("box") }
        #expect(throws: Failure.self) { try apply("old", at: "/box") }
        // Nodes that came with one above it.
        #expect(throws: Failure.self) { try apply("in", at: "/other") }
        let now = life.runtime.revision
        try apply("in", at: "/other", since: now)
        // Nodes that were removed.
        try life.remove("/box/old")
        #expect(throws: Failure.self) { try apply("old", at: "/box", since: now) }
        try apply("lamp", at: "/box", since: now)
        let next = try life.next()
        #expect(throws: Failure.self) { try apply("old", at: "/box", since: now, in: next) }
        #expect(throws: Failure.self) { try apply("box", since: now, in: next) }
        try apply("box", since: next.runtime.revision, in: next)
    }

    @Test("a moved use of a component is a copy with all that layers said of its node")
    func moved() throws {
        let card =
            "components: { Card: { kind: container, state: { a: 1 }, computed: { c: 1 + 1 }, environment: { lineLimit: 2 } } }"
        let life = try Life("\(card)\nnodes: [{ id: box, kind: container }, { id: one, component: Card }]")
        try life.layer(
            "more",
            "nodes: [{ id: one, state: { w: 2 }, computed: { c: 3 + 4 }, environment: { lineLimit: 3 }, children: [{ id: in, inherit: [lineLimit] }] }]"
        )
        try life.move("/one", to: "/box")
        #expect(try life.value("/box/one.w") == 2 && life.value("/box/one.c") == 7)
        #expect(try life.value("/box/one/in.lineLimit") == 3)
        let next = try expectKept(life, times: 2)
        #expect(try next.value("/box/one/in.lineLimit") == 3)
    }

    @Test("a layer is refused if nodes of two choices would have one id")
    func sharedIDs() throws {
        let life = try Life(LayerTests.scene)
        func choice(_ id: String) -> String {
            "[{ id: box, children: [{ id: \(id), if: v > 0, then: [{ id: lit, state: { n: 1 } }] }] }]"
        }
        try life.apply(choice("day"))
        let failure = #expect(throws: Failure.self) { try life.layer("night", "nodes: \(choice("night"))") }
        #expect(failure?.code == .conflict && failure?.path == "/box/lit")
        #expect(try life.layers() == [])
        try expectKept(life)
    }

    @Test("nodes of a layer below a node that clients have made a view wait")
    func view() throws {
        let life = try Life("nodes: [{ id: box, kind: container }]")
        func document(_ more: String = "") -> String {
            "nodes: [{ id: a, kind: container, children: [{ id: in, state: { x: 1 } }\(more)] }]"
        }
        try life.layer("low", document())
        try life.remove("/a")
        try life.apply("[{ id: a, state: { v: 1 } }]")
        #expect(life.paths == ["/", "/box", "/a"])
        try life.layer("low", document(", { id: more }"))
        #expect(try life.paths == ["/", "/box", "/a"] && life.layers() == ["low / 3 2"])
        #expect(try life.next().paths == life.paths)
        try life.move("/a", to: "/box")
        #expect(try differences(life.described(), life.next().described()) == [])
    }

    @Test("a node that a document gives counts over the one of a component that it declares, also in a use of a layer")
    func given() throws {
        let life = try Life()
        try life.layer("uses", "components: { Shelf: { kind: container } }\nnodes: [{ id: one, component: Shelf }]")
        try life.apply(
            document: """
                components: { Shelf: { kind: container, children: [{ id: d, state: { q: 4 } }] } }
                nodes: [{ id: d, kind: container, state: { r: 2 } }]
                """, at: "/one")
        #expect(life.paths == ["/", "/one", "/one/d"])
        #expect(try life.value("/one/d.r") == 2)
        try expectKept(life)
    }

    @Test("a layer whose nodes cost more than one request may use is refused, and nothing of it is there")
    func limit() throws {
        var limits = RuntimeLimits()
        limits.requestCost = 20_000
        let life = try Life(limits: limits)
        func nodes(_ count: Int) -> String {
            let children = (0..<count).map { "{ id: n\($0), state: { x: 1 } }" }.joined(separator: ", ")
            return "nodes: [{ id: top, kind: container, children: [\(children)] }]"
        }
        let failure = #expect(throws: Failure.self) { try life.layer("many", nodes(1000)) }
        #expect(failure?.code == .limit)
        #expect(try life.paths == ["/"] && life.layers() == [])
        try life.layer("many", nodes(50))
        #expect(life.paths.count == 52)
    }

    @Test("an explanation and a diff name the layer that says an attribute, until the edits say it")
    func named() throws {
        let life = try Life(LayerTests.scene)
        try life.layer("lights", LayerTests.document)
        try life.layer("more", "nodes: [{ id: lamp, state: { on: true } }]", at: "/box")
        func layer(_ path: String) throws -> Value? { try life.call(.explain(path: path, revision: nil)).map?["layer"] }
        #expect(try layer("/box.v") == nil)
        #expect(try layer("/box.w") == ["name": "lights", "at": "/"])
        #expect(try layer("/box/lamp.on") == ["name": "more", "at": "/box"])
        #expect(try layer("/box/lamp/bulb.n") == ["name": "lights", "at": "/"])
        let told = try life.call(
            .apply(
                .init(
                    document: ["nodes": [["id": "box", "state": ["w": 9]]]], at: "/", mode: .merge, dryRun: true,
                    options: .init())))
        #expect(
            told.map?["differences"] == [
                "~ /box.w: state 2 → state 9, keeps its value, of the layer lights at /"
            ], "\(told)")
        try life.apply("[{ id: box, state: { w: 9 } }]")
        #expect(try layer("/box.w") == nil)
    }

    @Test("the dump of a layer is the document that it says, and says the same")
    func dumped() throws {
        let life = try Life(LayerTests.scene)
        let document = """
            nodes:
              - id: own
                kind: container
                state: { y: 3 }
                children: [{ id: z, let: { w: $/box/old.x } }, { id: a%b, state: { n: 1 } }]
              - { id: box, state: { w: 2 }, children: [{ id: old, tag: t }] }
            """
        try life.layer("lights", document)
        func dump(_ name: String, at path: String = "/") throws -> ValueMap {
            try #require(try life.call(.dump(path: path, format: .scene, layer: name)).map)
        }
        let dumped = try dump("lights")
        #expect(
            dumped["document"] == [
                "agd": 1,
                "nodes": [
                    ["id": "box", "state": ["w": 2], "children": [["id": "old", "tag": "t"]]],
                    [
                        "id": "own", "kind": "container", "state": ["y": 3],
                        "children": [
                            ["id": "z", "let": ["w": "$/box/old.x"]], ["id": "a%b", "state": ["n": 1]],
                        ],
                    ],
                ],
            ], "\(dumped)")
        let (paths, rows) = (life.paths, try life.rows().map { $0.key + $0.name })
        var apply = Request.Apply(
            document: try #require(dumped["document"]), at: "/", mode: .merge, dryRun: false, options: .init())
        apply.layer = "lights"
        try life.call(.apply(apply))
        #expect(try life.paths == paths && life.rows().map { $0.key + $0.name } == rows)
        #expect(try dump("lights")["document"] == dumped["document"])
        let missing = #expect(throws: Failure.self) { try dump("lights", at: "/box") }
        #expect(missing?.code == .notFound)
    }

    @Test("nodes of a layer follow their component when it is declared anew")
    func component() throws {
        let life = try Life()
        let card = "components: { Card: { kind: container, state: { a: 1 } } }\n"
        try life.layer(
            "cards",
            card
                + "nodes: [{ id: one, component: Card }, { id: two, component: Card, children: [{ id: in, state: { b: 1 } }] }]"
        )
        try life.apply(
            document: "components: { Card: { kind: container, state: { a: 1, c: 2 }, children: [{ id: body }] } }")
        #expect(try life.value("/one.c") == 2 && life.value("/two/in.b") == 1)
        #expect(life.paths.contains("/one/body"))
        try expectKept(life)
    }

    // MARK: The edits make a node of a layer from a component

    private static let components = """
        components:
          Card:
            kind: container
            state: { open: false }
            children:
              - { id: inside, state: { v: 1 } }
              - { if: open, then: [{ id: s1 }], else: [{ id: s2, state: { q: 1 } }] }
          Shelf: { kind: container, state: { q: 0 }, children: [{ id: in, state: { q: 1 } }, { slot: content }] }
        nodes:
          - { id: box, kind: container }
        """

    @Test("a child that a layer gives a node replaces the one of the component from which the edits make the node")
    func replacedInUse() throws {
        let life = try Life(LayerTests.components)
        try life.apply("[{ id: a, component: Card }]", at: "/box")
        try life.layer("two", "nodes: [{ id: in, kind: container, state: { z: 1 } }]", at: "/box/a")
        try life.apply("[{ id: a, component: Shelf }]", at: "/box")
        #expect(try life.value("/box/a/in.z") == 1)
        try expectKept(life)
        // The component's own child comes back, and is none of the edits.
        try life.withdraw("two", at: "/box/a")
        #expect(try life.value("/box/a/in.q") == 1)
        let next = try expectKept(life)
        #expect(try differences(life.exported(), next.exported()) == [])
        #expect(try life.structure().filter { $0.hasPrefix("/box/a/") } == [])
    }

    @Test("a choice that a layer gives a node replaces the one of the component from which the edits make the node")
    func replacedChoice() throws {
        let life = try Life(LayerTests.components)
        let choice = "{ if: false, then: [{ id: s3 }], else: [{ id: s4 }] }"
        try life.layer("two", "nodes: [{ id: c, kind: container, children: [{ id: b }, \(choice)] }]", at: "/box")
        try life.apply("[{ id: c, component: Card }]", at: "/box")
        #expect(life.paths.filter { $0.hasPrefix("/box/c/") } == ["/box/c/inside", "/box/c/s4", "/box/c/b"])
        try expectKept(life)
    }

    @Test("a node of a layer that a document makes anew is removed once, though its layer is read again")
    func removedOnce() throws {
        let life = try Life(
            """
            components:
              Shelf: { kind: container, children: [{ slot: content }] }
              Board: { kind: container, children: [{ id: high }] }
            """)
        try life.layer("one", "nodes: [{ id: a, kind: container, children: [{ id: b, component: Shelf }] }]")
        let choice = "{ if: true, then: [{ id: s, component: Shelf }] }"
        try life.layer("two", "nodes: [{ id: c, kind: container, children: [\(choice)] }]", at: "/a/b")
        try life.apply(
            document: """
                components:
                  Shelf: { kind: container, children: [{ id: in }, { slot: content }] }
                nodes:
                  - { id: c, component: Board, children: [{ id: d, kind: container, children: [\(choice)] }] }
                """, at: "/a/b")
        #expect(
            life.paths.filter { $0.hasPrefix("/a/b/c/") } == [
                "/a/b/c/high", "/a/b/c/s", "/a/b/c/s/in", "/a/b/c/d", "/a/b/c/d/s", "/a/b/c/d/s/in",
            ])
        try expectKept(life)
    }
}
