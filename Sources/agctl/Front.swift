import AGClient
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
                    ErrorForm(asked: arguments))
            }
            arguments.append(argument)
            next += 1
        }
        return run(Array(arguments.dropFirst()))
    }

    static func run(_ arguments: [String]) -> Int32 {
        let form = ErrorForm(asked: arguments)
        do {
            try StandardDescriptors.fill()
            try readCommand(arguments).run()
        } catch let requested as RequestedText {
            let isWritten = Terminal.write(requested.text, to: .standardOutput)
            return isWritten ? ExitStatus.done.rawValue : ExitStatus.inputOutput.rawValue
        } catch let end as EndOfCommand { return end.code } catch let error as ClientError {
            return Complaint(error).report(form)
        } catch { return (error as? Complaint ?? Complaint(.software, "\(error)")).report(form) }
        return ExitStatus.done.rawValue
    }

    /// The verb with its arguments. The options that all verbs share may also precede it.
    /// - Throws: `Complaint`; `RequestedText`.
    static func readCommand(_ words: [String]) throws -> any Verb {
        if words.first == "---complete" { throw RequestedText(Offer.text(for: Array(words.dropFirst()))) }
        let isVerbFirst = words.first.map(ArgumentReader.isOption) == false
        guard let position = isVerbFirst ? 0 : ArgumentReader.firstOperand(in: words, Agctl().slots) else {
            if words.isEmpty { throw RequestedText(Agctl.helpText) }
            return try Agctl.read(words)
        }
        let (name, rest) = (words[position], Array(words[..<position] + words[(position + 1)...]))
        if name == "help" {
            let topic = rest.first { !ArgumentReader.isOption($0) && $0 != "help" }
            throw RequestedText(try topic.map { try verb($0).helpText } ?? Agctl.helpText)
        }
        return try verb(name).read(rest)
    }

    private static func verb(_ name: String) throws(Complaint) -> any Verb.Type {
        guard let verb = Agctl.verbs.first(where: { $0.isCalled(name) }) else { throw unknown(name) }
        return verb
    }

    private static func unknown(_ name: String) -> Complaint {
        let verbs = Agctl.verbs.map { $0.help.name }
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
