import AttributeValues
import Foundation
import SceneModel
import Testing

@Suite("The project's scenes")
struct ExampleTests {
    static let files = ((try? sceneFiles(in: "Examples/swiftui")) ?? []) + ((try? sceneFiles(in: "Examples")) ?? [])

    @Test("there are scenes for all documents of the reference")
    func complete() throws {
        let names = Set(ExampleTests.files.map { $0.deletingPathExtension().lastPathComponent })
        let wanted: Set = [
            "player-state", "player-let", "play-button-binding", "podcaster", "animated-transition",
            "animation-modifier",
            "color-scheme", "library-object", "library-optional", "library-key-path", "locale", "line-limit",
            "preferred-color-scheme", "custom-environment-key", "profile", "truncation-mode", "transform-environment",
            "container-value-key", "container-values", "container-values-subview", "pin-position", "tags",
            "magazine-first", "magazine", "podcast",
        ]
        #expect(wanted.subtracting(names).isEmpty)
    }

    @Test("read and check without a fault, with what they import", arguments: files)
    func read(_ file: URL) throws {
        let scene = try SceneReader.read(value: bundle(file))
        #expect(!scene.nodes.isEmpty || !scene.declarations.components.isEmpty)
    }

    /// What agctl sends: the file with what it imports.
    private func bundle(_ file: URL) throws -> Value {
        try SceneImports.bundle(SceneImports.collect(file.path) { try String(contentsOfFile: $0, encoding: .utf8) })
    }

    @Test("satisfy the JSON Schema that editors use", arguments: files)
    func schema(_ file: URL) throws {
        let schema = try SchemaValidator(String(contentsOf: projectFile("config/scene.schema.json"), encoding: .utf8))
        let document = try SceneReader.value(text: String(contentsOf: file, encoding: .utf8))
        #expect(schema.problems(of: document) == [])
    }

    /// Those that import nothing.
    private static let whole = files.filter { $0.lastPathComponent != "host-monitor.yaml" }

    @Test("check as the values that agctl sends for them", arguments: whole)
    func values(_ file: URL) throws {
        let fromText = try scene(String(contentsOf: file, encoding: .utf8))
        let fromValue = try SceneReader.read(value: bundle(file))
        #expect(fromValue.nodes.map(\.id) == fromText.nodes.map(\.id))
    }
}

@Suite("The JSON Schema")
struct SchemaTests {
    private func problems(_ text: String) throws -> [String] {
        let schema = try SchemaValidator(String(contentsOf: projectFile("config/scene.schema.json"), encoding: .utf8))
        return schema.problems(of: try SceneReader.value(text: text))
    }

    @Test("admits the specification's example")
    func specification() throws { #expect(try problems(specificationScene) == []) }

    @Test(
        "admits what the reader admits",
        arguments: [
            """
            components:
              A: { binding: [x, y] }
              B: { binding: { x: { default: 1, type: int }, y: 2, z: '$$z', v: '==v', w: { to: 1 } }, let: [n] }
              C: { component: B, binding: { x: 5 } }
            nodes:
              - id: a
                state: { n: 0, items: [{ id: p }], isLeft: true }
                children:
                  - id: b
                    binding:
                      a: $n
                      b: '=isLeft ? $n : $items'
                      c: '$items[id=n].x'
                      d: $/a.n
                      e: { to: $n, animation: smooth }
                      f: { to: '=isLeft ? $n : $items' }
                      g: { get: n * 2, set: { $n: =newValue / 2 }, animation: null }
                      h: true
                      i: '$$x'
                      j: '==x'
                      k: { get: 1, other: 2 }
                      l: { to: 1 }
                      m: [1, 2]
                      n: null
                  - { id: rows, was: list, forEach: { in: $items, component: A, binding: { x: $n, y: { to: $n } } } }
            """
        ])
    func admits(_ text: String) throws {
        #expect(try problems(text) == [])
        _ = try scene(text)
    }

    @Test(
        "refuses what the reader refuses",
        arguments: [
            "agd: 2", "nods: []", "keys: { enviroment: {} }", "nodes: { id: a }", "nodes: [{ id: a, stat: {} }]",
            "nodes: [{ id: a, kind: button }]", "nodes: [{ id: '' }]", "types: { library: { state: {} } }",
            "nodes: [{ id: a, forEach: { node: {} } }]", "nodes: [{ id: a, clock: { now: often } }]",
            "nodes: [{ id: a, state: { two words: 1 } }]", "nodes: [{ id: a, animation: bouncy }]",
            "components: { A: { id: x } }", "components: { A: { was: x } }", "nodes: [{ id: a, binding: [x] }]",
            "nodes: [{ id: a, let: [x] }]", "nodes: [{ id: a, binding: { x: =1 + 2 } }]",
            "nodes: [{ id: a, binding: { x: '$ b' } }]", "nodes: [{ id: a, binding: { x: { get: '1' } } }]",
            "nodes: [{ id: a, binding: { x: { get: '1', set: {} } } }]",
            "nodes: [{ id: a, binding: { x: { get: '1', set: { n: 1 } } } }]",
            "nodes: [{ id: a, state: { n: 0 }, children: [{ id: b, binding: { x: { to: $n, animate: smooth } } }] }]",
            "nodes: [{ id: a, binding: { x: { to: =1 } } }]",
            "nodes: [{ id: a, forEach: { in: [], component: C, binding: [x] } }]",
            "components: { A: { binding: { x: $n } } }", "components: { A: { binding: { x: =1 } } }",
            "components: { A: { binding: { x: { to: $n } } } }",
            "components: { A: { binding: { x: { get: '1', set: { $n: 1 } } } } }",
            "types: { T: { actions: { go: { of: n, perform: {} } } } }", "nodes: [{ id: a, was: '' }]",
            "nodes: [{ id: a, computed: { x: [1] } }]", "values: { app.n: 1 }",
        ])
    func refusals(_ text: String) throws {
        #expect(try !problems(text).isEmpty)
        #expect(!faults(text).isEmpty)
    }
}
