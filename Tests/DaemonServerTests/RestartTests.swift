import AttributeValues
import Foundation
import Testing

@testable import DaemonServer

/// What a daemon keeps over restarts, from request to request.
@Suite("Restarts", .serialized)
final class RestartTests {
    private let store = NSTemporaryDirectory() + "agd-state-" + UUID().uuidString.prefix(8)
    /// nil between two lives.
    private var running: (daemon: TestDaemon, client: TestClient)?

    init() throws { try start() }

    deinit { try? FileManager.default.removeItem(atPath: store) }

    private func start(_ change: (inout Configuration) -> Void = { _ in }) throws {
        let daemon = try TestDaemon {
            $0.stateDirectory = store
            change(&$0)
        }
        running = (daemon, try daemon.connect())
    }

    private func restart(_ change: (inout Configuration) -> Void = { _ in }) throws {
        running?.daemon.end()
        running = nil
        try start(change)
    }

    private func answer(_ method: String, _ parameters: String, _ location: SourceLocation = #_sourceLocation) throws -> Value {
        try #require(running).client.call(method, parameters, location)
    }

    private func call(_ method: String, _ parameters: String, _ location: SourceLocation = #_sourceLocation) throws {
        let reply = try answer(method, parameters, location)
        #expect(reply.member("error") == nil, sourceLocation: location)
    }

    private func set(_ path: String, _ value: String, _ location: SourceLocation = #_sourceLocation) throws {
        try call("set", #"{"path":"\#(path)","value":\#(value)}"#, location)
    }

    private func apply(_ nodes: String, mode: String = "merge", _ location: SourceLocation = #_sourceLocation) throws {
        try call("apply", #"{"mode":"\#(mode)","document":{"agd":1,"nodes":\#(nodes)}}"#, location)
    }

    private func value(_ path: String) throws -> Value? {
        try answer("get", #"{"path":"\#(path)"}"#).member("result", "value")
    }

    private static let rows = """
        [{"id":"h","state":{"items":[]},"children":[{"id":"r","forEach":{"in":"$items","id":"self","node":{"state":{"q":0}}}}]}]
        """

    @Test("a state inside a list's instance survives a later write of the list") func instances() throws {
        try apply(RestartTests.rows)
        try set("/h.items", #"["x"]"#)
        try set("/h/r/x.q", "5")
        try set("/h.items", #"["x","y"]"#)
        try set("/h/r/y.q", "6")
        try set("/h.items", #"["y","x"]"#)
        try restart()
        #expect(try value("/h/r/x.q") == 5)
        #expect(try value("/h/r/y.q") == 6)
    }

    @Test("an instance that goes takes its states with it, and begins anew when it returns") func instancesThatGo() throws {
        try apply(RestartTests.rows)
        try set("/h.items", #"["x"]"#)
        try set("/h/r/x.q", "5")
        try set("/h.items", "[]")
        try set("/h.items", #"["x"]"#)
        #expect(try value("/h/r/x.q") == 0)
        try restart()
        #expect(try value("/h/r/x.q") == 0)
    }

    @Test("a state survives that its instance comes and goes while the tree takes its form again") func displaced() throws {
        try apply(
            """
            [{"id":"h","state":{"first":true,"a":["x"],"b":[]},"computed":{"items":"first ? a : b"},"children":[\
            {"id":"r","forEach":{"in":"=items","id":"self","node":{"state":{"q":0}}}}]}]
            """)
        try set("/h.b", #"["x"]"#)
        try set("/h.first", "false")
        try set("/h/r/x.q", "5")
        try set("/h.b", #"["x","y"]"#)
        try restart()
        #expect(try value("/h/r/x.q") == 5)
    }

    @Test("states go with a node that is moved, whatever comes to its old place") func moved() throws {
        try apply(#"[{"id":"m","children":[{"id":"m1","state":{"v":0},"children":[{"id":"in","state":{"w":0}}]}]},{"id":"n","kind":"container"}]"#)
        try set("/m/m1.v", "5")
        try set("/m/m1/in.w", "7")
        try call("move", #"{"path":"/m/m1","to":"/n"}"#)
        try apply(#"[{"id":"m","children":[{"id":"m1","state":{"v":1}}]}]"#)
        try set("/m/m1.v", "9")
        try restart()
        #expect(try value("/n/m1.v") == 5)
        #expect(try value("/n/m1/in.w") == 7)
        #expect(try value("/m/m1.v") == 9)
        try call("remove", #"{"path":"/m/m1"}"#)
        try restart()
        #expect(try value("/n/m1.v") == 5)
    }

    @Test("two nodes that change places keep their states") func swapped() throws {
        try apply(#"[{"id":"a","children":[{"id":"k","state":{"v":0}}]},{"id":"b","children":[{"id":"k","state":{"v":0}}]},{"id":"c","kind":"container"}]"#)
        try set("/a/k.v", "1")
        try set("/b/k.v", "2")
        for (from, to) in [("/a/k", "/c"), ("/b/k", "/a"), ("/c/k", "/b")] { try call("move", #"{"path":"\#(from)","to":"\#(to)"}"#) }
        try restart()
        #expect(try value("/a/k.v") == 2)
        #expect(try value("/b/k.v") == 1)
    }

    @Test("what found no place at a start does not come to a state that is made later") func unplaced() throws {
        try set("/counter.value", "5")
        try restart { $0.scenes = [] }
        try apply(#"[{"id":"counter","state":{"value":1}}]"#)
        try restart { $0.scenes = [] }
        #expect(try value("/counter.value") == 1)
    }

    @Test("a document's values count from their place in the order of writes") func documentValues() throws {
        try apply(#"[{"id":"a","state":{"v":0}}]"#)
        try set("/a.v", "5")
        try call("apply", #"{"mode":"merge","document":{"agd":1,"nodes":[],"values":{"/a.v":7}}}"#)
        try restart()
        #expect(try value("/a.v") == 7)
        try set("/a.v", "8")
        try restart()
        #expect(try value("/a.v") == 8)
    }

    @Test("every value that was written is read again: infinite angles, vectors without numbers") func numbers() throws {
        try apply(#"[{"id":"a","state":{"an":{"initial":0,"type":"angle"},"v":{"initial":[0,0],"type":"vector(2)"}}}]"#)
        try set("/a.an", "1e308")
        try call("transact", #"{"mutations":[{"op":"add","path":"/a.an","value":1e308}]}"#)
        try call("set", #"{"path":"/a.v","value":{"list":[{"double":"NaN"},{"double":"-Infinity"}]},"typed":true}"#)
        try restart()
        #expect(try value("/a.an") == "Infinity")
        #expect(try value("/a.v") == ["NaN", "-Infinity"])
    }
}
