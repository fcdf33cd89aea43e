import AttributeValues
import Glibc
@testable import LinkProtocol
@testable import agd_link
import TestSupport
import Testing

@Suite("Names of sites")
struct SiteNameTests {
    @Test("a name becomes subjects, and bytes that NATS gives a meaning are written in hexadecimal")
    func subjects() throws {
        let site = try SiteName("hosts/web-01.example.com")
        #expect(site.transactions == "agd.tx.hosts.web-01=2Eexample=2Ecom")
        #expect(site.manifest == "agd.head.hosts.web-01=2Eexample=2Ecom")
        #expect(site.snapshot("*") == "agd.snap.hosts.web-01=2Eexample=2Ecom.*.*")
    }

    @Test("every name returns from its tokens", arguments: ["a", "a/b/c", "*/>", "k\u{00fc}che/a b", "=2E", "\n"])
    func roundTrip(_ text: String) throws {
        let site = try SiteName(text)
        #expect(site.tokens.utf8.allSatisfy { $0 > 32 && $0 < 127 && $0 != UInt8(ascii: "*") })
        #expect(SiteName(tokens: site.tokens) == site)
    }

    @Test(
        "tokens in another form than the written one are no name",
        arguments: ["", "a..b", "a=2", "a=2e", "a=zz", "=FF", "a=2Fb", "*"])
    func otherTokens(_ text: String) { #expect(SiteName(tokens: text) == nil) }

    @Test("a name without a segment is refused", arguments: ["", "/", "a//b", "/a", "a/"])
    func emptySegments(_ text: String) {
        #expect(throws: Failure.self) { try SiteName(text) }
    }
}

@Suite("Frames and parts")
struct FrameTests {
    let position = Position(term: 3, epoch: "2legt4qr4shfp", revision: 12)

    @Test("a frame returns from its line")
    func roundTrip() throws {
        let frame = Frame(position: position, after: 9, part: 1, parts: 2)
        let read = try Frame.read(Array(frame.line.utf8) + [1, 2, 3])
        #expect(read.frame == frame && read.length == frame.line.utf8.count)
    }

    @Test(
        "a message without a proper frame is refused",
        arguments: [
            "", "agd1 1 e 1 2 0 1", "agd2 1 e 1 2 0 1\n", "agd1 1 e 1 2 0\n", "agd1 -1 e 1 2 0 1\n",
            "agd1 1  1 2 0 1\n",
            "agd1 1 e 1 2 1 1\n", "agd1 1 e 1 2 -1 1\n", "agd1 1 e 3 2 0 1\n", "agd1 1 e 1 2 0 99999999999999999999\n",
        ])
    func malformed(_ text: String) {
        #expect(throws: Failure.self) { try Frame.read(Array(text.utf8)) }
    }

    @Test(
        "a long body travels in parts that the limit allows, and arrives whole", arguments: [0, 1, 255, 256, 257, 5000])
    func parts(_ length: Int) throws {
        let body = (0..<length).map { UInt8(truncatingIfNeeded: $0) }
        let messages = Frame.messages(body, position: position, after: 9, limit: 512)
        #expect(messages.count == max(1, (length + 255) / 256))
        var assembler = Assembler(limit: length)
        for (number, message) in messages.enumerated() {
            #expect(message.bytes.count <= 512)
            let (frame, size) = try Frame.read(message.bytes)
            let whole = try assembler.add(frame, message.bytes.dropFirst(size))
            #expect((whole != nil) == (number == messages.count - 1))
            if let whole { #expect(whole.body == body && whole.frame.position == position && whole.frame.after == 9) }
        }
    }

    @Test("a part that is missing or repeated discards its message, and the next message is read")
    func brokenParts() throws {
        let parts = (0..<3).map { Frame(position: position, after: 9, part: $0, parts: 3) }
        for order in [[0, 2], [1], [0, 0, 1, 1], [0, 1, 0, 2]] {
            var assembler = Assembler(limit: 100)
            for part in order { #expect(try assembler.add(parts[part], [1]) == nil) }
            for part in 0..<2 { #expect(try assembler.add(parts[part], [UInt8(part)]) == nil) }
            #expect(try assembler.add(parts[2], [2])?.body == [0, 1, 2])
        }
    }

    @Test("a message beyond the limit is refused and retains nothing")
    func tooLong() throws {
        let parts = (0..<3).map { Frame(position: position, after: 9, part: $0, parts: 3) }
        var assembler = Assembler(limit: 5)
        _ = try assembler.add(parts[0], [1, 2, 3])
        #expect(throws: Failure.self) { try assembler.add(parts[1], [4, 5, 6]) }
        #expect(try assembler.add(parts[2], [7]) == nil)
    }
}

@Suite("Following an owner")
struct FollowerTests {
    private func follower(_ term: UInt64, _ epoch: String, _ revision: UInt64) -> Follower {
        var follower = Follower()
        follower.reached(Position(term: term, epoch: epoch, revision: revision))
        return follower
    }

    private func frame(_ term: UInt64, _ epoch: String, _ after: UInt64, _ revision: UInt64) -> Frame {
        Frame(position: Position(term: term, epoch: epoch, revision: revision), after: after)
    }

    @Test("a newcomer needs a snapshot first")
    func newcomer() {
        #expect(Follower().step(frame(1, "e", 0, 1)) == .heal)
        #expect(Follower().accepts(snapshot: Position(term: 1, epoch: "e", revision: 0)))
    }

    @Test("the next message and a conflated one are applied, a repeat is dropped, a gap needs a snapshot")
    func order() {
        let mirror = follower(2, "e", 10)
        #expect(mirror.step(frame(2, "e", 10, 14)) == .apply)
        #expect(mirror.step(frame(2, "e", 7, 14)) == .apply)
        #expect(mirror.step(frame(2, "e", 7, 10)) == .drop)
        #expect(mirror.step(frame(2, "e", 11, 14)) == .heal)
    }

    @Test("an owner that has lost its lease is ignored, and a new owner continues if its graph is the same")
    func terms() {
        let mirror = follower(2, "e", 10)
        #expect(mirror.step(frame(1, "e", 10, 11)) == .drop)
        #expect(mirror.step(frame(1, "f", 10, 11)) == .drop)
        #expect(mirror.step(frame(3, "e", 10, 11)) == .apply)
        #expect(mirror.step(frame(3, "e", 10, 10)) == .apply)
        #expect(mirror.step(frame(3, "f", 10, 11)) == .heal)
        #expect(!mirror.accepts(snapshot: Position(term: 1, epoch: "f", revision: 99)))
        #expect(!mirror.accepts(snapshot: Position(term: 2, epoch: "e", revision: 9)))
        #expect(mirror.accepts(snapshot: Position(term: 3, epoch: "f", revision: 1)))
    }
}

@Suite("Bodies")
struct TransactionTests {
    private typealias Place = Transaction.Place

    private func body(_ children: [[Name]: [Name]], _ values: [(String, Value)]) -> Transaction {
        var body = Transaction()
        body.children = children
        for (path, value) in values {
            let ids = path.split(separator: "/").map { Name(String($0)) }
            body.contents[Place(node: Array(ids.dropLast()), attribute: ids.last?.text ?? "")] = .value(value)
        }
        return body
    }

    @Test("a body returns from its text with all types and errors")
    func roundTrip() throws {
        var sent = body(
            [[]: ["a", "b/c"], ["a"]: []],
            [
                ("x", 5), ("a/uint", .uint(5)), ("a/double", 5.0), ("b/bytes", .bytes([0, 255])),
                ("b/map", ["k": [1, 2.0, .null]]), ("c/text", "line\n\u{1F600}"),
            ])
        sent.contents[Place(node: ["a"], attribute: "bad")] = .failure(Failure(.ruleFailed, "division by zero"))
        sent.added = [["a"], ["b/c"]]
        (sent.label, sent.writer) = ("tap", "feeder")
        sent.motions = [
            ["curve": "linear"]: [Place(path: "/a.x"), Place(path: ".y")], ["curve": "x"]: [Place(path: ".z")],
        ]
        #expect(try Transaction(json: sent.json) == sent)
    }

    @Test(
        "text that is no body is refused",
        arguments: [
            "", "[]", #"{"changes":[1]}"#, #"{"changes":[[[],"x",{}]]}"#, #"{"children":[[["a"]]]}"#,
            #"{"changes":[[[1],"x",{"value":{"int":"1"}}]]}"#, #"{"children":[[[],["a","b","a"]]]}"#,
            #"{"children":[[[],[""]]]}"#, #"{"children":[[["a"],["*"]]]}"#, #"{"children":[[[],["a\nb"]]]}"#,
        ])
    func malformed(_ text: String) {
        #expect(throws: Failure.self) { try Transaction(json: Array(text.utf8)) }
    }

    @Test("a node that was replaced takes nothing over from the old one")
    func replacing() {
        var merged = body([["a"]: ["deep"]], [("a/old", 1), ("b/n", 1)])
        var later = body([["a"]: []], [("a/new", 2)])
        later.added = [["a"]]
        merged.merge(later)
        var expected = body([["a"]: []], [("a/new", 2), ("b/n", 1)])
        (expected.added, expected.isConflated) = ([["a"]], true)
        #expect(merged == expected)
    }

    @Test("nodes whose ids look the same and have other bytes are two")
    func canonicalNames() throws {
        let (composed, decomposed): (Name, Name) = ("K\u{FC}che", "Ku\u{308}che")
        var old = SiteTree()
        old.apply(body([[]: [composed]], [("K\u{FC}che/n", 1)]))
        var new = SiteTree()
        new.apply(body([[]: [composed, decomposed], [composed]: ["a"], [decomposed]: ["b"]], []))
        let changes = new.changes(since: old)
        #expect(changes.children == [[]: [composed, decomposed], [composed]: ["a"], [decomposed]: ["b"]])
        #expect(changes.added == [[composed, "a"], [decomposed]] || changes.added == [[decomposed]])
        let sent = try Transaction(json: changes.json)
        #expect(sent == changes)
    }

    @Test("merged transactions have the newest values, and nothing of nodes that went")
    func merging() {
        var merged = body(
            [["list"]: ["a", "b"], ["list", "a"]: ["deep"]], [("x", 1), ("list/a/n", 1), ("list/b/n", 1)])
        merged.contents[Place(node: ["list", "a", "deep"], attribute: "m")] = .value(1)
        merged.merge(body([["list"]: ["b", "c"]], [("x", 2), ("list/c/n", 3)]))
        var expected = body([["list"]: ["b", "c"]], [("x", 2), ("list/b/n", 1), ("list/c/n", 3)])
        expected.isConflated = true
        #expect(merged == expected)
    }

    /// The tree that a mirror has after bodies.
    private struct Tree: Equatable {
        var children: [[Name]: [Name]] = [[]: []]
        var contents: [Place: Content] = [:]

        mutating func apply(_ body: Transaction) {
            for node in body.added { remove(node) }
            for (parent, ids) in body.children {
                for gone in Set(children[parent] ?? []).subtracting(ids) { remove(parent + [gone]) }
            }
            children.merge(body.children) { $1 }
            contents.merge(body.contents) { $1 }
        }

        private mutating func remove(_ node: [Name]) {
            children = children.filter { !$0.key.starts(with: node) }
            contents = contents.filter { !$0.key.node.starts(with: node) }
        }
    }

    @Test("a mirror reaches the same tree by each transaction and by merged ones", arguments: freshSeeds(200))
    func conflation(_ seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var owner = Tree()
        var mirror = Tree()
        var pending: Transaction?
        // The mirror may have got transactions that the owner sends again in a merged one, because it saw no reply.
        var isAhead = true
        for value in 0..<60 {
            var change = Transaction()
            if generator.chance(40) {
                let parents = owner.children.keys.filter { $0.count < 4 }
                let parent = generator.pick(parents.sorted { $0.lexicographicallyPrecedes($1) })
                let ids = (["a", "b", "\u{FC}", "u\u{308}"] as [Name]).filter { _ in generator.chance(60) }.shuffled(
                    using: &generator)
                change.children[parent] = ids
                // A node that stays may also be replaced, in the same transaction.
                let old = owner.children[parent] ?? []
                for id in ids where !old.contains(id) || generator.chance(10) {
                    change.added.insert(parent + [id])
                    change.children[parent + [id]] = []
                    let attribute = generator.pick(["n", "m"])
                    change.contents[Place(node: parent + [id], attribute: attribute)] = .value(.int(Int64(value)))
                }
            } else {
                let places = owner.contents.keys.sorted {
                    $0.path < $1.path
                }
                let place = places.isEmpty ? Place(node: [], attribute: "n") : generator.pick(places)
                change.contents[place] = .value(.int(Int64(value)))
            }
            owner.apply(change)
            if pending == nil { pending = change } else { pending?.merge(change) }
            isAhead = isAhead && generator.chance(60)
            if isAhead { mirror.apply(change) }
            if generator.chance(20), let body = pending.take() {
                mirror.apply(body)
                isAhead = true
            }
        }
        if let body = pending { mirror.apply(body) }
        #expect(mirror == owner)
    }
}

@Suite("Supervision")
struct SupervisionTests {
    @Test("the connection of a thread that hangs is closed, once, and that of one that runs is not")
    func hangUp() throws {
        var ends: [Int32] = [-1, -1]
        try #require(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        func isClosed() -> Bool {
            var byte: UInt8 = 0
            return recv(ends[1], &byte, 1, Int32(MSG_DONTWAIT)) == 0
        }
        let pulse = Pulse()
        #expect(!pulse.hangUp(after: -1), "it has no connection")
        pulse.connection = ends[0]
        #expect(!pulse.hangUp(after: 60) && !isClosed())
        #expect(pulse.hangUp(after: -1) && isClosed())
        #expect(!pulse.hangUp(after: -1))
    }

    @Test("a refused state is not tried again, and the next one after a pause")
    func refusal() {
        var refusal = Refusal()
        let (first, second) = (Position(term: 1, epoch: "e", revision: 1), Position(term: 1, epoch: "e", revision: 2))
        #expect(refusal.mayTry(first) && !refusal.isDue(first))
        refusal.note(first)
        #expect(!refusal.mayTry(first) && !refusal.mayTry(second) && !refusal.isDue(second))
    }
}

@Suite("Manifests")
struct ManifestTests {
    let manifest = Manifest(
        position: Position(term: 3, epoch: "e", revision: 1 << 60), snapshot: "3-1", parts: 2, bytes: 300, next: 7)

    @Test("a manifest returns from its text")
    func roundTrip() throws { #expect(try Manifest(json: manifest.json) == manifest) }

    @Test(
        "a manifest with a wrong member is refused by the member's name",
        arguments: [
            ("\"parts\":2", "\"parts\":0", "parts"), ("\"3-1\"", "\"3.>\"", "snapshot"), ("\"e\"", "5", "epoch"),
            ("\"next\":7", "\"next\":-7", "next"), ("\"agd\":1", "\"agd\":2", "later version"),
        ])
    func malformed(_ good: String, _ bad: String, _ name: String) throws {
        let text = String(decoding: manifest.json, as: UTF8.self)
        let pieces = text.split(separator: good, omittingEmptySubsequences: false)
        try #require(pieces.count == 2)
        let wrong = pieces.joined(separator: bad)
        let failure = #expect(throws: Failure.self) { try Manifest(json: Array(wrong.utf8)) }
        #expect(failure?.message.contains(name) == true)
    }
}
