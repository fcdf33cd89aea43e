import AttributeValues
import CAllocationCounter
@testable import GraphRuntime
@testable import RuntimeHarness
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

    /// Requests that share the path, as the decoder makes them.
    private func set(_ path: String, _ value: @escaping (Int64) -> Value) -> (Int64) -> Request {
        let first = Mutation(operation: .set, path: path, value: .null)
        return { number in
            var mutation = first
            mutation.operand = value(number)
            return .set(mutation, TransactionOptions())
        }
    }

    /// The average over many lines of one turn, from the bytes on.
    private func allocations(of line: (Int) -> String) throws -> Double {
        let graph = try Harness("nodes: [{ id: a, state: { n: 0.0, map: {} } }]")
        graph.runtime.graph.runRecorder = nil
        let decoder = RequestDecoder()
        let client = ClientID(number: 1)
        let output = CountingOutput()
        graph.runtime.output = output
        let lines = (0..<2 * AllocationTests.rounds).map { number in
            Array(line(number).utf8) + [UInt8](repeating: 0, count: JSONParser.padding)
        }
        func perform(_ line: [UInt8]) {
            line.withUnsafeBufferPointer { line in
                let text = UnsafeBufferPointer(rebasing: line[..<(line.count - JSONParser.padding)])
                decoder.decode(text, isPadded: true) { incoming in
                    if case .call(let id, let request) = incoming { graph.runtime.take(request, of: client, id) }
                }
            }
        }
        graph.runtime.beginTurn(at: graph.now)
        for line in lines[..<AllocationTests.rounds] { perform(line) }
        let before = agd_allocation_count()
        for line in lines[AllocationTests.rounds...] { perform(line) }
        let count = agd_allocation_count() - before
        graph.runtime.endTurn()
        #expect(output.answers == 2 * AllocationTests.rounds)
        return Double(count) / Double(AllocationTests.rounds)
    }

    @Test("setting a number, from the line to the answer") func numberLine() throws {
        let count = try allocations(of: { number in
            #"{"jsonrpc":"2.0","id":\#(number),"method":"set","params":{"path":"/a.n","value":\#(number).5}}"#
        })
        #expect(count > 0 && count <= 7.1, "\(count) allocations")
    }

    @Test("setting a map of four entries, from the line to the answer") func mapLine() throws {
        let count = try allocations(of: { number in
            #"{"jsonrpc":"2.0","id":\#(number),"method":"set","params":{"path":"/a.map","value":"#
                + #"{"id":"0123","v":12.3,"unit":"percent","t":\#(number).5}}}"#
        })
        #expect(count > 0 && count <= 8.1, "\(count) allocations")
    }

    @Test("setting a number") func number() throws {
        let count = try allocations(set("/a.n") { .int($0) })
        #expect(count > 0 && count <= 11.1, "\(count) allocations")
    }

    @Test("setting a map of four entries") func map() throws {
        let count = try allocations(
            set("/a.map") { ["a": .int($0), "b": .double(Double($0)), "c": "text", "d": .bool(true)] })
        #expect(count > 0 && count <= 11.1, "\(count) allocations")
    }

    @Test("getting a value") func get() throws {
        let request = Request.get(.init(paths: ["/a.n"], isSingle: true))
        let count = try allocations { _ in request }
        #expect(count > 0 && count <= 5.1, "\(count) allocations")
    }

    @Test("setting a number that a watched rule reads") func watched() throws {
        let count = try allocations(watched: true, set("/a.n") { .int($0) })
        #expect(count > 0 && count <= 34.1, "\(count) allocations")
    }
}
