/// The argument parser takes `-5` and `-10m` for options. So what begins like a negative number goes through it behind a NUL,
/// which no argument can hold.
enum NegativeNumbers {
    private static let mark: Character = "\0"

    /// Whether it begins as negative numbers and durations do, and no option does.
    static func isNegative(_ argument: String) -> Bool {
        guard argument.hasPrefix("-") else { return false }
        let digits = argument.dropFirst().drop { $0 == "." }
        // What else is a number: -inf, -nan.
        return digits.first?.isASCIIDigit == true || Double(argument) != nil
    }

    static func disguise(_ arguments: [String]) -> [String] {
        guard arguments.contains(where: isNegative) else { return arguments }
        // Behind "--" nothing is an option.
        let end = arguments.firstIndex(of: "--") ?? arguments.endIndex
        return arguments.enumerated().map { position, argument in
            position < end && isNegative(argument) ? "\(mark)\(argument)" : argument
        }
    }

    /// The argument, or a text that quotes arguments, as it was typed.
    static func reveal(_ text: String) -> String { text.contains(mark) ? text.filter { $0 != mark } : text }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { isASCII && isNumber }
}
