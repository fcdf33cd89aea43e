import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness
@testable import ViewGraph

/// Maps with `entries`, the way in for data from outside.
@Suite("Entries from outside")
struct EntriesTests {
    private static let home = """
        nodes:
          - id: home
            state:
              devices: { type: map, entries: { expires: 90s, limit: 3 } }
              numbers: { type: 'map(string, double)', entries: {} }
              plain: { type: map, initial: {} }
            computed:
              count: size(devices)
              lampIsOn: has(devices.lamp) && devices.lamp.isOn
            children:
              - id: rows
                forEach:
                  in: $devices
                  as: device
                  node:
                    binding: { isOn: $device.isOn }
                    computed:
                      name: "self.id + (device.isOn ? ' is on' : ' is off')"
              - id: big
                forEach:
                  in: '=numbers.filter(k, numbers[k] > 1.0)'
                  id: self
                  node: { computed: { shown: element } }
              - id: doubled
                forEach: { in: =numbers, as: number, node: { computed: { twice: number * 2.0 } } }
        """

    private func mutate(_ operation: Mutation.Operation, _ path: String, _ value: Value? = nil) -> Mutation {
        Mutation(operation: operation, path: path, value: value)
    }

    @Test("a write makes a missing entry, also of a part of it, and only in a map with entries")
    func makesEntries() throws {
        let graph = try Harness(EntriesTests.home)
        try graph.set("/home.devices.lamp.isOn", true)
        try graph.transact([mutate(.merge, "/home.devices[\"a/b c\"]", ["isOn": false])])
        try graph.set("/home.numbers.one", 1)
        #expect(try graph.value("/home.devices") == ["lamp": ["isOn": true], "a/b c": ["isOn": false]])
        #expect(try graph.value("/home.numbers") == ["one": 1.0])
        #expect(try graph.value("/home.lampIsOn") == true)
        #expect(refusal { try graph.set("/home.plain.lamp.isOn", true) }?.code == .notFound)
        #expect(
            refusal { try graph.set("/home.devices.lamp.color.hue", 1) }?.code == .notFound, "it makes an entry alone")
        #expect(refusal { try graph.set("/home.numbers.one.part", 1) }?.code == .notFound)
        #expect(refusal { try graph.set("/home.numbers.two", "text") }?.code == .typeMismatch)
    }

    @Test("a write that would make too many entries is refused, and one that makes no more is not")
    func limit() throws {
        let graph = try Harness(EntriesTests.home)
        for name in ["a", "b", "c"] { try graph.set("/home.devices.\(name).isOn", true) }
        let failure = refusal { try graph.set("/home.devices.d.isOn", true) }
        #expect(failure?.code == .limit)
        #expect(failure?.message == "/home.devices.d.isOn would have more than 3 entries")
        #expect(refusal { try graph.transact([mutate(.merge, "/home.devices", ["d": [:]])]) }?.code == .limit)
        #expect(refusal { try graph.set("/home.devices", ["1": 1, "2": 2, "3": 3, "4": 4]) }?.code == .limit)
        try graph.set("/home.devices.c.isOn", false)
        try graph.transact([mutate(.merge, "/home.devices", ["a": .null, "d": ["isOn": true]])])
        #expect(try graph.value("/home.count") == 3)
    }

    @Test("an entry that nobody has written for its time is removed, in a transaction of its own")
    func expires() throws {
        let graph = try Harness(EntriesTests.home)
        try graph.set("/home.devices.lamp.isOn", true)
        graph.advance(30)
        try graph.set("/home.devices.door.isOn", false)
        try graph.subscribe(["/home.devices", "/home.count"], initial: true)
        #expect(try #require(graph.runtime.nextDeadline) - graph.now.monotonic == 60)
        graph.advance(59.5)
        #expect(graph.changes == [:])
        graph.advance(0.5)
        #expect(graph.changes == ["/home.devices": .value(["door": ["isOn": false]]), "/home.count": .value(1)])
        #expect(try graph.children(of: "/home/rows") == ["door"])
        graph.advance(30)
        #expect(graph.changes == ["/home.devices": .value([:]), "/home.count": .value(0)])
        #expect(graph.runtime.nextDeadline == nil)
        graph.advance(1000)
        #expect(graph.changes == [:])
    }

    @Test("every write of an entry counts, also of an equal value, and no write of another one")
    func refreshes() throws {
        let graph = try Harness(EntriesTests.home)
        try graph.set("/home.devices", ["a": 1, "b": 1, "c": 1])
        for _ in 0..<5 {
            graph.advance(60)
            try graph.transact([mutate(.merge, "/home.devices", ["a": 1])])
        }
        #expect(try graph.value("/home.devices") == ["a": 1])
        graph.advance(60)
        #expect(
            refusal { try graph.transact([mutate(.set, "/home.devices.a", 1), mutate(.set, "/home.x", 1)]) } != nil)
        graph.advance(30)
        #expect(try graph.value("/home.devices") == [:], "a refused write is none")
    }

    @Test("a durable map keeps the ages of its entries over a restart, and the downtime counts")
    func restart() throws {
        var graph = try Harness(EntriesTests.home)
        try graph.set("/home.devices.lamp.isOn", true)
        graph.advance(60)
        try graph.set("/home.devices.door.isOn", true)
        graph.end()
        graph = try graph.restarted(EntriesTests.home, after: 40)
        graph.advance(0)
        #expect(try graph.value("/home.devices") == ["door": ["isOn": true]])
        graph.advance(60)
        #expect(try graph.value("/home.devices") == [:])
        graph.end()
        graph = try graph.restarted(EntriesTests.home, after: 1)
        #expect(try graph.value("/home.devices") == [:], "the store has lost it too")
    }

    @Test("forEach over a map makes a node for each entry, which its key names and its element binds to")
    func forEach() throws {
        let graph = try Harness(EntriesTests.home)
        try graph.set("/home.devices.lamp.isOn", true)
        try graph.set("/home.devices.door.isOn", false)
        #expect(try graph.children(of: "/home/rows") == ["lamp", "door"])
        #expect(try graph.value("/home/rows.elements") == ["lamp", "door"])
        #expect(try graph.value("/home/rows/lamp.name") == "lamp is on")
        _ = try graph.value("/home/rows/door.name")
        _ = graph.runs()
        try graph.set("/home/rows/lamp.isOn", false)
        #expect(try graph.value("/home.devices.lamp.isOn") == false)
        #expect(try graph.value("/home/rows/lamp.name") == "lamp is off")
        _ = try graph.value("/home/rows/door.name")
        let runs = graph.runs()
        #expect(runs.contains("/home/rows/lamp.name"))
        #expect(!runs.contains("/home/rows/door.name"), "its entry has not changed")
        try graph.transact([mutate(.remove, "/home.devices.lamp")])
        #expect(try graph.children(of: "/home/rows") == ["door"])
    }

    @Test("forEach over a map that a rule computes follows its entries")
    func forEachOfRule() throws {
        let graph = try Harness(EntriesTests.home)
        try graph.set("/home.numbers", ["a": 1.0, "b": 2.0])
        #expect(try graph.value("/home/doubled/a.twice") == 2.0)
        #expect(try graph.children(of: "/home/big") == ["b"])
        try graph.set("/home.numbers.a", 5.0)
        #expect(try graph.value("/home/doubled/a.twice") == 10.0)
        #expect(refusal { try graph.set("/home/doubled/a.number", 1.0) }?.code == .readOnly)
        try graph.set("/home.numbers", ["b": 2.0])
        #expect(try graph.children(of: "/home/doubled") == ["b"])
        #expect(try graph.value("/home/doubled/b.twice") == 4.0)
    }

    @Test("data that becomes a map, or a list again, makes its instances anew")
    func changesKind() throws {
        let graph = try Harness(
            """
            nodes:
              - id: n
                state: { data: { type: dyn, initial: [{ id: a, x: 1 }] } }
                children:
                  - { id: rows, forEach: { in: $data, node: { computed: { x: element.x } } } }
            """)
        #expect(try graph.value("/n/rows/a.x") == 1)
        try graph.set("/n.data", ["a": ["x": 2], "b": ["x": 3]])
        #expect(try graph.children(of: "/n/rows") == ["a", "b"])
        #expect(try graph.value("/n/rows/a.x") == 2)
        try graph.set("/n.data", [["id": "c", "x": 4]])
        #expect(try graph.children(of: "/n/rows") == ["c"])
        #expect(try graph.value("/n/rows/c.x") == 4)
    }

    @Test("faulty entries are told")
    func faults() throws {
        func messages(_ state: String) -> String {
            do {
                _ = try Harness("nodes: [{ id: n, state: { x: \(state) } }]")
                return "no fault"
            } catch { return "\(error)" }
        }
        #expect(
            messages("{ type: int, initial: 1, entries: {} }").contains("a state with entries is a map, not an int"))
        #expect(messages("{ type: map, entries: 5 }").contains("entries is a map"))
        #expect(messages("{ type: map, entries: { expires: soon } }").contains("'soon' is not a length of time"))
        #expect(messages("{ type: map, entries: { limit: 0 } }").contains("limit is a number of entries"))
        #expect(messages("{ type: map, entries: { limits: 5 } }").contains("limits"))
    }

    @Test("an export has the entries, and a document that drops them ends their expiry")
    func export() throws {
        let graph = try Harness(EntriesTests.home)
        #expect(try graph.exported("/home").jsonText.contains(#""entries":{"expires":"90s","limit":3}"#))
        try graph.set("/home.devices.lamp.isOn", true)
        _ = try graph.apply("nodes: [{ id: home, state: { devices: { type: map, initial: {} } } }]")
        graph.advance(1000)
        #expect(try graph.value("/home.devices") == ["lamp": ["isOn": true]])
    }
}
