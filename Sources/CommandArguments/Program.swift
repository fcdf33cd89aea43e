import Glibc

/// A program without verbs: its command line, and what it says to the person who has started it.
extension Verb {
    /// The arguments that were given. After `--help` and `--version`, and if an argument is wrong, the program ends.
    package static func readCommandLine(version: String) -> Self {
        do { return try read(Array(CommandLine.arguments.dropFirst())) } catch let request as TextRequest {
            switch request {
            case .help: print(HelpText(of: self).text(for: self), terminator: "")
            case .version: print(version)
            case .data: print(HelpText(of: self).json.jsonText)
            }
            exit(0)
        } catch {
            let usage = error as? UsageError ?? UsageError("\(error)")
            report("\(usage.message)\n  hint: \(usage.hint ?? "see '\(help.name) --help'")")
            exit(64)
        }
    }

    /// Writes a message for the person who started the program.
    package static func report(_ message: String) {
        var line = "\(help.name): \(message)\n"
        // If writing fails, nobody can be told.
        line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
