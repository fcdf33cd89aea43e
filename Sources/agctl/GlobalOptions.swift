/// The options that all verbs share may also precede the verb.
enum GlobalOptions {
    private static let flags: Set<String> = ["--json"]
    private static let options: Set<String> = ["--socket", "--context", "--timeout", "--color", "--as"]

    /// The form of standard error. It is determined before the arguments are read, because they may be wrong.
    static func errorForm(_ arguments: [String]) -> ErrorForm {
        // After "--" there are no options.
        let arguments = arguments.prefix { $0 != "--" }
        var form = ErrorForm(isJSON: arguments.contains("--json"))
        for (argument, next) in zip(arguments, arguments.dropFirst() + [""]) {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts[0] == "--color" else { continue }
            form.color = ColorChoice(rawValue: parts.count == 2 ? parts[1] : next) ?? form.color
        }
        return form
    }

    /// The arguments with such options moved after the verb, which reads them.
    static func moveBehindVerb(_ arguments: [String]) -> [String] {
        var verb = 0
        while verb < arguments.count {
            let parts = arguments[verb].split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                String.init)
            if flags.contains(arguments[verb]) || parts.count == 2 && options.contains(parts[0]) {
                verb += 1
            } else if options.contains(arguments[verb]) {
                verb += 2
            } else {
                break
            }
        }
        guard verb > 0, verb < arguments.count, !arguments[verb].hasPrefix("-") else { return arguments }
        return [arguments[verb]] + arguments[..<verb] + arguments[(verb + 1)...]
    }
}
