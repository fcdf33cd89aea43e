import AttributeValues
import Foundation
import Glibc
import GraphRuntime
import Testing

@testable import StateStore

@Suite("The store")
struct StateStoreTests {
    let folder: Folder
    init() throws { folder = try Folder() }

    private let everything: [(revision: UInt64, entry: JournalEntry)] = [
        (1, .applied(document: "agd: 1", at: "/", mode: "create")),
        (2, .state(path: "/a.b", value: 1)),
        (2, .state(path: "/a.\"x y\"", value: ["k": [1, 2.5, .null], "n": .double(.nan)])),
        (3, .moved(path: "/a", to: "/c", index: 0)),
        (4, .moved(path: "/a", to: nil, index: nil)),
        (5, .state(path: "/a.b", value: .bytes([0, 255]))),
        (6, .removed(path: "/z")),
    ]

    @Test("a new store begins an epoch at revision 0, and keeps it") func epoch() throws {
        do {
            let (store, restored) = try folder.open(epoch: "first")
            #expect(restored.epoch == "first" && restored.revision == 0 && restored.entries.isEmpty)
            try store.close(revision: 0)
        }
        #expect(try folder.open(epoch: "second").restored.epoch == "first")
    }

    @Test("what was accepted comes back in order, a newer value in the place of the older") func order() throws {
        do {
            let (store, _) = try folder.open()
            for entry in everything { try store.append([entry], revision: entry.revision) }
            try store.close(revision: 6)
        }
        let (_, restored) = try folder.open()
        #expect(restored.revision == 6)
        #expect(texts(restored) == everything.filter { $0.revision != 2 || text($0.entry).contains("x y") }.map { "\($0.revision) \(text($0.entry))" })
    }

    @Test("one commit for a turn keeps the same as one for each entry") func batching() throws {
        let other = try Folder()
        do {
            let (store, _) = try folder.open()
            try store.append(everything, revision: 6)
            let (single, _) = try other.open()
            for entry in everything { try single.append([entry], revision: entry.revision) }
        }
        #expect(try texts(folder.open().restored) == texts(other.open().restored))
    }

    @Test("states below a removed node go with it, its neighbours stay") func removal() throws {
        do {
            let (store, _) = try folder.open()
            for path in ["/a.x", "/a/b.x", "/ab.x", "/a-b.x", "/b.x"] {
                try store.append([(1, .state(path: path, value: 1))], revision: 1)
            }
            try store.append([(2, .removed(path: "/a"))], revision: 2)
        }
        #expect(try texts(folder.open().restored).map { $0.split(separator: " ")[2] } == ["/ab.x", "/a-b.x", "/b.x", "/a"])
    }

    @Test("states of what is gone are forgotten with all below, and what comes behind in the same turn is kept") func forgotten() throws {
        do {
            let (store, _) = try folder.open()
            for path in ["/a.x", "/a/b.x", "/ab.x", "/c.o.p", "/c.o.q", "/c.other", "/c.o-p"] {
                try store.append([(1, .state(path: path, value: 1))], revision: 1)
            }
            try store.append(
                [(2, .forgotten(path: "/a")), (2, .state(path: "/a.x", value: 2)), (2, .forgotten(path: "/c.o"))], revision: 2)
        }
        #expect(try texts(folder.open().restored).map { $0.split(separator: " ")[2] } == ["/ab.x", "/c.other", "/c.o-p", "/a.x"])
    }

    @Test("changes of structure count over restarts, and void ones go by their numbers") func void() throws {
        do {
            let (store, _) = try folder.open()
            for number in 0..<3 {
                try store.append([(1, .removed(path: "/n\(number)")), (1, .state(path: "/s.s\(number)", value: 1))], revision: 1)
            }
            try store.append([(2, .void(changes: [1]))], revision: 2)
        }
        #expect(try texts(folder.open().restored).filter { $0.contains("removed") } == ["1 removed /n0", "1 removed /n2"])
        do {
            let (store, _) = try folder.open()
            try store.append([(3, .removed(path: "/n3")), (3, .void(changes: [0, 2, 7]))], revision: 3)
        }
        #expect(try texts(folder.open().restored).filter { $0.contains("removed") } == ["1 removed /n2"])
    }

    @Test("changes of structure in what has moved stand behind its move, by their new paths") func rekeyed() throws {
        do {
            let (store, _) = try folder.open()
            try store.append(
                [
                    (1, .applied(document: "d", at: "/l/x", mode: "merge")), (2, .moved(path: "/l/x/a", to: "/l/x/b", index: 1)),
                    (3, .removed(path: "/lx")), (4, .moved(path: "/l", to: "/m", index: nil)), (4, .rekeyed(changes: [0, 1, 2], from: "/l", to: "/m/l")),
                    (5, .void(changes: [1])),
                ], revision: 5)
        }
        #expect(
            try texts(folder.open().restored) == [
                "4 moved /l /m -", "4 applied \(Value.string("d")) /m/l/x merge", "4 removed /lx",
            ])
    }

    @Test("a killed daemon's store holds all that was acknowledged, and no revision is given twice") func killed() throws {
        let (store, _) = try folder.open()
        for number in 1...50 {
            try store.append([(UInt64(number), .state(path: "/a.s\(number % 7)", value: .int(Int64(number))))], revision: UInt64(number))
            // Transient writes count revisions that only the reservation knows of.
            try store.append([], revision: UInt64(number) + 1000)
            if number % 10 == 0 {
                let restored = try folder.copy().open().restored
                #expect(restored.revision > UInt64(number) + 1000)
                #expect(restored.entries.last.map { text($0.entry) } == text(.state(path: "/a.s\(number % 7)", value: .int(Int64(number)))))
            }
        }
        try store.close(revision: 1050)
    }

    @Test("what is longer than SQLite takes is refused with what SQLite says", arguments: [1_000_000_001, 3 << 30])
    func tooLong(count: Int) throws {
        let path = folder.path + "/any.db"
        let statement = try Database(path: path, FolderLock(folder.path, of: path)).prepare("SELECT ?1")
        // Pages that are never touched.
        let pages = try #require(mmap(nil, count, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))
        defer { munmap(pages, count) }
        let bytes = UnsafeBufferPointer(start: UnsafePointer(pages.assumingMemoryBound(to: UInt8.self)), count: count)
        let error = #expect(throws: StoreError.self) { try statement.bind(1, bytes) }
        #expect(error?.description.contains("too big (18)") == true, "\(String(describing: error))")
    }

    @Test("nobody but its user may read a store, whatever folder it is in") func mode() throws {
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path)
        let (store, _) = try folder.open()
        try store.append([(1, .state(path: "/a.b", value: 1))], revision: 1)
        for file in [folder.database, folder.log] {
            let mode = try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? NSNumber
            #expect(mode?.intValue == 0o600, "\(file)")
        }
    }

    @Test("a second daemon on the same store is refused") func inUse() throws {
        let first = try folder.open()
        #expect(throws: StoreError.inUse(path: folder.database)) { try folder.open(isPatient: false) }
        try first.store.close(revision: 0)
    }

    @Test("a strange file is refused and left alone") func foreign() throws {
        try Data("this is no database, it is a letter".utf8).write(to: URL(fileURLWithPath: folder.database))
        let error = #expect(throws: StoreError.self) { try folder.open() }
        guard case .damaged? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(try String(contentsOfFile: folder.database, encoding: .utf8).hasPrefix("this is no database"))
    }

    @Test("a folder that is not there is a failure that names it") func missing() {
        let error = #expect(throws: StoreError.self) {
            try StateStore.open(directory: "/nonexistent/agd", durability: .full) { "e" }
        }
        #expect(error?.description.contains("/nonexistent/agd") == true)
    }
}
