import AttributeValues
import Foundation
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

/// The scenes in `Examples/` that show what rules and actions can do, over a clock that the test moves.
@Suite("Examples of scenes")
struct ExampleSceneTests {
    private func harness(_ name: String) throws -> Harness {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("Examples/\(name).yaml"), encoding: .utf8)
        let lines = text.split(separator: "\n").filter { $0 != "agd: 1" }
        let graph = try Harness(lines.joined(separator: "\n"))
        try graph.set("/.timeZone", "UTC")
        return graph
    }

    private func call(_ graph: Harness, _ path: String, _ arguments: Value = [:]) throws {
        try graph.succeed(
            .do(path: RequestPath(path), arguments: arguments.map ?? ValueMap(), TransactionOptions()))
    }

    private static func train(_ number: Int, cancelled: Bool = false) -> Value {
        let minute = number < 10 ? "0\(number)" : "\(number)"
        return [
            "id": .string("t\(number)"), "planned": .string("1970-01-01T00:\(minute):00Z"), "delay": 0, "platform": "1",
            "plannedPlatform": "1", "cancelled": .bool(cancelled),
        ]
    }

    @Test("the station shows the next trains in their order, late ones, and news of cancelled ones") func station()
        throws
    {
        let graph = try harness("station")
        try graph.subscribe(["/board/**"], initial: true)
        try graph.set("/board.trains", .list((1...30).reversed().map { Self.train($0) }))
        #expect(try graph.children(of: "/board/list") == (1...12).map { "t\($0)" })
        #expect(try graph.value("/board/list/t2.time") == "00:02")
        #expect(try graph.value("/board/list/t2.status") == "boarding")
        try call(graph, "/board.delay", ["train": "t2", "by": 9])
        #expect(try graph.value("/board/list/t2.status") == "+9 min")
        #expect(try graph.value("/board.lateCount") == 1)
        #expect(try graph.children(of: "/board/list").prefix(3) == ["t1", "t3", "t4"])
        try graph.set("/board.trains[id=\"t5\"].cancelled", true)
        #expect(try graph.value("/board.news") == ["Train t5 is cancelled"])
        graph.advance(61)
        graph.advance(61)
        #expect(try graph.children(of: "/board/list").first == "t3")
    }

    @Test("the mash is heated along its ramp, held, and goes on; an alarm rings until somebody acknowledges it")
    func brewery() throws {
        let graph = try harness("brewery")
        try graph.subscribe(["/brewery/**"], initial: true)
        try call(graph, "/brewery/mash.start")
        for _ in 0..<10 { graph.advance(1) }
        #expect(try graph.value("/brewery/mash.label") == "Mash: step 1 of 2")
        #expect(try graph.value("/brewery/mash.setpoint").number == 30)
        #expect(try graph.value("/brewery/mash.power").number ?? 0 > 0)
        for _ in 0..<4 { graph.advance(1) }
        #expect(try graph.value("/brewery.alarms") == ["Mash too slow: ringing"])
        #expect(try graph.value("/brewery.siren") == true)
        try graph.set("/brewery/mash.temperature", 52.0)
        #expect(try graph.value("/brewery.alarms") == ["Mash too slow: gone, not acknowledged"])
        try call(graph, "/brewery.acknowledgeAll")
        #expect(try graph.value("/brewery.alarms") == [] && graph.value("/brewery.siren") == false)
        for _ in 0..<62 { graph.advance(1) }
        #expect(try graph.value("/brewery/mash.label") == "Mash: step 2 of 2")
        try call(graph, "/brewery/mash.stop")
        #expect(try graph.value("/brewery/mash.power") == 0.0)
        #expect(try graph.value("/brewery/mash.label") == "Mash: off")
    }

    @Test("the rack tells the worst of its servers, stale ones, and none in maintenance") func rack() throws {
        let graph = try harness("rack")
        try graph.subscribe(["/rack.*", "/rack/units/s01.*"], initial: true)
        #expect(try graph.children(of: "/rack/units").count == 40)
        for number in 1...40 {
            let id = number < 10 ? "s0\(number)" : "s\(number)"
            try graph.set("/rack/units/\(id).sample", ["cpu": 0.5, "temp": 40, "watts": 100])
        }
        #expect(try graph.value("/rack.health") == "ok" && graph.value("/rack.watts") == 4000.0)
        try graph.set("/rack/units/s01.sample", ["cpu": 0.5, "temp": 85.5, "watts": 100])
        #expect(try graph.value("/rack.health") == "critical" && graph.value("/rack.bad") == ["s01"])
        try graph.set("/rack/units/s01.sample", ["cpu": 0.5, "temp": 77, "watts": 100])
        #expect(try graph.value("/rack/units/s01.isHot") == true, "not below the lower bound")
        try call(graph, "/rack.maintain", ["servers": "s01"])
        #expect(try graph.value("/rack/units/s01.health") == "maintenance" && graph.value("/rack.health") == "ok")
        graph.advance(6)
        #expect(try graph.value("/rack/units/s02.health") == "stale" && graph.value("/rack.health") == "outage")
        graph.advance(2)
        #expect(try graph.value("/rack.isAlarm") == true)
        graph.advance(1800)
        try call(graph, "/rack.tidy")
        #expect(try graph.value("/rack.windows") == [])
    }

    /// The library with an alert over `/freezer/probe.temperature`.
    private func alert(_ settings: String = "") throws -> Harness {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("Examples/alerts.yaml"), encoding: .utf8)
        let graph = try Harness(
            """
            nodes:
              - id: freezer
                component: Maintained
                children:
                  - { id: probe, state: { temperature: -18.0 } }
                  - id: hot
                    component: Alert
                    let: { isOn: '=$/freezer/probe.temperature > -10.0', \(settings) summary: The freezer is warm }

            """, importing: [text])
        try graph.subscribe(["/freezer/**"], initial: true)
        return graph
    }

    private func phase(_ graph: Harness) throws -> Value? { try graph.value("/freezer/hot.phase") }
    private func warm(_ graph: Harness, _ temperature: Value = 5.0) throws {
        try graph.set("/freezer/probe.temperature", temperature)
    }

    @Test("an alert is pending for its time, fires, is acknowledged by somebody, and is over") func alertLife() throws {
        let graph = try alert("after: 5m, clearAfter: 1m,")
        #expect(try phase(graph) == "ok" && graph.value("/freezer/hot.notice") == .null)
        try warm(graph)
        #expect(try phase(graph) == "pending")
        graph.advance(299)
        #expect(try phase(graph) == "pending")
        graph.advance(2)
        #expect(try phase(graph) == "firing")
        #expect(try graph.value("/freezer/hot.notice.status") == "firing")
        #expect(try graph.value("/freezer/hot.notice.number") == 1 && graph.value("/freezer/hot.notice.count") == 1)
        try call(graph, "/freezer/hot.acknowledge", ["comment": "the door is open"])
        #expect(try phase(graph) == "acknowledged")
        #expect(try graph.value("/freezer/hot.acknowledged.comment") == "the door is open")
        #expect(try graph.value("/freezer/hot.acknowledged.user").number != nil)
        try warm(graph, -20.0)
        graph.advance(30)
        try warm(graph)
        graph.advance(40)
        #expect(try phase(graph) == "acknowledged", "it was gone for less than a minute")
        try warm(graph, -20.0)
        graph.advance(61)
        #expect(try phase(graph) == "resolved" && graph.value("/freezer/hot.notice.status") == "resolved")
        #expect(try graph.value("/freezer/hot.acknowledged") == .null)
    }

    @Test("a condition that ends before its time fires nothing") func alertThatPasses() throws {
        let graph = try alert("after: 5m,")
        for _ in 0..<3 {
            try warm(graph)
            graph.advance(200)
            try warm(graph, -20.0)
            graph.advance(200)
        }
        #expect(try phase(graph) == "ok" && graph.value("/freezer/hot.number") == 0)
    }

    @Test("a notice is made again after its time until somebody acknowledges it") func alertRepeats() throws {
        let graph = try alert("repeat: 1h,")
        try warm(graph)
        #expect(try graph.value("/freezer/hot.notice.count") == 1)
        graph.advance(3601)
        #expect(try graph.value("/freezer/hot.notice.count") == 2)
        try call(graph, "/freezer/hot.acknowledge")
        graph.advance(7200)
        #expect(try graph.value("/freezer/hot.notice.count") == 2)
        try warm(graph, -20.0)
        graph.advance(1)
        try warm(graph)
        #expect(try graph.value("/freezer/hot.notice.number") == 2 && graph.value("/freezer/hot.notice.count") == 1)
        #expect(try phase(graph) == "firing", "an acknowledgement is for one firing")
    }

    @Test("a silenced alert makes no notice, also none that it is over; afterwards it makes one") func alertSilence()
        throws
    {
        let graph = try alert()
        try call(graph, "/freezer/hot.silence", ["time": "1h"])
        try warm(graph)
        #expect(try phase(graph) == "silenced" && graph.value("/freezer/hot.notice") == .null)
        try warm(graph, -20.0)
        graph.advance(1)
        #expect(try phase(graph) == "resolved" && graph.value("/freezer/hot.notice") == .null)
        try warm(graph)
        graph.advance(3601)
        #expect(try phase(graph) == "firing" && graph.value("/freezer/hot.notice.number") == 2)
        #expect(try graph.value("/freezer/hot.silencedUntil") == .null)
    }

    @Test("a window of maintenance silences all alerts in it for its time") func alertMaintenance() throws {
        let graph = try alert()
        try call(graph, "/freezer.maintain", ["time": "30m"])
        try warm(graph)
        #expect(try phase(graph) == "silenced" && graph.value("/freezer/hot.notice") == .null)
        graph.advance(1801)
        #expect(try phase(graph) == "firing" && graph.value("/freezer/hot.notice.count") == 1)
    }
}
