import AttributeValues

/// The verbs of shell loops in their plain form, without options: read here, because the argument parser takes longer to read a
/// line than the daemon to answer it. They run the same code as the verbs.
struct QuickPath {
    private let verb: String
    private let operands: [String]

    /// nil for everything else: it goes to the argument parser.
    init?(_ arguments: [String]) {
        guard let verb = arguments.first else { return nil }
        operands = Array(arguments.dropFirst())
        guard operands.allSatisfy({ !$0.hasPrefix("-") || NegativeNumbers.isNegative($0) }) else { return nil }
        switch (verb, operands.count) {
        case ("get", 1...), ("set", 2), ("add", 2), ("toggle", 1...): self.verb = verb
        default: return nil
        }
    }

    func run() throws {
        try Session(Settings()).run { session in
            switch verb {
            case "get": try GetCommand.perform(operands, Reading(), session)
            case "set": try SetCommand.perform(operands[0], try ValueForm.auto.read(operands[1]), Writing(), session)
            case "add": try AddCommand.perform(operands[0], try ValueForm.auto.read(operands[1]), Writing(), session)
            default: try ToggleCommand.perform(operands, Writing(), session)
            }
        }
    }
}
