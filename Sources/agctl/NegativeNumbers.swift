/// The argument parser takes `-5` for an option. So a negative number goes through it with a minus sign (U+2212) for its
/// hyphen.
enum NegativeNumbers {
    private static let minus: Character = "\u{2212}"

    static func isNegativeNumber(_ argument: String) -> Bool {
        argument.hasPrefix("-") && argument.utf8.count > 1 && Double(argument) != nil
    }

    static func disguise(_ arguments: [String]) -> [String] {
        guard arguments.contains(where: isNegativeNumber) else { return arguments }
        // Behind "--" nothing is an option.
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        return arguments.enumerated().map { position, argument in
            position < end && isNegativeNumber(argument) ? "\(minus)\(argument.dropFirst())" : argument
        }
    }

    /// The argument as it was typed.
    static func reveal(_ argument: String) -> String {
        guard argument.first == minus, Double("-" + argument.dropFirst()) != nil else { return argument }
        return "-" + argument.dropFirst()
    }
}
