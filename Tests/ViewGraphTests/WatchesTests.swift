import AttributeGraph
import AttributeValues
import Testing

@testable import ViewGraph

/// An engine of inputs, which nothing evaluates.
final class Inputs {
    let engine = GraphCore(host: RuleHost())
    let a: AttributeID
    let b: AttributeID

    init() {
        a = engine.createInput(.value(0))
        b = engine.createInput(.value(0))
    }

    deinit { engine.deallocate() }

    func set(_ vertex: AttributeID, _ number: Int64) throws { _ = try engine.set(vertex, .value(.int(number))) }
}

@Suite("watches")
struct WatchesTests {
    private let inputs = Inputs()
    private var engine: GraphCore<RuleHost> { inputs.engine }
    /// A vertex that the engine does not know: a rule that never ran.
    private let rule = AttributeID(index: 90, generation: 1)
    private let other = AttributeID(index: 91, generation: 1)

    @Test("a vertex is reported once however often it was collected, in the order of the first report")
    func once() throws {
        var watches = Watches()
        for vertex in [inputs.a, inputs.b] { watches.begin(vertex, in: engine) }
        for number in 1...3 {
            for vertex in [inputs.b, inputs.a] {
                try inputs.set(vertex, Int64(number))
                watches.collect(from: engine) { _ in false }
                _ = try engine.read(vertex)
            }
        }
        #expect(watches.invalidated.count > 2)
        var (first, second): ([AttributeID], [AttributeID]) = ([], [])
        watches.take(engine, into: &first)
        watches.take(engine, into: &second)
        #expect(first == [inputs.b, inputs.a] && second == [])
    }

    @Test("changes that the caller keeps or withdraws are not reported") func kept() throws {
        var watches = Watches()
        for vertex in [inputs.a, inputs.b] { watches.begin(vertex, in: engine) }
        try inputs.set(inputs.a, 1)
        try inputs.set(inputs.b, 1)
        var kept: [AttributeID] = []
        watches.collect(from: engine) { vertex in
            if vertex == inputs.a { kept.append(vertex) }
            return vertex == inputs.a
        }
        #expect(kept == [inputs.a] && watches.invalidated == [inputs.b])
        watches.withdraw([inputs.b])
        var taken = [inputs.b]
        watches.take(engine, into: &taken)
        #expect(taken == [])
    }

    @Test("a proxy is watched as long as a rule needs it") func proxies() {
        var watches = Watches()
        watches.addProxy(inputs.a, of: rule, in: engine)
        watches.addProxy(inputs.a, of: other, in: engine)
        #expect(engine.isWatched(inputs.a) && watches.rulesBehind(inputs.a) == [rule, other])
        let first = watches.endProxies(of: rule, in: engine)
        #expect(first == [] && engine.isWatched(inputs.a))
        let second = watches.forget(other, in: engine)
        #expect(second == [inputs.a] && !engine.isWatched(inputs.a))
        #expect(watches.proxyCount == 0 && watches.begun == watches.ended)
    }

    @Test("a proxy that somebody watches himself stays watched when the rule has run, and the other way round")
    func both() {
        var watches = Watches()
        watches.begin(inputs.a, in: engine)
        watches.addProxy(inputs.a, of: rule, in: engine)
        let whenItRan = watches.endProxies(of: rule, in: engine)
        #expect(whenItRan == [] && engine.isWatched(inputs.a))
        watches.addProxy(inputs.a, of: rule, in: engine)
        let whenUnwatched = watches.end(inputs.a, in: engine)
        #expect(whenUnwatched == [] && engine.isWatched(inputs.a))
        let atLast = watches.endProxies(of: rule, in: engine)
        #expect(atLast == [inputs.a] && !engine.isWatched(inputs.a))
    }
}

@Suite("shared vertices")
struct SharedVerticesTests {
    private func vertex(_ row: Int) -> AttributeID { AttributeID(index: UInt32(row), generation: 1) }

    @Test("idle ones are looked at once") func idle() {
        var sharing = SharedVertices()
        sharing.noteIdle(vertex(1))
        sharing.noteIdle(vertex(2))
        let (first, second) = (sharing.takeIdle(), sharing.takeIdle())
        #expect(first == [vertex(1), vertex(2)] && second == [])
    }

    @Test("loose ones are looked at once as many uses have ended as there are of them, and no fewer than 64")
    func loose() {
        var sharing = SharedVertices()
        for row in 0..<100 { sharing.noteLoose(vertex(row)) }
        func taken(_ ended: UInt64) -> Int { sharing.takeLoose(UseCounts(begun: 0, ended: ended)).count }
        let (early, late) = (taken(99), taken(100))
        #expect(early == 0 && late == 100 && !sharing.hasLoose)
        sharing.noteLoose(vertex(1))
        let (fewer, enough) = (taken(163), taken(164))
        #expect(fewer == 0 && enough == 1)
    }
}
