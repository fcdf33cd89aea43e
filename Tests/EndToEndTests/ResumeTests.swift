import AttributeValues
import Foundation
import TestSupport
import Testing

/// Who comes back after a restart is told that it has missed nothing only where that is certain.
@Suite("Resuming over restarts")
struct ResumeTests {
    static let scene = """
        agd: 1
        nodes:
          - id: w
            kind: container
            state: { a: 1, b: 2, items: [i1] }
            computed: { sum: a + b }
            children:
              - { id: r, forEach: { in: $items, id: self, node: { state: { q: 0 } } } }
          - id: t
            state: { v: { initial: 0, transient: true } }
            computed: { twice: v * 2 }
        """

    /// A daemon that has written something, and its next lives.
    private final class Lives {
        let folder: Folder
        var daemon: Daemon
        let epoch: String
        let durability: String

        init(durability: String = "full") throws {
            self.durability = durability
            folder = try Folder()
            daemon = try Lives.start(folder, ResumeTests.scene, durability)
            epoch = try daemon.client().call("hello")["epoch"]?.string ?? ""
        }

        static func start(_ folder: Folder, _ scene: String, _ durability: String) throws -> Daemon {
            try Daemon(
                scenes: [scene], configuration: "state-directory = \(folder.file("state"))\ndurability = \(durability)",
                folder: folder)
        }

        func revision() throws -> Int64 {
            guard case .int(let revision)? = try daemon.client().call("hello")["revision"] else {
                throw Trouble("no revision")
            }
            return revision
        }

        func restart(killed: Bool, scene: String = ResumeTests.scene) throws {
            if killed {
                daemon.program.signal(SIGKILL)
                try daemon.program.wait()
            } else {
                try daemon.stop()
            }
            daemon = try Lives.start(folder, scene, durability)
        }

        /// What a subscriber is told that has seen everything up to a revision.
        func resumes(_ paths: [String], since revision: Int64, events: [String] = ["update"]) throws -> Bool {
            let client = try daemon.client()
            let reply = try client.call(
                "subscribe",
                [
                    "paths": .list(paths.map { .string($0) }), "events": .list(events.map { .string($0) }),
                    "since": ["epoch": .string(epoch), "revision": .int(revision)],
                ])
            try client.call("ping")
            let isResumed = reply["resumed"] == true
            if events == ["update"], !isResumed { #expect(try client.event()["initial"] == true) }
            return isResumed
        }
    }

    @Test(
        "after a restart, orderly or not, who watches what has not changed resumes, and who watches what has gets a snapshot",
        arguments: [false, true])
    func restart(killed: Bool) throws {
        let lives = try Lives()
        try lives.daemon.client().set("/w.a", 5)
        let before = try lives.revision()
        try lives.daemon.client().set("/w.b", 7)
        let seen = try lives.revision()
        try lives.restart(killed: killed)
        #expect(try lives.resumes(["/w.a", "/w.b", "/w.sum"], since: seen))
        #expect(try lives.resumes(["/w/**"], since: seen))
        #expect(try lives.resumes(["/w.a"], since: before))
        #expect(try lives.resumes(["/w.*"], since: seen, events: ["structure"]))
        #expect(try lives.resumes(["/w.a"], since: before, events: ["invalidate"]))
        #expect(try !lives.resumes(["/w.b"], since: before))
        #expect(try !lives.resumes(["/w.sum"], since: before))
        // Once more: what has not been written since is as old as it was.
        try lives.daemon.client().set("/w.b", 8)
        try lives.restart(killed: killed)
        #expect(try lives.resumes(["/w.a"], since: before))
        #expect(try !lives.resumes(["/w.b"], since: seen))
    }

    @Test("a value that depends on a transient state does not pass for unchanged") func transient() throws {
        let lives = try Lives()
        let client = try lives.daemon.client()
        try client.set("/t.v", 4)
        try client.set("/w.a", 5)
        let seen = try lives.revision()
        try lives.restart(killed: true)
        #expect(try !lives.resumes(["/t.twice"], since: seen))
        #expect(try !lives.resumes(["/t.v"], since: seen))
        #expect(try lives.resumes(["/w.a"], since: seen))
    }

    @Test("an element that was taken out and put in again has begun anew") func elements() throws {
        let lives = try Lives()
        let client = try lives.daemon.client()
        try client.set("/w/r/i1.q", 9)
        let seen = try lives.revision()
        try client.set("/w.items", [])
        try client.set("/w.items", ["i1"])
        try lives.restart(killed: true)
        #expect(try !lives.resumes(["/w/r/i1.q"], since: seen))
        #expect(try !lives.resumes(["/w/r/*.q"], since: seen))
    }

    @Test("after a change of the tree, and over another scene, nobody resumes from before it") func definitions() throws
    {
        let lives = try Lives()
        let client = try lives.daemon.client()
        try client.set("/w.a", 5)
        let seen = try lives.revision()
        try client.call("apply", ["document": ["agd": 1, "nodes": [["id": "k", "state": ["z": 0]]]]])
        try client.call("remove", ["path": "/k"])
        let later = try lives.revision()
        try lives.restart(killed: true)
        #expect(try !lives.resumes(["/w.a"], since: seen))
        #expect(try lives.resumes(["/w.a"], since: later))
        try lives.restart(killed: false, scene: ResumeTests.scene.replacingOccurrences(of: "a + b", with: "a - b"))
        #expect(try !lives.resumes(["/w.sum"], since: later))
        try lives.restart(killed: false, scene: ResumeTests.scene.replacingOccurrences(of: "a + b", with: "a - b"))
        #expect(try !lives.resumes(["/w.sum"], since: later))
    }
}
