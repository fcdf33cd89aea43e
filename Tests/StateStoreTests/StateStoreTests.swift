import AttributeValues
import Foundation
import Glibc
import GraphRuntime
import Testing
import ViewGraph

@testable import StateStore

@Suite("The store")
struct StateStoreTests {
    let folder: Folder
    init() throws { folder = try Folder() }

    private let everything: [(revision: UInt64, change: StoreChange)] = [
        (1, .put("/a#1", "", ["id": "a", "own": ["kind": "view"]])),
        (2, .put("/a#1", "b", 1)),
        (2, .put("/a#1", "x y", ["k": [1, 2.5, .null], "n": .double(.nan)])),
        (3, .put("/c", "s", 1)),
        (4, .put("/c/d", "s", 1)),
        (5, .put("/a#1", "b", .bytes([0, 255]))),
        (6, .gone("/c")),
        (6, StoreChange(key: "/c/d", name: "t", value: nil)),
    ]
    private let left = ["/a#1", "/a#1.b", "/a#1.x y", "/c/d.s"]

    /// What a text of a row says behind its revision.
    private func names(_ restored: StateStore.Restored) -> [String] {
        restored.rows.map { $0.key + ($0.name.isEmpty ? "" : "." + $0.name) }
    }

    @Test("a new store begins an epoch at revision 0, and keeps it") func epoch() throws {
        do {
            let (store, restored) = try folder.open(epoch: "first")
            #expect(restored.epoch == "first" && restored.revision == 0 && restored.rows.isEmpty)
            try store.close(revision: 0)
        }
        #expect(try folder.open(epoch: "second").restored.epoch == "first")
    }

    @Test(
        "the newest value of each row is read back, whether its turns are folded or not", arguments: 0...8)
    func kept(folded: Int) throws {
        do {
            let (store, _) = try folder.open()
            for change in everything { try store.append([change], revision: change.revision) }
            if folded > 0 { #expect(try store.fold(atMost: folded) <= folded) }
            #expect(store.turns <= everything.count - folded)
            #expect(try names(folder.copy().open().restored) == left)
            try store.close(revision: 6)
            #expect(store.turns == 0)
        }
        let (_, restored) = try folder.open()
        #expect(restored.revision == 6)
        #expect(names(restored) == left)
        #expect(texts(restored).contains("5 /a#1.b \(Value.bytes([0, 255]).typedJSON)"))
    }

    @Test("the time of the last commit with rows is read back, after a kill, after folding and after an end")
    func committed() throws {
        func time(_ seconds: Int64) throws -> Timestamp { try #require(Timestamp(seconds: seconds)) }
        func read() throws -> Timestamp? {
            let restored = try folder.copy().open().restored
            #expect(!restored.rows.contains { $0.key == StateStore.momentKey })
            return restored.committed
        }
        let (store, restored) = try folder.open()
        #expect(restored.committed == nil)
        try store.append([(1, .put("/a", "x", 1))], revision: 1, at: time(100))
        try store.append([(2, .put("/a", "x", 2))], revision: 2, at: time(200))
        try store.append([], revision: 3, at: time(300))
        #expect(try read() == time(200))
        try store.fold()
        #expect(try read() == time(200))
        try store.close(revision: 3, at: time(400))
        #expect(try read() == time(400))
    }

    @Test("one commit for a turn stores the same as one for each change") func batching() throws {
        let other = try Folder()
        do {
            let (store, _) = try folder.open()
            try store.append(everything, revision: 6)
            #expect(store.turns == 1)
            let (single, _) = try other.open()
            for change in everything { try single.append([change], revision: change.revision) }
        }
        #expect(try texts(folder.open().restored) == texts(other.open().restored))
    }

    @Test("changes after the end of a key in the same turn are stored") func goneAndMade() throws {
        do {
            let (store, _) = try folder.open()
            try store.append([(1, .put("/a", "x", 1)), (1, .put("/a", "y", 1)), (1, .put("/ab", "x", 1))], revision: 1)
            try store.append([(2, .put("/a", "y", 2)), (2, .gone("/a")), (2, .put("/a", "x", 2))], revision: 2)
        }
        #expect(try names(folder.open().restored) == ["/a.x", "/ab.x"])
    }

    @Test("a turn that is longer than a slice is folded in several, and a crash between them loses nothing")
    func slices() throws {
        let (store, _) = try folder.open()
        try store.append((0..<1000).map { (1, .put("/n", "s\($0)", .int(Int64($0)))) }, revision: 1)
        try store.append([(2, .put("/n", "s0", -1)), (2, .put("/n", "s999", -1))], revision: 2)
        let whole = try texts(folder.copy().open().restored)
        #expect(whole.count == 1000)
        var slices = 0
        while store.turns > 0 {
            #expect(try store.fold(atMost: 300) <= 300)
            slices += 1
            #expect(try texts(folder.copy().open().restored) == whole)
            // The next life begins the turn again.
            let (next, _) = try folder.copy().open()
            try next.close(revision: 2)
        }
        #expect(slices == 4)
    }

    @Test("a slice folds any number of turns that write the same rows, each row once, and deletions in their order")
    func repeated() throws {
        let (store, _) = try folder.open()
        for number in 1...1000 {
            let revision = UInt64(number)
            var changes: [(revision: UInt64, change: StoreChange)] = (0..<5).map {
                (revision, .put("/n", "s\($0)", .int(Int64(number))))
            }
            // A deletion of the whole node between two writes, and of one row behind the last.
            if number == 500 { changes.append((revision, .init(key: "/gone", name: nil, value: nil))) }
            if number < 500 { changes.append((revision, .put("/gone", "s\(number % 3)", .int(Int64(number))))) }
            if number == 1000 { changes.append((revision, .init(key: "/n", name: "s4", value: nil))) }
            try store.append(changes, revision: revision)
        }
        let whole = try texts(folder.copy().open().restored)
        #expect(whole.count == 4)
        #expect(try store.fold(atMost: 20) == 5 + 3 + 1)
        #expect(store.turns == 0)
        #expect(try texts(folder.copy().open().restored) == whole)
        try store.close(revision: 1000)
        #expect(try texts(folder.copy().open().restored) == whole)
    }

    @Test("a store of an earlier version is refused and names agctl export", arguments: [1, 2])
    func earlier(version: Int) throws {
        do {
            let (store, _) = try folder.open()
            try store.close(revision: 1)
        }
        try Database(path: folder.database, FolderLock(folder.path, of: folder.database)).execute(
            "PRAGMA user_version = \(version)")
        let error = #expect(throws: StoreError.self) { try folder.open() }
        guard case .foreign? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(error?.description.contains("agctl export") == true)
    }

    @Test("a killed daemon's store holds all that was acknowledged, and no revision is given twice") func killed()
        throws
    {
        let (store, _) = try folder.open()
        for number in 1...50 {
            try store.append(
                [(UInt64(number), .put("/a", "s\(number % 7)", .int(Int64(number))))], revision: UInt64(number))
            // Transient writes count revisions that only the reservation knows of.
            try store.append([], revision: UInt64(number) + 1000)
            if number % 10 == 0 {
                let restored = try folder.copy().open().restored
                #expect(restored.revision > UInt64(number) + 1000)
                #expect(restored.rows.contains { $0.name == "s\(number % 7)" && $0.value == .int(Int64(number)) })
                try store.fold(atMost: 5)
            }
        }
        try store.close(revision: 1050)
    }

    @Test("a value that is too long for SQLite is refused with SQLite's reason", arguments: [1_000_000_001, 3 << 30])
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
        try store.append([(1, .put("/a", "b", 1))], revision: 1)
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

    @Test("a full disk is told with what to do, and without the text of a statement") func full() {
        let error = StoreError.failed(
            call: "INSERT INTO turns(sequence) VALUES(?1)", code: 13, message: "database or disk is full",
            subject: "/s/state.db")
        #expect(
            error.description
                == "/s/state.db: INSERT INTO turns: database or disk is full (13); free space on its file system")
    }
}
