import AttributeValues
import Testing

@testable import SceneModel

/// `import`: the files that a scene stands on.
@Suite("Imports")
struct ImportTests {
    private struct Missing: Error, CustomStringConvertible { let description = "no such file" }

    private func collect(_ files: [String: String], _ file: String = "a.yaml") throws -> [String] {
        try SceneImports.collect(file) { path in
            guard let text = files[path] else { throw Missing() }
            return text
        }.map(\.path)
    }

    private func fault(_ files: [String: String]) -> String {
        do { return "\(try collect(files))" } catch { return "\(error)" }
    }

    @Test("each file is there once, behind those that it imports") func order() throws {
        let files = [
            "a.yaml": "import: [lib/b.yaml, lib/c.yaml]", "lib/b.yaml": "import: ../lib/./c.yaml",
            "lib/c.yaml": "agd: 1",
        ]
        #expect(try collect(files) == ["lib/c.yaml", "lib/b.yaml", "a.yaml"])
        #expect(
            try collect(["/x/a.yaml": "import: /y/b.yaml", "/y/b.yaml": ""], "/x/a.yaml") == ["/y/b.yaml", "/x/a.yaml"])
        #expect(SceneImports.resolve("../../b.yaml", from: "c/a.yaml") == "../b.yaml")
        #expect(SceneImports.resolve("../b.yaml", from: "/c/a.yaml") == "/b.yaml")
    }

    @Test("files whose names look the same and have other bytes are two") func canonicalNames() throws {
        let (composed, decomposed) = ("k\u{FC}che.yaml", "ku\u{308}che.yaml")
        let files = ["a.yaml": "import: [\(composed), \(decomposed)]", composed: "agd: 1"]
        let found = try SceneImports.collect("a.yaml") { files[$0] ?? "agd: 1" }.map { Name($0.path) }
        #expect(found == [Name(composed), Name(decomposed), "a.yaml"])
    }

    @Test("files that import each other are told with the way, at the line that closes it") func cycles() {
        #expect(
            fault(["a.yaml": "agd: 1\nimport: b.yaml", "b.yaml": "import: a.yaml"]).hasPrefix(
                "b.yaml:1:9: error: files import each other: a.yaml → b.yaml → a.yaml"))
        #expect(fault(["a.yaml": "import: a.yaml"]).contains("a.yaml → a.yaml"))
    }

    @Test("a file that cannot be read is told at the line that imports it") func missing() {
        #expect(
            fault(["a.yaml": "import: [x.yaml]"]).hasPrefix(
                "a.yaml:1:10: error: 'x.yaml' cannot be imported: no such file"))
    }

    @Test("long chains need no recursion, and there is a limit") func limit() throws {
        var files = ["a.yaml": "import: f0.yaml"]
        for i in 0..<2000 { files["f\(i).yaml"] = "import: f\(i + 1).yaml" }
        #expect(fault(files).contains("a scene imports at most 1000 files"))
        files["f900.yaml"] = ""
        #expect(try collect(files).count == 902)
    }

    @Test("a document that no file holds imports nothing") func documents() {
        var context = SceneContext()
        context.isFile = false
        #expect(throws: SceneFaults.self) { try SceneReader.read(text: "import: a.yaml", context: context) }
        #expect(onlyFault("import: { a: b }").contains("import takes the path of a file, not a map"))
    }

    @Test("one document has all declarations of its files, and later ones replace earlier ones of the same name")
    func bundle()
        throws
    {
        let files = [
            SceneFile(
                path: "b",
                text: "keys: { environment: { x: 1, y: 1 } }\ncomponents: { C: { let: [a] } }\nnodes: [{ id: n }]"),
            SceneFile(path: "a", text: "import: b\nkeys: { environment: { y: 2 } }\nnodes: [{ id: m }]"),
        ]
        let bundle = try SceneImports.bundle(files)
        #expect(bundle.map?["keys"] == ["environment": ["x": 1, "y": 2]])
        #expect(bundle.map?["nodes"]?.list?.count == 2)
        #expect(bundle.map?["import"] == nil)
    }
}
