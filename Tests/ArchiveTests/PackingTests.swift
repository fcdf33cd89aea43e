@testable import Archive
import AttributeValues
import Foundation
import GraphRuntime
import StateStore
import TestSupport
import Testing
import ViewGraph
import WireProtocol

@Suite("Packed segments")
struct PackingTests {
    private static let scene = """
        nodes:
          - id: room
            kind: container
            state:
              warmth: 20.0
              door: closed
              any: { initial: null, type: dyn }
              count: 0
              fast: { initial: 0, expires: 10s }
            onChange: [{ of: door, perform: { add: { $count: 1 } } }]

        """

    /// Writes everything that a segment can have.
    private func fill(_ scene: Scene, _ generator: inout SeededGenerator) {
        for number in 0..<300 {
            let values: [Value] = [
                .null, true, false, .int(Int64.random(in: .min ... .max, using: &generator)), .uint(.max), "text",
                [1, ["k": 0.5]], .double(.random(in: -1...1, using: &generator)), .double(-.infinity),
                .double(Double(number) / 10), .int(Int64(number)), .string(""),
            ]
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: scene.set("/room.door", .string("\(number)"), number % 2 == 0 ? "label \(number)" : nil)
            case 1: for fast in 0..<40 { scene.set("/room.fast", .int(Int64(fast)), after: 2) }
            case 2: scene.set("/room.fast", 1, after: Int64.random(in: 0..<3, using: &generator))
            case 3 where number % 10 == 0:
                scene.run(
                    .apply(
                        .init(
                            document: "agd: 1\nnodes: [{ id: n, state: { n: 1 } }]", at: "/", mode: .merge,
                            dryRun: false, options: .init())))
            case 4 where number % 10 == 0: scene.run(.remove(path: "/n", .init()))
            case 5: scene.set("/room.warmth", .double(.random(in: 0...100, using: &generator)))
            default: scene.set("/room.any", values.randomElement(using: &generator) ?? .null)
            }
            if number % 4 == 0 { scene.flush() }
        }
        scene.flush()
    }

    @Test("a packed segment is shorter, and the same bytes come back", arguments: freshSeeds(3))
    func packing(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let scene = try Scene(PackingTests.scene, limits: Archive.Limits(size: 1 << 16))
        fill(scene, &generator)
        let closed = Segment.all(in: scene.folder).dropLast()
        #expect(closed.count > 1)
        for segment in closed {
            let before = Segment.read(segment.number, in: scene.folder)
            #expect(try PackedSegment.pack(segment.number, in: scene.folder), "seed \(seed)")
            #expect(Segment.read(segment.number, in: scene.folder) == before, "seed \(seed)")
            #expect(try !PackedSegment.pack(segment.number, in: scene.folder))
        }
        let packed = Segment.all(in: scene.folder).dropLast()
        #expect(zip(packed, closed).allSatisfy { $0.size < $1.size && $0.end == $1.end })
        #expect(SegmentBasis(of: closed[0].number, in: scene.folder)?.epoch == "test")
        // The daemon looks at the sizes again when a segment begins.
        let size = scene.archive.size
        fill(scene, &generator)
        #expect(scene.archive.size == Segment.all(in: scene.folder).reduce(0) { $0 + $1.size }, "\(size)")
    }

    @Test("a reader goes on where it was when its segment is packed")
    func reading() throws {
        let scene = try Scene(PackingTests.scene)
        scene.set("/room.warmth", 21.5)
        scene.flush()
        let reader = try #require(SegmentReader(1, in: scene.folder))
        var found: [Value] = []
        func read() throws {
            try reader.read { record in
                if case .write(_, let value, _) = record { found.append(value) }
                return true
            }
        }
        try read()
        scene.set("/room.warmth", 22.5)
        scene.archive.close(at: scene.daemon.now, revision: scene.daemon.runtime.revision)
        #expect(try PackedSegment.pack(1, in: scene.folder))
        #expect(reader.refresh())
        try read()
        #expect(found == [21.5, 22.5])
        #expect(reader.hasEnded)
    }

    @Test("a packed segment with a wrong byte is unreadable, and nothing worse")
    func damage() throws {
        let scene = try Scene(PackingTests.scene)
        scene.set("/room.warmth", 21.5)
        scene.flush()
        #expect(try PackedSegment.pack(1, in: scene.folder))
        let path = scene.folder + "/" + Segment.name(1)
        let whole = [UInt8](try #require(FileManager.default.contents(atPath: path)))
        for place in whole.indices {
            var bytes = whole
            bytes[place] ^= 0x41
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            if let read = Segment.read(1, in: scene.folder) {
                _ = read.withUnsafeBufferPointer { Segment.forEachBatch($0) { _ in true } }
            }
        }
    }

    @Test(
        "a number that is written once a second takes three bytes as a counter or with one decimal, and seven as any double",
        arguments: ["counter", "decimal", "double"])
    func size(kind: String) throws {
        var generator = SeededGenerator(seed: 7)
        let states = 50
        let names = (0..<states).map { "n\($0): \(kind == "counter" ? "0" : "0.0")" }
        let scene = try Scene("nodes: [{ id: counters, state: { \(names.joined(separator: ", ")) } }]\n")
        var counters = [Int64](repeating: 0, count: states)
        let seconds = 150
        for _ in 0..<seconds {
            var writes: [Mutation] = []
            for state in 0..<states {
                counters[state] += Int64.random(in: 0..<1000, using: &generator)
                let value: Value =
                    switch kind {
                    case "counter": .int(counters[state])
                    case "decimal": .double(Double(Int.random(in: 200...220, using: &generator)) / 10)
                    default: .double(.random(in: 0...100, using: &generator))
                    }
                writes.append(Mutation(operation: .set, path: "/counters.n\(state)", value: value))
            }
            scene.daemon.advanceClock(
                TimeSpan(nanoseconds: Int64.random(in: 999_000_000...1_001_000_000, using: &generator)))
            scene.run(.transact(writes, .init()))
            scene.flush()
        }
        scene.archive.close(at: scene.daemon.now, revision: scene.daemon.runtime.revision)
        for segment in Segment.all(in: scene.folder) { _ = try PackedSegment.pack(segment.number, in: scene.folder) }
        let after = Segment.all(in: scene.folder).reduce(0) { $0 + $1.size }
        let writes = Double(states * seconds)
        #expect(Double(after) / writes < (kind == "double" ? 7.5 : 3), "\(Double(after) / writes)")
    }
}
