import AttributeValues
import Testing
import ViewGraph
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// `onChange`, `onAppear`, `onDisappear`: actions that the daemon calls.
@Suite("Reactions")
struct ReactionTests {
    private static let level = """
        nodes:
          - id: tank
            kind: container
            state: { level: 1, changes: 0, last: '', high: false, needle: 0.0 }
            computed: { isHigh: level > 10 }
            onChange:
              - { of: level, perform: { set: { $changes: =changes + 1, $last: '=string(oldValue) + ">" + string(newValue)' } } }
              - { of: isHigh, perform: { set: { $high: =newValue, $needle: '=newValue ? 1.0 : 0.0' }, animation: 'linear(duration: 3)' } }
        """

    private static let list = """
        nodes:
          - id: list
            kind: container
            state: { names: [a, b], log: { initial: [], type: 'list(string)' }, count: 10 }
            children:
              - id: rows
                forEach:
                  in: $names
                  id: self
                  as: name
                  node:
                    state: { seen: 0 }
                    onAppear: { append: { $log: '="+" + name' }, set: { $seen: 1 } }
                    onDisappear: { append: { $log: '="-" + name + string(seen)' }, add: { $count: -1 } }
        """

    @Test("a change of the value calls the action in the same transaction, with the value before and after")
    func change()
        throws
    {
        let graph = try Harness(Self.level)
        try graph.subscribe(["/tank.**"])
        let before = graph.runtime.revision
        try graph.set("/tank.level", 5)
        #expect(graph.runtime.revision == before + 1)
        #expect(graph.changes["/tank.level"] == .value(5))
        #expect(graph.changes["/tank.changes"] == .value(1))
        #expect(graph.changes["/tank.last"] == .value("1>5"))
        #expect(graph.events.count == 1)
        try graph.set("/tank.level", 5)
        #expect(try graph.value("/tank.changes") == 1)
        try graph.transact([
            Mutation(operation: .set, path: "/tank.level", value: 7),
            Mutation(operation: .set, path: "/tank.level", value: 5),
        ])
        #expect(try graph.value("/tank.changes") == 1, "what is in the end as it was has not changed")
    }

    @Test("only the rules behind the changed value run") func runs() throws {
        let graph = try Harness(Self.level)
        _ = graph.runs()
        try graph.set("/tank.high", true)
        #expect(graph.runs() == [])
        try graph.set("/tank.level", 3)
        #expect(graph.runs() == ["/tank.onChange", "/tank.isHigh"], "isHigh came out equal")
        #expect(try graph.value("/tank.high") == true)
        try graph.set("/tank.level", 30)
        try graph.set("/tank.level", 3)
        #expect(try graph.value("/tank.high") == false)
    }

    @Test("a node that comes and goes in one change has neither appeared nor disappeared", arguments: [2000, 0])
    func cameAndWent(room: Int) throws {
        let scene = """
            nodes:
              - id: s
                kind: container
                state: { go: 0, on: false, up: 0, down: 0 }
                onChange:
                  - { of: go, perform: { set: { $on: true } } }
                  - { of: go, perform: { set: { $on: '=go % 2 == 0' } } }
                children:
                  - { if: on, then: [{ id: n, onAppear: { add: { /s.up: 1 } }, onDisappear: { add: { /s.down: 1 } } }] }
            """
        var limits = RuntimeLimits()
        limits.graph.freedAtOnce = room
        let graph = try Harness(scene, limits: limits)
        func counts() throws -> [Value] { try [graph.value("/s.up"), graph.value("/s.down")] }
        try graph.set("/s.go", 1)
        #expect(try counts() == [0, 0])
        try graph.set("/s.go", 2)
        #expect(try counts() == [1, 0])
        try graph.set("/s.go", 3)
        #expect(try counts() == [1, 1])
        graph.settle()
        try graph.set("/s.go", 5)
        #expect(try counts() == [1, 1])
    }

    @Test("a write of an action is animated as its step says") func animation() throws {
        let graph = try Harness(Self.level)
        try graph.subscribe(["/tank.needle", "/tank.level"])
        try graph.set("/tank.level", 30)
        #expect(graph.timeline("/tank.needle")?["settle"] == 3 && graph.timeline("/tank.level") == nil)
    }

    @Test("the writes of an action are stored, and a restart that misses nothing calls nothing") func restart() throws {
        let graph = try Harness(Self.level)
        try graph.set("/tank.level", 30)
        #expect(graph.kept.contains { $0.name == "last" && $0.value == "1>30" })
        let next = try graph.restarted(Self.level, after: 1)
        #expect(try next.value("/tank.level") == 30)
        #expect(try next.value("/tank.changes") == 1)
        try next.set("/tank.level", 31)
        #expect(try next.value("/tank.last") == "30>31")
    }

    @Test("instances call their actions when they come and go, those that go first") func comingAndGoing() throws {
        let graph = try Harness(Self.list)
        #expect(try graph.value("/list.log") == ["+a", "+b"], "the first turn after the start")
        try graph.set("/list.names", ["b", "c", "d"])
        #expect(try graph.value("/list.log") == ["+a", "+b", "-a1", "+c", "+d"])
        #expect(try graph.value("/list.count") == 9)
        #expect(try graph.value("/list/rows/c.seen") == 1)
        try graph.set("/list.names", [])
        #expect(try graph.value("/list.log") == ["+a", "+b", "-a1", "+c", "+d", "-b1", "-c1", "-d1"])
        #expect(try graph.value("/list.count") == 6)
        graph.settle()
        try graph.set("/list.names", ["a"])
        #expect(try graph.value("/list.count") == 6)
    }

    @Test("a node that is removed calls its action, and one that is applied") func removed() throws {
        let graph = try Harness("nodes: [{ id: top, kind: container, state: { log: '' } }]")
        let document = """
            nodes:
              - id: a
                kind: container
                onAppear: { append: { $log: 'a+' } }
                onDisappear: { append: { $log: 'a-' } }
                children:
                  - { id: b, onAppear: { append: { $log: 'b+' } }, onDisappear: { append: { $log: 'b-' } } }
            """
        _ = try graph.apply(document, at: "/top")
        #expect(try graph.value("/top.log") == "a+b+")
        _ = try graph.apply(document, at: "/top")
        #expect(try graph.value("/top.log") == "a+b+", "it is there already")
        try graph.succeed(.remove(path: "/top/a", TransactionOptions()))
        #expect(try graph.value("/top.log") == "a+b+a-b-")
        graph.settle()
        #expect(try graph.value("/top.log") == "a+b+a-b-")
    }

    @Test("an action that fails writes nothing, has the error as its value, and does not refuse the transaction")
    func failing() throws {
        let graph = try Harness(
            """
            nodes:
              - id: a
                state: { of: 1, out: 0, half: 0 }
                onChange: { of: of, perform: { set: { $out: =10 / of, $half: 1 } } }
            """)
        try graph.subscribe(["/a.*"])
        try graph.set("/a.of", 0)
        #expect(graph.changes["/a.onChange"]?.failure?.code == .ruleFailed)
        #expect(try graph.value("/a.of") == 0)
        #expect(try graph.value("/a.half") == 0)
        try graph.set("/a.of", 5)
        #expect(graph.changes["/a.onChange"]?.value?.map != nil)
        #expect(try graph.value("/a.out") == 2)
    }

    @Test("actions that call each other without end stop with an error that names the loop") func loop() throws {
        let graph = try Harness(
            """
            nodes:
              - id: a
                kind: container
                state: { x: 0, y: 0 }
                onChange: { of: x, perform: { set: { $y: =x + 1 } } }
                children:
                  - { id: b, onChange: { of: y, perform: { set: { $x: =y + 1 } } } }
            """)
        try graph.set("/a.x", 1)
        let failures = try ["/a.onChange", "/a/b.onChange"].compactMap { try graph.get($0).failure }
        #expect(failures.count == 1)
        #expect(failures.first?.code == .cycle)
        #expect(failures.first?.message.contains("/a.onChange → /a/b.onChange → /a.onChange") == true)
    }

    @Test("actions are called in rounds, in the order of the tree") func order() throws {
        let graph = try Harness(
            """
            nodes:
              - id: top
                kind: container
                state: { x: 0, y: 0, log: '' }
                children:
                  - { id: a, onChange: [{ of: x, perform: { append: { $log: a1 } } }, { of: y, perform: { append: { $log: a2 } } }] }
                  - { id: b, onChange: { of: x, perform: { append: { $log: b }, set: { $y: 1 } } } }
                  - { id: c, onChange: { of: x, perform: { append: { $log: c } } } }
            """)
        try graph.set("/top.x", 1)
        #expect(try graph.value("/top.log") == "a1bca2")
    }

    @Test("with initial, the action is called also when its node appears") func initial() throws {
        let graph = try Harness("nodes: [{ id: top, kind: container, state: { x: 4, out: '' } }]")
        _ = try graph.apply(
            """
            nodes:
              - id: a
                onChange: { of: x, initial: true, perform: { append: { $out: '=string(oldValue) + string(newValue) + " "' } } }
            """,
            at: "/top")
        #expect(try graph.value("/top.out") == "44 ")
        try graph.set("/top.x", 5)
        #expect(try graph.value("/top.out") == "44 45 ")
    }

    @Test("clocks call actions, though nobody watches") func clock() throws {
        let graph = try Harness(
            """
            nodes:
              - id: a
                state: { ticks: 0 }
                clock: { now: every 1s }
                onChange: { of: now, perform: { add: { $ticks: 1 } } }
            """)
        graph.advance(1)
        graph.advance(1)
        #expect(try graph.value("/a.ticks") == 2)
        #expect(graph.kept.isEmpty)
    }

    @Test("the phase of the scene calls actions") func scenePhase() throws {
        let graph = try Harness(
            """
            nodes:
              - id: a
                state: { phases: { initial: [], type: 'list(string)' } }
                onChange: { of: env.scenePhase, perform: { append: { $phases: =newValue } } }
            """)
        let subscription = try graph.subscribe(["/a.phases"])
        try graph.succeed(.unsubscribe(subscription: subscription))
        #expect(try graph.value("/a.phases") == ["active", "background"])
    }

    @Test("a use has its actions besides those of its component, and an export writes them there") func use() throws {
        let written = """
            components:
              Lamp:
                binding: { isOn: { type: bool } }
                state: { changes: 0 }
                onChange: { of: isOn, perform: { add: { $changes: 1 } } }
            nodes:
              - id: room
                kind: container
                state: { log: '', isOn: false }
                children:
                  - { id: lamp, component: Lamp, binding: { isOn: $isOn }, onChange: { of: isOn, perform: { append: { $log: x } } } }
            """
        let graph = try Harness(written)
        try graph.set("/room/lamp.isOn", true)
        #expect(try graph.value("/room/lamp.changes") == 1)
        #expect(try graph.value("/room.log") == "x")
        let document = try graph.exported()
        let lamp = document.map?["nodes"]?.list?.first?.map?["children"]?.list?.first?.map
        #expect(lamp?["component"] == "Lamp")
        #expect(lamp?["onChange"]?.map?["of"] == "isOn")
        let again = try Harness(document: document)
        try again.set("/room/lamp.isOn", false)
        #expect(try again.value("/room.log") == "xx")
    }

    @Test("an author needs the right to write what a reaction writes; who sets it off does not") func rights() throws {
        let graph = try Harness(
            """
            nodes:
              - id: tank
                kind: container
                state: { level: 1, high: false }
                onChange: { of: level, perform: { set: { $high: =level > 10 } } }
                children: [{ id: box, kind: container }]
            """)
        let rule = { (right: AccessRight, pattern: String) in
            AccessRule(right, [.user(1000)], try PathPattern(pattern))
        }
        let rules = [try rule(.define, "/tank/box/**"), try rule(.write, "/tank.level"), try rule(.read, "/**")]
        graph.turn([.accessChanged(AccessRules(rules, owner: 7))])
        try graph.set("/tank.level", 12)
        #expect(try graph.value("/tank.high") == true)
        let document = "nodes: [{ id: x, onChange: { of: level, perform: { set: { $high: false } } } }]"
        #expect(refusal { try graph.apply(document, at: "/tank/box") }?.code == .denied)
        let own = "nodes: [{ id: x, state: { n: 0 }, onChange: { of: level, perform: { add: { $n: 1 } } } }]"
        _ = try graph.apply(own, at: "/tank/box")
    }

    @Test("explain names the action that wrote a state") func explaining() throws {
        let graph = try Harness(Self.level)
        try graph.set("/tank.level", 12)
        #expect(try graph.explained("/tank.last")["changed"]?.map?["action"] == "/tank.onChange")
    }
}
