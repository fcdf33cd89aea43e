import AGClient
import ArgumentParser
import AttributeValues

/// The way from arguments to an exit status.
enum Front {
    /// - Parameter words: the array that the system passes: the program's name, the arguments, nil. (If an argument is
    ///   not UTF-8, `CommandLine.arguments` contains another text.)
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
                var command = try readCommand(NegativeNumbers.disguise(arguments))
                try command.run()
            }
            return ExitStatus.done.rawValue
        } catch let end as EndOfCommand { return end.code } catch let error as ClientError {
            return Complaint(error).report(form)
        } catch let complaint as Complaint { return complaint.report(form) } catch {
            return tell(
                error, form, isCompletionScript: arguments.contains { $0.hasPrefix("--generate-completion-script") })
        }
    }

    /// Prints help, or the error for arguments that are not a command. The argument parser has the texts for both.
    private static func tell(_ error: any Error, _ form: ErrorForm, isCompletionScript: Bool) -> Int32 {
        let code = Agctl.exitCode(for: error)
        guard code == .success else { return refuse(error).report(form) }
        var text = text(of: error)
        if isCompletionScript { text = CompletionScript.completing(text) }
        let isWritten = Terminal.write(text + "\n", to: .standardOutput)
        return isWritten ? ExitStatus.done.rawValue : ExitStatus.inputOutput.rawValue
    }

    /// The error for arguments that are not a command. The hint has the lines that the argument parser adds: the
    /// meaning of the missing argument, and how to see the help.
    static func refuse(_ error: any Error) -> Complaint {
        let message = NegativeNumbers.reveal(Agctl.message(for: error))
        let verb = text(of: error).lines.first { $0.hasPrefix("Usage: agctl ") }.flatMap {
            $0.split(separator: " ").dropFirst(2).first
        }
        let help = verb.flatMap { verb in
            Agctl.verbs.contains { $0.isCalled(String(verb)) } ? "agctl help \(verb)" : nil
        }
        let lowered = message.first.map { $0.lowercased() + message.dropFirst() } ?? message
        return Complaint(.usage, lowered, hint: "see '\(help ?? "agctl help")'")
    }

    /// The argument parser's text, with arguments as the user typed them.
    static func text(of error: any Error) -> String { NegativeNumbers.reveal(Agctl.fullMessage(for: error)) }

    /// Only the verb reads its arguments, which saves building the parser of all others. If it cannot read them, the
    /// root reads them again, because its messages name the whole command.
    static func readCommand(_ arguments: [String]) throws -> any ParsableCommand {
        let arguments = GlobalOptions.moveBehindVerb(arguments)
        if let name = arguments.first, let verb = Agctl.verbs.first(where: { $0.isCalled(name) }),
            let command = try? verb.parse(Array(arguments.dropFirst()))
        {
            return command
        }
        // The verb for which help is requested must exist too.
        let isHelp = arguments.first == "help"
        if let name = arguments.dropFirst(isHelp ? 1 : 0).first, !name.hasPrefix("-") {
            guard Agctl.verbs.contains(where: { $0.isCalled(name) }) || isHelp && name == "help" else {
                throw unknown(name)
            }
        }
        return try Agctl.parseAsRoot(arguments)
    }

    private static func unknown(_ name: String) -> Complaint {
        let verbs = Agctl.verbs.compactMap { $0.configuration.commandName }
        let hint =
            otherNames.first { $0.value.contains(name.lowercased()) }.map { NearestName.question($0.key) }
            ?? NearestName.hint(name, among: verbs) ?? "'agctl help' lists them: \(verbs.joined(separator: ", "))"
        return Complaint(.usage, "there is no verb '\(name)'", hint: hint)
    }

    /// Names of the verbs in other programs.
    private static let otherNames = [
        "get": ["read", "print", "value"], "set": ["write", "update", "assign"],
        "toggle": ["flip", "invert", "switch"], "do": ["run", "perform", "action", "press", "trigger"],
        "add": ["inc", "incr", "increment", "plus", "dec", "decr"], "remove": ["delete", "del", "unset", "destroy"],
        "move": ["rename", "reorder"], "watch": ["subscribe", "monitor", "follow", "tail", "listen", "observe"],
        "apply": ["load", "create", "import", "install"], "export": ["save"], "check": ["validate", "lint", "verify"],
        "describe": ["show", "inspect"], "explain": ["why", "blame", "log"], "history": ["chart", "plot", "past"],
        "tree": ["nodes"],
        "stats": ["info", "status", "metrics", "counters"], "ping": ["hello", "alive", "version"], "call": ["rpc"],
        "transact": ["batch", "commit"],
    ]
}

extension ParsableCommand {
    /// True for the name of the verb, and for its short names.
    static func isCalled(_ name: String) -> Bool {
        configuration.commandName == name || configuration.aliases.contains(name)
    }
}
