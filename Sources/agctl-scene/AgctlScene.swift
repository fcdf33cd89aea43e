import AttributeValues
import CommandArguments
import Glibc
import SceneModel
import SceneTesting
import WireProtocol

@main
struct AgctlScene: Verb {
    static let help = VerbHelp(
        name: "agctl-scene",
        summary: "Test scenes, and serve editors. 'agctl test' and 'agctl lsp' start this program.",
        discussion: """
            It is a program of its own, because it has the whole runtime of the daemon inside, and agctl shall stay \
            small. 'agctl help test' and 'agctl help lsp' describe its work.

            Examples:
              agctl-scene Examples/*.test.yaml

            Exit status:
              0   all tests pass                2  a test file or a scene has faults
              1   a test fails                 64  command line
            """)

    @Argument(help: ArgumentHelp("Test files, YAML or JSON.", valueName: "file"), completion: .files)
    var files: [String] = []

    @Flag(help: "Run again whenever a test file or a scene changes, until Ctrl-C.")
    var watch = false

    @Flag(help: "Serve an editor over standard input and output instead, with the language server protocol.")
    var lsp = false

    @Flag(help: "Print the JSON schema of scenes instead, for editors.")
    var schema = false

    @Option(
        help: ArgumentHelp(
            "Print a page of Markdown instead, with its tables of the keys of scenes made anew.", valueName: "page"),
        completion: .files) var reference: String?

    func validate() throws(UsageError) {
        if files.isEmpty, !lsp, !schema, reference == nil { throw UsageError("a test file is missing") }
    }

    static func main() { AgctlScene.readCommandLine(version: Release.version).run() }

    func run() {
        if lsp { exit(LanguageServer { try ReadFiles().text(of: $0) }.run()) }
        if schema { return AgctlScene.tell(SceneSchema.text) }
        if let reference {
            do { return AgctlScene.tell(try SceneReference.page(try ReadFiles().text(of: reference))) } catch {
                AgctlScene.complain(error)
                exit(2)
            }
        }
        while true {
            let files = ReadFiles()
            let status = run(files)
            guard watch else { exit(status) }
            AgctlScene.tell("# waiting for a change; Ctrl-C ends\n")
            files.waitForChange()
        }
    }

    private func run(_ read: ReadFiles) -> Int32 {
        var isFaulty = false
        var report = TestReport(AgctlScene.tell)
        for file in files {
            do {
                let tests = try SceneTestReader.read(text: try read.text(of: file), path: file)
                report.run(try SceneTestRun(tests, read: read.text))
            } catch {
                isFaulty = true
                AgctlScene.complain(error)
            }
        }
        report.end()
        return isFaulty ? 2 : report.failed > 0 ? 1 : 0
    }

    private static func complain(_ error: any Error) {
        switch error {
        case let faults as SceneFaults: StandardError.write(faults.draw { $0.draw() })
        case let failure as Failure:
            StandardError.write(
                "\(help.name): \(failure.message)\n" + (failure.hint.map { "  hint: \($0)\n" } ?? ""))
        default: StandardError.write("\(help.name): \(error)\n")
        }
    }

    private static func tell(_ text: String) {
        guard !StandardOutput.write(text) else { return }
        report("standard output: \(String(cString: strerror(errno)))")
        exit(74)
    }
}

/// The files that a run of tests reads, as they were then.
private final class ReadFiles {
    /// A file's name, and what its change changes; nil for a file that cannot be read.
    private var stamps: [String: Stamp?] = [:]

    private struct Stamp: Equatable {
        var seconds: Int
        var nanoseconds: Int
        var size: Int64
        var inode: UInt64

        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            seconds = Int(status.st_mtim.tv_sec)
            nanoseconds = Int(status.st_mtim.tv_nsec)
            size = Int64(status.st_size)
            inode = UInt64(status.st_ino)
        }
    }

    struct Fault: Error, CustomStringConvertible {
        let description: String
    }

    func text(of path: String) throws -> String {
        stamps[path] = .some(Stamp(path))
        do throws(TextFile.Fault) { return try TextFile.read(path) } catch {
            switch error {
            case .system(_, let number): throw Fault(description: "\(path): \(String(cString: strerror(number)))")
            case .encoding(let fault): throw Fault(description: fault.described(in: path))
            }
        }
    }

    private static let pause: UInt32 = 200_000

    /// Looks at the files five times a second: an editor may replace a file, or its folder.
    func waitForChange() {
        while stamps.allSatisfy({ Stamp($0.key) == $0.value }) { usleep(ReadFiles.pause) }
    }
}
