import TestSupport
import Testing

@testable import AttributeGraph
@testable import ReactiveGraph

/// Closures that destroy, make, write and register things while they run, held against a model.
@Suite struct RandomDestructionTests {
    /// Of each seed; `AGD_GRAPH_STEPS` makes runs longer.
    static let steps = Int(numberInEnvironment("AGD_GRAPH_STEPS") ?? 400)

    /// What closures did when they were freed lost the run of an observer, and the error of a new one's first run.
    static let oldFaults: [UInt64] = [11_955_308_221_932_634_648, 568_120_647_633_658_494]

    @Test(
        "whatever closures do to the graph, at rest all values are the model's and what was destroyed is gone",
        arguments: oldFaults + freshSeeds(4))
    func agreesWithModel(seed: UInt64) { run(seed, .ordered) }

    @Test("actions of closures in abandoned runs do no harm", arguments: freshSeeds(4))
    func agreesWithModelWhenRestarting(seed: UInt64) { run(seed, .ordered, nestingLimit: 1) }

    /// A cleanup destroyed a rule that members of a cycle were waiting for, and they waited forever.
    static let oldFaultsOnCycles: [UInt64] = [15_468_295_195_330_957_056, 10_631_345_961_551_689_840]

    @Test("cycles may lose and gain members while they are evaluated", arguments: oldFaultsOnCycles + freshSeeds(4))
    func agreesWithModelOnCycles(seed: UInt64) { run(seed, .cyclic) }

    @Test(
        "cycles longer than the nesting limit may lose and gain members", arguments: oldFaultsOnCycles + freshSeeds(4))
    func agreesWithModelOnLongCycles(seed: UInt64) { run(seed, .cyclic, nestingLimit: 2) }

    @Test(
        "nothing that closures do leaves anything behind or breaks the tables",
        arguments: oldFaultsOnCycles + freshSeeds(4))
    func staysSound(seed: UInt64) { run(seed, .wild, nestingLimit: seed & 1 == 0 ? 2 : 100) }

    /// Graphs are made anew now and then: they act seldom, so that orders are kept and left, or often.
    func run(_ seed: UInt64, _ mode: DestructiveGraph.Mode, nestingLimit: Int = 100) {
        var left = Self.steps
        var round: UInt64 = 0
        var followed: UInt64 = 0
        while left > 0 {
            let census = Census()
            let appetite = [4, 20, 60, 200][Int(round & 3)]
            var faults: [String] = []
            do {
                let world = DestructiveGraph(
                    seed: seed &+ round &* 1_000_003, mode: mode, appetite: appetite, nestingLimit: nestingLimit,
                    census: census)
                var steps = 0
                while steps < 100 && steps < left && world.faults.isEmpty {
                    world.step()
                    steps += 1
                }
                left -= max(1, steps)
                if world.faults.isEmpty { world.clear() }
                world.isOver = true
                followed += world.graph.context.table.pointee.followed
                faults = world.faults.map { "graph \(round), step \(steps): \($0)" }
            }
            #expect(faults == [])
            #expect(census.values == 0 && census.closures == 0, "what a graph holds goes with it")
            if !faults.isEmpty { return }
            round += 1
        }
        print("random destruction: seed \(seed), \(mode), \(round) graphs, \(followed) updates along an order")
    }
}
