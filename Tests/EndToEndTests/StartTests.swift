import AttributeValues
import Foundation
import TestSupport
import Testing

/// What a program may lack when it starts.
enum Surroundings: String, CaseIterable, CustomTestStringConvertible {
    case noProc, noTemporaryFolder, setenvInALibrary, closedInput, closedOutput, closedErrors, allClosed

    var testDescription: String { rawValue }

    /// A line of the shell that becomes the program `$0` with its arguments. `$LIBRARY` is the preloaded library.
    private var line: String {
        switch self {
        case .noProc: "mount -t tmpfs none /proc && exec \"$0\" \"$@\""
        case .noTemporaryFolder: "export TMPDIR=/nowhere; exec \"$0\" \"$@\""
        case .setenvInALibrary: "export LD_PRELOAD=$LIBRARY; exec \"$0\" \"$@\""
        case .closedInput: "exec \"$0\" \"$@\" <&-"
        case .closedOutput: "exec \"$0\" \"$@\" >&-"
        case .closedErrors: "exec \"$0\" \"$@\" 2>&-"
        case .allClosed: "exec \"$0\" \"$@\" <&- >&- 2>&-"
        }
    }

    /// The program and the arguments that start another program in these surroundings.
    func start(_ name: String, _ arguments: [String]) -> (String, [String]) {
        let shell = ["-c", line, Program.built(name)] + arguments
        return self == .noProc ? ("/usr/bin/unshare", Self.mounting + ["/bin/sh"] + shell) : ("/bin/sh", shell)
    }

    var isOutputClosed: Bool { self == .closedOutput || self == .allClosed }

    // MARK: What the machine allows

    /// The options with which this user may mount, if there are any.
    private static let mounting: [String] = geteuid() == 0 ? ["--mount"] : ["--user", "--map-root-user", "--mount"]

    private static func succeeds(_ program: String, _ arguments: [String]) -> Bool {
        (try? Program.run(program, arguments, folder: Folder()).code) == 0
    }

    private static let mayMount = succeeds("/usr/bin/unshare", mounting + ["mount", "-t", "tmpfs", "none", "/proc"])
    static let hasCompiler = FileManager.default.isExecutableFile(atPath: "/usr/bin/cc")

    static let possible = allCases.filter {
        $0 == .noProc ? mayMount : $0 == .setenvInALibrary ? hasCompiler : true
    }
}

/// The programs, started where something is missing that most systems have.
@Suite("Programs in odd surroundings")
struct StartTests {
    private static let programs = ["agd", "agctl", "agd-gateway", "agd-host-feeder", "agd-link", "agd-bridge"]
    private let folder: Folder
    private let variables: [String: String]

    init() throws {
        folder = try Folder()
        let library = folder.file("changes.so")
        variables = ["LIBRARY": library, "AGD_SOCKET": folder.file("agd.sock")]
        guard Surroundings.possible.contains(.setenvInALibrary) else { return }
        let source = try folder.write(
            """
            #include <stdlib.h>
            __attribute__((constructor)) static void change(void) { setenv("AGD_PRELOADED", "1", 1); }

            """, to: "changes.c")
        let compiled = try Program.run("/usr/bin/cc", ["-shared", "-fPIC", "-o", library, source], folder: folder)
        try #require(compiled.code == 0, "\(compiled.text)")
    }

    private func run(_ name: String, _ arguments: [String], in surroundings: Surroundings) throws -> (
        code: Int32, text: String
    ) {
        let (program, words) = surroundings.start(name, arguments)
        return try Program.run(program, words, environment: variables, folder: folder)
    }

    private func begin(_ name: String, _ arguments: [String], in surroundings: Surroundings, until socket: String)
        throws
        -> Program
    {
        let (program, words) = surroundings.start(name, arguments)
        let begun = try Program(program, words, environment: variables, folder: folder)
        let deadline = Deadline(Deadline.patience)
        while (try? Client(socket)) == nil {
            try #require(!begun.isOver(within: 0.02) && !deadline.isOver, "\(name): \(begun.text)")
        }
        return begun
    }

    @Test("a program does what its arguments say", arguments: programs, Surroundings.possible)
    func arguments(_ name: String, _ surroundings: Surroundings) throws {
        let version = try run(name, ["--version"], in: surroundings)
        if surroundings.isOutputClosed {
            #expect(version.code == 74, "\(version.text)")
        } else {
            #expect(version.code == 0 && version.text.hasPrefix("0."), "\(version.code) \(version.text)")
        }
        let wrong = try run(name, ["--wrong-option"], in: surroundings)
        #expect(wrong.code == 64, "\(wrong.text)")
        let hasErrors = ![.closedErrors, .allClosed].contains(surroundings)
        #expect(wrong.text.contains("'--wrong-option'") == hasErrors, "\(wrong.text)")
    }

    @Test("the daemon serves, stores and answers agctl and a gateway", arguments: Surroundings.possible)
    func serving(_ surroundings: Surroundings) throws {
        let socket = folder.file("agd.sock")
        let store = folder.file("state")
        let scene = try folder.write(Scenes.counter, to: "counter.yaml")
        for value in [0, 41] as [Int64] {
            let daemon = try begin(
                "agd", ["--socket", socket, "--state-directory", store, "--scene", scene], in: surroundings,
                until: socket)
            let got = try run("agctl", ["get", "/counter.value"], in: surroundings)
            if surroundings.isOutputClosed {
                #expect(got.code == 74)
            } else {
                #expect(got.code == 0 && got.text == "\(value)\n", "\(got.text)")
            }
            let set = try run("agctl", ["set", "/counter.value", "41"], in: surroundings)
            #expect(set.code == 0 && set.text.isEmpty, "\(set.text)")
            #expect(try Client(socket).get("/counter.value") == 41)

            let page = folder.file("page.sock")
            let gateway = try begin(
                "agd-gateway", ["--socket", socket, "--listen", "unix:\(page)"], in: surroundings, until: page)
            let web = try Client(page)
            // The client ends what it sends with a line feed.
            try web.send("GET /value?path=/counter.value HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r")
            var last = ""
            while let line = try web.line() { last = line }
            #expect(last.contains("41"))
            gateway.signal(SIGTERM)
            try gateway.wait()

            daemon.signal(SIGTERM)
            #expect(try daemon.wait() == 0, "\(daemon.text)")
            #expect(!daemon.text.contains("error"), "\(daemon.text)")
        }
        let backup = try run(
            "agd", ["--backup", folder.file("copy.db"), "--state-directory", store], in: surroundings)
        #expect(backup.code == 0, "\(backup.text)")
    }

    /// The kernel gives each program at least one argument, so a preloaded library takes them away.
    @Test(
        "a program that is passed no arguments at all does nothing", .enabled(if: Surroundings.hasCompiler),
        arguments: programs)
    func missing(_ name: String) throws {
        let source = try folder.write(
            """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <stddef.h>
            typedef int start_t(int (*)(int, char **, char **), int, char **, void (*)(void), void (*)(void),
                void (*)(void), void *);
            int __libc_start_main(int (*body)(int, char **, char **), int count, char **words, void (*begin)(void),
                void (*end)(void), void (*unload)(void), void *stack) {
                return ((start_t *)dlsym(RTLD_NEXT, "__libc_start_main"))(body, 0, words + count, begin, end, unload, stack);
            }

            """, to: "none.c")
        let library = folder.file("none.so")
        let compiled = try Program.run(
            "/usr/bin/cc", ["-shared", "-fPIC", "-o", library, source, "-ldl"], folder: folder)
        try #require(compiled.code == 0, "\(compiled.text)")
        let ended = try Program.run(
            "/usr/bin/env", ["LD_PRELOAD=\(library)", Program.built(name), "--version"], folder: folder)
        #expect(ended.code == 71, "\(ended.text)")
        #expect(ended.text == "\(name): the system has passed no arguments to this program\n")
    }

    @Test("arguments that are not UTF-8 are refused, not replaced", arguments: programs)
    func encoding(_ name: String) throws {
        let ended = try Program.run(
            "/bin/sh", ["-c", "exec \"$0\" --socket \"$(printf '/tmp/caf\\351')\"", Program.built(name)], folder: folder
        )
        #expect([64, 65].contains(ended.code) && ended.text.contains("argument 2 is not UTF-8"), "\(ended.text)")
    }
}
