import AttributeValues
import Foundation
import GraphRuntime
import StateStore
import TestSupport
import Testing
import ViewGraph

/// What a daemon that was killed leaves behind, with damage in it.
@Suite("Damaged write-ahead logs")
struct LogDamageTests {
    /// A killed daemon's store: `count` states, each accepted in a turn of its own.
    private func killed(_ count: UInt64 = 20) throws -> Folder {
        let folder = try Folder()
        let (store, _) = try folder.open(durability: .full)
        for number in 1...count { try append(number, to: store) }
        return try folder.copy()
    }

    private func append(_ number: UInt64, to store: StateStore, _ text: String = "") throws {
        try store.append([(number, .put("/a", "s\(number)", .string("\(number) \(text)")))], revision: number)
    }

    private func change(_ file: String, _ body: (inout Data) -> Void) throws {
        var data = try Data(contentsOf: URL(fileURLWithPath: file))
        body(&data)
        try data.write(to: URL(fileURLWithPath: file))
    }

    private func entries(_ folder: Folder) throws -> Int { try folder.open(durability: .full).restored.rows.count }

    /// Where the frames of the log begin that end a transaction.
    private func ends(_ folder: Folder) throws -> [Int] {
        let log = try Data(contentsOf: URL(fileURLWithPath: folder.log))
        return stride(from: 32, to: log.count, by: 24 + 4096).filter { log[$0 + 4..<$0 + 8] != Data(count: 4) }
    }

    @Test("a killed daemon's log is whole") func whole() throws {
        #expect(try entries(killed()) == 20)
    }

    @Test(
        "whichever byte of the log is damaged, no more is lost without a refusal than the last transaction",
        arguments: freshSeeds(3))
    func flippedBytes(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let killed = try killed()
        let behindSecondLast = try #require(ends(killed).dropLast().last) + 24 + 4096
        for _ in 0..<40 {
            let folder = try killed.copy()
            var place = 0
            try change(folder.log) { log in
                place = random.below(log.count)
                log[place] ^= UInt8.random(in: 1...255, using: &random)
            }
            do {
                #expect(try entries(folder) == 19 && place >= behindSecondLast, "seed \(seed), byte \(place)")
            } catch let error as StoreError {
                guard case .damaged = error else { throw error }
            }
        }
    }

    @Test("each part of a commit's frame is looked at", arguments: [0, 4, 7, 8, 12, 16, 20, 24, 2000, 4119])
    func frame(byte: Int) throws {
        let folder = try killed()
        let place = try ends(folder)[10] + byte
        try change(folder.log) { $0[place] ^= 0x10 }
        let error = #expect(throws: StoreError.self) { try entries(folder) }
        #expect(error?.description.contains("commits in \(folder.log), which is damaged at byte") == true)
    }

    @Test(
        "damage to the checksum of the transaction before the last one is not taken for a cut-off end",
        arguments: [16, 20])
    func secondLastChecksum(byte: Int) throws {
        let folder = try killed()
        let place = try #require(ends(folder).dropLast().last) + byte
        try change(folder.log) { $0[place] ^= 1 }
        #expect(throws: StoreError.self) { try entries(folder) }
    }

    @Test("recovery keeps what stands before the damage and the damaged log, and begins a new epoch") func recovery()
        throws
    {
        let folder = try killed()
        let place = try ends(folder)[10] + 100
        try change(folder.log) { $0[place] ^= 1 }
        let damaged = try Data(contentsOf: URL(fileURLWithPath: folder.log))
        let restored = try folder.open(recover: true, epoch: "after", durability: .full).restored
        #expect(restored.epoch == "after")
        #expect((1..<20).contains(restored.rows.count))
        #expect(restored.losses.contains { $0.contains("damaged at byte") })
        #expect(restored.losses.contains { $0.contains("\(restored.rows.count) rows up to revision") })
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.database + ".damaged-1-wal")) == damaged)
        #expect(try folder.open(durability: .full).restored.epoch == "after")
    }

    @Test(
        "without the disk's word for each commit, as a power cut may leave it, the log counts up to the damage, and it is said"
    )
    func lowerDurability() throws {
        let folder = try killed()
        let place = try ends(folder)[10] + 100
        try change(folder.log) { $0[place] ^= 1 }
        let restored = try folder.open(durability: .normal).restored
        #expect((1..<20).contains(restored.rows.count))
        #expect(restored.losses.contains { $0.contains("damaged at byte") })
    }

    @Test("a log that a crash cut off in its last transaction is taken up to there, and that is said") func cutOff()
        throws
    {
        let folder = try killed()
        let end = try #require(ends(folder).last)
        try change(folder.log) { $0.removeSubrange((end + 1000)...) }
        let restored = try folder.open(durability: .full).restored
        #expect(restored.rows.count == 19)
        #expect(restored.losses.count == 1 && restored.losses[0].hasPrefix("left out"))
    }

    @Test(
        "a crash between the log's new header and its first commit has lost nothing",
        arguments: [StateStore.Durability.full, .normal, .off])
    func newHeader(durability: StateStore.Durability) throws {
        let folder = try Folder()
        do {
            let (store, _) = try folder.open(durability: durability)
            try append(1, to: store)
            try store.close(revision: 1)
        }
        let (store, _) = try folder.open(durability: durability)
        let cutOff = try folder.copy()
        let before = try Data(contentsOf: URL(fileURLWithPath: folder.log))
        try append(2, to: store)
        let header = try Data(contentsOf: URL(fileURLWithPath: folder.log)).prefix(32)
        #expect(header != before.prefix(32))
        try change(cutOff.log) { $0.replaceSubrange(0..<32, with: header) }
        for length in [before.count, 32] {
            let folder = try cutOff.copy()
            try change(folder.log) { $0.removeSubrange(length...) }
            let restored = try folder.open(durability: durability).restored
            #expect(restored.rows.count == 1 && restored.losses.isEmpty)
        }
    }

    @Test("a last transaction whose end reached the disk before its beginning was not acknowledged") func torn() throws
    {
        let folder = try Folder()
        let (store, _) = try folder.open(durability: .full)
        for number in UInt64(1)...3 { try append(number, to: store) }
        try append(4, to: store, String(repeating: "v", count: 100_000))
        let killed = try folder.copy()
        let place = try ends(killed)[ends(killed).count - 2] + 24 + 4096
        try change(killed.log) { $0.replaceSubrange(place..<place + 4120, with: Data(count: 4120)) }
        #expect(try entries(killed) == 3)
    }

    @Test("frames of an earlier round through the log are no damage") func earlierRound() throws {
        let folder = try Folder()
        let (store, _) = try folder.open()
        for number in UInt64(1)...600 {
            try append(number, to: store, String(repeating: "v", count: 3000))
            if number % 25 == 0 {
                #expect(try folder.copy().open(durability: .full).restored.rows.count == Int(number))
            }
        }
        // SQLite has begun at the front again.
        let size = try #require(try FileManager.default.attributesOfItem(atPath: folder.log)[.size] as? Int)
        #expect(size < 2 * 1000 * 4120)
    }

    @Test(
        "a log that is gone, empty or without its beginning is damage",
        arguments: ["gone", "empty", "header", "beginning"])
    func lostLog(damage: String) throws {
        let folder = try killed()
        switch damage {
        case "gone": try FileManager.default.removeItem(atPath: folder.log)
        case "empty": try change(folder.log) { $0 = Data() }
        case "header": try change(folder.log) { $0[17] ^= 4 }
        default: try change(folder.log) { $0.replaceSubrange(0..<8192, with: Data(count: 8192)) }
        }
        let error = #expect(throws: StoreError.self) { try entries(folder) }
        #expect(
            error?.description.contains("lost: ") == true && error?.description.contains(folder.log) == true,
            "\(String(describing: error))")
        #expect(try folder.open(recover: true, epoch: "after").restored.epoch == "after")
    }

    @Test(
        "a database that is empty, or gone while its log is there, is damage and no new store",
        arguments: [true, false])
    func lostDatabase(isClosed: Bool) throws {
        let folder = try Folder()
        do {
            let (store, _) = try folder.open()
            try append(1, to: store)
            if isClosed { try store.close(revision: 1) }
        }
        let gone = try folder.copy()
        try change(folder.database) { $0 = Data() }
        let error = #expect(throws: StoreError.self) { try folder.open() }
        #expect(error?.description.contains("the file is empty") == true)
        #expect(try folder.open(recover: true, epoch: "after").restored.epoch == "after")
        #expect(FileManager.default.fileExists(atPath: folder.database + ".damaged-1"))
        if isClosed { return }
        try FileManager.default.removeItem(atPath: gone.database)
        let other = #expect(throws: StoreError.self) { try gone.open() }
        #expect(other?.description.contains("the file does not exist") == true)
    }

    @Test("a store says whether it was begun; one that was cut off while it was made does not count") func begun()
        throws
    {
        let folder = try Folder()
        try Data("half a store".utf8).write(to: URL(fileURLWithPath: folder.database + ".new"))
        #expect(try folder.open().restored.isNew)
        // Not closed: a start that failed for another reason.
        #expect(try !folder.open(epoch: "other").restored.isNew)
        #expect(try folder.open(epoch: "other").restored.epoch == "e1")
    }

    @Test("a folder without write permission is reported as denied") func denied() {
        let error = #expect(throws: StoreError.self) {
            try StateStore.open(directory: "/sys", durability: .full) { "e" }
        }
        guard case .denied? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }
}
