import CommandArguments
import EventLoop
import Foundation
import GraphRuntime
import Testing
import WireProtocol

@testable import DaemonServer

@Suite("Access lines", .serialized)
struct AccessTests {
    /// A machine with two users and a group.
    private static var accounts: Accounts {
        Accounts(user: { ["alice": 1000, "bob": 1001][$0] }, group: { ["ops": 50][$0] })
    }

    private func read(_ text: String) throws -> [AccessRule] {
        try Configuration(text: text, file: "agd.conf", AccessTests.accounts).access
    }

    @Test("a line gives a right to users and groups, by name or number, or to everyone") func lines() throws {
        let rules = try read(
            """
            access = read everyone /**
            access=write  user:alice,group:ops,user:7 \t /hosts/*.load
            access = define group:0 /hosts/"web 01"/**
            access = admin user:bob /**
            access = write as:wall-screen,user:bob /hosts/**
            """)
        #expect(
            rules == [
                AccessRule(.read, [.everyone], .everything),
                AccessRule(.write, [.user(1000), .group(50), .user(7)], try .init("/hosts/*.load")),
                AccessRule(.define, [.group(0)], try .init("/hosts/\"web 01\"/**")),
                AccessRule(.admin, [.user(1001)], .everything),
                AccessRule(.write, [.principal("wall-screen"), .user(1001)], try .init("/hosts/**")),
            ])
        #expect(rules[1].description == "write user:1000,group:50,user:7 /hosts/*.load")
        #expect(try read("clients = 5").isEmpty)
    }

    @Test("a faulty line is reported with a hint") func faults() throws {
        let form = "a line is access = RIGHT WHO PATTERN, as write user:alice,group:ops /hosts/**"
        let faults = #expect(throws: ConfigurationFaults.self) {
            try read(
                """
                access = reed everyone /**
                access = read,write everyone /**
                access = read alice /**
                access = read user:alice,, /**
                access = read user:carol /**
                access = read group:alice /**
                access = read everyone
                access = read everyone hosts/**
                access = read everyone /a.items[0]
                access = admin user:alice /hosts/**
                access = read user: /**
                access = read as:wall/screen /**
                """)
        }
        #expect(
            faults?.faults.map(\.description) == [
                "agd.conf:1: access: there is no right \"reed\" (did you mean 'read'?)",
                "agd.conf:2: access: there is no right \"read,write\" (the rights are read, do, write, define, admin; each includes those before it)",
                "agd.conf:3: access is for everyone, user:NAME, group:NAME or as:NAME, not \"alice\" (\(form))",
                "agd.conf:4: access is for everyone, user:NAME, group:NAME or as:NAME, not \"\" (\(form))",
                "agd.conf:5: access: there is no user carol (create it, or write its number)",
                "agd.conf:6: access: there is no group alice (create it, or write its number)",
                "agd.conf:7: access: a pattern is missing (\(form))",
                "agd.conf:8: access: path hosts/**: expected '/' at column 1, found 'h' (a path is /node/node.attribute.key[0]; ids with other characters than letters, digits, _ - : @ are quoted)",
                "agd.conf:9: access: /a.items[0] names a part of a value; write the path of the attribute",
                "agd.conf:10: access: admin concerns the daemon as a whole, so its pattern is /**, not /hosts/**",
                "agd.conf:11: access is for everyone, user:NAME, group:NAME or as:NAME, not \"user:\" (\(form))",
                "agd.conf:12: access: the name of a principal is not well formed (it has 1 to 64 ASCII letters, digits, '.', '_', '-' and '@')",
            ])
    }

    @Test("there are at most so many lines") func many() throws {
        let line = "access = read everyone /**\n"
        #expect(try read(String(repeating: line, count: AccessRules.maximumCount)).count == AccessRules.maximumCount)
        #expect(throws: ConfigurationFaults.self) {
            try read(String(repeating: line, count: AccessRules.maximumCount + 1))
        }
    }

    @Test("path-length does not hold for access lines, wherever it stands") func pathLength() throws {
        let pattern = "/" + String(repeating: "x", count: 8000) + "/**"
        for text in [
            "path-length = 64\naccess = read everyone \(pattern)\n",
            "access = read everyone \(pattern)\npath-length = 64\n",
        ] {
            #expect(try read(text).map(\.pattern.description) == [pattern])
        }
    }

    @Test("the machine's own accounts are known") func system() {
        #expect(Accounts.system.user("root") == 0)
        #expect(Accounts.system.group("root") == 0)
        #expect(Accounts.system.user("no such user") == nil)
    }

    @Test("lines hold from the start, and new ones from a reload on, for who is connected, too") func reload() throws {
        let file = NSTemporaryDirectory() + "agd-\(UUID().uuidString.prefix(8)).conf"
        defer { try? FileManager.default.removeItem(atPath: file) }
        func write(_ text: String) throws { try text.write(toFile: file, atomically: true, encoding: .utf8) }
        let set = #"{"path":"/counter.value","value":1}"#

        let daemon = try TestDaemon(
            { $0.access = [AccessRule(.read, [.user(4242)], .everything)] },
            reader: { () throws(ConfigurationFaults) in try Configuration(file: file) })
        daemon.sessions.admission.identify = { _ in Peer(pid: 1, uid: 4242, gid: 4242, groups: [50]) }
        let client = try daemon.connect()
        #expect(try client.call("get", #"{"path":"/counter.value"}"#).member("result", "value") == 0)
        #expect(try client.call("set", set).member("error", "data", "code") == "denied")
        #expect(
            try client.call("subscribe", #"{"paths":["/counter.text"],"initial":false}"#).member(
                "result", "subscription") == 1)

        try write("access = write group:50 /counter.value")
        daemon.daemon.reload()
        #expect(try client.next()?.member("method") == "ended")
        #expect(try client.call("set", set).member("error") == nil)
        #expect(try client.call("get", #"{"path":"/counter.text"}"#).member("error", "data", "code") == "denied")

        try write("access = write group:nobody-has-this /**")
        daemon.daemon.reload()
        #expect(try client.call("set", set).member("error") == nil)
    }
}
