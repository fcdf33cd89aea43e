import AttributeValues
import Foundation
import TestSupport
import Testing

/// Completion in real shells: a user types the beginning of a command, presses Tab, and then Enter. A shell that is not
/// installed is skipped.
@Suite("Completion")
struct CompletionTests {
    private static let shells = ["bash", "zsh", "fish"].filter {
        FileManager.default.isExecutableFile(atPath: "/usr/bin/\($0)")
    }

    private let daemon: Daemon

    init() throws {
        daemon = try Daemon(scenes: [
            """
            nodes:
              - id: lamp
                state: { level: 1.0, isOn: false }
                actions: { dim: { parameters: { to: { default: 0.1 } }, set: { $level: $to } } }

            """
        ])
    }

    /// A shell that has read the completion script and shows its prompt.
    private func start(_ shell: String) throws -> TerminalProgram {
        let folder = daemon.folder
        let script = try daemon.control(["--generate-completion-script", shell]).text
        let arguments: [String]
        switch shell {
        case "bash":
            let file = try folder.write("PS1='ready> '\n" + script, to: "bashrc")
            arguments = ["--rcfile", file, "-i"]
        case "zsh":
            _ = try folder.write(script, to: "_agctl")
            _ = try folder.write(
                "fpath=(\(folder.path) $fpath); autoload -U compinit; compinit -u -D; PS1='ready> '\n", to: ".zshrc")
            arguments = ["-i"]
        default:
            let file = try folder.write("function fish_prompt; echo -n 'ready> '; end\n" + script, to: "agctl.fish")
            arguments = ["--no-config", "-i", "-C", "source \(file)"]
        }
        let program = try TerminalProgram(
            "/usr/bin/\(shell)", arguments,
            environment: [
                "AGD_SOCKET": daemon.socket, "HOME": folder.path, "ZDOTDIR": folder.path, "LC_ALL": "C.UTF-8",
                "PATH": Program.folder + ":/usr/bin:/bin",
            ])
        try program.awaitOutput("ready> ")
        return program
    }

    @Test("Tab completes actions, their parameters, curves and paths", arguments: shells)
    func tab(shell: String) throws {
        let client = try daemon.client()
        try client.call("subscribe", ["paths": ["/lamp.level", "/lamp.isOn"]])
        let program = try start(shell)
        program.press("agctl do /la\t\r")
        #expect(try client.value(of: "/lamp.level") { $0 == 0.1 } == 0.1)
        try program.awaitOutput("ready> ")
        program.press("agctl do /lamp.dim t\t0.5\r")
        #expect(try client.value(of: "/lamp.level") { $0 == 0.5 } == 0.5)
        try program.awaitOutput("ready> ")
        program.press("agctl toggle /lamp.is\t --animation bo\t\r")
        #expect(try client.value(of: "/lamp.isOn") { $0 == true } == true)
        program.press("exit\r")
    }
}
