import Foundation
import TestSupport
import Testing

/// What the programs say of themselves, where a line has 80 columns.
@Suite("Help")
struct HelpTests {
    private static let width = 80
    private let folder: Folder

    init() throws { folder = try Folder() }

    private func help(_ command: [String]) throws -> [Substring] {
        let help = try Program.run(
            command[0], Array(command.dropFirst()) + ["--help"], environment: ["COLUMNS": "\(Self.width)"],
            folder: folder)
        #expect(help.code == 0)
        return help.text.split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// Paragraphs fill their lines, and what is indented, as tables and examples are, has lines that fit.
    private func check(_ command: [String]) throws {
        // The usage is one line.
        let lines = try help(command).filter { !$0.uppercased().hasPrefix("USAGE: ") }
        for (line, next) in zip(lines, lines.dropFirst()) {
            #expect(line.count <= Self.width, "too long: \(line)")
            guard let word = next.split(separator: " ").first, !next.hasPrefix(" "), !line.isEmpty else { continue }
            #expect(!line.hasPrefix(" "), "broken: \(line)⏎\(next)")
            // The last column is free.
            #expect(line.count + 1 + word.count >= Self.width, "ragged: \(line)⏎\(next)")
        }
    }

    @Test(
        "paragraphs fill their lines, and tables are not broken",
        arguments: [
            "agd", "agd-past", "agd-gateway", "agd-host-feeder", "agd-link", "agd-bridge", "agctl", "agctl-scene",
        ])
    func programs(_ name: String) throws { try check([name]) }

    @Test("nor are the examples of agctl's verbs")
    func verbs() throws {
        let verbs = try help(["agctl"]).drop { $0 != "VERBS:" }.prefix { !$0.isEmpty }.filter {
            $0.hasPrefix("  ") && !$0.hasPrefix("   ")
        }
        .compactMap { $0.split(whereSeparator: { " ,".contains($0) }).first.map(String.init) }
        #expect(verbs.count > 20)
        for verb in verbs { try check(["agctl", verb]) }
    }
}
