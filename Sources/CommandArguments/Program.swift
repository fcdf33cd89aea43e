import Glibc

/// A program without verbs: its command line, and what it says to the person who has started it.
extension Verb {
    /// The arguments that were given. After `--help` and `--version`, and if an argument is wrong, the program ends.
    package static func readCommandLine(version: String) -> Self {
        do throws(StandardDescriptors.Fault) { try StandardDescriptors.fill() } catch {
            report(error.message)
            exit(71)
        }
        let words: [String]
        do throws(ProgramWords.Fault) { words = try ProgramWords.read() } catch {
            report(error.message)
            if case .missing = error { exit(71) }
            exit(64)
        }
        do { return try read(words) } catch let request as TextRequest {
            switch request {
            case .help: tell(HelpText(of: self).text(for: self))
            case .version: tell(version + "\n")
            case .data: tell(HelpText(of: self).json.jsonText + "\n")
            }
        } catch {
            let usage = error as? UsageError ?? UsageError("\(error)")
            report("\(usage.message)\n  hint: \(usage.hint ?? "see '\(help.name) --help'")")
            exit(64)
        }
    }

    /// Prints the text that was asked for, and ends the program.
    private static func tell(_ text: String) -> Never {
        guard !StandardOutput.write(text) else { exit(0) }
        report("standard output: \(String(cString: strerror(errno)))")
        exit(74)
    }

    /// Writes a message for the person who started the program.
    package static func report(_ message: String) {
        var line = "\(help.name): \(message)\n"
        // If writing fails, nobody can be told.
        line.withUTF8 { _ = write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}
