import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime

/// `Küche` with one letter `ü`, and with a `u` and a combining mark. `String` takes them for equal.
private let composed = "K\u{FC}che"
private let decomposed = "Ku\u{308}che"

@Suite("Texts that look the same and have other bytes")
struct CanonicalNameTests {
    private static var scene: String {
        """
        nodes:
          - id: home
            kind: container
            state: { list: [{ id: \(composed), n: 1 }, { id: \(decomposed), n: 2 }], map: { } }
            computed: { ids: "subviews.map(s, s.id)" }
            children:
              - { id: \(composed), state: { x: 1 } }
              - { id: \(decomposed), state: { x: 2 } }
              - { id: rows, forEach: { in: $list, node: { binding: { n: $element.n } } } }
        """
    }

    @Test("a rule that is another one by its bytes alone replaces the old one") func rules() throws {
        func scene(_ text: String) -> String {
            "nodes: [{ id: r, computed: { n: 'size(\"\(text)\")' } }]\n"
        }
        let graph = try Harness(scene(composed))
        #expect(try graph.value("/r.n") == 5)
        _ = try graph.apply(scene(decomposed))
        #expect(try graph.value("/r.n") == 6)
    }

    @Test("one request reads both") func reading() throws {
        let graph = try Harness(CanonicalNameTests.scene)
        let paths = ["/home/\(composed).x", "/home/\(decomposed).x"]
        guard case .contents(let found, _, _) = try graph.succeed(.get(.init(paths: paths))) else {
            Issue.record("no contents")
            return
        }
        #expect(found.map(\.content) == [.value(1), .value(2)])
        guard case .contents(let all, _, _) = try graph.succeed(.get(.init(paths: ["/home/*.x", "/home/*.x"]))) else {
            Issue.record("no contents")
            return
        }
        #expect(all.map(\.content) == [.value(1), .value(2)])
    }

    @Test("a list has an instance for each, and each is bound to its own element") func lists() throws {
        let graph = try Harness(CanonicalNameTests.scene)
        #expect(try graph.value("/home/rows/\(composed).n") == 1 && graph.value("/home/rows/\(decomposed).n") == 2)
        try graph.set("/home/rows/\(decomposed).n", 5)
        #expect(try graph.value("/home.list[0].n") == 1 && graph.value("/home.list[1].n") == 5)
        try graph.set("/home.list", [["id": .string(decomposed), "n": 7]])
        #expect(try graph.children(of: "/home/rows").map { Name($0) } == [Name(decomposed)])
        #expect(try graph.value("/home/rows/\(decomposed).n") == 7)
    }

    @Test("subscriptions to both are two, and a client that was away hears of the right one") func watching() throws {
        let graph = try Harness(CanonicalNameTests.scene)
        let one = try graph.subscribe(["/home/\(composed).x"], initial: true, from: 1)
        let other = try graph.subscribe(["/home/\(decomposed).x"], initial: true, from: 2)
        #expect(one != other)
        try graph.set("/home/\(decomposed).x", 9)
        #expect(graph.told.map { Name($0.path) } == [Name("/home/\(decomposed).x")])
        let before = graph.runtime.revision
        try graph.succeed(.remove(path: "/home/\(composed)", TransactionOptions()))
        try graph.subscribe(["/home/*.x"], since: .init(epoch: "test", revision: before), from: 3)
        #expect(graph.told.map { Name($0.path) } == [Name("/home/\(composed).x")])
        #expect(graph.told.first?.content.failure?.code == .removed)
        #expect(try graph.value("/home/\(decomposed).x") == 9)
    }

    @Test("replacing removes only the one that the document does not have") func replacing() throws {
        let graph = try Harness(CanonicalNameTests.scene)
        _ = try graph.apply(
            "nodes: [{ id: \(decomposed), state: { x: 2 } }, { id: n, state: { y: 1 } }]", at: "/home", mode: .replace)
        #expect(try graph.children(of: "/home").map { Name($0) } == [Name(decomposed), "n"])
    }

    @Test("keys of maps and cases of a switch are told apart") func keys() throws {
        let graph = try Harness(
            """
            nodes:
              - id: a
                state: { map: { \(composed): 1, \(decomposed): 2 }, mode: \(decomposed) }
                children:
                  - switch: mode
                    cases: { \(composed): [{ id: one }], \(decomposed): [{ id: two }] }
            """)
        #expect(try graph.value("/a.map[\"\(composed)\"]") == 1 && graph.value("/a.map[\"\(decomposed)\"]") == 2)
        #expect(try graph.children(of: "/a") == ["two"])
        try graph.subscribe(["/a.map[\"\(decomposed)\"]"], initial: true)
        try graph.set("/a.map[\"\(composed)\"]", 5)
        #expect(graph.told.isEmpty)
        #expect(try graph.value("/a.map[\"\(decomposed)\"]") == 2)
    }
}

@Suite("Names")
struct NameTests {
    @Test("are equal if their bytes are") func equality() {
        #expect(Name(composed) != Name(decomposed) && Set([Name(composed), Name(decomposed)]).count == 2)
        #expect(Name("a") == "a" && Name(composed).hashValue == Name(composed).hashValue)
        #expect(AttributePath(nodes: [composed]) != AttributePath(nodes: [decomposed]))
        #expect(AttributePath.Step.key(composed) != .key(decomposed))
        #expect(PathPattern.Segment.id(composed) != .id(decomposed))
        var places: [Name: Int] = [:]
        places[composed] = 1
        places[decomposed, default: 1] += 1
        #expect(places[composed] == 1 && places[decomposed] == 2)
    }
}
