import AttributeValues
import Foundation
import TestSupport
import Testing

/// Scenes that are wrong, or larger than anybody would write them.
@Suite("Scenes at their limits")
struct SceneTests {
    @Test("a scene with forty mistakes is refused with all of them, and nothing of it takes effect")
    func fortyMistakes() throws {
        let daemon = try Daemon(scenes: [Scenes.counter])
        let client = try daemon.client()
        let nodes = (0..<40).map { number in
            """
              - id: node\(number)
                state: { value: 1.5 }
                computed: { wrong: valu + \(number).0 }
            """
        }
        let document = "agd: 1\nnodes:\n" + nodes.joined(separator: "\n")
        let error = try client.refusal("apply", ["document": .string(document)])
        let text = error.jsonText
        for number in 0..<40 {
            // Each is named with its line: every node takes three of them, the first two are the document's head.
            #expect(text.contains("\(3 + number * 3 + 2):"), "the mistake of node \(number) is missing")
        }
        #expect(text.contains("value"))
        #expect(try client.refusal("get", ["path": "/node0.value"])["data"]?["code"] == "notFound")
        #expect(try client.get("/counter.value") == 0)
    }

    @Test("imports work in the daemon, in check and in apply") func imports() throws {
        let folder = try Folder()
        try FileManager.default.createDirectory(
            atPath: folder.file("lib"), withIntermediateDirectories: true)
        _ = try folder.write("agd: 1\nkeys: { environment: { tint: blue } }\n", to: "lib/keys.yaml")
        _ = try folder.write(
            "import: keys.yaml\ncomponents: { Gauge: { let: { value: 0 }, inherit: [tint] } }\n", to: "lib/gauges.yaml")
        let scene = "import: [lib/gauges.yaml]\nnodes: [{ id: a, component: Gauge, let: { value: 3 } }]\n"
        let file = try folder.write(scene, to: "scene.yaml")
        let daemon = try Daemon(scenes: [scene], folder: folder)
        #expect(try daemon.client().get("/a.tint") == "blue")
        #expect(try Program.run("agctl", ["check", file], folder: folder).code == 0)
        let other = try Daemon()
        #expect(try other.control(["apply", "--file", file]).code == 0)
        #expect(try other.client().get("/a.value") == 3)
        #expect(try other.control(["diff", file]).code == 0)
        let missing = try folder.write("import: lib/gone.yaml\n", to: "missing.yaml")
        let told = try Program.run("agctl", ["check", missing], folder: folder)
        #expect(told.code == 65 && told.text.contains("missing.yaml:1:9: error: 'lib/gone.yaml' cannot be imported"))
    }

    @Test("a cycle is an error that names its whole path; its readers and the rest go on")
    func cycle() throws {
        let daemon = try Daemon(
            scenes: [
                """
                agd: 1
                nodes:
                  - id: loop
                    state: { isOpen: false, seed: 1 }
                    computed:
                      a: "isOpen ? c + 1 : seed"
                      b: a + 1
                      c: b + 1
                      beside: seed + 1
                """
            ])
        let client = try daemon.client()
        #expect(try client.get("/loop.c") == 3)
        try client.call("subscribe", ["paths": ["/loop.*"]])
        _ = try client.event()
        try client.set("/loop.isOpen", true)
        let update = try client.event()
        let failures = (update["changes"]?.list ?? []).filter { $0["error"] != nil }
        #expect(Set(failures.compactMap { $0["path"]?.string }) == ["/loop.a", "/loop.b", "/loop.c"])
        for failure in failures {
            #expect(failure["error"]?["code"] == "cycle")
            let message = failure["error"]?["message"]?.string ?? ""
            for name in ["/loop.a", "/loop.b", "/loop.c"] { #expect(message.contains(name)) }
        }
        #expect(try client.get("/loop.beside") == 2)
        try client.set("/loop.isOpen", false)
        #expect(try client.get("/loop.c") == 3)
    }

    @Test(
        "a chain of twenty thousand rules through fifty nodes is made, evaluated and watched without a stack to overflow"
    )
    func deepChain() throws {
        let daemon = try Daemon()
        let client = try daemon.client()
        let (levels, rules) = (50, 400)
        var scene = "agd: 1\nnodes:\n  - id: chain\n    state: { x0: 0 }\n"
        var indent = "    "
        for level in 1...levels {
            scene += "\(indent)computed:\n"
            for number in 1...rules { scene += "\(indent)  x\(number): x\(number - 1) + 1\n" }
            guard level < levels else { break }
            // The next link begins where the enclosing node's ends.
            scene += "\(indent)children:\n\(indent)  - id: n\n\(indent)    let: { x0: =x\(rules) }\n"
            indent += "    "
        }
        try client.call("apply", ["document": .string(scene)])
        let last = "/chain" + String(repeating: "/n", count: levels - 1) + ".x\(rules)"
        let length = Int64(levels * rules)
        #expect(try client.get(last) == .int(length))
        try client.call("subscribe", ["paths": [.string(last)]])
        _ = try client.event()
        try client.set("/chain.x0", 5)
        #expect(try client.event()["changes"]?[0]?["value"] == .int(length + 5))
        try client.call("remove", ["path": "/chain"])
        #expect(try client.call("ping") == ["pong": true])
    }

    @Test("a rule that costs too much, a hostile pattern and a deep document end in errors, each in its place")
    func expensive() throws {
        let daemon = try Daemon(scenes: [Scenes.counter])
        let client = try daemon.client()
        let list = "[" + (0..<100).map(String.init).joined(separator: ",") + "]"
        let nested = "\(list).map(a, \(list).map(b, \(list).map(c, \(list).map(d, \(list).map(e, a)))))"
        #expect(try client.call("eval", ["expression": .string(nested)])["error"]?["code"] == "limit")
        let hostile = #"("a" + "a".replace("a", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")).matches("(a*)*b")"#
        #expect(try client.call("eval", ["expression": .string(hostile)])["value"] == false)
        let brackets = String(repeating: "(", count: 100_000) + "1" + String(repeating: ")", count: 100_000)
        #expect(try client.refusal("eval", ["expression": .string(brackets)])["data"]?["code"]?.string != nil)
        let yaml = "agd: 1\nnodes: " + String(repeating: "[", count: 50_000)
        #expect(try client.refusal("apply", ["document": .string(yaml)])["data"]?["code"]?.string != nil)
        #expect(try client.call("ping") == ["pong": true])
    }

    @Test("an alias bomb in YAML is refused")
    func aliasBomb() throws {
        let daemon = try Daemon(scenes: [Scenes.counter])
        let client = try daemon.client()
        var yaml = "agd: 1\na0: &a0 [x, x, x, x, x, x, x, x, x, x]\n"
        for level in 1...9 {
            let aliases = Array(repeating: "*a\(level - 1)", count: 10).joined(separator: ", ")
            yaml += "a\(level): &a\(level) [\(aliases)]\n"
        }
        yaml += "nodes: [{ id: bomb, state: { x: *a9 } }]\n"
        let before = daemon.program.residentKilobytes
        _ = try client.refusal("apply", ["document": .string(yaml)])
        #expect(daemon.program.residentKilobytes - before < 256 << 10)
        #expect(try client.get("/counter.value") == 0)
    }
}
