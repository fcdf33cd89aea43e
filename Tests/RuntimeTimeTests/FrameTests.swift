import AttributeValues
import Glibc
@testable import GraphRuntime
@testable import RuntimeHarness
import TestSupport
import Testing
import WireProtocol

@Suite("Frames")
struct FrameTests {
    /// What each subscription was shown in the last turn.
    private func frames(_ graph: Harness) throws -> [Int64: [String: Value]] {
        var frames: [Int64: [String: Value]] = [:]
        for case .event(let receivers, .frameSheet(_, let members)) in graph.deliveries {
            let values = try #require(try JSONParser.parseOnce("{\(members.text)}".utf8).map)
            for (_, subscription) in receivers {
                #expect(frames[subscription] == nil, "one frame a tick")
                frames[subscription] = Dictionary(uniqueKeysWithValues: values.map { ($0.key.string ?? "", $0.value) })
            }
        }
        return frames
    }

    private func numbers(_ count: Int) -> String {
        "nodes:\n  - { id: n, state: { \((0..<count).map { "a\($0): 0.0" }.joined(separator: ", ")) } }"
    }

    private func moveAll(_ graph: Harness, _ count: Int, to value: Double, _ animation: Value) throws {
        let mutations = (0..<count).map {
            Mutation(operation: .set, path: "/n.a\($0)", value: .double(value + Double($0)))
        }
        try graph.transact(mutations, animation: animation)
    }

    @Test("running timelines that nobody samples wake nobody, and completions only where somebody waits for them")
    func rest() throws {
        let graph = try Harness(numbers(1000))
        let watching = try graph.subscribe(["/n/**"])
        try moveAll(graph, 1000, to: 1, "bouncy")
        #expect(graph.runtime.presentations.completions.count == 1000)
        #expect(graph.runtime.nextDeadline == nil)
        graph.advance(0.25)
        #expect(graph.runtime.nextDeadline == nil && graph.events.isEmpty)

        let waiting = try graph.subscribe(["/n.a7"], events: .completion)
        #expect(graph.runtime.nextDeadline == 1000.5, "logical completion")
        graph.advance(0.25)
        #expect(graph.events.count == 1)
        let end = try #require(graph.runtime.nextDeadline)
        #expect(abs(end - 1000.8187) < 1e-4, "settled")
        graph.advance(end - graph.now.monotonic + 1e-9)
        #expect(graph.events.count == 1 && graph.runtime.nextDeadline == nil)
        #expect(graph.runtime.presentations.running.isEmpty && graph.runtime.presentations.moves.isEmpty)

        try moveAll(graph, 1000, to: 5, "bouncy")
        #expect(graph.runtime.nextDeadline != nil)
        try graph.succeed(.unsubscribe(subscription: waiting))
        #expect(graph.runtime.nextDeadline == nil)
        try graph.succeed(.unsubscribe(subscription: watching))
        #expect(graph.runtime.presentations.running.isEmpty && graph.runtime.presentations.completions.count == 0)
    }

    @Test("each animation is sampled once a tick, however many watch it, and those who watch the same share one event")
    func shared() throws {
        let graph = try Harness(numbers(3))
        let all = try graph.subscribe(["/n/**"], events: .frames, frames: 16)
        let same = try graph.subscribe(["/n/**"], events: .frames, frames: 16, from: 2)
        let one = try graph.subscribe(["/n.a1"], events: .frames, frames: 16)
        let slow = try graph.subscribe(["/n.a1"], events: .frames, frames: 8, from: 2)
        try moveAll(graph, 3, to: 1, "linear(duration: 0.5)")
        for tick in 1...8 {
            graph.advance(1.0 / 16)
            let shown = try frames(graph)
            let part = Double(tick) / 8
            #expect(shown[all] == ["/n.a0": .double(part), "/n.a1": .double(2 * part), "/n.a2": .double(3 * part)])
            #expect(shown[same] == shown[all] && shown[one] == ["/n.a1": .double(2 * part)])
            #expect(shown[slow] == (tick % 2 == 0 ? shown[one] : nil))
            #expect(graph.events.count == (tick % 2 == 0 ? 3 : 2))
        }
        #expect(graph.runtime.statistics.frames == 8 + 4, "ticks that were sampled, not frames that were sent")
        #expect(graph.runtime.nextDeadline == nil)
    }

    @Test("a value that jumped and moves again before the next tick is shown moving")
    func jumpAndMove() throws {
        let graph = try Harness(numbers(1))
        let id = try graph.subscribe(["/n.a0"], events: .frames, frames: 16)
        try graph.set("/n.a0", 1.0, animation: "linear(duration: 1)")
        graph.advance(1.0 / 16)
        try graph.set("/n.a0", 5.0)
        try graph.set("/n.a0", 6.0, animation: "linear(duration: 1)")
        graph.advance(1.0 / 16)
        #expect(try frames(graph)[id] == ["/n.a0": .double(5.0625)])
    }

    @Test("a client that is behind gets no frames, and the newest when it has caught up")
    func behind() throws {
        let graph = try Harness(numbers(1))
        let id = try graph.subscribe(["/n.a0"], events: .frames, frames: 16)
        try graph.set("/n.a0", 16.0, animation: "linear(duration: 1)")
        graph.turn([.behind(ClientID(number: 1))])
        for _ in 0..<4 {
            graph.advance(1.0 / 16)
            #expect(graph.events.isEmpty)
        }
        graph.turn([.drained(ClientID(number: 1))])
        graph.advance(1.0 / 16)
        #expect(try frames(graph)[id] == ["/n.a0": 5.0])
    }

    @Test("a client that was behind is shown what came to rest unseen, once it has caught up")
    func restedUnseen() throws {
        let graph = try Harness(numbers(3))
        let id = try graph.subscribe(["/n/**"], events: .frames, frames: 16)
        try moveAll(graph, 3, to: 16, "linear(duration: 1)")
        graph.advance(1.0 / 16)
        graph.turn([.behind(ClientID(number: 1))])
        graph.advance(0.25)
        try graph.set("/n.a1", 5.0)
        graph.advance(1)
        graph.advance(1)
        #expect(graph.events.isEmpty && graph.runtime.nextDeadline == nil)
        graph.turn([.drained(ClientID(number: 1))])
        guard case .event(let receivers, .frames(_, let values))? = graph.deliveries.first, graph.deliveries.count == 1
        else {
            Issue.record("one frame: \(graph.deliveries)")
            return
        }
        #expect(receivers.map(\.subscription) == [id])
        #expect(values.map(\.path) == ["/n.a0", "/n.a1", "/n.a2"] && values.map(\.value) == [16.0, 5.0, 18.0])
    }

    @Test("a change that is taken back before it was displayed has no frames")
    func takenBack() throws {
        let graph = try Harness(numbers(1))
        _ = try graph.subscribe(["/n.a0"], events: .frames, frames: 16)
        try graph.set("/n.a0", 16.0, animation: "linear(duration: 1)")
        try graph.set("/n.a0", 0.0, animation: "linear(duration: 1)")
        graph.advance(1.0 / 16)
        #expect(try frames(graph).values.allSatisfy { $0.allSatisfy { $0.value == 0.0 } })
        graph.advance(1.0 / 16)
        #expect(graph.events.isEmpty && graph.runtime.nextDeadline == nil)
    }

    @Test(
        "every frame holds exactly the moving values of its subscription, whoever comes, goes, moves and jumps")
    func model() throws {
        let seed = freshSeed()
        var random = SeededGenerator(seed: seed)
        let count = 8
        let graph = try Harness(numbers(count))
        let animations: [Value] = [
            "linear(duration: 0.5)", "bouncy", "easeInOut(duration: 1).delay(0.125)", "linear(duration: 0.0625)",
        ]
        var model = FrameModel()
        for step in 0..<1500 {
            let place = "seed \(seed), step \(step)"
            switch Int.random(in: 0..<10, using: &random) {
            case 0 where model.subscriptions.count < 12:
                let attributes = (0..<count).filter { _ in Bool.random(using: &random) }
                guard !attributes.isEmpty else { continue }
                let rate = Bool.random(using: &random) ? 16.0 : 8.0
                let client = UInt64.random(in: 1...2, using: &random)
                let id = try graph.subscribe(
                    attributes.map { "/n.a\($0)" }, events: .frames, frames: rate, from: client)
                model.subscribe(id, client, .init(attributes: attributes, rate: rate), at: graph.now.monotonic)
            case 1:
                guard
                    let (id, entry) = model.subscriptions.sorted(by: { $0.key < $1.key }).randomElement(using: &random)
                else { continue }
                try graph.succeed(.unsubscribe(subscription: id), from: entry.client)
                model.unsubscribe(id)
            case 2...5:
                let attribute = Int.random(in: 0..<count, using: &random)
                let value = Double(Int.random(in: -100...100, using: &random))
                let isJump = Int.random(in: 0..<4, using: &random) == 0
                guard try graph.value("/n.a\(attribute)") != .double(value) else { continue }
                // What comes back to where it is displayed does not move.
                guard try graph.value("/n.a\(attribute)", presentation: true) != .double(value) else { continue }
                try graph.set(
                    "/n.a\(attribute)", .double(value),
                    animation: isJump ? nil : animations.randomElement(using: &random))
                model.change(attribute, isJump: isJump, at: graph.now.monotonic)
            default:
                graph.advance(1.0 / 16)
                let shown = try frames(graph)
                let expected = model.tick(at: graph.now.monotonic)
                #expect(
                    shown.mapValues { Set($0.keys) } == expected.mapValues { Set($0.map { "/n.a\($0)" }) }, "\(place)")
                for values in shown.values {
                    for (path, value) in values {
                        let displayed = try #require(try graph.value(path, presentation: true).number)
                        #expect(abs(displayed - (value.number ?? .nan)) <= 1e-9, "\(place): \(path)")
                        if !model.moves(path, graph) {
                            #expect(try graph.value(path) == value, "\(place): \(path) rests")
                        }
                    }
                }
                model.settle(graph)
            }
        }
        #expect(model.framesSeen > 300)
    }
}

/// Which attributes each subscription must be shown at a tick, by the plainest means.
private struct FrameModel {
    struct View: Hashable {
        var attributes: [Int]
        var rate: Double
    }

    var subscriptions: [Int64: (client: UInt64, view: View)] = [:]
    private var shown: [View: Set<Int>] = [:]
    private var jumped: [View: Set<Int>] = [:]
    private var nextTick: [Double: Double] = [:]
    /// Attributes with a timeline that has not ended.
    private var moving: Set<Int> = []
    private(set) var framesSeen = 0

    mutating func subscribe(_ id: Int64, _ client: UInt64, _ view: View, at time: Double) {
        subscriptions[id] = (client, view)
        guard shown[view] == nil else { return }
        shown[view] = moving.intersection(view.attributes)
        jumped[view] = []
        start(view, at: time)
    }

    mutating func unsubscribe(_ id: Int64) {
        guard let view = subscriptions.removeValue(forKey: id)?.view,
            !subscriptions.values.contains(where: { $0.view == view })
        else { return }
        shown[view] = nil
        jumped[view] = nil
        if !shown.keys.contains(where: { $0.rate == view.rate }) { nextTick[view.rate] = nil }
        // What nobody watches does not move.
        moving.formIntersection(shown.keys.flatMap(\.attributes))
    }

    mutating func change(_ attribute: Int, isJump: Bool, at time: Double) {
        for view in shown.keys where view.attributes.contains(attribute) {
            if !isJump {
                shown[view]?.insert(attribute)
                start(view, at: time)
            } else if shown[view]?.remove(attribute) != nil {
                jumped[view]?.insert(attribute)
            }
        }
        let isWatched = shown.keys.contains { $0.attributes.contains(attribute) }
        if !isJump, isWatched { moving.insert(attribute) } else { moving.remove(attribute) }
    }

    private mutating func start(_ view: View, at time: Double) {
        if nextTick[view.rate] == nil, shown[view]?.isEmpty == false { nextTick[view.rate] = time + 1 / view.rate }
    }

    private var due: Set<Double> = []

    mutating func tick(at time: Double) -> [Int64: Set<Int>] {
        due = Set(nextTick.filter { $0.value <= time }.keys)
        var expected: [Int64: Set<Int>] = [:]
        for (id, entry) in subscriptions where due.contains(entry.view.rate) {
            let members = (shown[entry.view] ?? []).union(jumped[entry.view] ?? [])
            if !members.isEmpty { expected[id] = members }
        }
        framesSeen += expected.count
        for rate in due { nextTick[rate] = time + 1 / rate }
        return expected
    }

    func moves(_ path: String, _ graph: Harness) -> Bool {
        graph.runtime.presentations.running.contains { graph.runtime.graph.path(of: $0.key) == path }
    }

    /// After a tick: what has ended is not shown any more at the rates that have shown it.
    mutating func settle(_ graph: Harness) {
        moving = moving.filter { moves("/n.a\($0)", graph) }
        for view in shown.keys where due.contains(view.rate) {
            shown[view]?.formIntersection(moving)
            jumped[view] = []
        }
        for rate in due where shown.allSatisfy({ $0.key.rate != rate || $0.value.isEmpty }) { nextTick[rate] = nil }
    }
}
