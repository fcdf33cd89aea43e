import AttributeValues

/// The shortest decimal that reads back as the same double, without a trailing ".0".
func shortText(_ value: Double) -> String {
    let text = value.description
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}

/// A double with 17 significant digits, which distinguish any two doubles: `0.42330212307456981`.
public func text17(_ value: Double) -> String { formatted("%.17g", value) }

/// `value` with at most `decimals` digits after the point and no trailing zeros.
func fixedText(_ value: Double, decimals: Int) -> String {
    var text = formatted("%.\(decimals)f", value)
    if decimals > 0 {
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
    }
    return text == "-0" ? "0" : text
}

/// Three significant digits: `1.5e+07`.
func compactText(_ value: Double) -> String { formatted("%.3g", value) }
