import AGClient
import ArgumentParser
import AttributeValues

/// The way from arguments to an exit status.
enum Front {
    /// - Parameter words: as the system passes them: the program's name, the arguments, nil. (If one is not UTF-8,
    ///   `CommandLine.arguments` has another text.)
    static func run(_ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
        var arguments: [String] = []
        var next = words
        while let word = next.pointee {
            guard let argument = String(validatingCString: word) else {
                let shown = arguments.isEmpty ? "the program's name" : "argument \(arguments.count)"
                return Complaint(.data, "\(shown) is not UTF-8: \(String(cString: word))").report(
                    GlobalOptions.errorForm(arguments))
            }
            arguments.append(argument)
            next += 1
        }
        return run(Array(arguments.dropFirst()))
    }

    static func run(_ arguments: [String]) -> Int32 {
        let form = GlobalOptions.errorForm(arguments)
        do {
            try StandardDescriptors.fill()
            if let quick = QuickPath(arguments) {
                try quick.run()
            } else {
                var command = try parse(NegativeNumbers.disguise(arguments))
                try command.run()
            }
            return ExitStatus.done.rawValue
        } catch let end as EndOfCommand {
            return end.status.rawValue
        } catch let error as ClientError {
            return Complaint(error).report(form)
        } catch let complaint as Complaint {
            return complaint.report(form)
        } catch {
            return tell(error, form)
        }
    }

    /// Prints help, or the error for arguments that are not a command. The argument parser has the texts for both.
    private static func tell(_ error: any Error, _ form: ErrorForm) -> Int32 {
        let code = Agctl.exitCode(for: error)
        guard code == .success else {
            if form.isJSON { return usage(error).report(form) }
            Terminal.write(text(of: error) + "\n", to: .standardError)
            return code.rawValue
        }
        let isWritten = Terminal.write(text(of: error) + "\n", to: .standardOutput)
        return isWritten ? ExitStatus.done.rawValue : ExitStatus.inputOutput.rawValue
    }

    /// The error for arguments that are not a command, without the usage lines.
    static func usage(_ error: any Error) -> Complaint {
        Complaint(.usage, NegativeNumbers.reveal(Agctl.message(for: error)))
    }

    /// The argument parser's text, with arguments as the user typed them.
    static func text(of error: any Error) -> String { NegativeNumbers.reveal(Agctl.fullMessage(for: error)) }

    /// Only the verb reads its arguments, which saves building the parser of all others. If it cannot read them, the
    /// root reads them again, because its messages name the whole command.
    static func parse(_ arguments: [String]) throws -> any ParsableCommand {
        let arguments = GlobalOptions.moveBehindVerb(arguments)
        if let name = arguments.first, let verb = Agctl.verbs.first(where: { $0.configuration.commandName == name }),
            let command = try? verb.parse(Array(arguments.dropFirst()))
        {
            return command
        }
        // The subject of help must exist too.
        let isHelp = arguments.first == "help"
        if let name = arguments.dropFirst(isHelp ? 1 : 0).first, !name.hasPrefix("-") {
            let verbs = Agctl.verbs.compactMap { $0.configuration.commandName }
            guard verbs.contains(name) || isHelp && name == "help" else {
                throw Complaint(
                    .usage, "there is no verb '\(name)'",
                    hint: NearestName.hint(name, among: verbs)
                        ?? "'agctl help' lists them: \(verbs.joined(separator: ", "))")
            }
        }
        return try Agctl.parseAsRoot(arguments)
    }
}

/// Ends the command with a status, after everything has been printed.
struct EndOfCommand: Error {
    var status: ExitStatus
}
