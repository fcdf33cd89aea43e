import AttributeValues
import Foundation
import GraphRuntime
import StateStore
import TestSupport
import Testing
import ViewGraph

@Suite("Damaged stores")
struct DamageTests {
    /// A closed store of several pages, and what it holds.
    private func made() throws -> (folder: Folder, texts: [String]) {
        let folder = try Folder()
        let (store, _) = try folder.open()
        for number in 1...200 {
            let value = Value.string("\(number) " + String(repeating: "v", count: 200))
            try store.append([(UInt64(number), .put("/a", "s\(number)", value))], revision: UInt64(number))
        }
        try store.close(revision: 200)
        return (folder, try texts(folder.copy().open().restored))
    }

    @Test("whichever byte is damaged, the store is refused or whole, never silently less", arguments: freshSeeds(3))
    func flippedBytes(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (folder, whole) = try made()
        let sound = try Data(contentsOf: URL(fileURLWithPath: folder.database))
        var refused = 0
        for _ in 0..<40 {
            let place = random.below(sound.count)
            var damaged = sound
            damaged[place] ^= UInt8.random(in: 1...255, using: &random)
            let copy = try Folder()
            try damaged.write(to: URL(fileURLWithPath: copy.database))
            do {
                #expect(try texts(copy.open().restored) == whole, "seed \(seed), byte \(place)")
            } catch let error as StoreError {
                if case .inUse = error { Issue.record("seed \(seed), byte \(place): \(error)") }
                refused += 1
            }
        }
        #expect(refused > 0, "seed \(seed)")
    }

    @Test("recovery keeps what can be read, says what is lost, keeps the damaged file and begins a new epoch")
    func recovery() throws {
        let (folder, whole) = try made()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.database))
        let victim = try #require(bytes.range(of: Data("100 vvv".utf8)))
        bytes[victim.lowerBound + 5] = UInt8(ascii: "w")
        try bytes.write(to: URL(fileURLWithPath: folder.database))

        let error = #expect(throws: StoreError.self) { try folder.open() }
        #expect(error?.description.contains("/a.s100") == true)
        #expect(error?.description.contains("--recover") == true)

        let recovered = try folder.open(recover: true, epoch: "after").restored
        #expect(recovered.epoch == "after")
        #expect(recovered.revision >= 200)
        #expect(recovered.losses.contains { $0.contains("/a.s100") })
        #expect(texts(recovered) == whole.filter { !$0.contains("/a.s100 ") })
        #expect(FileManager.default.fileExists(atPath: folder.database + ".damaged-1"))
    }

    @Test("a page that cannot be read costs what stands on it, not what stands behind it") func lostPage() throws {
        let (folder, whole) = try made()
        var bytes = try Data(contentsOf: URL(fileURLWithPath: folder.database))
        let page = try #require(bytes.range(of: Data("200 vvv".utf8))).lowerBound / 4096
        for place in page * 4096..<(page + 1) * 4096 { bytes[place] = 0xff }
        try bytes.write(to: URL(fileURLWithPath: folder.database))
        #expect(throws: StoreError.self) { try folder.open() }
        let kept = texts(try folder.open(recover: true, epoch: "after").restored)
        #expect(kept.count > 150 && kept.count < 200)
        #expect(kept.allSatisfy(whole.contains))
        #expect(kept.first == whole.first && kept.last == whole.last)
    }

    @Test("recovering a sound store changes nothing") func sound() throws {
        let (folder, whole) = try made()
        let restored = try folder.open(recover: true, epoch: "other").restored
        #expect(restored.epoch == "e1")
        #expect(texts(restored) == whole)
        #expect(restored.losses.isEmpty)
    }
}
