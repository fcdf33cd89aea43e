@testable import Archive
import AttributeValues
import Foundation
import GraphRuntime
import SceneTesting
import TestSupport
import Testing
import ViewGraph
import WireProtocol

/// A runtime with an archive, and a clock that the test moves.
final class Scene {
    let daemon: VirtualDaemon
    let folder: String
    private(set) var archive: Archive

    init(_ scene: String, limits: Archive.Limits = Archive.Limits()) throws {
        folder = NSTemporaryDirectory() + "agd-archive-" + UUID().uuidString
        daemon = VirtualDaemon(at: Moment(monotonic: 1000, wall: .epoch))
        archive = try Scene.open(folder, daemon, scene, limits)
        try daemon.runtime.load("agd: 1\n" + scene, file: "test.yaml")
        archive.begin(at: daemon.now, revision: daemon.runtime.revision)
        flush()
        daemon.connect(1)
        _ = daemon.call(.hello(client: "tester"), from: 1)
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    static func open(
        _ folder: String, _ daemon: VirtualDaemon, _ scene: String, _ limits: Archive.Limits
    ) throws -> Archive {
        try Archive(
            folder: folder, limits: limits,
            basis: Archive.Basis(
                release: "1", epoch: "test", scenes: [("test.yaml", "agd: 1\n" + scene)],
                machine: ["locale": "de_DE"]),
            of: daemon.runtime.store, others: [])
    }

    func set(_ path: String, _ value: Value, _ label: String? = nil, after milliseconds: Int64 = 1000) {
        daemon.advanceClock(TimeSpan(nanoseconds: milliseconds * 1_000_000))
        var options = TransactionOptions()
        options.label = label
        _ = daemon.call(.set(Mutation(operation: .set, path: path, value: value), options), from: 1)
    }

    /// A request that may take several turns.
    func run(_ request: Request) {
        _ = daemon.call(request, from: 1)
        while !daemon.postponed.isEmpty { daemon.turn(daemon.postponed) }
    }

    /// Writes all that waits.
    func flush() {
        repeat { archive.flush(at: daemon.now, revision: daemon.runtime.revision) } while archive.wait != nil
    }

    /// What the newest segment says, each record as a line.
    func lines(of number: UInt64? = nil) throws -> [String] {
        let segments = Segment.all(in: folder)
        let reader = try #require(SegmentReader(number ?? segments.last?.number ?? 0, in: folder))
        var lines: [String] = []
        var isImage = false
        try reader.read { record in
            switch record {
            case .imageBegins: isImage = true
            case .imageEnds: isImage = false
            case .transaction(let transaction) where transaction.isRevision:
                let who = transaction.author?.name ?? "daemon"
                lines.append("\(transaction.revision) \(who) \(transaction.label ?? "-")")
            case .write(let state, let value, let isReaction):
                lines.append("  \(state.path) = \(value.jsonText)\(isReaction ? " by a reaction" : "")")
            case .row(let key, let name, let value, _):
                lines.append("  row \(key) \(name ?? "*") \(value == nil ? "gone" : "there")")
            case .burst(let state, let count, _, let least, let greatest, let last):
                lines.append(
                    "  \(state.path) \(count) times, \(least.jsonText) to \(greatest.jsonText), \(last.jsonText)")
            case .entries(let state, let keys): lines.append("  \(state.path) entries \(keys.count)")
            case .report(let state, let steps): lines.append("  \(state.path)\(steps) reported")
            case .imageRow(let key, let name, let value):
                if isImage, !key.hasPrefix("@") { lines.append("image \(key).\(name) \(value.jsonText)") }
            case .transaction, .end: break
            }
            return true
        }
        return lines
    }

    func reopen(_ scene: String) throws {
        archive = try Scene.open(folder, daemon, scene, Archive.Limits())
    }
}

@Suite("The archive")
struct ArchiveTests {
    @Test("a place behind a choice has the path that clients write")
    func choice() throws {
        let scene = try Scene(
            """
            nodes:
              - id: a
                kind: container
                children: [{ if: true, then: [{ id: b, state: { n: 0 } }] }]
            """)
        scene.set("/a/b.n", 1)
        scene.flush()
        #expect(try scene.lines().contains("  /a/b.n = 1"))
    }

    private static let scene = """
        nodes:
          - id: room
            kind: container
            state:
              warmth: 20.0
              door: closed
              seen: { initial: 0, transient: true }
              secret: { initial: 0, past: false }
              count: 0
            onChange: [{ of: door, perform: { add: { $count: 1 } } }]

        """

    @Test("each transaction is there with its author, its label and what it wrote, also of transient states")
    func transactions() throws {
        let scene = try Scene(ArchiveTests.scene)
        scene.set("/room.warmth", 21.5, "morning")
        scene.set("/room.seen", 3)
        scene.set("/room.door", "open")
        scene.set("/room.warmth", 22.0)
        scene.flush()
        let lines = try scene.lines()
        #expect(
            lines == [
                "2 tester morning", "  /room.warmth = 21.5", "3 tester -", "  /room.seen = 3", "4 tester -",
                "  /room.door = \"open\"", "  /room.count = 1 by a reaction", "5 tester -", "  /room.warmth = 22.0",
            ])
    }

    @Test("a state with past: false is left out, and its transaction stays")
    func leftOut() throws {
        let scene = try Scene(ArchiveTests.scene)
        scene.set("/room.secret", 5)
        scene.flush()
        let lines = try scene.lines()
        #expect(lines == ["2 tester -"])
    }

    @Test("a node with past: false leaves out all below it: components, instances, and what clients add")
    func leftOutNodes() throws {
        let scene = try Scene(
            """
            components: { Part: { state: { n: 0 } } }
            nodes:
              - id: box
                kind: container
                past: false
                state: { ids: [{ id: one }], n: { initial: 0, transient: true } }
                children:
                  - { id: part, component: Part }
                  - { id: list, forEach: { in: $ids, as: it, node: { component: Part } } }
              - { id: use, component: Part, past: false }
              - { id: free, component: Part }
            """)
        let document = "agd: 1\nnodes: [{ id: box, children: [{ id: new, state: { n: 0 } }] }]"
        scene.run(.apply(.init(document: .string(document), at: "/", mode: .merge, dryRun: false, options: .init())))
        for path in ["/box", "/box/part", "/box/list/one", "/box/new", "/use", "/free"] { scene.set(path + ".n", 7) }
        scene.flush()
        #expect(try scene.lines().filter { $0.contains(" = ") } == ["  /free.n = 7"])
        // The export says it again.
        guard case .value(let dumped)? = scene.daemon.call(.dump(path: "/", format: .scene), from: 1) else {
            throw Trouble("an export")
        }
        #expect(dumped.jsonText.components(separatedBy: "\"past\":false").count == 3)
    }

    @Test("a state that is written a thousand times a second is kept ten times a second")
    func stretches() throws {
        let scene = try Scene(ArchiveTests.scene)
        for number in 0..<1000 { scene.set("/room.warmth", .double(Double(number % 100)), after: 1) }
        scene.flush()
        let lines = try scene.lines()
        let stretches = lines.filter { $0.contains("times") }
        #expect((9...11).contains(stretches.count))
        #expect(stretches.last?.hasSuffix(", 99.0") == true)
        // The first ten are kept as they are.
        let writes = lines.filter { $0.contains("=") }
        #expect((18...21).contains(writes.count))
        #expect(writes.prefix(10).enumerated().allSatisfy { $1.hasSuffix(" = \($0).0") })
        let count = stretches.reduce(0) { $0 + (Int($1.split(separator: " ")[1]) ?? 0) }
        #expect(count + writes.count == 1000)
    }

    @Test("numbers come back bit for bit")
    func numbers() throws {
        let scene = try Scene(ArchiveTests.scene)
        let doubles = [0.1, -0.0, 23.4, 1e300, .infinity, -1.5, 0.001, 123_456.789, 1.0 / 3, 4e11, -7]
        for number in doubles { scene.set("/room.warmth", .double(number)) }
        scene.flush()
        var found: [UInt64] = []
        let reader = try #require(SegmentReader(1, in: scene.folder))
        try reader.read { record in
            if case .write(_, .double(let number), _) = record { found.append(number.bitPattern) }
            return true
        }
        #expect(found == doubles.map(\.bitPattern))
    }

    @Test("a segment begins with an image of what differs from the scene, and says its basis")
    func image() throws {
        let scene = try Scene(ArchiveTests.scene, limits: Archive.Limits(size: 4096))
        for number in 0..<40 {
            scene.set("/room.seen", .int(Int64(number)), "label \(number)")
            if number % 10 == 9 { scene.flush() }
        }
        let segments = Segment.all(in: scene.folder)
        #expect(segments.count >= 2)
        let lines = try scene.lines(of: segments[1].number)
        #expect(lines.first?.hasPrefix("image /room.seen ") == true)
        let reader = try #require(SegmentReader(segments[1].number, in: scene.folder))
        #expect(reader.basis.scenes.map(\.file) == ["test.yaml"])
        #expect(reader.basis.machine == ["locale": "de_DE"])
    }

    @Test("a few states with long values do not make a segment for each few writes") func longValues() throws {
        let scene = try Scene("nodes: [{ id: n, state: { a: [], b: [] } }]", limits: Archive.Limits())
        let text = Value.string(String(repeating: "x", count: 20_000))
        for number in 0..<200 {
            scene.set("/n.\(number % 2 == 0 ? "a" : "b")", .list([.int(Int64(number)), text]))
            scene.flush()
        }
        // 128 writes for two rows, although 14 are as long as the shortest segment.
        #expect(Segment.all(in: scene.folder).count == 2)
    }

    @Test("the store may take a value's bytes from the archive until they are written or the value is another")
    func sharedBytes() throws {
        let scene = try Scene("nodes: [{ id: n, state: { a: [], n: 0 } }]", limits: Archive.Limits())
        let recorder = try #require(scene.daemon.runtime.store.recorder)
        func bytes(_ name: String) -> [UInt8]? {
            let state = scene.daemon.runtime.graph.keptState(name, atKey: "/n")
            return state.flatMap { recorder.bytes(of: $0) }.map { Array($0) }
        }
        func compact(_ value: Value) -> [UInt8] {
            let buffer = ByteBuffer()
            buffer.appendCompact(value)
            return buffer.withBytes { Array($0) }
        }
        scene.set("/n.a", [1, 2])
        scene.set("/n.n", 7)
        #expect(bytes("a") == compact([1, 2]) && bytes("n") == nil)
        scene.set("/n.a", [3])
        #expect(bytes("a") == compact([3]))
        scene.flush()
        #expect(bytes("a") == nil)
        // Beyond ten writes in a row, the archive has none.
        for number in 0..<12 { scene.set("/n.a", [.int(Int64(number))], after: 1) }
        #expect(bytes("a") == nil)
    }

    @Test("the oldest segments go when the archive is too large, or when they are too old")
    func deletion() throws {
        let small = try Scene(ArchiveTests.scene, limits: Archive.Limits(size: 16_384))
        for number in 0..<2000 {
            small.set("/room.seen", .int(Int64(number)), "label \(number)")
            if number % 10 == 0 { small.flush() }
        }
        let segments = Segment.all(in: small.folder)
        #expect(segments[0].number > 1)
        #expect(segments.reduce(0) { $0 + $1.size } <= 16_384 + 4096)
        #expect(small.archive.size == segments.reduce(0) { $0 + $1.size })

        let short = try Scene(ArchiveTests.scene, limits: Archive.Limits(time: 160))
        for number in 0..<400 {
            short.set("/room.seen", .int(Int64(number)))
            short.flush()
        }
        let left = Segment.all(in: short.folder)
        #expect(left[0].number > 1)
        #expect(left.count >= 16 && left.count <= 19)
    }

    @Test("what a power cut has cut off is cut away, and the rest can be read")
    func tail() throws {
        let scene = try Scene(ArchiveTests.scene)
        scene.set("/room.warmth", 21.5)
        scene.flush()
        scene.set("/room.warmth", 22.5)
        scene.flush()
        let path = scene.folder + "/" + Segment.name(1)
        let whole = try #require(FileManager.default.contents(atPath: path))
        #expect(whole.count > 20)
        try whole.dropLast(3).write(to: URL(fileURLWithPath: path))
        // Readers stop before it.
        let lines = try scene.lines()
        #expect(lines == ["2 tester -", "  /room.warmth = 21.5"])
        let copy = scene.folder + "-copy"
        try FileManager.default.copyItem(atPath: scene.folder, toPath: copy)
        defer { try? FileManager.default.removeItem(atPath: copy) }
        let other = VirtualDaemon(at: Moment(monotonic: 1000, wall: .epoch))
        let next = try Archive(
            folder: copy, limits: Archive.Limits(),
            basis: Archive.Basis(release: "1", epoch: "test", scenes: [], machine: [:]), of: other.runtime.store,
            others: [])
        #expect(next.notes.count == 1)
        next.begin(at: other.now, revision: 2)
        #expect(Segment.all(in: copy).map(\.number) == [1, 2])
        let reader = try #require(SegmentReader(1, in: copy))
        var count = 0
        try reader.read { record in
            if case .write = record { count += 1 }
            return true
        }
        #expect(count == 1)
    }

    @Test("an archive that cannot be written stops, tells, and begins anew when it can be")
    func full() throws {
        let scene = try Scene(ArchiveTests.scene, limits: Archive.Limits(size: 4096))
        try FileManager.default.removeItem(atPath: scene.folder)
        for number in 0..<100 where scene.archive.failure == nil {
            scene.set("/room.seen", .int(Int64(number)), "label \(number)")
            scene.archive.flush(at: scene.daemon.now, revision: scene.daemon.runtime.revision)
        }
        #expect(scene.archive.failure != nil)
        #expect(Archive.figures(of: scene.archive).first { $0.name == "archive_stopped" }?.value == 1)
        scene.set("/room.seen", 1000)
        try FileManager.default.createDirectory(atPath: scene.folder, withIntermediateDirectories: true)
        scene.daemon.advanceClock(TimeSpan(nanoseconds: 11_000_000_000))
        scene.flush()
        #expect(scene.archive.failure == nil)
        scene.set("/room.seen", 1001)
        scene.flush()
        let lines = try scene.lines()
        #expect(lines.first == "image /room.seen 1000")
        #expect(lines.last == "  /room.seen = 1001")
    }

    @Test("reports of equal values and of entries are there if operators hear of them")
    func reports() throws {
        let scene = try Scene(
            """
            nodes:
              - id: a
                state: { n: { initial: 0, expires: 10s }, m: { type: "map(string, int)", entries: { expires: 60s } } }
            """)
        scene.set("/a.n", 1)
        scene.set("/a.n", 1)
        scene.set("/a.m.x", 1)
        scene.flush()
        let lines = try scene.lines()
        #expect(lines.contains("  /a.n reported"))
        #expect(lines.contains("  /a.m entries 1"))
    }

    @Test("a request that is performed once, and a last will, are no changes of the tree")
    func requests() throws {
        let scene = try Scene(ArchiveTests.scene)
        var options = TransactionOptions()
        options.once = "a1"
        _ = scene.daemon.call(
            .set(Mutation(operation: .set, path: "/room.warmth", value: 21.5), options), from: 1)
        scene.flush()
        #expect(try scene.lines() == ["2 tester -", "  /room.warmth = 21.5"])
    }

    @Test("structure is there as rows")
    func structure() throws {
        let scene = try Scene(ArchiveTests.scene)
        let document = "agd: 1\nnodes: [{ id: new, state: { n: 1 } }]"
        _ = scene.daemon.call(
            .apply(.init(document: .string(document), at: "/", mode: .merge, dryRun: false, options: .init())),
            from: 1)
        while !scene.daemon.postponed.isEmpty { scene.daemon.turn(scene.daemon.postponed) }
        scene.set("/new.n", 2)
        _ = scene.daemon.call(.remove(path: "/new", .init()), from: 1)
        while !scene.daemon.postponed.isEmpty { scene.daemon.turn(scene.daemon.postponed) }
        scene.flush()
        let lines = try scene.lines()
        #expect(lines.contains("  row /new  there"))
        #expect(lines.contains("  /new.n = 2"))
        #expect(lines.last == "  row /new * gone")
    }
}
