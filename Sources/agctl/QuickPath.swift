import AttributeValues
import WireProtocol

/// The common forms of the verbs that shell loops use. They are read here, because the argument parser takes longer to
/// read a line than the daemon takes to answer it. They run the same code as the verbs.
struct QuickPath {
    private let verb: String
    private let operands: [String]
    private let writing: TransactionOptions

    /// nil for all other forms, which go to the argument parser.
    init?(_ arguments: [String]) {
        guard var verb = arguments.first else { return nil }
        verb = QuickPath.shortNames[verb] ?? verb
        var operands: [String] = []
        var options: [String: String] = [:]
        var rest = arguments.dropFirst()
        while let argument = rest.popFirst() {
            if QuickPath.isOperand(argument) {
                operands.append(argument)
                continue
            }
            // The argument parser handles an option that is repeated, lacks its value or is unknown.
            guard QuickPath.options.contains(argument), verb != "get", verb != "ping", options[argument] == nil,
                let value = rest.popFirst(), QuickPath.isOperand(value)
            else { return nil }
            options[argument] = value
        }
        switch (verb, operands.count) {
        case ("get", 1...), ("set", 2), ("add", 2), ("toggle", 1...), ("ping", 0): self.verb = verb
        default: return nil
        }
        self.operands = operands
        writing = TransactionOptions(
            animation: options["--animation"].map(WriteOptions.curve), label: options["--label"])
    }

    /// The options that are read here. Each has a value.
    private static let options = ["--animation", "--label"]

    private static let shortNames = ["cat": "get", "put": "set"]

    private static func isOperand(_ argument: String) -> Bool {
        !argument.hasPrefix("-") || NegativeNumbers.isNegative(argument)
    }

    func run() throws {
        try Session(Settings()).run { session in
            switch verb {
            case "get": try GetCommand.perform(operands, Reading(), session)
            case "set": try SetCommand.perform(operands[0], try ValueForm.auto.read(operands[1]), writing, session)
            case "add": try AddCommand.perform(operands[0], try ValueForm.auto.read(operands[1]), writing, session)
            case "ping": try PingCommand.perform(count: 1, isQuiet: false, session)
            default: try ToggleCommand.perform(operands, writing, session)
            }
        }
    }
}
