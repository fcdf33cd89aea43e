import Foundation
import TestSupport

/// A session at a terminal as documentation shows it, in a fenced block marked `console`:
///
///     $ agctl get /player.isPlaying
///     false
///     $ agctl watch /player.isPlaying
///     …
///     ^C
///     $ agctl set /player.isPlaying maybe
///     agctl: /player.isPlaying takes bool, not string
///
/// Lines behind a command are what it prints; `…` stands for anything. A command whose lines end in `^C` goes on until
/// it is interrupted; what it prints may be caused by the commands behind it. If the first line is an error message,
/// the command fails.
struct Transcript {
    struct Step {
        var command: String
        var expected: [String] = []
        var isInterrupted = false
        var isRefused: Bool { expected.first?.hasPrefix("agctl: ") == true }
    }

    var steps: [Step]

    /// A block with a title is a file: its name, and its text. The titles are of pages as the site shows them.
    static func files(in document: String) -> [(name: String, text: String)] {
        document.matches(of: #/(?ms)^```\w+ title="([^"]+)"\n(.*?)^```$/#).map { (String($0.1), String($0.2)) }
    }

    /// The transcripts below a heading, up to the next heading of any level.
    static func below(_ heading: String, in document: String) throws -> [Transcript] {
        var transcripts: [Transcript] = []
        var isInside = false
        var block: [String]?
        for line in document.components(separatedBy: "\n") {
            if block == nil, line.hasPrefix("#") {
                isInside = line.drop { $0 == "#" || $0 == " " } == heading[...]
            } else if isInside, line == "```console" {
                block = []
            } else if line == "```", let lines = block {
                transcripts.append(try Transcript(lines))
                block = nil
            } else {
                block?.append(line)
            }
        }
        guard !transcripts.isEmpty else { throw Trouble("nothing to run below \"\(heading)\"") }
        return transcripts
    }

    init(_ lines: [String]) throws {
        steps = []
        for line in lines {
            if line.hasPrefix("$ ") {
                steps.append(Step(command: String(line.dropFirst(2))))
            } else if steps.isEmpty {
                throw Trouble("a transcript begins with a command, not with \(line)")
            } else if line == "^C" {
                steps[steps.count - 1].isInterrupted = true
            } else if line.hasPrefix("> ") {
                steps[steps.count - 1].command += "\n" + line.dropFirst(2)
            } else {
                steps[steps.count - 1].expected.append(line)
            }
        }
    }

    /// Whether a line is the expected one, where `…` stands for anything.
    static func matches(_ line: String, _ expected: String) -> Bool {
        let parts = expected.components(separatedBy: "…")
        guard parts.count > 1 else { return line == expected }
        guard line.hasPrefix(parts[0]) else { return false }
        var rest = line.dropFirst(parts[0].count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let found = rest.range(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.hasSuffix(parts[parts.count - 1])
    }
}

/// Runs transcripts one after the other, as a reader would.
final class TranscriptRunner {
    private let folder: Folder
    private let workingDirectory: String
    private let environment: [String: String]
    /// Commands that wait to be interrupted, with the lines that are still to come.
    private var running: [(program: Program, output: Client, expected: [String])] = []

    /// - Parameter workingDirectory: where the commands run; otherwise at the project's root.
    init(_ daemon: Daemon, in workingDirectory: String = Project.root) {
        folder = daemon.folder
        self.workingDirectory = workingDirectory
        environment = [
            "AGD_SOCKET": daemon.socket, "HOME": daemon.folder.path, "LC_ALL": "C.UTF-8",
            "PATH": Program.folder + ":" + (ProcessInfo.processInfo.environment["PATH"] ?? ""),
            "PYTHONPATH": Project.file("clients/python"),
        ]
    }

    /// - Throws: the first line that is not as expected, with its command.
    func run(_ transcripts: [Transcript]) throws {
        for step in transcripts.flatMap(\.steps) { try run(step) }
        for (program, output, expected) in running {
            try check(output, expected, "behind the commands after it")
            // As a terminal does it: to all that belongs to the command.
            program.signalGroup(SIGINT)
            try program.wait()
        }
        running = []
    }

    private func run(_ step: Transcript.Step) throws {
        let (ours, theirs) = try Descriptor.pair()
        let program = try Program(
            "/bin/bash", ["-c", "cd \"$0\" && \(step.command)", workingDirectory],
            environment: environment, folder: folder, standardOutput: theirs)
        let output = Client(socket: ours)
        if step.isInterrupted {
            // Once its first line is there, it has begun.
            try check(output, Array(step.expected.prefix(1)), step.command)
            running.append((program, output, Array(step.expected.dropFirst())))
            return
        }
        if step.isRefused {
            let code = try program.wait()
            let told = program.text.split(separator: "\n").map(String.init)
            guard code != 0, told.count == step.expected.count,
                zip(told, step.expected).allSatisfy({ Transcript.matches($0, $1) })
            else { throw Trouble("\(step.command)\nended with \(code): \(program.text)") }
            return
        }
        try check(output, step.expected, step.command)
        let code = try program.wait()
        // 1: there are differences.
        guard code == 0 || code == 1 && step.command.hasPrefix("agctl diff ") else {
            throw Trouble("\(step.command)\nended with \(code): \(program.text)")
        }
    }

    private func check(_ output: Client, _ expected: [String], _ command: String) throws {
        for expected in expected {
            let line = try output.line()
            guard let line, Transcript.matches(line, expected) else {
                throw Trouble("\(command)\nprinted:  \(line ?? "nothing more")\nexpected: \(expected)")
            }
        }
    }
}
