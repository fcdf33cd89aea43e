import AGClient
import AGScenes
import AttributeValues
import Foundation
import SceneModel
import Testing

@Suite("Scenes in Swift")
struct SwiftSceneTests {
    private func yaml(_ name: String) throws -> String { try Project.text("Examples/swiftui/\(name).yaml") }

    @Test("there is one for every example")
    func complete() {
        #expect(SwiftScenes.all.map(\.name) == ExampleTests.names)
    }

    @Test("make the same documents as YAML", arguments: SwiftScenes.all.indices)
    func sameDocument(_ number: Int) throws {
        let (name, make) = SwiftScenes.all[number]
        let swift = NormalDocument.of(try make().document)
        let written = NormalDocument.of(try SceneReader.value(text: yaml(name)))
        #expect(swift == written, "\(name): \(swift.jsonText)")
    }

    @Test("are taken by the reader without a fault", arguments: SwiftScenes.all.indices)
    func read(_ number: Int) throws {
        let scene = try SwiftScenes.all[number].make()
        #expect(try !SceneReader.read(value: scene.document).nodes.isEmpty)
        #expect(try !SceneReader.read(text: scene.text).nodes.isEmpty)
    }

    @Test("make the same tree with the same values, through the client", arguments: SwiftScenes.all.indices)
    func sameTree(_ number: Int) async throws {
        let (name, make) = SwiftScenes.all[number]
        let fromYAML = try Daemon(sceneFiles: ["Examples/swiftui/\(name).yaml"])
        let fromSwift = try Daemon()
        let client = try AGClient.Client(at: SocketLocation(path: fromSwift.socket))
        let applied = try await client.apply(make())
        #expect(!applied.added.isEmpty)
        let trees = try [fromYAML, fromSwift].map { try $0.client().call("describe", ["path": "/"]) }
        #expect(trees[0] == trees[1])
    }

    @Test("stand in the documentation beside their YAML, word for word")
    func documentation() throws {
        let page = try Project.text("Documentation/SwiftScenes.md")
        let sources = try ["StateScenes", "EnvironmentScenes", "ContainerScenes"].map {
            try Project.text("Tests/EndToEndTests/SwiftScenes/\($0).swift")
        }.joined(separator: "\n")
        let shown = page.matches(of: /(?m)^### (\S+)$/).map { String($0.1) }
        #expect(shown.count == 3)
        for name in shown {
            let swift = try #require(SwiftSceneTests.body(of: name, in: sources), "no function for \(name)")
            let yaml = try yaml(name).split(separator: "\n", omittingEmptySubsequences: false).drop {
                $0.hasPrefix("#")
            }
            .joined(separator: "\n")
            #expect(
                page.contains("```yaml\n\(yaml)```\n\n```swift\n\(swift)\n```\n"), "\(name) is not as the page shows it"
            )
        }
    }

    @Test("the page's own example and its modifier do what the page says")
    func introduction() throws {
        let page = try Project.text("Documentation/SwiftScenes.md")
        let source = try Project.text("Tests/EndToEndTests/SwiftScenes/StateScenes.swift")
        let body = try #require(SwiftSceneTests.body(of: "introduction", in: source))
        let shown = body.replacing("\nreturn scene", with: "")
        #expect(page.contains(shown + "\ntry await Client().apply(scene)\n"))
        #expect(try !SceneReader.read(value: SwiftScenes.introduction().document).nodes.isEmpty)

        let modifier = try Project.text("Tests/EndToEndTests/SwiftScenes/LineLimit.swift")
        let start = try #require(modifier.range(of: "extension Modifiable"))
        #expect(page.contains(modifier[start.lowerBound...]))
        let short = try Scene { View("text").lineLimit(2) }
        let long = try Scene { View("text").environment(\.lineLimit, 2) }
        #expect(short.document == long.document)
    }

    /// The body of the function that makes a scene, as it would stand by itself.
    static func body(of name: String, in source: String) -> String? {
        let words = name.split(separator: "-")
        let function = words[0] + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        let lines = source.components(separatedBy: "\n")
        guard let start = lines.firstIndex(of: "    static func \(function)() throws -> Scene {"),
            let end = lines[start...].firstIndex(of: "    }")
        else { return nil }
        return lines[(start + 1)..<end].map { String($0.dropFirst(8)) }.joined(separator: "\n")
    }
}
