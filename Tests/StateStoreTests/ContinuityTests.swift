import GraphRuntime
import StateStore
import Testing
import WireProtocol
import ViewGraph

/// From which revision on a client may be told that it has missed nothing, as far as the store goes.
@Suite("Continuity of the store")
struct ContinuityTests {
    /// A store whose last life has reached revision 7 and could be resumed from 3, as its next life finds it.
    private func next(
        _ durability: StateStore.Durability, inOrder: Bool, machine: String = "m1", basis: String = "b1"
    ) throws -> StateStore.Restored {
        let folder = try Folder()
        let (store, _) = try folder.open(durability: durability, basis: "b1")
        try store.append([(3, .gone("/x"))], revision: 3, resumableFrom: 3)
        try store.append([(7, .put("/a", "x", 1))], revision: 7, resumableFrom: 3)
        if inOrder { try store.close(revision: 7) }
        return try folder.copy().open(durability: durability, basis: basis, machine: machine).restored
    }

    @Test(
        "a killed daemon loses nothing that a client has seen", arguments: StateStore.Durability.allCases,
        [false, true])
    func killed(durability: StateStore.Durability, inOrder: Bool) throws {
        #expect(try next(durability, inOrder: inOrder).resumableFrom == 3)
    }

    @Test("after the machine went down one resumes only if the disk had confirmed what clients have seen")
    func powerCut() throws {
        #expect(try next(.full, inOrder: false, machine: "m2").resumableFrom == 3)
        #expect(try next(.normal, inOrder: true, machine: "m2").resumableFrom == 3)
        for (durability, inOrder) in [(StateStore.Durability.normal, false), (.off, false), (.off, true)] {
            let restored = try next(durability, inOrder: inOrder, machine: "m2")
            #expect(restored.resumableFrom == restored.revision && restored.revision >= 7)
        }
        let unknown = try next(.normal, inOrder: false, machine: "")
        #expect(unknown.resumableFrom == unknown.revision)
    }

    @Test("over other scenes nobody resumes, now or after the next start") func basis() throws {
        let folder = try Folder()
        _ = try folder.open(basis: "b1").store.close(revision: 7)
        let (store, restored) = try folder.open(basis: "b2")
        #expect(restored.resumableFrom == 7)
        try store.close(revision: 9)
        #expect(try folder.copy().open(basis: "b2").restored.resumableFrom == 7)
    }

    @Test("a number that rises is kept, with entries and without") func rises() throws {
        let folder = try Folder()
        let (store, restored) = try folder.open(basis: "b1")
        #expect(restored.resumableFrom == 0)
        try store.append([], revision: 5, resumableFrom: 5)
        #expect(try folder.copy().open(basis: "b1").restored.resumableFrom == 5)
        try store.append([(6, .put("/a", "x", 1))], revision: 6)
        #expect(try folder.copy().open(basis: "b1").restored.resumableFrom == 5)
    }

    @Test(
        "a request that was performed before a start is not performed again after it, nor does it end anybody's stream")
    func repeated() throws {
        let life = try Life("nodes: [{ id: c, state: { n: 0, t: { initial: 0, transient: true } } }]")
        func add(_ path: String, _ once: String) -> Request {
            .transact([Mutation(operation: .add, path: path, value: 1)], TransactionOptions(once: once))
        }
        let first = try life.call(add("/c.n", "a"))
        _ = try life.call(add("/c.t", "b"))
        let next = try life.next()
        let again = try next.call(add("/c.n", "a"))
        #expect(again.map?["revision"] == first.map?["revision"] && again.map?["repeated"] == true)
        #expect(try next.call(add("/c.t", "b")).map?["repeated"] == true)
        #expect(try next.value("/c.n") == 1 && next.value("/c.t") == 0)
    }
}
