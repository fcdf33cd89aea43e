import AttributeValues
import Foundation
import GraphRuntime
import Testing

@testable import StateStore

/// Copies of a store that a daemon writes to.
@Suite("Backups")
struct BackupTests {
    let folder: Folder
    init() throws { folder = try Folder() }

    /// The store of a backup, opened as a daemon would.
    private func restored(_ file: String) throws -> StateStore.Restored {
        let other = try Folder()
        try FileManager.default.copyItem(atPath: file, toPath: other.database)
        return try other.open().restored
    }

    private var file: String { folder.path + "/backup.db" }

    @Test("a backup of an open store has all of its commits, in one file, and is itself a store") func whole() throws {
        let (store, _) = try folder.open()
        for revision in 1...700 as ClosedRange<UInt64> {
            try store.append([(revision, .put("/a", "n", .int(Int64(revision))))], revision: revision)
        }
        let backup = try StateStore.backUp(directory: folder.path, to: file)
        #expect(backup.rows == 1 && backup.epoch == "e1" && backup.revision == 700)
        let restored = try restored(file)
        #expect(texts(restored) == ["700 /a.n {\"int\":\"700\"}"])
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasPrefix("backup") } == [
                "backup.db"
            ])
        try store.append([(701, .put("/a", "n", 701))], revision: 701)
        try store.close(revision: 701)
    }

    @Test("a backup names the last revision that it contains, also of a removal and of a store that was closed")
    func revision() throws {
        func named() throws -> UInt64 { try StateStore.backUp(directory: folder.path, to: file).revision }
        do {
            let (store, _) = try folder.open()
            try store.append([(1, .put("/a", "n", 1)), (2, .put("/b", "n", 1))], revision: 2)
            // Transient changes are not stored.
            try store.append([], revision: 5)
            #expect(try named() == 2)
            try store.append([(6, .gone("/b"))], revision: 6, resumableFrom: 6)
            try store.fold()
            #expect(try named() == 6)
            try store.close(revision: 9)
        }
        #expect(try named() == 6)
        let (_, restored) = try folder.open()
        #expect(restored.revision == 9)
    }

    @Test("over a backup nobody resumes, because its epoch went on without it") func resuming() throws {
        let (store, _) = try folder.open(durability: .full)
        try store.append([(1, .put("/a", "n", 1))], revision: 1)
        _ = try StateStore.backUp(directory: folder.path, to: file)
        try store.append([(2, .put("/a", "n", 2))], revision: 2)
        let restored = try restored(file)
        #expect(restored.resumableFrom == restored.revision && restored.revision > 2)
    }

    @Test("each backup during writes holds whole commits") func consistent() throws {
        let (store, _) = try folder.open(durability: .off)
        // Only the writer uses it while it runs.
        nonisolated(unsafe) let writing = store
        // Large rows, so that the log begins anew often.
        nonisolated(unsafe) let filling = Value.string(String(repeating: "x", count: 20_000))
        for round in 0..<10 as Range<Int64> {
            let hasEnded = DispatchSemaphore(value: 0)
            Thread.detachNewThread {
                for number in round * 300..<(round + 1) * 300 {
                    let revision = UInt64(number + 1)
                    try? writing.append(
                        [
                            (revision, .put("/a", "left", .int(number))),
                            (revision, .put("/f", "\(number % 7)", filling)),
                            (revision, .put("/z", "right", .int(number))),
                        ], revision: revision)
                }
                hasEnded.signal()
            }
            defer { hasEnded.wait() }
            _ = try StateStore.backUp(directory: folder.path, to: file)
            let rows = try restored(file).rows
            let left = rows.first { $0.name == "left" }?.value
            #expect(left == rows.first { $0.name == "right" }?.value)
        }
        try store.close(revision: .max / 2)
    }

    @Test("a damaged store is not backed up, and an earlier backup stays") func damage() throws {
        do {
            let (store, _) = try folder.open(durability: .full)
            for revision in 1...20 as ClosedRange<UInt64> {
                try store.append([(revision, .put("/a", "n", 1))], revision: revision)
            }
            try "earlier".write(toFile: file, atomically: true, encoding: .utf8)
            let log = try FileHandle(forUpdating: URL(fileURLWithPath: folder.log))
            try log.seek(toOffset: 32 + 24 + 100)
            try log.write(contentsOf: [1, 2, 3, 4, 5, 6, 7, 8])
        }
        #expect { try StateStore.backUp(directory: folder.path, to: file) } throws: { error in
            // It names the store, not the copy.
            if case StoreError.damaged(folder.database, _) = error { !"\(error)".contains("backup") } else { false }
        }
        #expect(try String(contentsOfFile: file, encoding: .utf8) == "earlier")
        #expect { try StateStore.backUp(directory: "/nonexistent", to: file) } throws: {
            "\($0)".contains("there is no store; --state-directory names its folder")
        }
    }
}
