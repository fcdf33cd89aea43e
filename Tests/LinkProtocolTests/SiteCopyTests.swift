import AttributeValues
import Testing
import WireProtocol

@testable import LinkProtocol
@testable import agd_link

@Suite("Copies of sites")
struct SiteCopyTests {
    private let parser = JSONParser()

    private func body(_ count: Int, _ value: Int, isSnapshot: Bool) -> [UInt8] {
        let changes = (0..<count).map { "[\".s\($0)\",\(value)]" }.joined(separator: ",")
        let types = (0..<count).map { "[\".s\($0)\",{\"type\":\"int\"}]" }.joined(separator: ",")
        let structure = isSnapshot ? "\"children\":[[[],[]]],\"definitions\":[\(types)]," : ""
        return Array("{\(structure)\"changes\":[\(changes)]}".utf8)
    }

    /// The transactions that wait for the daemon.
    private func takeTransactions(_ copy: SiteCopy) -> [[Mutation]] {
        defer { copy.waiting = [] }
        return copy.waiting.compactMap { request in
            if case .transact(let mutations, _) = request { mutations } else { nil }
        }
    }

    @Test("more values than a daemon takes in a transaction are written in several, the revision with the last of them")
    func parts() throws {
        let mirroring = Configuration.Mirroring(group: ["hosts"], nodes: ["fleet"])
        let copy = SiteCopy(try SiteName("hosts/web-01"), mirroring, limit: 64 << 20)
        copy.apply(
            snapshot: try Transaction(json: body(41_000, 1, isSnapshot: true), parser),
            Position(term: 1, epoch: "e", revision: 5))
        copy.queueAll(found: nil)
        let change = try Transaction(json: body(35_000, 2, isSnapshot: false), parser)
        for count in [41_000, 35_000] {
            if count == 35_000 {
                copy.apply(change, Frame(position: Position(term: 1, epoch: "e", revision: 6), after: 5))
            }
            let all = takeTransactions(copy)
            #expect(all.count == 2 && all.allSatisfy { $0.count <= 40_000 })
            let paths = all.joined().map(\.path).filter { $0.hasPrefix("/fleet/web-01.s") && !$0.hasSuffix(".seen") }
            #expect(paths.count == count && Set(paths).count == count)
            let revisions = all.map { $0.contains { $0.path == "/fleet/web-01.revision" } }
            #expect(revisions == [false, true])
        }
    }
}
