import AttributeGraph
import ReactiveGraph
import TestSupport
import Testing

@testable import AttributeGraph
@testable import ReactiveGraph

@Suite("Giving memory back") struct MemoryTests {
    @Test("a graph of any shape goes on as it was", arguments: freshSeeds(20)) func random(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let graph = Graph<Int>()
        let core = graph.context.core
        var living: [AttributeID] = (0..<10).map { graph.input($0) }
        let inputs = living
        for _ in 0..<3000 {
            let sources = (0..<1 + generator.below(6)).map { _ in generator.pick(living) }
            living.append(graph.rule { context in try sources.reduce(1) { try $0 &+ context[$1] } })
        }
        for attribute in living { _ = try graph.read(attribute) }
        // All but some at the beginning, and now and then one behind.
        let kept = living[..<(20 + generator.below(50))] + living.suffix(generator.below(2))
        for attribute in living where !kept.contains(attribute) { try graph.dispose(attribute) }
        let values = kept.map { try? graph.read($0) }
        let before = core.memory
        core.giveBack()
        #expect(core.checkInvariants() == [], "seed \(seed)")
        #expect(core.memory.edges <= before.edges / 4 && core.memory.vertices <= before.vertices)
        #expect(kept.map { try? graph.read($0) } == values, "seed \(seed)")
        try graph.set(inputs[3], 77)
        let sum = graph.rule { context in try kept.prefix(10).reduce(0) { try $0 &+ context[$1] } }
        #expect(try graph.read(sum) == (0..<10).reduce(0) { $0 + ($1 == 3 ? 77 : $1) })
        #expect(core.checkInvariants() == [], "seed \(seed)")
        #expect(living.filter { core.isAlive($0) }.count == kept.count)
    }

    @Test("nothing is given back while a batch is open") func batch() throws {
        let graph = Graph<Int>()
        let input = graph.input(1)
        let rule = graph.rule { try $0[input] + 1 }
        #expect(try graph.read(rule) == 2)
        try graph.batch {
            try graph.set(input, 5)
            graph.context.core.giveBack()
        }
        #expect(try graph.read(rule) == 6)
        #expect(graph.context.core.checkInvariants() == [])
    }
}
