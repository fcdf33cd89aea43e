import Foundation
import TestSupport
import Testing

/// The compiler that made the tests, on what they were made with.
private enum Compiler {
    static let path = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .map { "\($0)/swiftc" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    static let modules = Program.folder + "/Modules"
    static let moduleMaps = ["CSimdJSON", "CRelease"].map { "\(Program.folder)/\($0).build/module.modulemap" }

    static var isThere: Bool {
        path != nil
            && ([modules + "/AGScenes.swiftmodule"] + moduleMaps)
                .allSatisfy { FileManager.default.fileExists(atPath: $0) }
    }

    /// What it says of a source file.
    static func check(_ source: String) throws -> String {
        let folder = try Folder()
        let file = try folder.write(source, to: "scenes.swift")
        return try Program.run(
            try #require(path),
            ["-typecheck", "-swift-version", "6", "-I", modules]
                + moduleMaps.flatMap { ["-Xcc", "-fmodule-map-file=\($0)"] } + [file],
            environment: ["HOME": folder.path], folder: folder
        ).text
    }
}

/// What the compiler refuses in scenes, and whether it says why.
@Suite("Scenes in Swift that are wrong", .enabled(if: Compiler.isThere, "no compiler beside the modules"))
struct WrongUseTests {
    /// What stands in a scene, and what the compiler says of it; nil: nothing.
    static let uses: [(scene: String, message: String?)] = [
        (#"View("a") { State("x", 1) }"#, nil),
        (#"ForEach(in: \.items) { State("x", 1); View() }"#, nil),
        (#"View("a") { View("b") }"#, "a View has no children; use Container or Group"),
        (#"State("x", 1)"#, "attributes belong to nodes; put this into a View or a Container"),
        (#"Container { EnvironmentKey("x", default: 1) }"#, "write declarations in the Scene, not inside a node"),
        (
            #"ForEach(in: \.items) { View("a"); View("b") }"#,
            "a ForEach makes one node of each element; put several into a Group"
        ),
        (#"ForEach(in: \.items) { State("x", 1) }"#, "a ForEach needs the node that it makes of each element"),
        (#"ObjectType("L") { Binding("x", to: \.y) }"#, "an object has states, computeds and actions"),
        (
            #"Section { View() } header: { State("x", 1) }"#,
            "a header, footer or branch has only nodes"
        ),
        (#"View { State("x", .rule("1 + 1")) }"#, "type 'Value' has no member 'rule'"),
        (#"View { Binding("x", to: 5) }"#, "cannot convert value of type 'Int' to expected argument type 'PlacePath'"),
    ]

    @Test("do not compile, and the compiler says why")
    func compile() throws {
        let lines = WrongUseTests.uses.enumerated().map { number, use in
            "func scene\(number)() throws { _ = try Scene { \(use.scene) } }"
        }
        let output = try Compiler.check("import AGScenes\n" + lines.joined(separator: "\n") + "\n")
        for (number, use) in WrongUseTests.uses.enumerated() {
            let errors = output.components(separatedBy: "\n").filter {
                $0.contains("scenes.swift:\(number + 2):") && $0.contains("error:")
            }
            if let message = use.message {
                #expect(errors.contains { $0.contains(message) }, "\(use.scene): \(errors)")
            } else {
                #expect(errors.isEmpty, "\(use.scene): \(output)")
            }
        }
    }
}
