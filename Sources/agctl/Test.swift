import CommandArguments

/// The runtime that it needs is in a program of its own, so that agctl stays small.
struct TestCommand: Verb {
    static let help = VerbHelp(
        name: "test", summary: "Test scenes, without a daemon and without waiting.",
        discussion: """
            A test file stands beside its scene: station.test.yaml tests station.yaml. Each test begins with the scene, \
            does steps (set, do, advance: 5m, restart, …), and says what is expected after each: values, what changed, \
            which rules ran. The clock is virtual. Documentation/SceneTests.md describes the format.

            The output is TAP: a line 'ok' or 'not ok' for each test. Below a test that fails are the expected and the \
            seen value, and why the attribute has this value.

            Status 0: all tests pass. 1: a test fails. 2: a test file or a scene has faults.

            Examples:
              agctl test Examples/*.test.yaml
              agctl test --watch station.test.yaml
            """)

    @Argument(help: ArgumentHelp("Test files, YAML or JSON.", valueName: "file"), completion: .files)
    var files: [String]

    @Flag(help: "Run again whenever a test file or a scene changes, until Ctrl-C.")
    var watch = false

    func run() throws {
        throw Child.become("agctl-scene", (watch ? ["--watch"] : []) + ["--"] + files)
    }
}
