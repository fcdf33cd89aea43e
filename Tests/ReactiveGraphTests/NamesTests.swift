import ReactiveGraph
import Testing

/// This file imports only what a program outside the project imports.
@Suite("names of the library")
struct NamesTests {
    private struct Sheet {
        let graph = Graph<Int>()
        var cells: [String: AttributeID] = [:]
    }

    @Test("a program that imports ReactiveGraph alone can name attributes and errors")
    func names() throws {
        var sheet = Sheet()
        sheet.cells["a"] = sheet.graph.input(1)
        let cell = try #require(sheet.cells["a"])
        try sheet.graph.dispose(cell)
        #expect(throws: GraphError.removed(cell)) { try sheet.graph.read(cell) }
    }
}
