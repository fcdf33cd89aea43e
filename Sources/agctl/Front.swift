import AGClient
import ArgumentParser
import AttributeValues

/// From arguments to an exit status.
enum Front {
    static func run(_ arguments: [String]) -> Int32 {
        do {
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
            return Complaint(error).report(isJSON: arguments.contains("--json"))
        } catch let complaint as Complaint {
            return complaint.report(isJSON: arguments.contains("--json"))
        } catch {
            // A request for help, or arguments that are no command: the argument parser has the words for both.
            Agctl.exit(withError: error)
        }
    }

    /// A verb's arguments are read by the verb alone, which saves building the parser of all others. What it cannot read is read
    /// again from the root, whose messages name the whole command.
    static func parse(_ arguments: [String]) throws -> any ParsableCommand {
        let arguments = GlobalOptions.moveBehindVerb(arguments)
        if let name = arguments.first, let verb = Agctl.verbs.first(where: { $0.configuration.commandName == name }),
            let command = try? verb.parse(Array(arguments.dropFirst()))
        {
            return command
        }
        if let name = arguments.first, !name.hasPrefix("-"), name != "help" {
            let verbs = Agctl.verbs.compactMap { $0.configuration.commandName }
            guard verbs.contains(name) else {
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
