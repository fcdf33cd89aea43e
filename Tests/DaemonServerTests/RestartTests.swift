import AttributeValues
import Foundation
import TestSupport
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

    private func answer(_ method: String, _ parameters: String, _ location: SourceLocation = #_sourceLocation) throws
        -> Value
    {
        try #require(running).client.call(method, parameters, location)
    }

    private func call(_ method: String, _ parameters: String, _ location: SourceLocation = #_sourceLocation) throws {
        let reply = try answer(method, parameters, location)
        #expect(reply.member("error") == nil, sourceLocation: location)
    }

    private func set(_ path: String, _ value: String, _ location: SourceLocation = #_sourceLocation) throws {
        try call("set", #"{"path":"\#(path)","value":\#(value)}"#, location)
    }

    private func apply(
        _ nodes: String, at path: String = "/", mode: String = "merge", _ location: SourceLocation = #_sourceLocation
    ) throws {
        try call("apply", #"{"at":"\#(path)","mode":"\#(mode)","document":{"agd":1,"nodes":\#(nodes)}}"#, location)
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

    @Test("an instance that goes takes its states with it, and begins anew when it returns") func instancesThatGo()
        throws
    {
        try apply(RestartTests.rows)
        try set("/h.items", #"["x"]"#)
        try set("/h/r/x.q", "5")
        try set("/h.items", "[]")
        try set("/h.items", #"["x"]"#)
        #expect(try value("/h/r/x.q") == 0)
        try restart()
        #expect(try value("/h/r/x.q") == 0)
    }

    @Test("changes in a branch survive a restart, also under a condition that is false at first")
    func branches() throws {
        try apply(
            """
            [{"id":"h","state":{"open":{"initial":false,"transient":true},"mode":"list"},"children":[{"if":"open","then":[{"id":"x","kind":"container","state":{"q":0}}],"else":[{"id":"x","state":{"q":5}}]},{"switch":"mode","cases":{"list":[{"id":"b","state":{"n":1}}],"grid":[{"id":"b","state":{"m":1}}]}}]}]
            """)
        try set("/h.open", "true")
        try set("/h/x.q", "7")
        try set("/h.mode", "\"grid\"")
        try set("/h/b.m", "3")
        try call("apply", #"{"at":"/h/x","document":{"agd":1,"nodes":[{"id":"mine","state":{"z":2}}]}}"#)
        for _ in 0..<2 {
            try restart()
            // The condition is false again. What stood in the other branch waits.
            #expect(try value("/h/x.q") == 5)
            #expect(try value("/h/b.m") == 3)
            try set("/h.open", "true")
            #expect(try value("/h/x.q") == 7)
            #expect(try value("/h/x/mine.z") == 2)
        }
        // While the daemon runs, what leaves is forgotten.
        try set("/h.open", "false")
        try set("/h.open", "true")
        #expect(try value("/h/x.q") == 0)
        #expect(try value("/h/x/mine.z") == nil)
        try set("/h.mode", "\"list\"")
        try restart()
        #expect(try value("/h/b.n") == 1)
        try set("/h.open", "true")
        #expect(try value("/h/x.q") == 0)
    }

    @Test("a child that was removed from a branch is gone after a restart, and there when the branch begins anew")
    func removedFromBranch() throws {
        try apply(
            """
            [{"id":"h","state":{"on":true},"children":[{"if":"on","then":[{"id":"a","state":{"q":0}},{"id":"b"}]}]}]
            """)
        try call("remove", #"{"path":"/h/a"}"#)
        try restart()
        #expect(try value("/h/a.q") == nil)
        try set("/h.on", "false")
        try set("/h.on", "true")
        #expect(try value("/h/a.q") == 0)
    }

    @Test("a state survives that its instance comes and goes while the tree takes its form again") func displaced()
        throws
    {
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
        try apply(
            #"[{"id":"m","children":[{"id":"m1","state":{"v":0},"children":[{"id":"in","state":{"w":0}}]}]},{"id":"n","kind":"container"}]"#
        )
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
        try apply(
            #"[{"id":"a","children":[{"id":"k","state":{"v":0}}]},{"id":"b","children":[{"id":"k","state":{"v":0}}]},{"id":"c","kind":"container"}]"#
        )
        try set("/a/k.v", "1")
        try set("/b/k.v", "2")
        for (from, to) in [("/a/k", "/c"), ("/b/k", "/a"), ("/c/k", "/b")] {
            try call("move", #"{"path":"\#(from)","to":"\#(to)"}"#)
        }
        try restart()
        #expect(try value("/a/k.v") == 2)
        #expect(try value("/b/k.v") == 1)
    }

    @Test("a stored value without a place at a start is given to a state that is made there later") func unplaced()
        throws
    {
        try set("/counter.value", "5")
        try restart { $0.scenes = [] }
        try apply(#"[{"id":"counter","state":{"value":1}}]"#)
        try restart { $0.scenes = [] }
        #expect(try value("/counter.value") == 5)
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

    private static let twigs = """
        [{"id":"l","state":{"items":{"type":"list","initial":[]}},"children":[{"id":"rows","forEach":{"in":"$items","node":\
        {"kind":"container","state":{"open":false},"children":[{"id":"kid","state":{"n":0}}]}}}]}]
        """

    @Test("instances that stay while their list is refused stay over a restart, with their states") func refusedList()
        throws
    {
        try apply(RestartTests.twigs)
        try set("/l.items", #"[{"id":"a"},{"id":"c"}]"#)
        try set("/l/rows/c.open", "true")
        try set("/l/rows/c/kid.n", "42")
        try set("/l.items", #"[{"id":"a"},{"id":"c"},{"id":"c"}]"#)
        try restart()
        #expect(try value("/l/rows/c/kid.n") == 42)
        #expect(try value("/l/rows/a.open") == false)
        #expect(try answer("get", #"{"path":"/l/rows.elements"}"#).member("result", "error", "code") == "conflict")
        // Once more, with another list that is refused.
        try set("/l.items", #"[{"id":"z"},{"id":"z"}]"#)
        try restart()
        #expect(try value("/l/rows/c.open") == true)
        try set("/l.items", #"[{"id":"c"}]"#)
        #expect(try value("/l/rows/c.open") == true)
        try restart()
        #expect(try value("/l/rows/c/kid.n") == 42)
        #expect(try value("/l/rows/a.open") == nil)
    }

    @Test(
        "instances that a scene makes stay over a restart when their data fails, with what clients put into them since")
    func failingData() throws {
        let folder = try Folder()
        let scene = try folder.write(
            """
            agd: 1
            nodes:
              - id: l
                state: { d: 1 }
                children:
                  - id: rows
                    forEach: { in: '=[1, 2, 4 / d]', id: self, node: { kind: container, computed: { v: =element } } }
            """, to: "list.yaml")
        try restart { $0.scenes = [scene] }
        try set("/l.d", "0")
        try apply(#"[{"id":"own","state":{"n":5}}]"#, at: "/l/rows/2")
        for _ in 0..<2 {
            try restart { $0.scenes = [scene] }
            #expect(try value("/l/rows/2/own.n") == 5)
            #expect(try value("/l/rows/4.v") == 4)
            let elements = try answer("get", #"{"path":"/l/rows.elements"}"#)
            #expect(elements.member("result", "error", "code") == "ruleFailed")
        }
        try set("/l.d", "-1")
        try restart { $0.scenes = [scene] }
        #expect(try value("/l/rows/2/own.n") == 5)
        #expect(try value("/l/rows/4.v") == nil)
    }

    @Test("the branch of a switch that fails comes back after a restart, unless the scene does not allow it any more")
    func failingChoice() throws {
        let folder = try Folder()
        func scene(_ name: String, _ id: String = "four") throws -> String {
            try folder.write(
                """
                agd: 1
                nodes:
                  - id: l
                    state: { d: 0 }
                    children:
                      - { id: choice, switch: '=string(4 / d)', cases: { '\(name)': [{ id: \(id), state: { n: 0 } }] } }
                """, to: "choice.yaml")
        }
        func restart(_ scene: String) throws { try self.restart { $0.scenes = [scene] } }
        try restart(scene("4"))
        try set("/l.d", "1")
        try set("/l/four.n", "5")
        try set("/l.d", "0")
        try restart(scene("4"))
        #expect(try value("/l/four.n") == 5)
        try restart(scene("7", "seven"))
        #expect(try value("/l/four.n") == nil)
        try apply(#"[{"id":"four","state":{"own":1}}]"#, at: "/l")
        try restart(scene("4"))
        // The client's node waits: a branch has its id.
        #expect(try value("/l/four.own") == nil)
        #expect(try value("/l/four.n") == 5)
        try restart(scene("7", "seven"))
        #expect(try value("/l/four.own") == 1)
        try call("remove", #"{"path":"/l/four"}"#)
        try restart(scene("4"))
        #expect(try value("/l/four.n") == 5)
    }

    @Test("a document's values do not come back to instances that have begun anew") func valuesOfInstancesThatGo()
        throws
    {
        try call(
            "apply",
            """
            {"document":{"nodes":[{"id":"l","state":{"items":{"type":"list","initial":[{"id":"x"}]}},"children":[{"id":"rows","forEach":\
            {"in":"$items","node":{"state":{"open":false,"kept":0}}}}]}],"values":{"/l/rows/x.open":true}}}
            """)
        try restart()
        #expect(try value("/l/rows/x.open") == true)
        try set("/l.items", "[]")
        try set("/l.items", #"[{"id":"x"}]"#)
        #expect(try value("/l/rows/x.open") == false)
        try restart()
        #expect(try value("/l/rows/x.open") == false)
    }

    @Test("an instance keeps definitions, removals and moves through later writes of its list")
    func editedInstances() throws {
        try apply(RestartTests.twigs)
        try apply(#"[{"id":"g","state":{"s":1}},{"id":"h","kind":"container"}]"#)
        try set("/l.items", #"[{"id":"x"},{"id":"y"},{"id":"z"}]"#)
        try call("remove", #"{"path":"/l/rows/x/kid"}"#)
        try set("/l/rows/y/kid.n", "5")
        try call("move", #"{"path":"/l/rows/y/kid","to":"/h"}"#)
        try call("move", #"{"path":"/h/kid","to":"/l"}"#)
        try apply(#"[{"id":"h","children":[{"id":"kid","state":{"n":3}}]}]"#)
        try set("/h/kid.n", "4")
        try set("/g.s", "7")
        try call("move", #"{"path":"/g","to":"/l/rows/z"}"#)
        try call("apply", #"{"at":"/l/rows/z","mode":"merge","document":{"nodes":[{"id":"more","state":{"m":1}}]}}"#)
        try set("/l/rows/z/more.m", "2")
        try set("/l.items", #"[{"id":"w"},{"id":"x"},{"id":"y"},{"id":"z"}]"#)
        for _ in 0..<2 {
            try restart()
            #expect(try value("/l/rows/x/kid.n") == nil)
            #expect(try value("/l/rows/y/kid.n") == nil)
            #expect(try value("/l/kid.n") == 5)
            #expect(try value("/h/kid.n") == 4)
            #expect(try value("/l/rows/z/g.s") == 7)
            #expect(try value("/g.s") == nil)
            #expect(try value("/l/rows/z/more.m") == 2)
            #expect(try value("/l/rows/w/kid.n") == 0)
        }
    }

    @Test("changes in an instance are removed with it") func editedInstancesThatGo() throws {
        try apply(RestartTests.twigs)
        try set("/l.items", #"[{"id":"x"},{"id":"y"}]"#)
        try call("remove", #"{"path":"/l/rows/x/kid"}"#)
        try call("apply", #"{"at":"/l/rows/y","mode":"merge","document":{"nodes":[{"id":"more","state":{"m":1}}]}}"#)
        try set("/l.items", "[]")
        try set("/l.items", #"[{"id":"x"},{"id":"y"}]"#)
        #expect(try value("/l/rows/x/kid.n") == 0)
        try restart()
        #expect(try value("/l/rows/x/kid.n") == 0)
        #expect(try value("/l/rows/y/more.m") == nil)
    }

    @Test("a node that was moved out of an instance survives it, and a node that was moved into one does not")
    func movedOverInstances() throws {
        try apply(RestartTests.twigs)
        try apply(#"[{"id":"g","state":{"s":1}},{"id":"h","kind":"container","children":[{"id":"first"}]}]"#)
        try set("/l.items", #"[{"id":"x"},{"id":"y"}]"#)
        try set("/l/rows/x/kid.n", "5")
        try call("move", #"{"path":"/l/rows/x/kid","to":"/h","index":0}"#)
        try call("move", #"{"path":"/g","to":"/l/rows/y"}"#)
        try set("/h/kid.n", "6")
        try restart()
        #expect(try value("/h/kid.n") == 6)
        #expect(try value("/l/rows/y/g.s") == 1)
        #expect(try value("/l/rows/x/kid.n") == nil)
        try set("/l.items", "[]")
        for _ in 0..<2 {
            try restart()
            #expect(try value("/h/kid.n") == 6)
            #expect(try value("/g.s") == nil)
            let children = try answer("describe", #"{"path":"/h"}"#).member("result", "children")?.list
            #expect(children?.compactMap { $0.map?["id"] } == ["kid", "first"])
        }
        try set("/l.items", #"[{"id":"x"},{"id":"y"}]"#)
        #expect(try value("/l/rows/x/kid.n") == 0)
        #expect(try value("/l/rows/y/g.s") == nil)
    }

    @Test("changes in an instance return when the list is fed after the start, and are removed with the instance")
    func transientEdits() throws {
        try apply(
            RestartTests.twigs.replacingOccurrences(of: #""initial":[]"#, with: #""initial":[],"transient":true"#))
        try apply(#"[{"id":"h","kind":"container"}]"#)
        let items = #"[{"id":"x"},{"id":"y"},{"id":"z"}]"#
        try set("/l.items", items)
        try call("remove", #"{"path":"/l/rows/x/kid"}"#)
        try call("apply", #"{"at":"/l/rows/x","mode":"merge","document":{"nodes":[{"id":"more","state":{"m":1}}]}}"#)
        try set("/l/rows/x/more.m", "2")
        try call("move", #"{"path":"/l/rows/y/kid","to":"/h"}"#)
        try call("apply", #"{"at":"/l/rows/z","mode":"merge","document":{"nodes":[{"id":"box","kind":"container"}]}}"#)
        try call("move", #"{"path":"/l/rows/z/kid","to":"/l/rows/z/box"}"#)
        for _ in 0..<2 {
            try restart()
            #expect(try value("/h/kid.n") == 0)
            try set("/l.items", items)
            #expect(try value("/l/rows/x/kid.n") == nil)
            #expect(try value("/l/rows/x/more.m") == 2)
            #expect(try value("/l/rows/y/kid.n") == nil)
            #expect(try value("/l/rows/z/box/kid.n") == 0)
        }
        try set("/l.items", "[]")
        try restart()
        try set("/l.items", items)
        #expect(try value("/l/rows/x/kid.n") == 0)
        #expect(try value("/l/rows/x/more.m") == nil)
        #expect(try value("/l/rows/y/kid.n") == 0)
        #expect(try value("/l/rows/z/box/kid.n") == nil)
    }

    @Test("a state in an instance waits for the list that is fed after the start") func transientList() throws {
        try apply(
            """
            [{"id":"l","state":{"items":{"initial":[],"transient":true}},"children":[{"id":"rows","forEach":{"in":"$items","node":\
            {"state":{"open":false,"sub":[]},"children":[{"id":"in","forEach":{"in":"$sub","id":"self","node":{"state":{"q":0}}}}]}}}]}]
            """)
        try set("/l.items", #"[{"id":"x"}]"#)
        try set("/l/rows/x.open", "true")
        try set("/l/rows/x.sub", #"["u"]"#)
        try set("/l/rows/x/in/u.q", "5")
        for _ in 0..<2 {
            try restart()
            #expect(try value("/l/rows/x.open") == nil)
            try set("/l.items", #"[{"id":"x"}]"#)
            #expect(try value("/l/rows/x.open") == true)
            #expect(try value("/l/rows/x/in/u.q") == 5)
        }
        try set("/l.items", "[]")
        try set("/l.items", #"[{"id":"x"}]"#)
        #expect(try value("/l/rows/x.open") == false)
    }

    @Test("an object that is held as a value waits for its list as any value does") func waitingObject() throws {
        try call(
            "apply",
            #"""
            {"document":{"agd":1,"types":{"Author":{"state":{"name":"","born":0}}},"nodes":[{"id":"l","state":{"items":{"initial":[],"transient":true}},            "children":[{"id":"rows","forEach":{"in":"$items","id":"self","node":{"state":{"by":{"type":"Author?"}}}}}]}]}}
            """#.replacing("\\\n", with: ""))
        try set("/l.items", #"["x"]"#)
        try set("/l/rows/x.by", #"{"name":"Ada"}"#)
        try restart()
        try set("/l.items", #"["x"]"#)
        #expect(try value("/l/rows/x.by") == ["name": "Ada", "born": 0])
    }

    @Test("a state that is no longer transient keeps its present value") func becomesDurable() throws {
        try apply(#"[{"id":"a","state":{"x":{"initial":0,"transient":true}}}]"#)
        try set("/a.x", "5")
        try apply(#"[{"id":"a","state":{"x":0}}]"#)
        #expect(try value("/a.x") == 5)
        try restart()
        #expect(try value("/a.x") == 5)
    }

    @Test("every value that was written is read again: infinite angles, vectors without numbers") func numbers() throws
    {
        try apply(#"[{"id":"a","state":{"an":{"initial":0,"type":"angle"},"v":{"initial":[0,0],"type":"vector(2)"}}}]"#)
        try set("/a.an", "1e308")
        try call("transact", #"{"mutations":[{"op":"add","path":"/a.an","value":1e308}]}"#)
        try call("set", #"{"path":"/a.v","value":{"list":[{"double":"NaN"},{"double":"-Infinity"}]},"typed":true}"#)
        try restart()
        #expect(try value("/a.an") == "Infinity")
        #expect(try value("/a.v") == ["NaN", "-Infinity"])
    }
}
