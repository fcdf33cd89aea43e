import AttributeValues
import CAllocationCounter
@testable import GraphRuntime
import Testing
import WireProtocol

/// A debug build allocates more than a release build, and the same each time.
@Suite("allocations of a request") struct AllocationTests {
    private static let rounds = 1000

    /// The average over many requests, of which each is a turn of its own.
    private func allocations(watched: Bool = false, _ request: (Int64) -> Request) throws -> Double {
        let graph = try Harness("nodes: [{ id: a, state: { n: 0, map: {} }, computed: { double: n * 2 } }]")
        if watched { _ = try graph.subscribe(["/a.double"], from: 2) }
        graph.runtime.graph.runRecorder = nil
        let client = ClientID(number: 1)
        let commands = (0..<Int64(2 * AllocationTests.rounds)).map { number in
            [Command.call(client, id: .int(number), request(number + 1))]
        }
        // The first requests make what the later ones reuse.
        for command in commands[..<AllocationTests.rounds] { _ = graph.runtime.apply(command, at: graph.now) }
        let revision = graph.runtime.revision
        let before = agd_allocation_count()
        for command in commands[AllocationTests.rounds...] { _ = graph.runtime.apply(command, at: graph.now) }
        let count = agd_allocation_count() - before
        let isWrite = if case .set = request(1) { true } else { false }
        #expect(graph.runtime.revision - revision == (isWrite ? UInt64(AllocationTests.rounds) : 0))
        return Double(count) / Double(AllocationTests.rounds)
    }

    private func set(_ path: String, _ value: Value) -> Request {
        .set(Mutation(operation: .set, path: path, value: value), TransactionOptions())
    }

    @Test("to set a number") func number() throws {
        let count = try allocations { set("/a.n", .int($0)) }
        #expect(count > 0 && count <= 23.1, "\(count) allocations")
    }

    @Test("to set a map of four entries") func map() throws {
        let count = try allocations {
            set("/a.map", ["a": .int($0), "b": .double(Double($0)), "c": "text", "d": .bool(true)])
        }
        #expect(count > 0 && count <= 23.1, "\(count) allocations")
    }

    @Test("to get a value") func get() throws {
        let count = try allocations { _ in
            .get(.init(paths: ["/a.n"], isSingle: true, presentation: false, typed: false))
        }
        #expect(count > 0 && count <= 11.1, "\(count) allocations")
    }

    @Test("to set a number that a watched rule reads") func watched() throws {
        let count = try allocations(watched: true) { set("/a.n", .int($0)) }
        #expect(count > 0 && count <= 44.1, "\(count) allocations")
    }
}
