/// The argument parser reads `-5` and `-10m` as options. Therefore, a NUL, which no argument can contain, is put before
/// arguments that begin as a negative number, and removed after parsing.
enum NegativeNumbers {
    private static let mark: Character = "\0"

    /// True if the text begins as a negative number or duration. No option begins this way.
    static func isNegative(_ argument: String) -> Bool {
        guard argument.hasPrefix("-") else { return false }
        let digits = argument.dropFirst().drop { $0 == "." }
        // Other numbers: -inf, -nan.
        return digits.first?.isASCIIDigit == true || Double(argument) != nil
    }

    static func disguise(_ arguments: [String]) -> [String] {
        guard arguments.contains(where: isNegative) else { return arguments }
        // After "--" there are no options.
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        return arguments.enumerated().map { position, argument in
            position < end && isNegative(argument) ? "\(mark)\(argument)" : argument
        }
    }

    /// The argument, or a text that quotes arguments, as the user typed it.
    static func reveal(_ text: String) -> String { text.contains(mark) ? text.filter { $0 != mark } : text }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}
