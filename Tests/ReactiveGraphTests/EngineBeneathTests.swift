import Testing

@testable import AttributeGraph
@testable import ReactiveGraph

/// What the engine shows of the library's rules and observers, and the library's tables.
@Suite struct EngineBeneathTests {
    @Test("a run that was given up is no failure")
    func givenUp() throws {
        let graph = Graph<Int>()
        graph.context.core.nestingLimit = 1
        let source = graph.input(1)
        let cold = graph.rule { try $0[source] }
        let rule = graph.rule { try $0[cold] }
        #expect(try graph.read(rule) == 1)
        #expect(graph.context.core.counters.restarts == 1)
        #expect(graph.context.table.pointee.extras.isEmpty)
    }

    @Test("a scope's row whose generations are used up has no more tenants")
    func lastGeneration() throws {
        let graph = Graph<Int>()
        let scope = try graph.scope {}.scope
        graph.context.table.pointee.scopes.base[Int(scope.index)].generation = .max - 1
        try graph.dispose(ScopeID(index: scope.index, generation: .max - 1))
        #expect(try graph.scope {}.scope.index != scope.index)
        #expect(graph.context.checkScopes() == [])
    }

    @Test("the check of scopes sees a broken list")
    func checkCanFail() throws {
        let graph = Graph<Int>()
        let made = try graph.scope { (graph.input(1), graph.input(2)) }.result
        #expect(graph.context.checkScopes() == [])
        graph.context.table.pointee.row(made.0.index).pointee.scope = 0
        #expect(!graph.context.checkScopes().isEmpty)
    }
}
