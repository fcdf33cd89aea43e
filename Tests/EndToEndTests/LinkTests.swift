import AttributeValues
import Foundation
import TestSupport
import Testing

/// `agd-link` beside a daemon.
private func link(_ daemon: Daemon, _ nats: NATSServer, _ lines: String...) throws -> Program {
    let defaults = ["nats = \(nats.address)", "live-time = 2 s", "lease-time = 2 s"].filter { line in
        !lines.contains { $0.hasPrefix(line.prefix { $0 != "=" }) }
    }
    let text = (defaults + lines).joined(separator: "\n")
    let file = try daemon.folder.write(text, to: "link-\(UUID().uuidString.prefix(8)).conf")
    return try Program("agd-link", ["--config", file, "--socket", daemon.socket], folder: daemon.folder)
}

/// A client that watches `/fleet/**` of a daemon.
private final class Watch {
    let client: Client
    private var known: [String: Value] = [:]

    init(_ daemon: Daemon, _ pattern: String = "/fleet/**") throws {
        client = try daemon.client()
        try client.call("subscribe", ["paths": [.string(pattern)]])
    }

    /// The next update.
    func event() throws -> Value {
        let update = try client.event()
        for change in update["changes"]?.list ?? [] {
            if let path = change["path"]?.string { known[path] = change["value"] }
        }
        return update
    }

    /// Goes on until a path below `/fleet/web-01` has a value, unless it has it already.
    /// - Parameter whole: another whole path.
    func wait(_ path: String, _ value: Value, at whole: String? = nil) throws {
        let path = whole ?? "/fleet/web-01" + path
        let deadline = Deadline(Deadline.patience)
        while known[path] != value {
            guard !deadline.isOver else {
                throw Trouble("\(path) stayed at \(known[path].map(\.description) ?? "nothing")")
            }
            _ = try event()
        }
    }

    func get(_ path: String) throws -> Value? { try client.get("/fleet/web-01" + path) }
}

@Suite(
    "Link",
    .enabled(if: NATSServer.path != nil, "nats-server is not installed: Scripts/dependencies --tests installs it"),
    .timeLimit(.minutes(5)))
struct LinkTests {
    private static let scene = """
        nodes:
          - id: host
            state: { load: 1.5, count: 5, words: [a, 1], since: { initial: null, type: "timestamp?" } }
            computed: { twice: load * 2.0, ratio: 10 / count }
            children:
              - { id: disk, state: { used: 5 } }
              - { id: "web.example", state: { up: true } }
        """
    private static let publish = "publish = /host/** as hosts/web-01"
    private static let mirror = "mirror = hosts/* at /fleet"

    /// Waits until the mirror has the owner's revision, and compares everything.
    private func expectEqual(
        _ owner: Client, _ mirror: Watch, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let marker = Value.int(Int64.random(in: 1...Int64.max))
        try owner.set("/host/disk.used", marker)
        try mirror.wait("/disk.used", marker)
        let (a, b) = (try SiteImage(owner, "/host"), try SiteImage(mirror.client, "/fleet/web-01"))
        #expect(a == b, "\(a.differences(b))", sourceLocation: sourceLocation)
    }

    @Test("a mirror has the nodes, the order, the types and the values of its owner, and follows both")
    func follows() throws {
        let (nats, a, b) = (try NATSServer(), try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let (owner, mirror) = (try a.client(), try Watch(b))
        // Either may start first.
        let reader = try link(b, nats, LinkTests.mirror)
        let writer = try link(a, nats, LinkTests.publish)
        try mirror.wait(".isLive", true)
        try expectEqual(owner, mirror)

        try owner.call(
            "apply",
            ["document": ["nodes": [["id": "zz", "state": ["x": 1]], ["id": "yy"]]], "at": "/host"])
        try owner.call("move", ["path": "/host/zz", "index": 0])
        try owner.set("/host.count", 0)
        try expectEqual(owner, mirror)
        #expect(try mirror.get(".failures")?["/.ratio"]?.string?.isEmpty == false)

        try owner.call("remove", ["path": "/host/zz"])
        try owner.set("/host.count", 2)
        try owner.set("/host.words", ["b", 2.5, ["c": .null]])
        try expectEqual(owner, mirror)
        #expect(try mirror.get(".failures") == [:])

        writer.signal(SIGTERM)
        reader.signal(SIGTERM)
        #expect(try writer.wait() == 0)
        #expect(try reader.wait() == 0)
    }

    @Test("attributes have their owner's types; what may fail there may be null")
    func types() throws {
        let scene = """
            nodes:
              - id: host
                state: { tint: { initial: "#ff0000", type: color }, count: 5, level: { initial: null, type: "double?" } }
                computed: { ratio: 10 / count }
                children: [{ id: disk, binding: { all: $count } }]
            """
        let (nats, a, b) = (try NATSServer(), try Daemon(scenes: [scene]), try Daemon())
        let mirror = try Watch(b)
        let links = [try link(a, nats, LinkTests.publish), try link(b, nats, LinkTests.mirror)]
        try mirror.wait(".isLive", true)
        func types(_ node: String) throws -> [String: String] {
            let found = try mirror.client.call("describe", ["path": .string("/fleet/web-01" + node)])["attributes"]?.map
            return try #require(found).reduce(into: [:]) { $0[$1.key.string ?? ""] = $1.value["type"]?.string }
        }
        let found = try types("").filter { ["tint", "count", "level", "ratio"].contains($0.key) }
        #expect(found == ["tint": "color", "count": "int", "level": "double?", "ratio": "int?"])
        #expect(try types("/disk") == ["all": "int?"])
        // Another type with the same name.
        let owner = try a.client()
        try owner.call("apply", ["document": ["nodes": [["id": "host", "state": ["count": 2.5]]]], "mode": "merge"])
        try mirror.wait(".count", 2.5)
        #expect(try types("")["count"] == "double")
        withExtendedLifetime(links) {}
    }

    @Test("a mirror with rules computes the values that depend on the site alone, and takes the rest from the owner")
    func withRules() throws {
        let scene = """
            keys: { environment: { scale: 3 } }
            nodes:
              - id: outside
                state: { factor: 10 }
              - id: host
                state: { count: 5 }
                inherit: { scale: scale }
                computed: { twice: count * 2, more: twice + 1, scaled: scale * count, ratio: 10 / count, far: $/outside.factor + count }
                children: [{ id: disk, binding: { all: $count }, computed: { half: all / 2 } }]
            """
        let (nats, a, b) = (try NATSServer(), try Daemon(scenes: [scene]), try Daemon())
        let (owner, mirror) = (try a.client(), try Watch(b))
        let links = [try link(a, nats, LinkTests.publish), try link(b, nats, LinkTests.mirror + " with rules")]
        try mirror.wait(".isLive", true)
        try mirror.wait(".far", 15)
        func rules() throws -> [String: Value] {
            let site = try mirror.client.call("describe", ["path": "/fleet/web-01"])
            let disk = site["children"]?.list?.first?["attributes"]?.map ?? ValueMap()
            let all = Array(site["attributes"]?.map ?? ValueMap()) + Array(disk)
            return all.reduce(into: [:]) { $0[$1.0.string ?? ""] = $1.1["rule"] }
        }
        let expected: [String: Value] = [
            "twice": "count * 2", "more": "twice + 1", "scaled": "scale * count", "ratio": "10 / count",
            "half": "all / 2",
        ]
        #expect(try rules() == expected)
        for count in [0, 4, 7] {
            try owner.set("/host.count", .int(Int64(count)))
            try mirror.wait(".more", .int(Int64(count * 2 + 1)))
            try mirror.wait(".far", .int(Int64(count + 10)))
            try mirror.wait("/disk.half", .int(Int64(count / 2)))
        }
        try owner.set("/outside.factor", 20)
        try mirror.wait(".far", 27)
        #expect(try rules() == expected)
        withExtendedLifetime(links) {}
    }

    @Test("a transaction arrives whole, with site, label and animation")
    func transactions() throws {
        let (nats, a, b) = (try NATSServer(), try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let (owner, mirror) = (try a.client(), try Watch(b))
        let links = [try link(a, nats, LinkTests.publish), try link(b, nats, LinkTests.mirror)]
        try mirror.wait(".isLive", true)
        try expectEqual(owner, mirror)
        try owner.call(
            "transact",
            [
                "mutations": [
                    ["op": "set", "path": "/host.load", "value": 4.0],
                    ["op": "set", "path": "/host.count", "value": 7],
                ],
                "label": "tap", "animation": "easeInOut(duration: 1)",
            ])
        var update = try mirror.event()
        while update["label"]?.string?.hasPrefix("hosts/web-01: tap") != true { update = try mirror.event() }
        #expect(update["label"]?.string?.hasSuffix("(user \(getuid()))") == true, "\(update["label"] ?? .null)")
        let changes = update["changes"]?.list ?? []
        let paths = Set(changes.compactMap { $0["path"]?.string })
        #expect(
            paths.isSuperset(
                of: ["load", "twice", "count", "ratio", "revision"].map { "/fleet/web-01." + $0 }))
        let load = changes.first { $0["path"] == "/fleet/web-01.load" }
        #expect(load?["value"] == 4.0)
        #expect(load?["timeline"]?["curve"]?["timingCurve"]?["duration"] == 1)
        // One value moves, and one jumps.
        try owner.call(
            "transact",
            [
                "mutations": [
                    ["op": "set", "path": "/host.load", "value": 1.0],
                    ["op": "set", "path": "/host.count", "value": 70],
                ],
                "label": "half", "motions": [["animation": "linear(duration: 100)", "mutations": [0]]],
            ])
        update = try mirror.event()
        while update["label"]?.string?.hasPrefix("hosts/web-01: half") != true { update = try mirror.event() }
        let moving = (update["changes"]?.list ?? []).filter { $0["timeline"] != nil }.compactMap { $0["path"]?.string }
        // A computed value moves with the state that it reads.
        #expect(Set(moving) == ["/fleet/web-01.load", "/fleet/web-01.twice"])
        // A change of structure, too.
        try owner.call(
            "apply",
            ["document": ["nodes": [["id": "late", "state": ["x": 1]]]], "at": "/host", "label": "grow"])
        while try mirror.event()["label"]?.string?.hasPrefix("hosts/web-01: grow by ") != true {}
        let changed = try mirror.client.call("explain", ["path": "/fleet/web-01/late.x"])["changed"]
        #expect(changed?["label"]?.string?.hasPrefix("hosts/web-01: grow by ") == true, "\(changed ?? .null)")
        withExtendedLifetime(links) {}
    }

    @Test("a motion of the mirror has begun when its owner's did, also when the transaction came late")
    func motions() throws {
        let (nats, a, b) = (try NATSServer(), try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let (owner, mirror) = (try a.client(), try Watch(b))
        let (writer, reader) = (try link(a, nats, LinkTests.publish), try link(b, nats, LinkTests.mirror))
        try mirror.wait(".isLive", true)
        try owner.call("subscribe", ["paths": ["/host.load"], "initial": false])
        let other = try a.client()
        reader.signal(SIGSTOP)
        // One unit a second.
        try other.call("set", ["path": "/host.load", "value": 1001.5, "animation": "linear(duration: 1000)"])
        let begun = try owner.event()["changes"]?.list?.first?["timeline"]?["start"]?.number
        while try #require(try shown(other, "/host.load")) < 2.5 {}
        reader.signal(SIGCONT)
        var change: Value?
        while change == nil {
            change = try mirror.event()["changes"]?.list?.first { $0["path"] == "/fleet/web-01.load" }
        }
        // The daemons of this test have the same clock.
        let late = try #require(change?["timeline"]?["start"]?.number) - #require(begun)
        #expect(abs(late) < 0.5, "the mirror's motion begins \(late) s after the owner's")
        withExtendedLifetime(writer) {}
    }

    /// The value that an attribute in motion has now.
    private func shown(_ client: Client, _ path: String) throws -> Double? {
        try client.call("get", ["paths": [.string(path)], "presentation": true])["values"]?.map?[.string(path)]?[
            "value"]?.number
    }

    /// A library that adds the seconds in a file to the wall clock of a program.
    private static let clockLibrary = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <time.h>
        int clock_gettime(clockid_t clock, struct timespec *time) {
            static int (*next)(clockid_t, struct timespec *);
            if (!next) next = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
            int status = next(clock, time);
            FILE *file = clock == CLOCK_REALTIME ? fopen(getenv("CLOCK_STEP"), "r") : NULL;
            long seconds = 0;
            if (file && fscanf(file, "%ld", &seconds) == 1) time->tv_sec += seconds;
            if (file) fclose(file);
            return status;
        }
        """

    @Test(
        "a wall clock that is set stops no mirror, and moves no motion",
        .enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/cc"), "there is no C compiler"))
    func setClock() throws {
        let (nats, a, b) = (try NATSServer(), try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let (owner, mirror) = (try a.client(), try Watch(b))
        let source = try b.folder.write(LinkTests.clockLibrary, to: "clock.c")
        let library = b.folder.file("clock.so")
        let made = try Program.run(
            "/usr/bin/cc", ["-shared", "-fPIC", "-o", library, source, "-ldl"], folder: b.folder)
        try #require(made.code == 0, "\(made.text)")
        let file = try b.folder.write("nats = \(nats.address)\nlive-time = 2 s\n\(LinkTests.mirror)", to: "link.conf")
        let reader = try Program(
            "agd-link", ["--config", file, "--socket", b.socket],
            environment: ["LD_PRELOAD": library, "CLOCK_STEP": b.folder.file("step")], folder: b.folder)
        let writer = try link(a, nats, LinkTests.publish)
        try mirror.wait(".isLive", true)
        // libnats' waits for the real clock would now end in an hour.
        _ = try b.folder.write("3600\n", to: "step")
        for number in 1...3 {
            try owner.set("/host.count", .int(Int64(number)))
            try mirror.wait(".count", .int(Int64(number)))
        }
        try owner.call("subscribe", ["paths": ["/host.load"], "initial": false])
        try a.client().call("set", ["path": "/host.load", "value": 1001.5, "animation": "linear(duration: 1000)"])
        let begun = try owner.event()["changes"]?.list?.first?["timeline"]?["start"]?.number
        var change: Value?
        while change == nil {
            change = try mirror.event()["changes"]?.list?.first { $0["path"] == "/fleet/web-01.load" }
        }
        let late = try #require(change?["timeline"]?["start"]?.number) - #require(begun)
        #expect(abs(late) < 0.5, "the mirror's motion begins \(late) s after the owner's")
        writer.signal(SIGKILL)
        try mirror.wait(".isLive", false)
        withExtendedLifetime(reader) {}
    }

    @Test(
        "the log tells a NATS that is away, one without JetStream, and what NATS has acknowledged; it has no password")
    func log() throws {
        let (nats, a) = (try NATSServer(jetStream: false), try Daemon(scenes: [LinkTests.scene]))
        let client = try a.client()
        nats.program.signal(SIGKILL)
        _ = try nats.program.wait()
        let address = nats.address.dropFirst("nats://".count)
        let both = try link(a, nats, "nats = nats://somebody:secret@\(address)", LinkTests.publish, LinkTests.mirror)
        func expect(_ lines: String...) throws {
            let deadline = Deadline(Deadline.patience)
            while !lines.allSatisfy(both.text.contains), !deadline.isOver { try client.call("ping") }
            for line in lines { #expect(both.text.contains(line), "\(both.text)") }
        }
        let (publisher, mirror) = ("hosts/web-01: ", "mirror at /fleet: ")
        let away = "no connection to NATS at \(address); trying again"
        try expect(publisher + away, mirror + away)
        try nats.restart()
        let without = "no server of NATS offers JetStream to this link; start nats-server with -js"
        try expect(
            publisher + "find the stream AGD_TX: " + without, mirror + "read agd.head.hosts.*: " + without,
            publisher + "reading /host from revision")
        #expect(!both.text.contains("published"))
        nats.program.signal(SIGKILL)
        _ = try nats.program.wait()
        try nats.restart(jetStream: true)
        try expect(publisher + "connected to NATS at \(address)", publisher + "published", "hosts/web-01 is live")
        #expect(!both.text.contains("secret"), "\(both.text)")
    }

    @Test("a mirror shows the death of the owner's link, of its daemon and of its own link")
    func deaths() throws {
        let (nats, a, b) = (try NATSServer(), try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let (owner, mirror) = (try a.client(), try Watch(b))
        var writer = try link(a, nats, LinkTests.publish)
        let reader = try link(b, nats, LinkTests.mirror)
        try mirror.wait(".isLive", true)
        writer.signal(SIGKILL)
        try mirror.wait(".isLive", false)
        try owner.set("/host.load", 9.0)
        writer = try link(a, nats, LinkTests.publish)
        try mirror.wait(".isLive", true)
        try mirror.wait(".load", 9.0)
        try expectEqual(owner, mirror)

        a.program.signal(SIGKILL)
        try mirror.wait(".isLive", false)
        #expect(try mirror.get(".load") == 9.0)
        // A new life of the owner's graph: everything is as in its scene.
        let again = try Daemon(scenes: [LinkTests.scene], folder: a.folder)
        try mirror.wait(".load", 1.5)
        try expectEqual(try again.client(), mirror)

        reader.signal(SIGKILL)
        try mirror.wait(".isLive", false)
        withExtendedLifetime(writer) {}
    }

    @Test("while NATS is away the owner goes on, and afterwards the mirror has its newest values")
    func serverDies() throws {
        let (nats, a, b) = (try NATSServer(), try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let (owner, mirror) = (try a.client(), try Watch(b))
        let links = [try link(a, nats, LinkTests.publish), try link(b, nats, LinkTests.mirror)]
        try mirror.wait(".isLive", true)
        nats.program.signal(SIGKILL)
        _ = try nats.program.wait()
        for number in 0..<500 { try owner.set("/host.load", .double(Double(number))) }
        try owner.call("remove", ["path": "/host/\"web.example\""])
        try mirror.wait(".isLive", false)
        #expect(try mirror.get(".load") == 1.5)
        try nats.restart()
        try mirror.wait(".load", 499.0)
        try mirror.wait(".isLive", true)
        try expectEqual(owner, mirror)
        withExtendedLifetime(links) {}
    }

    @Test("the next link of a mirror shows nothing older, whatever NATS answers")
    func olderState() throws {
        let (early, nats) = (try NATSServer(), try NATSServer())
        let (a, b) = (try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let (owner, mirror) = (try a.client(), try Watch(b))
        // This server keeps the site as it is now.
        let other = try Daemon()
        let seen = try Watch(other)
        let first = [try link(a, early, LinkTests.publish), try link(other, early, LinkTests.mirror)]
        try seen.wait(".isLive", true)
        first[0].signal(SIGKILL)
        try owner.set("/host.load", 9.0)
        let writer = try link(a, nats, LinkTests.publish)
        var reader = try link(b, nats, LinkTests.mirror)
        try mirror.wait(".isLive", true)
        try mirror.wait(".load", 9.0)
        reader.signal(SIGKILL)
        try mirror.wait(".isLive", false)
        reader = try link(b, early, LinkTests.mirror)
        let deadline = Deadline(Deadline.patience)
        while !reader.text.contains("an older state than this mirror"), !deadline.isOver { try owner.call("ping") }
        #expect(reader.text.contains("an older state than this mirror"), "\(reader.text)")
        #expect(try mirror.get(".load") == 9.0)
        #expect(try mirror.get(".isLive") == false)
        reader.signal(SIGKILL)
        reader = try link(b, nats, LinkTests.mirror)
        try mirror.wait(".isLive", true)
        try expectEqual(owner, mirror)
        withExtendedLifetime((first, writer, reader)) {}
    }

    @Test("when NATS has lost all its files, the links make the streams again, and mirrors follow")
    func lostFiles() throws {
        let (nats, a, b) = (try NATSServer(), try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let (owner, mirror) = (try a.client(), try Watch(b))
        let links = [try link(a, nats, LinkTests.publish), try link(b, nats, LinkTests.mirror)]
        try mirror.wait(".isLive", true)
        try expectEqual(owner, mirror)
        nats.program.signal(SIGKILL)
        _ = try nats.program.wait()
        try FileManager.default.removeItem(atPath: nats.folder.file("js"))
        try owner.set("/host.load", 7.0)
        try nats.restart()
        try mirror.wait(".load", 7.0)
        try mirror.wait(".isLive", true)
        try expectEqual(owner, mirror)
        withExtendedLifetime(links) {}
    }

    /// Compares the paths and states that `agctl sites` prints.
    private func sites(_ daemon: Daemon, _ states: [String: String], status: Int32) throws {
        let (code, text) = try Program.run("agctl", ["--socket", daemon.socket, "sites"], folder: daemon.folder)
        var printed: [String: String] = [:]
        for line in text.split(separator: "\n") {
            let cells = line.split(separator: "\t", omittingEmptySubsequences: false)
            guard cells.count == 7 else { throw Trouble("agctl sites printed '\(line)'") }
            printed[String(cells[0])] = String(cells[1])
        }
        #expect(printed == states)
        #expect(code == status)
    }

    @Test("sites stand beside each other, and rules of their container read which of them live")
    func twoSites() throws {
        let (nats, a, b) = (try NATSServer(), try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let (owner, mirror) = (try a.client(), try Watch(b))
        let reader = try link(b, nats, LinkTests.mirror)
        let writer = try link(a, nats, LinkTests.publish)
        let other = try link(a, nats, "publish = /host/disk/** as hosts/web-02")
        try mirror.wait(".isLive", true)
        try mirror.wait("", 5, at: "/fleet/web-02.used")
        try expectEqual(owner, mirror)
        try mirror.client.call(
            "apply",
            [
                "document": [
                    "nodes": [
                        [
                            "id": "fleet",
                            "computed": ["live": "subviews.filter(s, s.containerValues.siteIsLive).size()"],
                        ]
                    ]
                ], "mode": "merge",
            ])
        try mirror.wait("", 2, at: "/fleet.live")
        try owner.call(
            "apply", ["document": ["nodes": [["id": "host", "computed": ["extra": "count"]]]], "mode": "merge"])
        try mirror.wait(".extra", 5)
        // An attribute of the root goes, and the structure of one site changes: the other one stays.
        try owner.call(
            "apply",
            [
                "document": [
                    "nodes": [
                        [
                            "id": "host", "state": ["load": 1.5, "count": 5],
                            "children": [["id": "disk", "state": ["used": 6]]],
                        ]
                    ]
                ],
                "mode": "replace",
            ])
        try expectEqual(owner, mirror)
        #expect(throws: Trouble.self) { try mirror.get(".extra") }
        try owner.set("/host/disk.used", 77)
        try mirror.wait("", 77, at: "/fleet/web-02.used")
        try mirror.wait("", 0.0, at: "/fleet/web-02.lag")
        try sites(b, ["/fleet/web-01": "live", "/fleet/web-02": "live"], status: 0)
        other.signal(SIGKILL)
        try mirror.wait("", 1, at: "/fleet.live")
        try sites(b, ["/fleet/web-01": "live", "/fleet/web-02": "silent"], status: 1)
        let publisher = try mirror.client.get("/fleet/web-02.owner")?.string ?? ""
        #expect(publisher.hasSuffix(":\(other.pid)"), "\(publisher)")
        withExtendedLifetime((reader, writer)) {}
    }

    @Test("a quiet owner writes its snapshot again after a purge, so that new mirrors have the site")
    func purge() throws {
        let (nats, a, b) = (try NATSServer(), try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let mirror = try Watch(b)
        let links = [
            try link(a, nats, LinkTests.publish, "snapshot-time = 1 s"), try link(b, nats, LinkTests.mirror),
        ]
        try mirror.wait(".isLive", true)
        let other = try NATSClient(nats)
        for streams in [["AGD_HEAD", "AGD_SNAP"], ["AGD_HEAD"], ["AGD_SNAP"]] {
            for stream in streams {
                #expect(try other.request("$JS.API.STREAM.PURGE.\(stream)").contains(#""success":true"#))
            }
            let newcomer = try Daemon()
            let late = try Watch(newcomer)
            let third = try link(newcomer, nats, LinkTests.mirror)
            try late.wait(".isLive", true)
            try expectEqual(try a.client(), late)
            third.signal(SIGKILL)
        }
        withExtendedLifetime(links) {}
    }

    @Test("a silent site can be retired by whoever may, at all mirrors and for good, until an owner returns")
    func retirement() throws {
        let nats = try NATSServer()
        let access =
            "access = admin user:\(NSUserName()) /**\naccess = read as:anna,as:bert /**\naccess = do as:anna /**\n"
        let (a, b) = (try Daemon(scenes: [LinkTests.scene]), try Daemon(configuration: access))
        let (other, away) = (try Daemon(), try Daemon())
        let mirrors = [try Watch(b), try Watch(other), try Watch(away)]
        var writer = try link(a, nats, LinkTests.publish, "snapshot-time = 1 s")
        let second = try link(a, nats, "publish = /host/disk/** as hosts/web-02")
        var readers = try [b, other, away].map { try link($0, nats, LinkTests.mirror) }
        for mirror in mirrors {
            try mirror.wait(".isLive", true)
            try mirror.wait("", true, at: "/fleet/web-02.isLive")
        }
        func retire(_ name: String, _ more: String...) throws -> (code: Int32, text: String) {
            try Program.run("agctl", ["--socket", b.socket, "sites", "--retire", name] + more, folder: b.folder)
        }
        let live = try retire("web-01")
        #expect(live.code != 0 && live.text.contains("hosts/web-01 is published by "), "\(live.text)")
        #expect(try retire("web-09").text.contains("there is no mirror 'web-09'"))
        writer.signal(SIGKILL)
        readers[2].signal(SIGKILL)
        for mirror in mirrors { try mirror.wait(".isLive", false) }
        let denied = try retire("web-01", "--as", "bert")
        #expect(denied.code != 0 && denied.text.contains("right 'do'"), "\(denied.text)")
        let done = try retire("/fleet/web-01", "--as", "anna")
        #expect(done.code == 0, "\(done.text)")
        try sites(b, ["/fleet/web-02": "live"], status: 0)
        // The other mirrors remove it too, also one that was away.
        readers[2] = try link(away, nats, LinkTests.mirror)
        let deadline = Deadline(Deadline.patience)
        for mirror in mirrors {
            func children() throws -> [String] {
                let found = try mirror.client.call("describe", ["path": "/fleet"])["children"]?.list ?? []
                return found.compactMap { $0["id"]?.string }
            }
            while try children() != ["web-02"], !deadline.isOver {}
            #expect(try children() == ["web-02"])
        }
        // A new mirror and a new life of the old one do not have it.
        readers[0].signal(SIGKILL)
        readers[0] = try link(b, nats, LinkTests.mirror)
        try mirrors[0].wait("", false, at: "/fleet/web-02.isLive")
        try mirrors[0].wait("", true, at: "/fleet/web-02.isLive")
        #expect(throws: Trouble.self) { try mirrors[0].get(".isLive") }
        writer = try link(a, nats, LinkTests.publish, "snapshot-time = 1 s")
        for mirror in mirrors { try mirror.wait(".isLive", true) }
        try expectEqual(try a.client(), mirrors[0])
        withExtendedLifetime((writer, second, readers)) {}
    }

    @Test("while NATS does not answer, a site that is to be retired makes no other request wait")
    func hangingRetirement() throws {
        let (nats, a, b) = (try NATSServer(), try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let mirror = try Watch(b)
        let writer = try link(a, nats, LinkTests.publish)
        let reader = try link(b, nats, LinkTests.mirror)
        try mirror.wait(".isLive", true)
        writer.signal(SIGKILL)
        try mirror.wait(".isLive", false)
        nats.program.signal(SIGSTOP)
        defer { nats.program.signal(SIGCONT) }
        let (retiring, other) = (try b.client(), try b.client())
        try retiring.send(#"{"jsonrpc":"2.0","id":1,"method":"do","params":{"path":"/fleet/web-01.retireSite"}}"#)
        try retiring.send(#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#)
        // The link waits so long for NATS.
        let wait = Deadline(2)
        let refusal = try other.refusal("set", ["path": "/fleet/web-01.load", "value": 9.0])
        #expect(refusal["message"]?.string?.contains("has no owner at present") == true, "\(refusal)")
        #expect(try wait.isOver || retiring.lineIfThere(within: 0) == nil)
        let answer = try retiring.message()
        #expect(answer["error"]?["data"]?["code"] == "unavailable", "\(answer)")
        // NATS may have kept it after all. To repeat it does no harm.
        nats.program.signal(SIGCONT)
        let deadline = Deadline(Deadline.patience)
        var isDone = false
        var reply = Value.null
        while !isDone, !deadline.isOver {
            reply = try other.reply("do", ["path": "/fleet/web-01.retireSite"])
            isDone = reply["result"] != nil || reply["error"]?["data"]?["code"] == "notFound"
        }
        #expect(isDone, "\(reply)")
        #expect(throws: Trouble.self) { try mirror.get(".isLive") }
        withExtendedLifetime((writer, reader)) {}
    }

    @Test("when another mirror has retired a site, nobody is asked for a write to it")
    func retiredElsewhere() throws {
        let (nats, a, b) = (try NATSServer(), try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let mirror = try Watch(b)
        let writer = try link(a, nats, LinkTests.publish)
        let reader = try link(b, nats, LinkTests.mirror)
        try mirror.wait(".isLive", true)
        writer.signal(SIGKILL)
        try mirror.wait(".isLive", false)
        #expect(try NATSClient(nats).request("agd.head.hosts.web-01", #"{"agd":1,"retired":true}"#).contains("seq"))
        let deadline = Deadline(Deadline.patience)
        while try mirror.client.reply("get", ["path": "/fleet/web-01.isLive"])["error"] == nil, !deadline.isOver {}
        for refusal in [
            try mirror.client.refusal("do", ["path": "/fleet/web-01.retireSite"]),
            try mirror.client.refusal("set", ["path": "/fleet/web-01.load", "value": 9.0]),
        ] {
            #expect(refusal["data"]?["code"] == "notFound", "\(refusal)")
        }
        withExtendedLifetime((writer, reader)) {}
    }

    /// A site that a client of NATS publishes, which sends what it likes. Its clock counts its signs of life.
    private struct BadSite {
        let nats: NATSClient
        var name = "bad"
        private(set) var beats = 0
        private var snapshots = 0

        init(_ server: NATSServer) throws { nats = try NATSClient(server) }

        /// Writes a snapshot and its manifest.
        mutating func publish(_ body: String?, revision: Int) throws {
            snapshots += 1
            if let body {
                let part = "agd1 1 e \(revision) \(revision) 0 1\n" + body
                #expect(try nats.request("agd.snap.hosts.\(name).s\(snapshots).0", part).contains("seq"))
            }
            let manifest =
                #"{"agd":1,"term":1,"epoch":"e","revision":\#(revision),"snapshot":"s\#(snapshots)","parts":1,"bytes":9,"next":1}"#
            #expect(try nats.request("agd.head.hosts.\(name)", manifest).contains("seq"))
        }

        mutating func beat(revision: Int) throws {
            beats += 1
            let frame = "agd1 1 e \(revision) \(revision) 0 1\n"
            try nats.publish("agd.live.hosts.\(name)", frame + "{\"owner\":\"bad\",\"clock\":\(beats)}")
        }

        /// Goes on with signs of life until a condition holds.
        mutating func live(revision: Int, until isDone: () throws -> Bool) throws {
            let deadline = Deadline(Deadline.patience)
            while try !isDone() {
                guard !deadline.isOver else { throw Trouble("it does not come true") }
                try beat(revision: revision)
            }
        }
    }

    private static let goodBody = #"{"children":[[[],[]]],"definitions":[[".x",{"type":"int"}]],"changes":[[".x",7]]}"#

    @Test(
        "a site whose messages are malformed or refused is silent with the reason, stops no other, and heals",
        arguments: [
            // The body of a snapshot, and a part of the reason.
            (#"{"children":[[[],["a","a"]],[["a"],["a","a"]]],"changes":[]}"#, "two nodes with the id 'a'"),
            (#"{"children":[[[],["*"]]],"changes":[]}"#, "an id cannot be '*'"),
            (#"{"children":[[[],[""]]],"changes":[]}"#, "an id cannot be empty"),
            (
                #"{"children":[[[],["a"]],[["a"],[]]],"definitions":[["/a.subviews",{"type":"int"}]],"changes":[["/a.subviews",1]]}"#,
                "subviews"
            ),
            (#"{"children":[[[],[]]],"definitions":[[".x",{"type":"int"}]],"changes":[[".x","text"]]}"#, "int"),
            (#"{"children":[[[],[]]],"changes":[[".x",{"list":[1]}]]}"#, "a change has neither"),
            ("no JSON", "not JSON"),
        ])
    func badNeighbour(_ body: String, _ reason: String) throws {
        let (nats, a, b) = (try NATSServer(), try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let (owner, mirror) = (try a.client(), try Watch(b))
        let links = [try link(a, nats, LinkTests.publish), try link(b, nats, LinkTests.mirror, "live-time = 20 s")]
        try mirror.wait(".isLive", true)
        let healthy = try Watch(b, "/fleet/web-01.isLive")
        #expect(try healthy.event()["initial"] == true)
        func failures() -> String? {
            (try? mirror.client.get("/fleet/bad.failures"))?["/"]?.string
        }
        var bad = try BadSite(nats)
        // From the beginning.
        try bad.publish(body, revision: 5)
        try bad.live(revision: 5) { failures()?.contains(reason) == true }
        #expect(try mirror.client.get("/fleet/bad.isLive") == false)
        #expect(links[1].text.contains("hosts/bad: "), "\(links[1].text)")
        // The next state is a good one.
        try bad.publish(LinkTests.goodBody, revision: 9)
        try bad.live(revision: 9) { (try? mirror.client.get("/fleet/bad.isLive")) == true }
        #expect(try mirror.client.get("/fleet/bad.x") == 7)
        #expect(try mirror.client.get("/fleet/bad.failures") == [:])
        // A transaction; the last good state stays.
        let change = body.replacing(#""children":[[[],[]]],"#, with: "")
        try bad.nats.publish("agd.tx.hosts.bad", "agd1 1 e 9 12 0 1\n" + change)
        try bad.publish(body, revision: 12)
        try bad.live(revision: 12) { failures()?.contains(reason) == true }
        #expect(try mirror.client.get("/fleet/bad.isLive") == false)
        #expect(try mirror.client.get("/fleet/bad.x") == 7)
        try bad.publish(LinkTests.goodBody, revision: 15)
        try bad.live(revision: 15) { (try? mirror.client.get("/fleet/bad.isLive")) == true }

        #expect(try healthy.client.lineIfThere(within: 0) == nil, "the healthy site was live throughout")
        try owner.set("/host.count", 17)
        try mirror.wait(".count", 17)
        withExtendedLifetime(links) {}
    }

    @Test("sites whose snapshots are missing, or who send without an end, do not delay the others")
    func missingSnapshots() throws {
        let (nats, a, b) = (try NATSServer(), try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let (owner, mirror) = (try a.client(), try Watch(b, "/fleet/web-01.*"))
        let links = [
            try link(a, nats, LinkTests.publish), try link(b, nats, LinkTests.mirror, "live-time = 20 s"),
        ]
        try mirror.wait(".isLive", true)
        let healthy = try Watch(b, "/fleet/web-01.isLive")
        #expect(try healthy.event()["initial"] == true)
        var bad = try BadSite(nats)
        for number in 0..<11 {
            bad.name = "bad\(number)"
            try bad.publish(nil, revision: 5)
        }
        // Each is tried again at once when it has sent a manifest, and with each gap.
        let rest = Deadline(6)
        var count: Int64 = 100
        while !rest.isOver {
            for number in 0..<11 {
                bad.name = "bad\(number)"
                try bad.publish(nil, revision: Int(count))
                try bad.beat(revision: Int(count))
                for _ in 0..<20 { try bad.nats.publish("agd.tx.hosts.\(bad.name)", "agd1 1 e 4 \(count) 0 1\n{}") }
            }
            count += 1
            try owner.set("/host.count", .int(count))
            // The thread would wait 2 s for each of the snapshots.
            let wait = Deadline(15)
            try mirror.wait(".count", .int(count))
            #expect(!wait.isOver, "a change of a healthy site comes in time")
        }
        #expect(try healthy.client.lineIfThere(within: 0) == nil, "the healthy site was live throughout")
        let reason = try mirror.client.get("/fleet/bad3.failures")?["/"]?.string ?? ""
        #expect(reason.contains("NATS lacks parts of the snapshot"), "\(reason)")
        withExtendedLifetime(links) {}
    }

    @Test("a site that is longer than the mirror's daemon takes shows the reason, and other sites go on")
    func longNeighbour() throws {
        let (nats, a, b) = (
            try NATSServer(), try Daemon(scenes: [LinkTests.scene]),
            try Daemon(configuration: "message-size = 100000\n")
        )
        let (owner, mirror) = (try a.client(), try Watch(b))
        let links = [
            try link(a, nats, LinkTests.publish, "publish = /host/disk/** as hosts/web-02"),
            try link(b, nats, LinkTests.mirror),
        ]
        try mirror.wait(".isLive", true)
        try mirror.wait("", 5, at: "/fleet/web-02.used")
        try owner.set("/host.words", [.string(String(repeating: "x", count: 200_000))])
        try mirror.wait(".isLive", false)
        let reason = try mirror.get(".failures")?["/"]?.string ?? ""
        #expect(reason.contains("message-size"), "\(reason)")
        try owner.set("/host/disk.used", 6)
        try mirror.wait("", 6, at: "/fleet/web-02.used")
        try mirror.wait("", true, at: "/fleet/web-02.isLive")
        // It shrinks.
        try owner.set("/host.words", ["a"])
        try mirror.wait(".isLive", true)
        try mirror.wait(".words", ["a"])
        withExtendedLifetime(links) {}
    }

    @Test("nodes of a mirror that somebody removes are made again, and other sites do not notice")
    func removedNodes() throws {
        let (nats, a, b) = (try NATSServer(), try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let (owner, mirror) = (try a.client(), try Watch(b))
        let writer = try link(a, nats, LinkTests.publish, "publish = /host/disk/** as hosts/web-02")
        let reader = try link(b, nats, LinkTests.mirror, "live-time = 20 s")
        try mirror.wait(".isLive", true)
        try mirror.wait("", true, at: "/fleet/web-02.isLive")
        let other = try Watch(b, "/fleet/web-02.isLive")
        #expect(try other.event()["initial"] == true)
        // While the site is quiet.
        try mirror.client.call("remove", ["path": "/fleet/web-01"])
        try Watch(b).wait(".isLive", true)
        // While transactions are on their way. The owner is quiet afterwards.
        for number in 1...5 {
            reader.signal(SIGSTOP)
            try owner.set("/host.count", .int(Int64(number)))
            try mirror.client.call("remove", ["path": "/fleet/web-01"])
            reader.signal(SIGCONT)
            let newcomer = try Watch(b)
            try newcomer.wait(".isLive", true)
            try newcomer.wait(".count", .int(Int64(number)))
        }
        // A child alone.
        try mirror.client.call("remove", ["path": "/fleet/web-01/disk"])
        try owner.set("/host/disk.used", 77)
        try Watch(b).wait("/disk.used", 77)
        #expect(try other.client.lineIfThere(within: 0) == nil, "the other site has not been made again")
        withExtendedLifetime((writer, reader)) {}
    }

    @Test("a second link that mirrors a site at the same path writes nothing, and takes over when the first has ended")
    func twoMirrors() throws {
        let access = "access = admin everyone /**\naccess = write as:\(NSUserName()) /**\n"
        let (nats, a, b) = (
            try NATSServer(), try Daemon(scenes: [LinkTests.scene], configuration: access),
            try Daemon(configuration: access)
        )
        let (owner, mirror) = (try a.client(), try Watch(b))
        let writer = try link(a, nats, LinkTests.publish)
        let first = try link(b, nats, LinkTests.mirror)
        try mirror.wait(".isLive", true)
        let second = try link(b, nats, LinkTests.mirror)
        let deadline = Deadline(Deadline.patience)
        while !second.text.contains("hosts/web-01 is not mirrored at /fleet/web-01"), !deadline.isOver {
            try owner.call("ping")
        }
        #expect(second.text.contains("another client performs the writes"), "\(second.text)")
        for number in 1...50 { try owner.set("/host.count", .int(Int64(number))) }
        try mirror.wait(".count", 50)
        try expectEqual(owner, mirror)
        #expect(try owner.get("/host.count") == 50, "no old value was written back")
        #expect(try mirror.get(".isLive") == true)
        first.signal(SIGKILL)
        try mirror.wait(".isLive", false)
        try mirror.wait(".isLive", true)
        try expectEqual(owner, mirror)
        withExtendedLifetime((writer, second)) {}
    }

    @Test("a second claimant of a site waits until the lease of the first has lapsed")
    func twoClaimants() throws {
        let (nats, a, b) = (try NATSServer(), try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let second = try Daemon(scenes: [LinkTests.scene.replacingOccurrences(of: "1.5", with: "2.5")])
        let mirror = try Watch(b)
        let writer = try link(a, nats, LinkTests.publish)
        let reader = try link(b, nats, LinkTests.mirror)
        try mirror.wait(".isLive", true)
        let claimant = try link(second, nats, LinkTests.publish)
        let deadline = Deadline(Deadline.patience)
        while !claimant.text.contains("waiting for its lease"), !deadline.isOver { try mirror.client.call("ping") }
        #expect(claimant.text.contains("publishes this site"))
        #expect(try mirror.get(".load") == 1.5)
        writer.signal(SIGKILL)
        try mirror.wait(".load", 2.5)
        try expectEqual(try second.client(), mirror)
        // A link without its daemon leaves the site to another link.
        let third = try link(a, nats, LinkTests.publish)
        second.program.signal(SIGKILL)
        try mirror.wait(".load", 1.5)
        withExtendedLifetime((reader, claimant, third)) {}
    }

    @Test("after kills between changes of the owner, the mirror has what the owner has", arguments: freshSeeds(3))
    func kills(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let (nats, b) = (try NATSServer(), try Daemon())
        var a = try Daemon(scenes: [LinkTests.scene])
        var owner = try a.client()
        var writer = try link(a, nats, LinkTests.publish)
        var reader = try link(b, nats, LinkTests.mirror)
        let mirror = try Watch(b)
        try mirror.wait(".isLive", true)
        for round in 0..<30 {
            switch Int.random(in: 0..<14, using: &random) {
            case 0:
                writer.signal(SIGKILL)
                writer = try link(a, nats, LinkTests.publish)
            case 1:
                reader.signal(SIGKILL)
                reader = try link(b, nats, LinkTests.mirror)
            case 2:
                nats.program.signal(SIGKILL)
                _ = try nats.program.wait()
                try nats.restart()
            case 3:
                a.program.signal(SIGKILL)
                _ = try a.program.wait()
                a = try Daemon(scenes: [LinkTests.scene], folder: a.folder)
                owner = try a.client()
            case 4...6:
                try owner.call(
                    "apply", ["document": ["nodes": [["id": .string("n\(round)"), "state": ["x": 1]]]], "at": "/host"])
                try owner.call("move", ["path": .string("/host/n\(round)"), "index": 0])
            case 7:
                let children = try owner.call("describe", ["path": "/host"])["children"]?.list ?? []
                if let id = children.first?["id"]?.string, id != "disk" {
                    try owner.call("remove", ["path": .string("/host/" + (id == "web.example" ? "\"\(id)\"" : id))])
                }
            default: try owner.set("/host.load", .double(Double(round)))
            }
        }
        try expectEqual(owner, mirror)
        withExtendedLifetime((writer, reader)) {}
    }

    /// The block of Fleet.md that begins with a line.
    private static func documented(_ line: String) throws -> String {
        let text = try String(contentsOfFile: Project.file("Documentation/Fleet.md"), encoding: .utf8)
        guard let start = text.range(of: line), let end = text.range(of: "```", range: start.upperBound..<text.endIndex)
        else { throw Trouble("Fleet.md has no block '\(line)'") }
        return String(text[start.lowerBound..<end.lowerBound])
    }

    @Test("a write to a mirror is performed by the owner with its access lines, and seen before the reply")
    func writes() throws {
        let nats = try NATSServer()
        let a = try Daemon(
            scenes: [LinkTests.scene],
            configuration: "access = write as:anna /host.*\naccess = read as:bert /host/**\n")
        let b = try Daemon(
            scenes: ["nodes: [{ id: own, state: { x: 1 } }]"],
            configuration: "access = admin everyone /**\naccess = write as:anna,as:bert,as:carl /**\n")
        let mirror = try Watch(b)
        let writer = try link(a, nats, LinkTests.publish)
        let reader = try link(b, nats, LinkTests.mirror)
        try mirror.wait(".isLive", true)
        let (owner, anna, bert) = try (a.client(), b.client(), b.client())
        try anna.call("hello", ["as": "anna"])
        try bert.call("hello", ["as": "bert"])
        for number in 1...20 {
            let reply = try anna.set("/fleet/web-01.load", .double(Double(number)))
            #expect(try reply["revision"] == owner.call("get", ["path": "/host.load"])["revision"])
            #expect(try anna.get("/fleet/web-01.load") == .double(Double(number)))
            #expect(try anna.get("/fleet/web-01.twice") == .double(Double(2 * number)))
        }
        let cause = try owner.call("explain", ["path": "/host.load"])
        #expect("\(cause)".contains("anna"), "the owner knows who wrote: \(cause)")
        // The owner decides.
        let carl = try b.client()
        try carl.call("hello", ["as": "carl"])
        for (client, name) in [(bert, "bert"), (carl, "carl")] {
            let denial = try client.refusal("set", ["path": "/fleet/web-01.load", "value": 1.0])["data"]
            #expect(
                denial?["code"] == "denied"
                    && denial?["hint"]
                        == .string(
                            "on the owner's machine, a line of the daemon's configuration gives it: access = write "
                                + "as:\(name) /host.load")
            )
        }
        #expect(
            try anna.refusal("set", ["path": "/fleet/web-01.load", "value": "x"])["data"]?["code"] == "typeMismatch")
        #expect(try owner.get("/host.load") == 20.0)
        // Several of one site are one transaction there; with others they are refused.
        let both: Value = [
            ["op": "set", "path": "/fleet/web-01.load", "value": 3.0],
            ["op": "add", "path": "/fleet/web-01.count", "value": 2],
        ]
        try anna.call("transact", ["mutations": both])
        #expect(try owner.get("/host.count") == 7 && anna.get("/fleet/web-01.count") == 7)
        let mixed: Value = .list((both.list ?? []) + [["op": "set", "path": "/own.x", "value": 2]])
        #expect(try anna.refusal("transact", ["mutations": mixed])["data"]?["code"] == "conflict")
        #expect(try anna.get("/own.x") == 1 && owner.get("/host.load") == 3.0)
        // Without an owner it fails at once.
        writer.signal(SIGKILL)
        try mirror.wait(".isLive", false)
        let silent = try anna.refusal("set", ["path": "/fleet/web-01.load", "value": 1.0])
        #expect(
            silent["data"]?["code"] == "unavailable"
                && silent["message"]?.string?.contains("nothing was changed") == true)
        reader.signal(SIGKILL)
        _ = try reader.wait()
        try anna.call("ping")
        let ended = try anna.refusal("set", ["path": "/fleet/web-01.load", "value": 1.0])
        #expect(
            ended["data"]?["code"] == "unavailable" && ended["message"]?.string?.contains("is not connected") == true)
    }

    @Test("after a restart of the mirror's daemon, writes wait for the link: nothing is done in the mirror alone")
    func restarts() throws {
        let nats = try NATSServer()
        let folder = try Folder()
        let configuration = """
            state-directory = \(folder.file("state"))
            access = admin everyone /**
            access = write as:\(NSUserName()) /**
            """
        let a = try Daemon(scenes: [LinkTests.scene], configuration: configuration.replacing("/state", with: "/other"))
        var b = try Daemon(configuration: configuration, folder: folder)
        let writer = try link(a, nats, LinkTests.publish)
        var reader = try link(b, nats, LinkTests.mirror)
        try Watch(b).wait(".isLive", true)
        try b.client().set("/fleet/web-01.count", 6)
        for program in [reader, b.program] {
            program.signal(SIGKILL)
            _ = try program.wait()
        }
        b = try Daemon(configuration: configuration, folder: folder)
        let refusal = try b.client().refusal("set", ["path": "/fleet/web-01.count", "value": 9])
        #expect(refusal["data"]?["code"] == "unavailable", "\(refusal)")
        #expect(try b.client().get("/fleet/web-01.isLive") == false)
        reader = try link(b, nats, LinkTests.mirror)
        let mirror = try Watch(b)
        try mirror.wait(".isLive", true)
        try mirror.client.set("/fleet/web-01.count", 7)
        #expect(try a.client().get("/host.count") == 7)
        withExtendedLifetime((writer, reader)) {}
    }

    @Test("a mirror of a mirror has all of it, writes reach the owner, and all sites are silent with their region")
    func regions() throws {
        let nats = try NATSServer()
        let access = "access = admin everyone /**\naccess = write as:\(NSUserName()) /**\n"
        let a = try Daemon(scenes: [LinkTests.scene], configuration: access)
        let (region, world) = (try Daemon(configuration: access), try Daemon(configuration: access))
        var owner = try link(a, nats, LinkTests.publish)
        let regional = try link(region, nats, LinkTests.mirror, "publish = /fleet/** as regions/eu")
        let top = try link(world, nats, "mirror = regions/* at /world")
        let watch = try Watch(world, "/world/**")
        let (site, found) = ("/world/eu/web-01", try world.client())
        try watch.wait("", true, at: "\(site).isLive")
        try watch.wait("", 3.0, at: "\(site).twice")
        try a.client().set("/host.load", 4.0)
        try watch.wait("", 8.0, at: "\(site).twice")
        // Through two links to the owner, and seen here before the reply.
        try found.set("\(site).load", 5.0)
        #expect(try found.get("\(site).twice") == 10.0)
        #expect(try a.client().get("/host.load") == 5.0)
        try a.client().call(
            "apply", ["document": ["nodes": [["id": "late", "state": ["x": 1]]]], "at": "/host"])
        try watch.wait("", 1, at: "\(site)/late.x")
        // The site dies, then lives again.
        owner.signal(SIGKILL)
        try watch.wait("", false, at: "\(site).isLive")
        #expect(try found.get("/world/eu.isLive") == true)
        owner = try link(a, nats, LinkTests.publish)
        try watch.wait("", true, at: "\(site).isLive")
        // The region hangs: what its sites do is unknown.
        regional.signal(SIGSTOP)
        try watch.wait("", false, at: "/world/eu.isLive")
        #expect(try found.get("\(site).isLive") == false)
        regional.signal(SIGCONT)
        try watch.wait("", true, at: "\(site).isLive")
        top.signal(SIGKILL)
        try watch.wait("", false, at: "\(site).isLive")
        #expect(try found.get("/world/eu.isLive") == false)
        withExtendedLifetime((owner, regional, top)) {}
    }

    @Test("two daemons that mirror each other's mirrors are told so, and do not grow")
    func loop() throws {
        let nats = try NATSServer()
        let scene = "nodes: [{ id: fleet, kind: container, state: { x: 1 } }]"
        let (a, b) = (try Daemon(scenes: [scene]), try Daemon(scenes: [scene]))
        let watch = try Watch(a, "/**")
        let links = [
            try link(a, nats, "publish = /fleet/** as loop/a", "mirror = loop/b at /fleet"),
            try link(b, nats, "publish = /fleet/** as loop/b", "mirror = loop/a at /fleet"),
        ]
        let deadline = Deadline(Deadline.patience)
        while !links.contains(where: { $0.text.contains("contains a mirror of itself") }), !deadline.isOver {
            try watch.client.call("ping")
        }
        #expect(links.contains { $0.text.contains("contains a mirror of itself") }, "\(links.map(\.text))")
        try watch.wait("", false, at: "/fleet/b.isLive")
        let nodes = try #require(try watch.client.call("stats")["nodes"]?.number)
        #expect(nodes < 10, "\(nodes) nodes")
    }

    @Test("the file of metrics shows what each line does, in a form that Prometheus reads")
    func metrics() throws {
        let (nats, a, b) = (try NATSServer(), try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let mirror = try Watch(b)
        let file = a.folder.file("link.prom")
        let links = [
            try link(a, nats, LinkTests.publish, "metrics = \(file)"),
            try link(b, nats, LinkTests.mirror, "metrics = \(b.folder.file("link.prom"))"),
        ]
        try mirror.wait(".isLive", true)
        let deadline = Deadline(Deadline.patience)
        func text(_ path: String) -> String { (try? String(contentsOfFile: path, encoding: .utf8)) ?? "" }
        let lines = [
            (file, #"agd_link_nats_connected{line="publish hosts/web-01"} 1"#),
            (file, #"agd_link_lease_held{line="publish hosts/web-01"} 1"#),
            (b.folder.file("link.prom"), #"agd_link_site_live{line="mirror hosts/*",site="hosts/web-01"} 1"#),
        ]
        for (path, line) in lines {
            while !text(path).contains(line + "\n"), !deadline.isOver { try mirror.client.call("ping") }
            #expect(text(path).contains(line + "\n"), "\(text(path))")
        }
        if FileManager.default.isExecutableFile(atPath: "/usr/bin/promtool") {
            for path in [file, b.folder.file("link.prom")] {
                let (code, told) = try Program.run(
                    "/bin/sh", ["-c", "/usr/bin/promtool check metrics < \(path)"], folder: a.folder)
                #expect(code == 0, "\(told)")
            }
        }
        withExtendedLifetime(links) {}
    }

    @Test("the service manager hears that the link runs, its signs of life, and its end")
    func service() throws {
        let (nats, a) = (try NATSServer(), try Daemon(scenes: [LinkTests.scene]))
        let path = a.folder.file("notify-link")
        let socket = try Descriptor(UnixSocket.receive(path), "bind")
        let file = try a.folder.write("nats = \(nats.address)\n\(LinkTests.publish)", to: "link.conf")
        let program = try Program(
            "agd-link", ["--config", file, "--socket", a.socket],
            environment: ["NOTIFY_SOCKET": path, "WATCHDOG_USEC": "200000"], folder: a.folder)
        func hear(_ wanted: String) throws {
            while socket.isReadable(within: Deadline.patience) {
                var buffer = [UInt8](repeating: 0, count: 4096)
                let count = recv(socket.number, &buffer, buffer.count, 0)
                if String(decoding: buffer[..<max(0, count)], as: UTF8.self).contains(wanted) { return }
            }
            throw Trouble("no \(wanted): \(program.text)")
        }
        try hear("READY=1")
        try hear("WATCHDOG=1")
        program.signal(SIGTERM)
        try hear("STOPPING=1")
        #expect(try program.wait() == 0)
    }

    @Test("a write whose owner's link has just died fails at once, though the mirror still takes it for live")
    func noOwner() throws {
        let nats = try NATSServer()
        let access = "access = admin everyone /**\naccess = write as:\(NSUserName()) /**\nforward-time = 1 s\n"
        let a = try Daemon(scenes: [LinkTests.scene], configuration: access)
        let b = try Daemon(configuration: access)
        let mirror = try Watch(b)
        let writer = try link(a, nats, LinkTests.publish)
        let reader = try link(b, nats, LinkTests.mirror, "live-time = 60 s")
        try mirror.wait(".isLive", true)
        let client = try b.client()
        try client.set("/fleet/web-01.load", 2.0)
        writer.signal(SIGKILL)
        _ = try writer.wait()
        // Until the server has noticed, the outcome is unknown.
        var message = ""
        let deadline = Deadline(Deadline.patience)
        while !message.contains("has no owner"), !deadline.isOver {
            let refusal = try client.refusal("set", ["path": "/fleet/web-01.load", "value": 9.0])
            #expect(refusal["data"]?["code"] == "unavailable")
            message = refusal["message"]?.string ?? ""
        }
        #expect(message.contains("has no owner"), "\(message)")
        #expect(try mirror.get(".isLive") == true)
        withExtendedLifetime(reader) {}
    }

    @Test("a write whose owner does not answer ends with an unknown outcome; requests behind it wait")
    func unknownOutcome()
        throws
    {
        let nats = try NATSServer()
        // On another machine a user of this one is a principal.
        let user = String(cString: getpwuid(getuid()).pointee.pw_name)
        let a = try Daemon(
            scenes: [LinkTests.scene],
            configuration: "access = admin everyone /**\naccess = write as:\(user) /host/**\n")
        let b = try Daemon(configuration: "forward-time = 500 ms\n")
        let mirror = try Watch(b)
        let writer = try link(a, nats, LinkTests.publish)
        let reader = try link(b, nats, LinkTests.mirror)
        try mirror.wait(".isLive", true)
        try mirror.wait(".load", 1.5)
        let client = try b.client()
        try client.set("/fleet/web-01.load", 2.0)
        writer.signal(SIGSTOP)
        let refusal = try client.refusal("set", ["path": "/fleet/web-01.load", "value": 9.0])
        writer.signal(SIGCONT)
        #expect(refusal["data"]?["code"] == "unavailable")
        #expect(refusal["message"]?.string?.contains("outcome unknown") == true)
        // It was done after all, and that is seen.
        try mirror.wait(".load", 9.0)
        withExtendedLifetime((writer, reader)) {}
    }

    /// A server with the accounts of the documentation, and the setting of a site's link.
    private func serverWithAccounts(more users: String = "") throws -> (nats: NATSServer, key: String) {
        let text = try LinkTests.documented("accounts {")
        let user = "{ nkey: UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4 }"
        try #require(text.contains(user))
        let nats = try NATSServer(text.replacing(user, with: user + users))
        let seed = try nats.folder.write(
            "SUACSSL3UAHUDXKFSNVUZRF5UHPMWZ6BFDTJ7M6USDXIEDNPPQYYYCU3VY\n", to: "link.nk")
        return (
            nats,
            "nkey = UDXU4RCSJNZOIQHZNWXHXORDPRTGNJAHAHFRGZNEEJCPQTT2M7NLCNF4 in \(seed)\njetstream-domain = AGD"
        )
    }

    @Test("a site with the rights of the documentation publishes its own subtree and no other")
    func rights() throws {
        let (nats, key) = try serverWithAccounts()
        let access = "access = admin everyone /**\naccess = write as:anna /**\n"
        let a = try Daemon(scenes: [LinkTests.scene], configuration: access)
        let b = try Daemon(configuration: access)
        let port = nats.address.dropFirst("nats://".count)
        // The administrator's link makes the streams.
        let first = try link(
            a, nats, "nats = nats://admin:change-me-too@\(port)", "publish = /host/disk/** as hosts/web-02")
        let (owner, mirror) = (try a.client(), try Watch(b))
        let reader = try link(b, nats, "nats = nats://mirror:change-me@\(port)", LinkTests.mirror)
        try mirror.wait("", true, at: "/fleet/web-02.isLive")
        let writer = try link(a, nats, key, LinkTests.publish)
        try mirror.wait(".isLive", true)
        try expectEqual(owner, mirror)

        // The owner of a site answers writes of the mirror.
        let client = try b.client()
        try client.call("hello", ["as": "anna"])
        try client.set("/fleet/web-01.load", 7.0)
        #expect(try owner.get("/host.load") == 7.0)

        let thief = try link(a, nats, key, "publish = /host/** as hosts/web-03")
        let deadline = Deadline(Deadline.patience)
        while !thief.text.contains("import this subject"), !deadline.isOver { try mirror.client.call("ping") }
        #expect(thief.text.contains("$KV.AGD_LEASE.hosts.web-03"), "\(thief.text)")
        // The mirror may not publish.
        let liar = try link(
            a, nats, "nats = nats://mirror:change-me@\(port)", "publish = /host/** as hosts/web-04")
        while !liar.text.contains("Permissions Violation"), !deadline.isOver { try mirror.client.call("ping") }
        #expect(liar.text.contains("Permissions Violation"), "\(liar.text)")
        let sites = try mirror.client.call("describe", ["path": "/fleet"])["children"]?.list ?? []
        #expect(sites.compactMap { $0["id"]?.string }.sorted() == ["web-01", "web-02"])
        withExtendedLifetime((first, reader, writer)) {}
    }

    @Test("a hostile site changes, deletes and reads nothing of another one, whatever it sends to NATS")
    func hostileSite() throws {
        let (nats, _) = try serverWithAccounts(more: ", { user: evil, password: x }")
        let (a, b) = (try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let port = nats.address.dropFirst("nats://".count)
        let writer = try link(
            a, nats, "nats = nats://admin:change-me-too@\(port)", "publish = /host/** as hosts/web-02")
        let reader = try link(
            b, nats, "nats = nats://mirror:change-me@\(port)", LinkTests.mirror, "live-time = 20 s")
        let (owner, mirror) = (try a.client(), try Watch(b))
        try mirror.wait("", true, at: "/fleet/web-02.isLive")
        let life = try Watch(b, "/fleet/web-02.isLive")
        #expect(try life.event()["initial"] == true)

        let admin = try NATSClient(nats, #""user":"admin","pass":"change-me-too""#)
        let streams = ["AGD_TX", "AGD_SNAP", "AGD_HEAD", "KV_AGD_LEASE"]
        for stream in streams {
            let info = try admin.request("$JS.API.STREAM.INFO.\(stream)")
            #expect(info.contains(#""allow_rollup_hdrs":false"#), "\(info)")
        }
        let others = ["agd.tx.", "agd.snap.", "agd.head.", "agd.live.", "$KV.AGD_LEASE.", "agd.do."].map {
            $0 + "hosts.web-02" + ($0 == "agd.snap." ? ".0.0" : "")
        }
        let own = others.map { $0.replacing("web-02", with: "web-01") }
        let evil = try NATSClient(nats, #""user":"evil","pass":"x""#)
        for subject in ["agd.>", "_INBOX.>", "$KV.>", "$JS.>", "_R_.>"] { try evil.subscribe(subject) }
        // What the other site has under way, as far as one could know it.
        func fresh() throws { try owner.set("/host.count", .int(Int64.random(in: 1...1000))) }
        try fresh()
        let body = #"agd1 9999999999999999999 e 9 9 0 1\n{"changes":[]}"#
        for subject in own {
            for header in ["Nats-Rollup: all", "Nats-Rollup: sub", "KV-Operation: PURGE", "Nats-Msg-Id: 1-2-0-0"] {
                try evil.publish(subject, body, header: header)
            }
            for other in others { try evil.publish(subject, body, replyTo: other) }
        }
        for subject in others {
            for header in [nil, "Nats-Rollup: all", "Nats-Rollup: sub"] {
                try evil.publish(subject, body, header: header)
            }
        }
        let filter = #"{"filter":"agd.head.>"}"#
        let consumer =
            #"{"stream_name":"AGD_TX","config":{"deliver_subject":"agd.live.hosts.web-01","ack_policy":"none"}}"#
        let requests = [
            ("STREAM.PURGE.*", filter), ("STREAM.PURGE.*", ""), ("STREAM.DELETE.*", ""), ("STREAM.INFO.*", ""),
            ("STREAM.UPDATE.*", #"{"name":"*","subjects":["x"]}"#), ("STREAM.MSG.DELETE.*", #"{"seq":1}"#),
            ("STREAM.MSG.GET.*", #"{"last_by_subj":"agd.tx.hosts.web-02"}"#), ("DIRECT.GET.*", #"{"seq":1}"#),
            ("STREAM.SNAPSHOT.*", #"{"deliver_subject":"agd.live.hosts.web-01"}"#), ("CONSUMER.CREATE.*", consumer),
            ("CONSUMER.NAMES.*", ""), ("STREAM.LEADER.STEPDOWN.*", ""),
            ("STREAM.CREATE.X", #"{"name":"X","subjects":["agd.>"]}"#),
        ]
        for (request, text) in requests {
            for stream in streams {
                for prefix in ["$JS.API.", "$JS.AGD.API."] {
                    let subject = prefix + request.replacing("*", with: stream)
                    let text = text.replacing("*", with: stream)
                    // JetStream sends its answer to any subject of the asker's account.
                    for reply in others + ["_INBOX.x"] { try evil.publish(subject, text, replyTo: reply) }
                }
            }
        }
        try evil.publish("$SYS.REQ.SERVER.PING", "")
        try evil.publish("_INBOX.>", "")
        try fresh()
        try evil.ping()
        #expect(
            !evil.heard.contains {
                $0.contains("host.") || $0.contains("/disk") || $0.contains("changes") && !$0.contains("99999")
            })

        // Everything of the other site is there: its lease, a snapshot, and its manifest.
        for stream in streams.dropFirst() {
            let info = try admin.request("$JS.API.STREAM.INFO.\(stream)", #"{"subjects_filter":">"}"#)
            #expect(info.contains("hosts.web-02"), "\(info)")
        }
        for subject in ["agd.head.hosts.web-02", "$KV.AGD_LEASE.hosts.web-02"] {
            let stream = subject.hasPrefix("agd") ? "AGD_HEAD" : "KV_AGD_LEASE"
            let text = try admin.request("$JS.API.STREAM.MSG.GET.\(stream)", #"{"last_by_subj":"\#(subject)"}"#)
            let data = try JSONParser.parseOnce(text.utf8)["message"]?["data"]?.string.flatMap(Base64.decode) ?? []
            let own = String(decoding: data, as: UTF8.self)
            #expect(own.contains(stream == "AGD_HEAD" ? #""snapshot""# : ":\(writer.pid)"), "\(own)")
        }
        try owner.set("/host.load", 77.0)
        try mirror.wait("", 77.0, at: "/fleet/web-02.load")
        let newcomer = try Daemon()
        let late = try Watch(newcomer)
        let third = try link(newcomer, nats, "nats = nats://mirror:change-me@\(port)", LinkTests.mirror)
        try late.wait("", 77.0, at: "/fleet/web-02.load")
        try late.wait("", true, at: "/fleet/web-02.isLive")
        #expect(try life.client.lineIfThere(within: 0) == nil, "the other site was live throughout")
        withExtendedLifetime((writer, reader, third)) {}
    }

    @Test("a link whose credentials are refused says so, and connects once their file has others")
    func credentials() throws {
        let nats = try NATSServer(Credentials.server)
        let (a, b) = (try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let (owner, mirror) = (try a.client(), try Watch(b))
        let file = try nats.folder.write(Credentials.stranger, to: "link.creds")
        let writer = try link(a, nats, "credentials = \(file)", LinkTests.publish)
        let reader = try link(b, nats, "credentials = \(file)", LinkTests.mirror)
        let deadline = Deadline(Deadline.patience)
        for refused in [writer, reader] {
            while !refused.text.contains("refuses the credentials"), !deadline.isOver {
                try mirror.client.call("ping")
            }
            #expect(refused.text.contains("refuses the credentials"), "\(refused.text)")
        }
        _ = try nats.folder.write(Credentials.link, to: "link.creds")
        try mirror.wait(".isLive", true)
        try expectEqual(owner, mirror)
    }

    @Test("the link speaks TLS, shows its certificate, and trusts no other server")
    func encryption() throws {
        let folder = try Folder()
        func openssl(_ arguments: String) throws {
            let words = arguments.split(separator: " ").map { $0.replacing("@", with: folder.file("")) }
            let (code, text) = try Program.run("/usr/bin/openssl", words.map(String.init), folder: folder)
            guard code == 0 else { throw Trouble("openssl \(arguments): \(text)") }
        }
        let new = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -days 2"
        for authority in ["ca", "other"] {
            try openssl("\(new) -subj /CN=\(authority) -keyout @\(authority).key -out @\(authority).pem")
        }
        for name in ["server", "link"] {
            try openssl(
                "\(new) -subj /CN=\(name) -addext subjectAltName=IP:127.0.0.1 -addext basicConstraints=CA:false "
                    + "-CA @ca.pem -CAkey @ca.key -keyout @\(name).key -out @\(name).pem")
        }
        let nats = try NATSServer(
            """
            tls { cert_file: "\(folder.file("server.pem"))", key_file: "\(folder.file("server.key"))",
                ca_file: "\(folder.file("ca.pem"))", verify: true, timeout: 5 }
            """, folder: folder)
        let (a, b) = (try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let (owner, mirror) = (try a.client(), try Watch(b))
        let lines = ["ca", "cert", "key"].map { name in
            "tls-\(name) = " + folder.file(["ca": "ca.pem", "cert": "link.pem", "key": "link.key"][name] ?? "")
        }
        let stranger = try link(
            a, nats, "tls-ca = \(folder.file("other.pem"))", lines[1], lines[2],
            "publish = /host/disk/** as hosts/web-02")
        let bare = try link(a, nats, lines[0], "publish = /host/disk/** as hosts/web-03")
        let writer = try link(a, nats, lines[0], lines[1], lines[2], LinkTests.publish)
        let reader = try link(b, nats, lines[0], lines[1], lines[2], LinkTests.mirror)
        try mirror.wait(".isLive", true)
        try expectEqual(owner, mirror)
        let sites = try mirror.client.call("describe", ["path": "/fleet"])["children"]?.list ?? []
        #expect(sites.compactMap { $0["id"]?.string } == ["web-01"])
        withExtendedLifetime((stranger, bare, writer, reader)) {}
    }

    @Test("values and trees that are as deep as an owner takes arrive")
    func depth() throws {
        let (nats, a, b) = (try NATSServer(), try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let (owner, mirror) = (try a.client(), try Watch(b))
        let links = [try link(a, nats, LinkTests.publish), try link(b, nats, LinkTests.mirror)]
        try mirror.wait(".isLive", true)
        var (list, map): (Value, Value) = (["end", 1.5], ["end": 2])
        for _ in 0..<105 { (list, map) = ([list], ["k": map]) }
        try owner.call(
            "apply",
            [
                "document": ["nodes": [["id": "host", "state": ["any": ["type": "dyn", "initial": 1]]]]],
                "mode": "merge",
            ])
        for value in [list, map] {
            try owner.call(
                "transact",
                [
                    "mutations": [
                        ["op": "set", "path": "/host.words", "value": [list]],
                        ["op": "set", "path": "/host.any", "value": value],
                        ["op": "set", "path": "/host.since", "value": "2026-01-01T00:00:00Z"],
                    ]
                ])
            try mirror.wait(".any", value)
            try expectEqual(owner, mirror)
        }
        var path = "/host"
        for level in 0..<100 {
            try owner.call(
                "apply",
                [
                    "document": ["nodes": [["id": .string("n\(level)"), "kind": "container", "state": ["x": 1]]]],
                    "at": .string(path),
                ])
            path += "/n\(level)"
        }
        try mirror.wait("", 1, at: path.replacing("/host", with: "/fleet/web-01") + ".x")
        try expectEqual(owner, mirror)
        // A newcomer, which gets all at once.
        let newcomer = try Daemon()
        let late = try Watch(newcomer)
        let third = try link(newcomer, nats, LinkTests.mirror)
        try late.wait(".isLive", true)
        try expectEqual(owner, late)
        withExtendedLifetime((links, third)) {}
    }

    @Test("after a restart of its daemon, a mirror without its link has root and children of one state")
    func restartedDaemon() throws {
        let folder = try Folder()
        let settings = "state-directory = \(folder.file("state"))\n"
        let (nats, a) = (try NATSServer(), try Daemon(scenes: [LinkTests.scene]))
        var b = try Daemon(configuration: settings, folder: folder)
        let (owner, mirror) = (try a.client(), try Watch(b))
        let (writer, reader) = (try link(a, nats, LinkTests.publish), try link(b, nats, LinkTests.mirror))
        try mirror.wait(".isLive", true)
        // Values of the root and of a child, and then a child that comes.
        try owner.set("/host.load", 8.0)
        try owner.set("/host/disk.used", 8)
        try mirror.wait("/disk.used", 8)
        try owner.call("apply", ["document": ["nodes": [["id": "late", "state": ["x": 8]]]], "at": "/host"])
        try mirror.wait("/late.x", 8)
        try expectEqual(owner, mirror)
        reader.signal(SIGKILL)
        _ = try reader.wait()
        try b.stop()
        b = try Daemon(configuration: settings, folder: folder)
        let client = try b.client()
        for (path, value) in [(".isLive", false), ("/late.x", 8), ("/disk.used", 8), (".load", 8.0)]
            as [(String, Value)]
        {
            #expect(try client.get("/fleet/web-01" + path) == value, "\(path)")
        }
        withExtendedLifetime(writer) {}
    }

    @Test("the log names the setting of the daemon that does not suffice for a site")
    func tooLarge() throws {
        let (nats, a) = (
            try NATSServer(), try Daemon(scenes: [LinkTests.scene], configuration: "request-cost = 10000\n")
        )
        let client = try a.client()
        let states = Value.map(ValueMap((0..<1500).map { (.string("a\($0)"), .int($0)) }))
        try client.call("apply", ["document": ["nodes": [["id": "many", "state": states]]], "at": "/host"])
        let writer = try link(a, nats, LinkTests.publish)
        let deadline = Deadline(Deadline.patience)
        while !writer.text.contains("request-cost"), !deadline.isOver { try client.call("ping") }
        #expect(writer.text.contains("the setting request-cost is the limit"), "\(writer.text)")
    }

    @Test("a message longer than NATS carries arrives in parts")
    func parts() throws {
        let (nats, a, b) = (try NATSServer(), try Daemon(scenes: [LinkTests.scene]), try Daemon())
        let (owner, mirror) = (try a.client(), try Watch(b))
        let text = String(repeating: "x", count: 3 << 20)
        let links = [try link(a, nats, LinkTests.publish), try link(b, nats, LinkTests.mirror)]
        try mirror.wait(".isLive", true)
        try owner.set("/host.words", [.string(text)])
        try mirror.wait(".words", [.string(text)])
        // A newcomer reads it from the snapshot or from the transactions behind it.
        let newcomer = try Daemon()
        let late = try Watch(newcomer)
        let third = try link(newcomer, nats, LinkTests.mirror)
        try late.wait(".words", [.string(text)])
        try expectEqual(owner, late)
        withExtendedLifetime((links, third)) {}
    }
}

@Suite("Link configuration")
struct LinkConfigurationTests {
    private func check(_ text: String) throws -> (code: Int32, text: String) {
        let folder = try Folder()
        let file = try folder.write(text, to: "link.conf")
        return try Program.run("agd-link", ["--config", file, "--check-config"], folder: folder)
    }

    @Test("the manual is accepted, once it is told what to join")
    func manual() throws {
        let text = try String(contentsOfFile: Project.file("config/link.conf"), encoding: .utf8)
        #expect(try check(text).code == 78)
        let all = text.replacing(/(?m)^#(?=[a-z-]+ = )/, with: "")
        // The two ways to prove an identity exclude each other.
        let both = try check(all)
        #expect(both.code == 78)
        #expect(both.text.contains("'nkey' and 'credentials' exclude each other"))
        for name in ["nkey", "credentials"] {
            let result = try check(all.replacing("\n\(name) = ", with: "\n# "))
            #expect(result.code == 0, "\(result.text)")
        }
    }

    @Test("a file with a password or a key that everybody can read is told, and no other")
    func secrets() throws {
        let folder = try Folder()
        func told(_ text: String, _ mode: mode_t, _ name: String = "link.conf") throws -> String {
            let file = try folder.write("publish = /host/** as x\n" + text, to: "link.conf")
            chmod(file, 0o600)
            if !folder.file(name).hasSuffix("/link.conf") { _ = try folder.write("", to: name) }
            chmod(folder.file(name), mode)
            let (code, text) = try Program.run("agd-link", ["--config", file, "--check-config"], folder: folder)
            #expect(code == 0, "\(text)")
            return text
        }
        let warning = "everybody can read \(folder.file("link.conf")), which has a password of NATS: chmod o= "
        #expect(try told("nats = nats://host:4222, nats://me:secret@other:4222", 0o644).contains(warning))
        #expect(try told("nats = nats://me:secret@other:4222", 0o640).isEmpty)
        #expect(try told("nats = nats://other:4222", 0o644).isEmpty)
        for line in ["nkey = UABC in \(folder.file("key"))", "credentials = \(folder.file("key"))"] {
            #expect(try told(line, 0o644, "key").contains("everybody can read \(folder.file("key")), which has "))
            #expect(try told(line, 0o600, "key").isEmpty)
        }
    }

    @Test("each kind of failure at the start has its exit status")
    func statuses() throws {
        let folder = try Folder()
        func status(_ arguments: String...) throws -> Int32 {
            try Program.run("agd-link", arguments, folder: folder).code
        }
        #expect(try status() == 64)
        #expect(try status("--config", "/x", "--colour") == 64)
        #expect(try status("--config", folder.file("none")) == 78)
        #expect(try status("--config", try folder.write("publish = /host\n", to: "bad.conf")) == 78)
        let file = folder.file("no seed")
        let seedless = try folder.write("publish = /host/** as x\nnkey = UABC in \(file)\n", to: "seedless.conf")
        let (code, text) = try Program.run("agd-link", ["--config", seedless], folder: folder)
        #expect(code == 78 && text.contains("cannot read \(file), which 'nkey' names"), "\(text)")
    }

    @Test("all faults are named with their lines")
    func faults() throws {
        let (code, text) = try check(
            "publish = /host as x\nlive-time = 0 s\nmirror = */a at /fleet\ncolour = red\nnkey = UABC\n")
        #expect(code == 78)
        for line in 1...5 { #expect(text.contains("link.conf:\(line): ")) }
    }

    @Test(
        "half a line, a name with stars and a setting that is written twice are told with their lines",
        arguments: [
            ("mirror = hosts/*", "link.conf:1: write 'mirror = hosts/* at /fleet'"),
            ("mirror = hosts/** at /fleet", "link.conf:1: in 'hosts/** at /fleet', only the last segment"),
            ("publish = /host/** as hosts/*", "link.conf:1: the site in '/host/** as hosts/*' must be one name"),
            ("publish = /host/** as /x", "write segments between slashes, as hosts/web-01"),
            ("replicas = 1\nreplicas = 3", "link.conf:2: replicas is set in line 1 already"),
            (
                "mirror = hosts/* at /fleet\nmirror = regions/eu at /fleet",
                "two 'mirror' lines may make the same nodes at /fleet: give one another node"
            ),
            (
                "mirror = hosts/* at /fleet\nmirror = disks/a at /fleet/web-01/disks",
                "two 'mirror' lines may make the same nodes at /fleet and /fleet/web-01/disks: give one another node"
            ),
            (
                "mirror = disks/* at /fleet/web-01\nmirror = hosts/web-01 at /fleet",
                "two 'mirror' lines may make the same nodes at /fleet and /fleet/web-01: give one another node"
            ),
            ("jetstream-domain = a.b", "link.conf:1: a domain of JetStream has letters, digits"),
        ])
    func incomplete(_ lines: String, _ told: String) throws {
        let (code, text) = try check(lines + "\n")
        #expect(code == 78 && text.contains(told), "\(text)")
    }
}
