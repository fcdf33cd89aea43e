/// The arguments of a CSS colour function, in the modern form (spaces, `/` before alpha) or the old one (commas).
struct CSSArguments {
    struct Term {
        enum Unit { case number, percent, degrees, none }
        var value: Double
        var unit: Unit

        /// A plain number, or a percentage of `percent`.
        func resolve(percent: Double) -> Double? {
            switch unit {
            case .number: value
            case .percent: value / 100 * percent
            case .none: 0
            case .degrees: nil
            }
        }

        /// Degrees. A plain number is in degrees too.
        var hue: Double? {
            switch unit {
            case .number, .degrees: value
            case .none: 0
            case .percent: nil
            }
        }
    }

    /// The three components.
    let terms: [Term]
    /// `color()`'s first argument.
    let space: String?
    private let alpha: Term?

    /// 0...1; nil if it is not a number or a percentage.
    var alphaValue: Double? {
        guard let alpha else { return 1 }
        return alpha.resolve(percent: 1).map { min(max($0, 0), 1) }
    }

    init?(_ text: Substring) {
        var words: [Substring]
        var alphaWord: Substring?
        if text.contains(",") {
            words = text.split(separator: ",", omittingEmptySubsequences: false).map { Substring($0.trimmed) }
            if words.count == 4 { alphaWord = words.removeLast() }
            guard !words.contains(where: \.isEmpty) else { return nil }
        } else {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count <= 2 else { return nil }
            words = parts[0].split(whereSeparator: \.isWhitespace)
            if parts.count == 2 { alphaWord = Substring(parts[1].trimmed) }
        }
        if words.count == 4, let first = words.first?.utf8.first, (0x61...0x7A).contains(first) {
            space = String(words.removeFirst())
        } else {
            space = nil
        }
        terms = words.compactMap(Term.init)
        guard terms.count == 3, words.count == 3 else { return nil }
        if let alphaWord {
            guard let term = Term(alphaWord) else { return nil }
            alpha = term
        } else {
            alpha = nil
        }
    }
}

extension CSSArguments.Term {
    init?(_ word: Substring) {
        if word == "none" {
            self.init(value: 0, unit: .none)
            return
        }
        let units: [(suffix: String, unit: Unit, factor: Double)] = [
            ("%", .percent, 1), ("deg", .degrees, 1), ("grad", .degrees, 0.9), ("rad", .degrees, 180 / .pi),
            ("turn", .degrees, 360),
        ]
        let found = units.first { word.hasSuffix($0.suffix) }
        let digits = found.map { word.dropLast($0.suffix.count) } ?? word
        // Double's own initializer also accepts hexadecimal, "inf" and "nan".
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) || "+-.e".utf8.contains($0) }),
            let number = Double(digits), number.isFinite
        else { return nil }
        self.init(value: number * (found?.factor ?? 1), unit: found?.unit ?? .number)
    }
}
