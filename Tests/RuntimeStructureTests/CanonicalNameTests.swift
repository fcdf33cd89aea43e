import AttributeValues
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

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
        let graph = try Harness(applied: CanonicalNameTests.scene)
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

    @Test("a rule that names attributes of both from the root reads both") func rootPaths() throws {
        let graph = try Harness(CanonicalNameTests.scene)
        let both = "[$/home/\(composed).x, $/home/\(decomposed).x]"
        _ = try graph.apply("nodes: [{ id: sum, computed: { both: '\(both)' } }]")
        #expect(try graph.value("/sum.both") == [1, 2])
        try graph.set("/home/\(decomposed).x", 7)
        #expect(try graph.value("/sum.both") == [1, 7])
    }

    @Test("a document needs the rights on each attribute that it reads and writes") func rights() throws {
        for (first, second) in [(composed, decomposed), (decomposed, composed)] {
            let graph = try Harness(CanonicalNameTests.scene, clients: 1)
            let rules = [
                AccessRule(.define, [.user(1000)], try PathPattern("/mine/**")),
                AccessRule(.read, [.user(1000)], try PathPattern("/home/\(first).x")),
                AccessRule(.write, [.user(1000)], try PathPattern("/home/\(first).x")),
            ]
            _ = try graph.apply("nodes: [{ id: mine, kind: container }]")
            graph.turn([.accessChanged(AccessRules(rules, owner: 7))])
            func document(_ ids: [String]) -> [String] {
                let paths = ids.map { "$/home/\($0).x" }
                return [
                    "nodes: [{ id: a, computed: { all: '[\(paths.joined(separator: ", "))]' } }]",
                    "nodes: [{ id: b, actions: { go: { set: { \(paths.map { "\($0): 1" }.joined(separator: ", ")) } } } }]",
                ]
            }
            for text in document([first]) { _ = try graph.apply(text, at: "/mine") }
            for text in document([first, second]) + document([second, first]) {
                #expect(refusal { try graph.apply(text, at: "/mine") }?.code == .denied)
            }
        }
    }

    @Test("nodes that appear below both in one transaction are each told to the watchers of their own place")
    func structure() throws {
        let graph = try Harness(CanonicalNameTests.scene)
        try graph.subscribe(["/home/\(decomposed)/*.n"], events: [.update, .structure])
        let children = [composed, decomposed].map { "{ id: \($0), children: [{ id: a, state: { n: 1 } }] }" }
        _ = try graph.apply("nodes: [\(children.joined(separator: ", "))]", at: "/home")
        let added = graph.structures.flatMap(\.added).map { Name($0) }
        #expect(added == ["/home/\(decomposed)/a", "/home/\(decomposed)/a.n"].names)
    }

    @Test("a delegate of one performs no writes to the other") func delegations() throws {
        let graph = try Harness(CanonicalNameTests.scene)
        try graph.succeed(.delegate(path: "/home/\(composed)"))
        try graph.set("/home/\(decomposed).x", 3, from: 2)
        #expect(try graph.value("/home/\(decomposed).x") == 3)
        try graph.succeed(.delegate(path: "/home/\(decomposed)"), from: 2)
    }
}

@Suite("Names")
struct NameTests {
    @Test("are equal if their bytes are") func equality() {
        #expect(Name(composed) != Name(decomposed) && Set([Name(composed), Name(decomposed)]).count == 2)
        #expect(Name("a") == "a" && Name(composed).hashValue == Name(composed).hashValue)
        #expect(AttributePath(nodes: [Name(composed)]) != AttributePath(nodes: [Name(decomposed)]))
        #expect(AttributePath.Step.key(composed) != .key(decomposed))
        #expect(Failure(.ruleFailed, composed) != Failure(.ruleFailed, decomposed))
        #expect(PathPattern.Segment.id(Name(composed)) != .id(Name(decomposed)))
        var places: [Name: Int] = [:]
        places[composed] = 1
        places[decomposed, default: 1] += 1
        #expect(places[composed] == 1 && places[decomposed] == 2)
    }
}
