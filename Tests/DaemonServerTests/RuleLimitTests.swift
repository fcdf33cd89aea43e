import AttributeValues
import Foundation
import Testing

@testable import DaemonServer

/// What rules that cost much may do to the daemon.
@Suite("Rules that cost much", .serialized)
struct RuleLimitTests {
    private func daemon(_ scene: String, _ change: @escaping (inout Configuration) -> Void = { _ in }) throws -> TestDaemon {
        let file = NSTemporaryDirectory() + "agd-" + UUID().uuidString.prefix(8) + ".yaml"
        try scene.write(toFile: file, atomically: true, encoding: .utf8)
        defer { try? FileManager.default.removeItem(atPath: file) }
        return try TestDaemon { configuration in
            configuration.scenes = [file]
            change(&configuration)
        }
    }

    @Test("rule-cost holds for rules of scenes and for those that are sent to be evaluated") func cost() throws {
        let scene = "agd: 1\nnodes: [{ id: a, state: { l: [1, 2, 3, 4, 5, 6, 7, 8, 9] }, computed: { x: 'l.map(i, l.map(j, l.map(k, k)))' } }]"
        let limited = try daemon(scene) { $0.runtime.graph.rules.cost = 1000 }
        let client = try limited.connect()
        let error = try client.call("get", #"{"path":"/a.x"}"#).member("result", "error")
        #expect(error?.member("message")?.string?.contains("1000 steps") == true, "\(String(describing: error))")
        let rule = #"{"expression":"[1,2,3,4,5,6,7,8,9].map(i, [1,2,3,4,5,6,7,8,9].map(j, [1,2,3,4,5,6,7,8,9].map(k, k)))"}"#
        #expect(try client.call("eval", rule).member("result", "error") != nil)
        #expect(try daemon(scene).connect().call("get", #"{"path":"/a.x"}"#).member("result", "value") != nil)
    }

    @Test("a turn whose rules take long gives signs of life") func signOfLife() throws {
        let rules = (0..<25).map { "r\($0): '(t + t + \"\($0)\") == \"\"'" }.joined(separator: ", ")
        let daemon = try daemon("agd: 1\nnodes: [{ id: a, state: { t: '\(String(repeating: "x", count: 4_000_000))' }, computed: { \(rules) } }]")
        var signs = 0
        daemon.daemon.runtime.onLongWork = { signs += 1 }
        let paths = (0..<25).map { "\"/a.r\($0)\"" }.joined(separator: ",")
        let values = try daemon.connect().call("get", "{\"paths\":[\(paths)]}").member("result", "values")
        #expect(values?.member("/a.r24", "value") == false)
        #expect(signs == 1)
    }
}
