import AttributeValues
@testable import GraphRuntime
@testable import RuntimeHarness
import TestSupport
import Testing
import WireProtocol

@Suite("Values that move")
struct MotionValueTests {
    private static let kinds = """
        nodes:
          - id: k
            state:
              color: { initial: "#000000", type: color }
              angle: { initial: 10, type: angle }
              vector: { initial: [0, 1], type: vector }
              span: { initial: 0s, type: duration }
              date: { initial: "2026-01-01T00:00:00Z", type: timestamp }
              point: { x: 0, y: 1.5 }
              int: 0
              uint: { initial: 5, type: uint }
              double: 0.0
              text: before
        """

    private func displayed(_ graph: Harness, _ path: String) throws -> Value {
        try graph.value(path, presentation: true)
    }

    @Test("every kind of value that interpolates moves through the middle and arrives exactly; the rest jumps")
    func kinds() throws {
        let graph = try Harness(MotionValueTests.kinds)
        try graph.subscribe(["/k/**"])
        let targets: [(String, Value)] = [
            ("color", "#ffffff"), ("angle", 350), ("vector", [2, 5]), ("span", "10s"), ("date", "2026-01-03T00:00:00Z"),
            ("point", ["x": 10, "y": 3.5]), ("int", 101), ("uint", 50), ("double", 1), ("text", "after"),
        ]
        try graph.succeed(
            .transact(
                targets.map { Mutation(operation: .set, path: "/k.\($0.0)", value: $0.1) },
                TransactionOptions(animation: "linear(duration: 1)")))
        for (name, _) in targets { #expect((graph.timeline("/k.\(name)") == nil) == (name == "text"), "\(name)") }
        graph.advance(0.5)
        let halfway: [(String, String)] = [
            ("angle", "180.0"), ("vector", "[1.0,3.0]"), ("span", "\"5s\""), ("date", "\"2026-01-02T00:00:00Z\""),
            ("point", "{\"x\":5,\"y\":2.5}"), ("int", "51"), ("uint", "28"), ("double", "0.5"), ("text", "\"after\""),
        ]
        for (name, text) in halfway { #expect(try displayed(graph, "/k.\(name)").jsonText == text, "\(name)") }
        // The middle between black and white in Oklab, darker than that in sRGB.
        guard case .opaque(let value as ColorValue) = try displayed(graph, "/k.color") else {
            Issue.record("no colour"); return
        }
        #expect(abs(value.color.oklab.lightness - 0.5) < 1e-12)
        graph.advance(0.5)
        for (name, _) in targets { #expect(try displayed(graph, "/k.\(name)") == graph.value("/k.\(name)"), "\(name)") }
        #expect(try displayed(graph, "/k.color").jsonText == "\"#ffffff\"")
    }

    @Test("mutations move as motions say, and the others as the transaction says")
    func motions() throws {
        let graph = try Harness(MotionValueTests.kinds)
        try graph.subscribe(["/k/**"])
        func write(_ number: Int, _ names: [String], _ animation: Value?, _ motions: [Value]) throws {
            var options = TransactionOptions(animation: animation)
            options.motions = motions
            try graph.succeed(
                .transact(
                    names.map { Mutation(operation: .set, path: "/k.\($0)", value: .int(Int64(number))) }, options))
        }
        try write(10, ["int", "uint", "angle"], nil, [["animation": "linear(duration: 2)", "mutations": [2]]])
        #expect(graph.timeline("/k.int") == nil && graph.timeline("/k.uint") == nil)
        #expect(graph.timeline("/k.angle") == nil, "10 is what it was")
        try write(
            20, ["int", "uint", "angle"], nil,
            [
                ["animation": "linear(duration: 2)", "mutations": [2]],
                [
                    "animation": ["curve": ["timingCurve": ["x1": 0, "y1": 0, "x2": 1, "y2": 1, "duration": 4]]],
                    "mutations": [0],
                ],
            ])
        graph.advance(1)
        #expect(try displayed(graph, "/k.angle").jsonText == "15.0")
        #expect(try displayed(graph, "/k.int") == 13)
        #expect(graph.timeline("/k.uint") == nil)
        try write(
            40, ["uint", "double"], "linear(duration: 1)", [["animation": "linear(duration: 4)", "mutations": [0]]])
        graph.advance(0.5)
        #expect(try displayed(graph, "/k.double") == 20.0)
        #expect(try displayed(graph, "/k.uint").jsonText == "23")
        let refusal = #expect(throws: Failure.self) {
            try write(1, ["int"], nil, [["animation": "linear", "mutations": [1]]])
        }
        #expect(refusal?.message.contains("no mutation 1") == true)
    }

    @Test("the nearest node whose value changed decides; where none did, the transaction does; null means none")
    func nodes() throws {
        let graph = try Harness(
            """
            nodes:
              - id: outer
                state: { a: 0.0, b: 0, c: 0, d: 0 }
                animation: { curve: "linear(duration: 1)", value: =b }
                children:
                  - id: inner
                    kind: container
                    let: { a: =a }
                    binding: { c: $c, d: $d }
                    animation: [{ curve: "linear(duration: 2)", value: =c }, { curve: null, value: =d }]
            """)
        try graph.subscribe(["/outer/inner.a"])
        func length(_ names: String...) throws -> Double? {
            graph.advance(10)
            let mutations = (["a"] + names).map { Mutation(operation: .add, path: "/outer.\($0)", value: 1) }
            try graph.succeed(.transact(mutations, TransactionOptions(animation: "linear(duration: 4)")))
            return graph.timeline("/outer/inner.a")?["settle"]?.number
        }
        #expect(try length() == 4)
        #expect(try length("b") == 1)
        #expect(try length("c") == 2)
        #expect(try length("b", "c") == 2)
        #expect(try length("d") == nil)
    }

    @Test("additive and chain can be asked for wherever an animation is written")
    func retargeting() throws {
        for (mode, expected) in [("merge", "c1"), ("additive", "add"), ("chain", "chain")] {
            let graph = try Harness(MotionTests.gauge)
            try graph.subscribe(["/g.v"])
            try graph.set("/g.v", 1.0, animation: "linear(duration: 1)")
            graph.advance(0.5)
            try graph.set(
                "/g.v", 0.0,
                animation: ["curve": ["linear": ["duration": 1]], "modifiers": [["retarget": .string(mode)]]])
            #expect(graph.timeline("/g.v")?["mode"] == .string(expected))
            graph.advance(0.25)
            // merge: 0.5 − 0.5/4 plus the bump of the velocity 1 + 0.5; additive: 0.75 − 0.25; chain: 0.75 of 0.75.
            let value: Double =
                switch mode {
                case "additive": 0.5;
                case "chain": 0.5625;
                default: 0.375 + 1.5 * 0.25 * 0.5625
                }
            let shown = try #require(try displayed(graph, "/g.v").number)
            #expect(abs(shown - value) < 1e-12, "\(mode)")
            graph.advance(1)
            #expect(try displayed(graph, "/g.v") == 0.0)
        }
    }

    @Test("thousands of changes on the way never make a displayed value or its velocity jump")
    func continuity() throws {
        let seed = freshSeed()
        var random = SeededGenerator(seed: seed)
        let graph = try Harness(MotionTests.gauge)
        try graph.subscribe(["/g.v"])
        let animations: [Value] = [
            "bouncy", "smooth", "snappy.speed(2)", "spring(duration: 1, bounce: -0.5)", "easeInOut(duration: 0.4)",
            "linear(duration: 0.3).delay(0.2)",
        ]
        var replaced = 0
        for step in 0..<3000 {
            let before = try #require(try displayed(graph, "/g.v").number)
            let id = graph.runtime.presentations.running.first?.value.id
            try graph.set(
                "/g.v", .double(Double.random(in: -100...100, using: &random)),
                animation: animations.randomElement(using: &random))
            let data = try #require(graph.timeline("/g.v"))
            #expect(data["from"]?.number == before, "seed \(seed), step \(step)")
            if case .int(let number)? = data["replaces"] {
                #expect(UInt64(number) == id)
                replaced += 1
            }
            let after = try #require(try displayed(graph, "/g.v").number)
            #expect(after == before, "seed \(seed), step \(step)")
            graph.advance(Double.random(in: 0...0.3, using: &random))
        }
        #expect(replaced > 2000)
    }

    @Test("a text that is written again and again is read once")
    func cached() throws {
        let graph = try Harness(MotionTests.gauge)
        for number in 1...5 {
            try graph.set("/g.v", .double(Double(number)), animation: "spring(duration: 0.5, bounce: 0.3)")
        }
        #expect(graph.runtime.presentations.animations.count == 1)
        let failure = refusal { try graph.set("/g.v", 0, animation: "bounci") }
        #expect(failure?.code == .invalid && failure?.hint?.contains("bouncy") == true)
        #expect(graph.runtime.presentations.animations.count == 1)
    }
}
