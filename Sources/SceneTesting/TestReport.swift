import AttributeValues
import SceneModel

/// Writes the results of tests as TAP (Test Anything Protocol, version 14).
package struct TestReport {
    private let write: (String) -> Void
    private var count = 0
    package private(set) var failed = 0

    package init(_ write: @escaping (String) -> Void) {
        self.write = write
        write("TAP version 14\n")
    }

    /// Runs all tests of a file.
    package mutating func run(_ tests: SceneTestRun) {
        write("# \(tests.file.path)\n")
        for test in tests.file.tests { add(test.name, tests.run(test), tests.file.path) }
    }

    package mutating func end() { write("1..\(count)\n") }

    private mutating func add(_ name: String, _ mismatches: [SceneTestRun.Mismatch], _ file: String) {
        count += 1
        // A number sign would begin a directive, and a line break another line.
        let name = name.replacing("\\", with: "\\\\").replacing("#", with: "\\#").replacing("\n", with: " ")
        guard !mismatches.isEmpty else { return write("ok \(count) - \(name)\n") }
        failed += 1
        var text = "not ok \(count) - \(name)\n  ---\n  failures:\n"
        for mismatch in mismatches {
            text += "    - at: \(file):\(mismatch.position.line):\(mismatch.position.column)\n"
            func line(_ key: String, _ value: String?) {
                if let value { text += "      \(key): \(value)\n" }
            }
            line("message", Value.string(mismatch.message).jsonText)
            line("expected", mismatch.expected)
            line("seen", mismatch.seen)
            line("hint", mismatch.hint.map { Value.string($0).jsonText })
            if !mismatch.explanation.isEmpty { text += "      explain:\n" }
            for (name, value) in mismatch.explanation { text += "        \(name): \(value.jsonText)\n" }
        }
        write(text + "  ...\n")
    }
}
