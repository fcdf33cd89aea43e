import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// Conditions, chosen targets, insertions and calls in the steps of actions.
@Suite("Steps of actions")
struct ActionStepTests {
    private static let station = """
        nodes:
          - id: station
            kind: container
            state:
              trains:
                initial: [{ id: a, delay: 0 }, { id: b, delay: 3 }]
                type: list
              log: { initial: [], type: list }
              isOpen: true
              count: 0
              last: { type: 'dyn' }
            computed: { delays: 'trains.map(t, t.delay)' }
            actions:
              delay: { parameters: { train: { type: string }, by: { type: int } }, set: { '$trains[id=train].delay': =by } }
              later: { parameters: [train], add: { '$trains[id=train].delay': 1 } }
              cancel: { parameters: [train], remove: '$trains[id=train]' }
              note: { parameters: [text], insert: { '$log[0]': =text } }
              open: { when: '!isOpen', set: { $isOpen: true }, add: { $count: 1 } }
              mixed:
                parameters: { by: { default: 1 } }
                when: by > 0
                steps:
                  - { when: isOpen, add: { $count: =by } }
                  - { when: '!isOpen', set: { $count: -1 } }
              both:
                - do: { $delay: { train: a, by: '=count + 5' }, $note: { text: late } }
              all: { do: [$open, /station/x.mark], add: { $count: 1 } }
              who: { set: { $last: =caller } }
              whoElse: { do: $who }
              circle: { do: $round }
              round: { do: $circle }
            children:
              - { id: x, state: { isMarked: false }, actions: { mark: { set: { $isMarked: true } } } }
              - id: rows
                forEach:
                  in: $trains
                  as: train
                  node:
                    actions:
                      drop: { remove: $train }
                      settle: { set: { $train.delay: 0 } }
                      copy: { append: { $log: =train.id } }
        """

    private func harness() throws -> Harness {
        try Harness(Self.station)
    }

    private func call(_ graph: Harness, _ path: String, _ arguments: Value = [:], from client: UInt64 = 1) throws {
        try graph.succeed(
            .do(path: RequestPath(path), arguments: arguments.map ?? ValueMap(), TransactionOptions()), from: client)
    }

    @Test("a target is chosen by a parameter") func chosen() throws {
        let graph = try harness()
        try call(graph, "/station.delay", ["train": "b", "by": 7])
        #expect(try graph.value("/station.delays") == [0, 7])
        try call(graph, "/station.later", ["train": "a"])
        #expect(try graph.value("/station.delays") == [1, 7])
        try call(graph, "/station.cancel", ["train": "a"])
        #expect(try graph.value("/station.delays") == [7])
        #expect(refusal { try call(graph, "/station.delay", ["train": "z", "by": 1]) }?.code == .notFound)
    }

    @Test("the element of a loop is a target") func elements() throws {
        let graph = try harness()
        try call(graph, "/station/rows/b.settle")
        #expect(try graph.value("/station.delays") == [0, 0])
        try call(graph, "/station/rows/a.copy")
        #expect(try graph.value("/station.log") == ["a"])
        try call(graph, "/station/rows/a.drop")
        #expect(try graph.value("/station.trains") == [["id": "b", "delay": 0]])
        #expect(try graph.children(of: "/station/rows") == ["b"])
    }

    @Test("insert puts a value before an element") func insertion() throws {
        let graph = try harness()
        for text in ["one", "two"] { try call(graph, "/station.note", ["text": .string(text)]) }
        #expect(try graph.value("/station.log") == ["two", "one"])
    }

    @Test("a step whose condition is false is left out, and conditions see the graph before the first write")
    func conditions() throws {
        let graph = try harness()
        let before = graph.runtime.revision
        try call(graph, "/station.open")
        try call(graph, "/station.mixed", ["by": 0])
        #expect(graph.runtime.revision == before)
        try call(graph, "/station.mixed", ["by": 2])
        #expect(try graph.value("/station.count") == 2)
        try graph.set("/station.isOpen", false)
        try call(graph, "/station.mixed")
        #expect(try graph.value("/station.count") == -1)
        try call(graph, "/station.open")
        #expect(try graph.value("/station.isOpen") == true && graph.value("/station.count") == 0)
    }

    @Test("an action calls others in one transaction, with arguments") func calls() throws {
        let graph = try harness()
        let before = graph.runtime.revision
        try call(graph, "/station.both")
        #expect(graph.runtime.revision == before + 1)
        #expect(try graph.value("/station.delays") == [5, 3] && graph.value("/station.log") == ["late"])
        try graph.set("/station.isOpen", false)
        try call(graph, "/station.all")
        #expect(try graph.value("/station/x.isMarked") == true && graph.value("/station.count") == 2)
        let failure = refusal { try call(graph, "/station.circle") }
        #expect(failure?.code == .cycle)
        #expect(failure?.message.contains("/station.circle → /station.round → /station.circle") == true)
    }

    @Test("the rules of an action read who calls it, also where another action calls it") func callers() throws {
        let graph = try harness()
        try call(graph, "/station.who", from: 2)
        #expect(try graph.value("/station.last") == ["user": 1000, "name": .null, "principal": .null])
        try graph.set("/station.last", .null)
        try call(graph, "/station.whoElse", from: 2)
        #expect(try graph.value("/station.last").map?["user"] == 1000)
    }

    @Test("an onChange does nothing while its condition is false") func reactions() throws {
        let graph = try Harness(
            """
            nodes:
              - id: tank
                state: { level: 10, alarms: 0 }
                onChange:
                  { of: level, when: newValue < 3 && oldValue >= 3, perform: { add: { $alarms: 1 } } }
            """)
        for level in [8, 2, 1, 5, 0] { try graph.set("/tank.level", .int(Int64(level))) }
        #expect(try graph.value("/tank.alarms") == 2)
        #expect(try graph.exported("/tank").jsonText.contains(#""when":"newValue < 3 && oldValue >= 3""#))
    }

    @Test("what an action calls needs the right do of its author, and works with its own author's rights") func rights()
        throws
    {
        let graph = try Harness(
            "nodes: [{ id: safe, state: { x: 0 }, actions: { fill: { set: { $x: 5 } } } }, { id: mine, kind: container }]"
        )
        func allow(_ rules: [(AccessRight, String)]) throws {
            let rules = try rules.map { AccessRule($0.0, [.user(1000)], try PathPattern($0.1)) }
            graph.turn([.accessChanged(AccessRules(rules, owner: 7))])
        }
        let own: [(AccessRight, String)] = [(.read, "/**"), (.define, "/mine/**")]
        let document = "nodes: [{ id: b, actions: { go: { do: /safe.fill } } }]"
        try allow(own)
        #expect(refusal { try graph.apply(document, at: "/mine") }?.code == .denied)
        try allow(own + [(.do, "/safe.fill")])
        _ = try graph.apply(document, at: "/mine")
        try call(graph, "/mine/b.go")
        #expect(try graph.value("/safe.x") == 5)
        try allow(own)
        #expect(refusal { try call(graph, "/mine/b.go") }?.code == .denied)
    }

    @Test("a component gets an action as a parameter, and hands it down") func parameters() throws {
        let graph = try Harness(
            """
            components:
              Button: { let: { onTap: { type: dyn }, size: 1 }, actions: { tap: { do: { $onTap: { by: =size } } } } }
              Pair: { kind: container, let: { onTap: { type: dyn } }, children: [{ id: one, component: Button, let: { onTap: $onTap, size: 3 } }] }
            nodes:
              - id: top
                kind: container
                state: { n: 0 }
                actions: { add: { parameters: { by: { default: 1 } }, add: { $n: =by } } }
                children:
                  - { id: b, component: Button, let: { onTap: $add } }
                  - { id: pair, component: Pair, let: { onTap: $add } }
            """)
        try call(graph, "/top/b.tap")
        try call(graph, "/top/pair/one.tap")
        #expect(try graph.value("/top.n") == 4)
        try call(graph, "/top/b.onTap", ["by": 5])
        #expect(try graph.value("/top.n") == 9)
    }

    @Test("handing an action down gives nobody the right to call it") func deputies() throws {
        let graph = try Harness(
            """
            components: { Button: { let: { onTap: { type: dyn } }, actions: { tap: { do: $onTap } } } }
            nodes: [{ id: safe, state: { x: 0 }, actions: { fill: { set: { $x: 5 } } } }, { id: mine, kind: container }]
            """)
        let rules = try [(AccessRight.read, "/**"), (.define, "/mine/**")].map {
            AccessRule($0.0, [.user(1000)], try PathPattern($0.1))
        }
        graph.turn([.accessChanged(AccessRules(rules, owner: 7))])
        _ = try graph.apply("nodes: [{ id: b, component: Button, let: { onTap: $/safe.fill } }]", at: "/mine")
        #expect(refusal { try call(graph, "/mine/b.tap") }?.code == .denied)
        #expect(refusal { try call(graph, "/mine/b.onTap") }?.code == .denied)
        #expect(try graph.value("/safe.x") == 0)
    }
}
