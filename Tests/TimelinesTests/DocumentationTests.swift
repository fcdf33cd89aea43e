import Glibc
import Testing
@testable import Timelines

@Suite("Documentation/Animation.md")
struct DocumentationTests {
    private func document() throws -> [Substring] {
        var parts = #filePath.split(separator: "/", omittingEmptySubsequences: false)
        parts.removeLast(3)
        let file = try #require(fopen(parts.joined(separator: "/") + "/Documentation/Animation.md", "r"))
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count], as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
    }

    /// What stands between apostrophes, and the words outside them.
    private func words(_ command: Substring) -> [String] {
        var words: [String] = []
        for (i, part) in command.split(separator: "'", omittingEmptySubsequences: false).enumerated() {
            if i % 2 == 1 { words.append(String(part)) } else { words += part.split(separator: " ").map(String.init) }
        }
        return words
    }

    private func output(_ command: Substring) throws -> String {
        let words = words(command)
        let animation = try Animation(words[3])
        var trajectory = Trajectory(from: 0, to: 1, animation: animation)
        for (i, word) in words.enumerated() where word == "--retarget" {
            trajectory.retarget(try Trajectory.Change(words[i + 1]))
        }
        if words.contains("--plot") { return trajectory.plot() }
        if words.contains("--css") {
            var cache = EasingCache()
            let css = cache.css(for: animation)
            return try #require(css).json.jsonText + "\n"
        }
        let times = try #require(words.last).split(separator: ",").compactMap { Double($0) }
        return trajectory.json(at: times)
    }

    @Test("every plot and every sample on the page is what the tool prints")
    func outputs() throws {
        let lines = try document()
        var shown: [(command: Substring, output: String)] = []
        var isConsole = false
        for line in lines {
            if line.hasPrefix("```") {
                isConsole = line == "```console"
            } else if isConsole {
                if line.hasPrefix("$ ") {
                    shown.append((line, ""))
                } else {
                    shown[shown.count - 1].output += line + "\n"
                }
            }
        }
        #expect(shown.count >= 9)
        for (command, text) in shown { #expect(try output(command) == text, "\(command)") }
    }

    @Test("every animation named on the page can be read")
    func animations() throws {
        let text = try document().joined(separator: "\n")
        var read = 0
        for piece in text.split(separator: "`")
        where piece.contains("(duration: ") && !piece.contains("\n") && !piece.hasPrefix(".")
            && !piece.contains("agctl") && !piece.contains("D, bounce")
        {
            #expect(throws: Never.self, "\(piece)") { try Animation(String(piece)) }
            read += 1
        }
        #expect(read > 0)
    }
}
