import Foundation
import TestSupport
import Testing

@Suite("The scripts that build")
struct BuildScriptTests {
    /// A checkout with one source, whose compiler writes its arguments into a file.
    private let checkout: Folder
    private let source: String

    init() throws {
        checkout = try Folder()
        let files = FileManager.default
        for folder in ["Scripts", "Sources/a", ".build"] {
            try files.createDirectory(atPath: checkout.file(folder), withIntermediateDirectories: true)
        }
        for script in ["build", "checkout"] {
            try files.copyItem(atPath: Project.file("Scripts/\(script)"), toPath: checkout.file("Scripts/\(script)"))
        }
        _ = try checkout.write("", to: "Package.swift")
        source = try checkout.write("", to: "Sources/a/a.swift")
        try Program.write(script: "echo \"$@\" >>calls\n[ ! -e broken ]\n", to: "compiler", in: checkout)
    }

    /// - Returns: the arguments of the compiler's calls.
    private func build(_ expected: Int32 = 0) throws -> [Substring] {
        let calls = checkout.file("calls")
        try? FileManager.default.removeItem(atPath: calls)
        let result = try Program.run(
            "/bin/bash", [checkout.file("Scripts/build")], environment: ["SWIFT": checkout.file("compiler")],
            folder: checkout)
        #expect(result.code == expected, "\(result.text)")
        return (try? String(contentsOfFile: calls, encoding: .utf8))?.split(separator: "\n") ?? []
    }

    @Test("compile all programs at once, and nothing when no source has changed") func unchanged() throws {
        #expect(try build() == ["build --target Programs"])
        #expect(try build() == [])
        _ = try checkout.write("let a = 1", to: "Sources/a/a.swift")
        #expect(try build().count == 1)
        #expect(try build() == [])
        try FileManager.default.removeItem(atPath: source)
        #expect(try build().count == 1)
    }

    @Test("compile again after a build that failed") func failed() throws {
        let broken = try checkout.write("", to: "broken")
        #expect(try build(1).count == 1)
        try FileManager.default.removeItem(atPath: broken)
        #expect(try build().count == 1)
        #expect(try build() == [])
    }

    @Test("clear a build folder that was made in another place, and no other") func moved() throws {
        let manifest = try checkout.write("\"\(checkout.path)/.build/debug/a\"", to: ".build/debug.yaml")
        #expect(try build().count == 1)
        #expect(FileManager.default.fileExists(atPath: manifest))
        _ = try checkout.write("\"/another/place/.build/debug/a\"", to: ".build/debug.yaml")
        #expect(try build().count == 1)
        #expect(!FileManager.default.fileExists(atPath: manifest))
    }
}
