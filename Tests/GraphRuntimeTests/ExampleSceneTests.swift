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
}
