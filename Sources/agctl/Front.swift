import AGClient
import ArgumentParser
import AttributeValues

/// From arguments to an exit status.
enum Front {
    /// - Parameter words: as the system hands them over: the program's name, the arguments, nil. (Where one is not UTF-8,
    ///   `CommandLine.arguments` holds another text.)
    static func run(_ words: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32 {
        var arguments: [String] = []
        var next = words
        while let word = next.pointee {
            guard let argument = String(validatingCString: word) else {
                let shown = arguments.isEmpty ? "the program's name" : "argument \(arguments.count)"
                return Complaint(.data, "\(shown) is not UTF-8: \(String(cString: word))").report(GlobalOptions.errorForm(arguments))
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

    /// A request for help, or arguments that are no command: the argument parser has the words for both.
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

    /// Arguments that are no command, without the lines that show how one is made.
    static func usage(_ error: any Error) -> Complaint { Complaint(.usage, NegativeNumbers.reveal(Agctl.message(for: error))) }

    /// The argument parser's words, with arguments as they were typed.
    static func text(of error: any Error) -> String { NegativeNumbers.reveal(Agctl.fullMessage(for: error)) }

    /// A verb's arguments are read by the verb alone, which saves building the parser of all others. What it cannot read is read
    /// again from the root, whose messages name the whole command.
    static func parse(_ arguments: [String]) throws -> any ParsableCommand {
        let arguments = GlobalOptions.moveBehindVerb(arguments)
        if let name = arguments.first, let verb = Agctl.verbs.first(where: { $0.configuration.commandName == name }),
            let command = try? verb.parse(Array(arguments.dropFirst()))
        {
            return command
        }
        // What help is asked of must be there, too.
        let isHelp = arguments.first == "help"
        if let name = arguments.dropFirst(isHelp ? 1 : 0).first, !name.hasPrefix("-") {
            let verbs = Agctl.verbs.compactMap { $0.configuration.commandName }
            guard verbs.contains(name) || isHelp && name == "help" else {
                throw Complaint(
                    .usage, "there is no verb '\(name)'",
                    hint: NearestName.hint(name, among: verbs) ?? "'agctl help' lists them: \(verbs.joined(separator: ", "))")
            }
        }
        return try Agctl.parseAsRoot(arguments)
    }
}

/// Ends the command with a status when all has been said.
struct EndOfCommand: Error {
    var status: ExitStatus
}
