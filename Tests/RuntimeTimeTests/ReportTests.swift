import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness
@testable import ViewGraph

/// Writes of equal values, for those who ask when a state was last written.
@Suite("Reports")
struct ReportTests {
    private static let meter = """
        nodes:
          - id: meter
            state: { count: 1000, plain: 1 }
            computed: { speed: "rate(count, duration('10s'))" }
        """

    private func number(_ content: Content?) throws -> Double {
        guard case .value(.double(let number))? = content else {
            throw Failure(.unavailable, "no number, but \(String(describing: content))")
        }
        return number
    }

    private func isNear(_ a: Double, _ b: Double) -> Bool { abs(a - b) < 5e-3 * abs(b) }

    @Test("an increase after a silence is spread over the silence, so a rate is right a window later")
    func silence() throws {
        let graph = try Harness(ReportTests.meter)
        graph.advance(1000)
        try graph.set("/meter.count", 1010)
        graph.advance(45)
        try graph.subscribe(["/meter.speed"], initial: true)
        var told: [Int: Double] = [:]
        for second in 0...10 {
            if second > 0 { graph.advance(1) }
            try graph.set("/meter.count", .int(1020 + Int64(second) * 10))
            told[second] = try number(graph.changes["/meter.speed"])
        }
        for (second, expected) in [(0, 0.2222), (4, 4.1333), (9, 9.0222), (10, 10)] {
            #expect(isNear(try #require(told[second]), expected), "\(told[second] ?? -1) after \(second) s")
        }
        graph.advance(9.9)
        #expect(graph.changes == [:])
        graph.advance(0.1)
        #expect(graph.changes == ["/meter.speed": .value(0.0)])
    }

    @Test("equal reports during a silence say that nothing was counted") func equalReports() throws {
        let graph = try Harness(ReportTests.meter)
        graph.advance(1000)
        try graph.set("/meter.count", 1010)
        for _ in 1...44 {
            graph.advance(1)
            try graph.set("/meter.count", 1010)
        }
        graph.advance(1)
        for second in 0...9 {
            if second > 0 { graph.advance(1) }
            try graph.set("/meter.count", .int(1020 + Int64(second) * 10))
            let rate = try number(graph.get("/meter.speed"))
            if [0, 4, 9].contains(second) { #expect(isNear(rate, Double(second + 1)), "\(rate) after \(second) s") }
        }
    }

    @Test("a steady counter is right from its second report") func steady() throws {
        let graph = try Harness(
            """
            nodes:
              - id: meter
                state: { count: { initial: null, type: int? } }
                computed: { speed: "rate(count, duration('10s'))" }
            """)
        #expect(try graph.get("/meter.speed") == .value(.null))
        graph.advance(3)
        try graph.set("/meter.count", 777)
        #expect(try number(graph.get("/meter.speed")) == 0)
        for second in 1...30 {
            graph.advance(1)
            try graph.set("/meter.count", .int(777 + Int64(second) * 5))
            #expect(try number(graph.get("/meter.speed")) == 5)
        }
    }

    @Test("an equal write runs the operator that asks for reports, and nothing while its result stays")
    func runs() throws {
        let graph = try Harness(ReportTests.meter)
        try graph.subscribe(["/meter.*"], initial: true)
        graph.advance(1)
        try graph.set("/meter.count", 1010)
        graph.advance(1)
        _ = graph.runs()
        try graph.set("/meter.count", 1010)
        #expect(graph.changes == ["/meter.speed": .value(5.0)])
        #expect(graph.runs() == ["/meter.speed"])
        for _ in 1...12 {
            graph.advance(1)
            try graph.set("/meter.count", 1010)
        }
        #expect(try graph.get("/meter.speed") == .value(0.0))
        graph.advance(1)
        _ = graph.runs()
        try graph.set("/meter.count", 1010)
        #expect(graph.runs() == [])
        #expect(graph.changes == [:])
    }

    @Test("an equal write of a state whose reports nobody reads is nothing") func unread() throws {
        let graph = try Harness(ReportTests.meter)
        let before = graph.runtime.revision
        graph.advance(1)
        _ = graph.runs()
        let counters = graph.runtime.graph.counters
        try graph.set("/meter.plain", 1)
        #expect(graph.runtime.revision == before)
        #expect(graph.runs() == [])
        #expect(graph.runtime.graph.counters.writes == counters.writes)
    }

    @Test("a refused transaction reports nothing") func refused() throws {
        let graph = try Harness(ReportTests.meter)
        graph.advance(1)
        try graph.set("/meter.count", 1010)
        graph.advance(1)
        #expect(
            refusal {
                try graph.transact([
                    Mutation(operation: .set, path: "/meter.count", value: 1010),
                    Mutation(operation: .toggle, path: "/meter.plain", value: .null),
                ])
            } != nil)
        #expect(try graph.get("/meter.speed") == .value(10.0))
    }

    @Test("an action that writes an equal value reports it, although rules have seen its writes")
    func action() throws {
        let graph = try Harness(
            """
            nodes:
              - id: meter
                state: { count: 0, last: 0 }
                computed: { speed: "rate(count, duration('10s'))", double: count * 2 }
                actions: { report: [ { set: { $count: 10 } }, { set: { $last: =double } } ] }
            """)
        func report() throws {
            try graph.succeed(.do(path: RequestPath("/meter.report"), arguments: ValueMap(), TransactionOptions()))
        }
        graph.advance(1)
        try report()
        #expect(try graph.get("/meter.speed") == .value(10.0))
        graph.advance(1)
        try report()
        #expect(try graph.get("/meter.speed") == .value(5.0))
    }

    /// The rate of a counter that rose by 10 in the first second, after one more second and a write.
    private func rate(_ use: String, after write: Mutation) throws -> Double {
        let graph = try Harness(
            """
            nodes:
              - id: top
                state:
                  sample: { bytes: 0, other: 0 }
                  list: [{ id: a, n: 0 }, { id: b, n: 0 }]
                  text: '0'
                children:
                  - id: n
                    let: { sample: $sample, list: $list, first: '$list[id="a"]' }
                    binding: { bound: $sample }
                    computed: { speed: "\(use)" }
            """)
        graph.advance(1)
        try graph.transact([
            Mutation(operation: .set, path: "/top.sample.bytes", value: 10),
            Mutation(operation: .set, path: "/top.list[0].n", value: 10),
        ])
        #expect(try number(graph.get("/top/n.speed")) == 10)
        graph.advance(1)
        try graph.transact([write])
        return try number(graph.get("/top/n.speed"))
    }

    @Test(
        "a write of a part reports the part, what is in it and what is around it, and nothing beside it",
        arguments: [
            ("sample.bytes", "/top.sample.bytes", "10", true),
            ("sample.bytes", "/top.sample", #"{"bytes": 10, "other": 0}"#, true),
            ("sample.bytes", "/top.sample.other", "0", false),
            ("sample.bytes", "/top.text", #""0""#, false),
            ("list[0].n", "/top.list[0].n", "10", true),
            ("list[0].n", "/top.list[id=\"a\"].n", "10", true),
            ("list[0].n", "/top.list[id=\"b\"].n", "0", false),
            ("list[0].n", "/top.list[1]", #"{"id": "b", "n": 0}"#, false),
            ("list[0].n", "/top.list[id=\"a\"]", #"{"id": "a", "n": 10}"#, true),
            ("first.n", "/top.list[0].n", "10", true),
            ("first.n", "/top.list[1].n", "0", false),
            ("bound.bytes", "/top/n.bound.bytes", "10", true),
            ("bound.bytes", "/top.sample.other", "0", false),
            ("$/top.sample.bytes", "/top.sample.bytes", "10", true),
            ("$/top.sample.bytes", "/top.sample.other", "0", false),
        ])
    func parts(operand: String, path: String, json: String, isReport: Bool) throws {
        let rate = try rate(
            "rate(\(operand), duration('10s'))",
            after: Mutation(operation: .set, path: path, value: try JSONParser.parseOnce(json.utf8)))
        #expect(rate == (isReport ? 5 : 10))
    }

    @Test("a reference that a rule chooses is reported with what it shows") func chosen() throws {
        let graph = try Harness(
            """
            nodes:
              - id: top
                state: { a: 0, b: 0, isB: false }
                children:
                  - id: n
                    binding: { shown: '=isB ? $b : $a' }
                    computed: { speed: "rate(shown, duration('10s'))" }
            """)
        graph.advance(1)
        try graph.set("/top.a", 10)
        try graph.set("/top.b", 10)
        graph.advance(1)
        try graph.set("/top.b", 10)
        #expect(try graph.get("/top/n.speed") == .value(10.0))
        try graph.set("/top.a", 10)
        #expect(try graph.get("/top/n.speed") == .value(5.0))
        try graph.set("/top.isB", true)
        graph.advance(1)
        try graph.set("/top.a", 10)
        #expect(try graph.get("/top/n.speed") == .value(5.0))
        try graph.set("/top.b", 10)
        #expect(try #require(try? number(graph.get("/top/n.speed"))) < 3.4)
    }

    @Test("what rules give is reported when it changes") func rule() throws {
        let graph = try Harness(
            """
            nodes:
              - id: n
                state: { x: 0 }
                computed: { y: x / 10, speed: "rate(y, duration('10s'))" }
            """)
        graph.advance(1)
        try graph.set("/n.x", 100)
        graph.advance(1)
        try graph.set("/n.x", 101)
        #expect(try graph.get("/n.speed") == .value(10.0))
        try graph.set("/n.x", 110)
        #expect(try graph.get("/n.speed") == .value(5.5))
    }

    @Test("a rule says which falls of its counter are mistakes, and rules that say the same share a past")
    func falls() throws {
        let graph = try Harness(
            """
            nodes:
              - id: n
                state: { x: 1000.0 }
                computed:
                  usual: "rate(x, duration('10s'))"
                  same: "rate(x, duration('10s'), {'zeros': 1, 'dip': 0.1})"
                  exact: "rate(x, duration('10s'), {'dip': 0, 'zeros': 0})"
            """)
        #expect(graph.runtime.graph.timedValues.count == 2)
        for value in [0.0, 990.0, 1010.0] {
            graph.advance(1)
            try graph.set("/n.x", .double(value))
        }
        for name in ["usual", "same"] { #expect(isNear(try number(graph.get("/n.\(name)")), 10.0 / 3)) }
        #expect(isNear(try number(graph.get("/n.exact")), 1010.0 / 3))
        graph.end()
        let next = try graph.restarted(
            """
            nodes:
              - id: n
                state: { x: 1000.0 }
                computed:
                  usual: "rate(x, duration('10s'))"
                  exact: "rate(x, duration('10s'), {'dip': 0, 'zeros': 0})"
            """, after: 1)
        #expect(isNear(try number(next.get("/n.exact")), 1010.0 / 3))
        try next.set("/n.x", 999.0)
        try next.set("/n.x", 1050.0)
        #expect(isNear(try number(next.get("/n.usual")), 50.0 / 4))
    }

    @Test(
        "mistakes in what falls mean are told where they are made",
        arguments: [
            ("rate(x, duration('1m'), {'dip': 1.0})", "'dip' is the part of the value by which it may fall"),
            ("rate(x, duration('1m'), {'zeros': -1})", "'zeros' is the number of zeros that are ignored: 0 to 1000"),
            ("rate(x, duration('1m'), {'dips': 0.1})", "rate() has no 'dips'"),
            ("rate(x, duration('1m'), 0.1)", "rate() takes what falls mean as a map of constants"),
            ("average(x, duration('1m'), {'dip': 0.1})", "average() takes an attribute and a duration"),
        ])
    func mistakes(rule: String, message: String) {
        let failure = refusal {
            try Harness("nodes: [{ id: n, state: { x: 1 }, computed: { y: \(Value.string(rule).jsonText) } }]\n")
        }
        #expect(failure?.message.contains(message) == true, "\(String(describing: failure))")
    }

    @Test("a state is heard no longer when the last operator that asks is gone") func gone() throws {
        let graph = try Harness(
            """
            nodes:
              - id: top
                state: { x: { a: 1 } }
                children:
                  - { id: n, let: { x: $x }, computed: { r: "rate(x.a, duration('10s'))" } }
            """)
        graph.advance(1)
        let before = graph.runtime.revision
        try graph.set("/top.x.a", 1)
        #expect(graph.runtime.revision == before + 1)
        let place = try graph.runtime.graph.locate(AttributePath("/top.x"))
        #expect(graph.runtime.graph.record(place.attribute).reports != nil)
        try graph.succeed(.remove(path: "/top/n", TransactionOptions()))
        graph.settle()
        graph.turn([])
        #expect(graph.runtime.graph.record(place.attribute).reports == nil)
        graph.advance(1)
        let after = graph.runtime.revision
        try graph.set("/top.x.a", 1)
        #expect(graph.runtime.revision == after)
        // A state that goes takes its reports along.
        try graph.succeed(.remove(path: "/top", TransactionOptions()))
        graph.settle()
    }
}
