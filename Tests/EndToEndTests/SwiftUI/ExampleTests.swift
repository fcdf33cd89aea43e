import Foundation
import Testing

/// Every scene is driven by a test, applies without a fault, and stands in the table.
@Suite("SwiftUI: all examples")
struct ExampleTests {
    static let names =
        (try? FileManager.default.contentsOfDirectory(atPath: Project.file("Examples/swiftui")))?
        .filter { $0.hasSuffix(".yaml") }.map { String($0.dropLast(5)) }.sorted() ?? []

    @Test("is named by a test that drives it")
    func driven() throws {
        let tests = try ["StateTests", "EnvironmentTests", "ContainerTests"].map {
            try Project.text("Tests/EndToEndTests/SwiftUI/\($0).swift")
        }.joined()
        let driven = Set(tests.matches(of: #/Example\("([a-z-]+)"\)/#).map { String($0.1) })
        #expect(Set(ExampleTests.names) == driven)
        #expect(ExampleTests.names.count >= 35)
    }

    @Test("begins with the document that it is taken from, and has its row in the table", arguments: names)
    func told(_ name: String) throws {
        let documents = [
            "Managing user interface state", "Environment", "EnvironmentValues", "EnvironmentKey", "environment(_:)",
            "environment(_:_:)", "transformEnvironment(_:transform:)", "ContainerValueKey", "ContainerValues",
            "Mastering container views",
        ]
        let text = try Project.text("Examples/swiftui/\(name).yaml")
        #expect(documents.contains { text.hasPrefix("# \($0):") || text.hasPrefix("# \($0),") })
        #expect(try Project.text("Examples/swiftui/README.md").contains("`\(name).yaml`"))
    }

    @Test(
        "applies without a fault, and no attribute of it is an error that it does not show on purpose", arguments: names
    )
    func applies(_ name: String) throws {
        let example = try Example(name)
        let errors = try example.watch("/**").values.filter { $0.value.string?.hasPrefix("error: ") == true }.keys
            .sorted()
        #expect(errors == (name == "library-optional" ? ["/required.count", "/required.library"] : []))
    }

    @Test("exported, makes an equal tree in another daemon", arguments: names)
    func export(_ name: String) throws {
        let example = try Example(name)
        let document = try #require(example.client.call("dump", ["format": "scene"])["document"])
        let daemon = try Daemon()
        try withExtendedLifetime(daemon) {
            let other = try daemon.client()
            try other.call("apply", ["document": document])
            let tree = try example.client.call("describe", ["path": "/"])
            #expect(try other.call("describe", ["path": "/"]) == tree)
        }
    }

    @Test(
        "pages about them lead to files that are there",
        arguments: [
            "Examples/swiftui/README.md", "Documentation/SwiftScenes.md", "Documentation/Scenes.md",
        ])
    func links(_ page: String) throws {
        let folder = Project.file(page).split(separator: "/").dropLast().joined(separator: "/")
        let links = try Project.text(page).matches(of: #/\]\(([^)#:]+)\)/#).map { String($0.1) }
        #expect(!links.isEmpty)
        for link in links {
            #expect(FileManager.default.fileExists(atPath: "/\(folder)/\(link)"), "\(page) names \(link)")
        }
    }
}
