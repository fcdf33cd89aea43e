import Foundation
import TestSupport
import Testing

/// `agctl test`, as it is typed.
@Suite("agctl test")
struct SceneTestTests {
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func run(_ arguments: [String]) throws -> (code: Int32, text: String) {
        try Program.run("agctl", ["test"] + arguments, folder: folder)
    }

    private static let tests =
        ((try? FileManager.default.contentsOfDirectory(atPath: Project.file("Examples"))) ?? []).filter {
            $0.hasSuffix(".test.yaml")
        }.sorted()

    @Test("the tests of an example pass", arguments: tests) func example(_ name: String) throws {
        let told = try run([Project.file("Examples/" + name)])
        #expect(told.code == 0, "\(told.text)")
    }

    @Test("the large examples have tests") func complete() {
        #expect(
            Set(Self.tests).isSuperset(
                of: ["station", "rack", "brewery", "podcast", "alerts"].map { $0 + ".test.yaml" }))
    }

    @Test("the status tells failures from faults, and a faulty file does not hide the others") func status() throws {
        _ = try folder.write("nodes: [{ id: n, state: { x: 1 } }]", to: "n.yaml")
        let good = try folder.write("tests: { one: [{ expect: { /n.x: 1 } }] }", to: "n.test.yaml")
        let bad = try folder.write(
            "given: { scene: n.yaml }\ntests: { two: [{ expect: { /n.x: 2 } }] }", to: "bad.test.yaml")
        let faulty = try folder.write("tests: { three: [{ expct: 1 }] }", to: "faulty.test.yaml")
        #expect(try run([good]).code == 0)
        let failed = try run([good, bad])
        #expect(failed.code == 1 && failed.text.contains("ok 1 - one") && failed.text.contains("not ok 2 - two"))
        let refused = try run([faulty, good])
        #expect(refused.code == 2 && refused.text.contains("faulty.test.yaml:1:20: error: a step has no key 'expct'"))
        #expect(refused.text.contains("hint: ") && refused.text.contains("ok 1 - one"), "\(refused.text)")
        let missing = try run([folder.file("none.test.yaml")])
        #expect(missing.code == 2 && missing.text.contains("none.test.yaml: No such file"), "\(missing.text)")
        #expect(try run([]).code == 64)
        _ = try folder.write("nodes: [{ id: n, komputed: {} }]", to: "n.yaml")
        let scene = try run([good])
        #expect(scene.code == 2 && scene.text.contains("n.yaml:1:18:"), "\(scene.text)")
    }

    @Test("with --watch, a change of the scene runs the tests again") func watching() throws {
        _ = try folder.write("nodes: [{ id: n, state: { x: 1 } }]", to: "n.yaml")
        let test = try folder.write("tests: { one: [{ expect: { /n.x: 2 } }] }", to: "n.test.yaml")
        let program = try Program("agctl", ["test", "--watch", test], folder: folder)
        func wait(for text: String) throws {
            let deadline = Deadline(Deadline.patience)
            while !program.text.contains(text) {
                try #require(!program.isOver(within: 0.02) && !deadline.isOver, "\(program.text)")
            }
        }
        try wait(for: "not ok 1 - one")
        try wait(for: "waiting for a change")
        _ = try folder.write("nodes: [{ id: n, state: { x: 2 } }]", to: "n.yaml")
        try wait(for: "\nok 1 - one")
        program.signal(SIGINT)
        try program.wait()
    }
}
