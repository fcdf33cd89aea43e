import AttributeValues
import TestSupport
import Testing
import WireProtocol

@testable import GraphRuntime
@testable import RuntimeHarness

@Suite("Finding the topics of a node")
struct PatternIndexTests {
    /// Two of them look the same and have other bytes.
    private static let ids: [Name] = ["a", "\u{FC}", "u\u{308}"]
    private static let names = ["x", "y", "z"]

    private func pattern(_ random: inout SeededGenerator) throws -> PathPattern {
        var stars = 0
        let segments = (0..<random.below(4)).map { _ -> String in
            switch random.below(5) {
            case 0: return "*"
            case 1 where stars < PathPattern.maximumAnyDepth:
                stars += 1
                return "**"
            default: return random.pick(PatternIndexTests.ids).text
            }
        }
        let ends = ["", ".*", ".x", ".y", ".z", ".x[1]", ".x.k"]
        return try PathPattern("/" + segments.joined(separator: "/") + random.pick(ends))
    }

    private func topic(_ number: Int64, _ random: inout SeededGenerator, _ ledger: WatchLedger) throws -> Topic {
        let patterns = try (0..<1 + random.below(6)).map { _ in try pattern(&random) }
        let events: EventKinds = random.chance(70) ? [.update, .structure] : .update
        let key = TopicKey(
            patterns: patterns.map { Name($0.description) }, events: events, typed: false, css: false, writers: false,
            reports: false)
        return Topic(key: key, number: number, patterns: patterns, ledger)
    }

    /// Which topics are told of a node, and of which attributes, from nothing but their patterns.
    private func expected(_ topics: [Topic], _ ids: [Name], _ names: [String]) -> [(Int64, [Int])] {
        topics.filter { $0.key.events.contains(.structure) }.compactMap { topic in
            let matching = topic.patterns.filter { $0.matches(nodes: ids) }
            if matching.isEmpty { return nil }
            let named = names.indices.filter { place in
                matching.contains { $0.attribute == nil || $0.attribute == names[place] }
            }
            return (topic.number, named)
        }
    }

    @Test("is what matching each pattern of each topic finds, also when topics have gone", arguments: freshSeeds(4))
    func random(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let ledger = WatchLedger()
        var index = PatternIndex()
        var topics: [Topic] = []
        for number in 0..<60 as Range<Int64> {
            if !topics.isEmpty, random.chance(35) {
                index.remove(topics.remove(at: random.below(topics.count)))
            } else {
                let made = try topic(number, &random, ledger)
                topics.append(made)
                index.insert(made)
            }
            for _ in 0..<8 {
                let ids = (0..<random.below(5)).map { _ in random.pick(PatternIndexTests.ids) }
                let names = PatternIndexTests.names.filter { _ in random.chance(60) }
                let found = index.listeners(at: ids, names)
                let told = expected(topics, ids, names)
                #expect(found.map(\.topic.number) == told.map(\.0) && found.map(\.attributes) == told.map(\.1))
                let name = random.pick(PatternIndexTests.names)
                let entries = index.find(name, at: ids).map { "\($0.topic.number).\($0.position)" }
                let matching = topics.flatMap { topic in
                    topic.patterns.indices.filter { place in
                        let pattern = topic.patterns[place]
                        return pattern.matches(nodes: ids) && (pattern.attribute == nil || pattern.attribute == name)
                    }.map { "\(topic.number).\($0)" }
                }
                #expect(entries == matching)
            }
        }
    }

    @Test("what subscribers are told of a change of structure is charged to it")
    func charged() throws {
        let graph = try Harness("nodes: [{ id: a, kind: container }]", clients: 3)
        func steps(_ document: String) throws -> Int {
            let before = graph.runtime.statistics.steps
            _ = try graph.apply(document)
            return graph.runtime.statistics.steps - before
        }
        func nodes(_ prefix: String) -> String {
            "nodes: [{ id: a, kind: container, children: ["
                + (0..<100).map { "{ id: \(prefix)\($0) }" }.joined(separator: ", ") + "] }]"
        }
        let alone = try steps(nodes("n"))
        for number in 0..<20 {
            try graph.subscribe(["/**.z\(number)", "/**.y\(number)"], events: [.update, .structure], from: 2)
        }
        #expect(try steps(nodes("m")) >= alone + 20 * 100)
    }

    @Test("a subscription that names places inside a new value by the thousand ends if they are more than are watched")
    func places() throws {
        var limits = RuntimeLimits()
        limits.watchedAttributes = 1000
        let graph = try Harness("nodes: [{ id: a, kind: container }]", limits: limits)
        try graph.subscribe((0..<500).map { "/**.z[\($0)]" }, from: 2)
        try graph.subscribe(["/a/**"], from: 1)
        let nodes = (0..<3).map { "{ id: n\($0), state: { z: [] } }" }.joined(separator: ", ")
        _ = try graph.apply("nodes: [{ id: a, kind: container, children: [\(nodes)] }]")
        #expect(graph.runtime.watching.topics.count == 1 && graph.runtime.watching.topics.ledger.count < 1000)
    }
}
