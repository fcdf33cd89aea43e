import AttributeValues
import Testing

@testable import ViewGraph

/// Over a wiring alone.
@Suite("values for the store")
struct StoredValuesTests {
    private let scene: WiredScene
    private let persistence: Persistence
    private let stored: StoredValues

    init() throws {
        scene = try WiredScene("nodes: [{ id: a, state: { count: 1, shown: { initial: 0, transient: true } } }]")
        persistence = Persistence(of: scene.wiring.nodes)
        stored = StoredValues(persistence)
        stored.attach(to: scene.wiring)
    }

    @Test("a durable state has a row under the key of its node, a transient one has none") func keeping() throws {
        stored.keep([try scene.vertex("/a.count"), try scene.vertex("/a.shown")])
        #expect(persistence.takeChanges() == [StoreChange(key: "/a", name: "count", value: 1)])
        #expect(try !scene.wiring.noteWritten(scene.vertex("/a.shown")))
        stored.forget([try scene.vertex("/a.count")])
        #expect(persistence.takeChanges() == [StoreChange(key: "/a", name: "count", value: nil)])
    }

    @Test("a state takes a value of its type from the store, and keeps its own otherwise") func giving() throws {
        let row = try scene.wiring.node(at: ["a"]).row
        persistence.author = .store
        func give(_ name: String, _ value: Value) -> Bool {
            stored.give(StoredRow(key: "/a", name: name, revision: 7, value: value), to: row)
        }
        #expect(!give("count", "text") && !give("gone", 1) && give("count", 5))
        #expect(try scene.value("/a.count") == 5)
        #expect(try stored.takeRestored() == [scene.vertex("/a.count"): 7])
        persistence.author = .clients
        #expect(give("count", 6) && stored.takeRestored() == [:], "revisions are those of an earlier life")
    }

    @Test("the first value of a rule is stored after the restoring, if the store had none") func beginning() throws {
        let count = try scene.vertex("/a.count")
        persistence.author = .store
        stored.keepFirst(of: count)
        #expect(persistence.takeChanges() == [])
        persistence.author = .clients
        stored.keepBegun()
        #expect(persistence.takeChanges().map(\.name) == ["count"])
    }
}
