import AttributeValues
import Foundation
import Testing

@testable import DaemonServer
@testable import GraphRuntime

/// What rules that cost much may do to the daemon.
@Suite("Rules that cost much", .serialized)
struct RuleLimitTests {
    private func daemon(_ scene: String, _ change: @escaping (inout Configuration) -> Void = { _ in }) throws
        -> TestDaemon
    {
        let file = NSTemporaryDirectory() + "agd-" + UUID().uuidString.prefix(8) + ".yaml"
        try scene.write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        return try TestDaemon { configuration in
            configuration.scenes = [file]
            change(&configuration)
        }
    }

    @Test("rule-cost holds for rules of scenes and for those that are sent to be evaluated") func cost() throws {
        let scene =
            "agd: 1\nnodes: [{ id: a, state: { l: [1, 2, 3, 4, 5, 6, 7, 8, 9] }, computed: { x: 'l.map(i, l.map(j, l.map(k, k)))' } }]"
        let limited = try daemon(scene) { $0.runtime.graph.rules.cost = 1000 }
        let client = try limited.connect()
        let error = try client.call("get", #"{"path":"/a.x"}"#).member("result", "error")
        #expect(error?.member("message")?.string?.contains("1000 steps") == true, "\(String(describing: error))")
        let rule =
            #"{"expression":"[1,2,3,4,5,6,7,8,9].map(i, [1,2,3,4,5,6,7,8,9].map(j, [1,2,3,4,5,6,7,8,9].map(k, k)))"}"#
        #expect(try client.call("eval", rule).member("result", "error") != nil)
        #expect(try daemon(scene).connect().call("get", #"{"path":"/a.x"}"#).member("result", "value") != nil)
    }

    @Test("a turn whose rules take long gives signs of life") func signOfLife() throws {
        let rules = (0..<25).map { "r\($0): '(t + t + \"\($0)\") == \"\"'" }.joined(separator: ", ")
        let daemon = try daemon(
            "agd: 1\nnodes: [{ id: a, state: { t: '\(String(repeating: "x", count: 4_000_000))' }, computed: { \(rules) } }]"
        ) {
            $0.runtime.requestCost = 100_000_000
        }
        var signs = 0
        daemon.daemon.runtime.onLongWork = { signs += 1 }
        let paths = (0..<25).map { "\"/a.r\($0)\"" }.joined(separator: ",")
        let values = try daemon.connect().call("get", "{\"paths\":[\(paths)]}").member("result", "values")
        #expect(values?.member("/a.r24", "value") == false)
        #expect(signs == 1)
    }

    @Test("after shutdown-time waiting calls are dropped, and the mutations that clients left are performed")
    func stopping()
        throws
    {
        let daemon = try daemon("agd: 1\nnodes: [{ id: a, state: { left: 0, calls: 0 } }]") {
            $0.server.shutdownTime = 0
        }
        var time = 0.0
        // Each call takes its client's whole turn.
        daemon.daemon.runtime.turnClock = {
            time += 0.05
            return time
        }
        let busy = try daemon.connect()
        let other = try daemon.connect()
        _ = try other.call("onDisconnect", #"{"mutations":[{"op":"set","path":"/a.left","value":1}]}"#)
        let call =
            #"{"jsonrpc":"2.0","id":1,"method":"transact","params":{"mutations":[{"op":"add","path":"/a.calls","value":1}]}}"#
        busy.send("[" + Array(repeating: call, count: 200).joined(separator: ",") + "]")
        let graph = daemon.daemon.runtime.graph
        func value(_ path: String) throws -> Value? {
            guard
                case .value(let value) = graph.content(
                    of: graph.follow(try graph.locate(AttributePath(path)), isWritten: true).attribute)
            else { return nil }
            return value
        }
        daemon.run(until: { (try? value("/a.calls")) != .int(0) })
        try daemon.drain()
        #expect(try value("/a.left") == 1)
        guard case .int(let done)? = try value("/a.calls") else {
            Issue.record("no number")
            return
        }
        #expect(done > 0 && done < 20, "\(done)")
    }

    @Test("eval pays for reading its rule, by the length") func reading() throws {
        let client = try daemon("agd: 1\nnodes: []") { $0.runtime.requestCost = 10_000 }.connect()
        func evaluate(_ blanks: Int) throws -> Value {
            try client.call("eval", #"{"expression":"1\#(String(repeating: " ", count: blanks))"}"#)
        }
        #expect(try evaluate(1000).member("result", "value") == 1)
        #expect(try evaluate(2000).member("error", "data", "hint")?.string?.contains("request-cost") == true)
    }
}
