import AttributeValues

/// `matches` and the functions of `regex`. Patterns that are constants of `matches` are compiled with the rule.
enum RegexLibrary {
    /// Steps for the compilation of a pattern.
    private static let compilationCost = 100

    private static func compile(_ pattern: String, _ meter: inout Meter) throws(Fault) -> Pattern {
        try meter.charge(compilationCost + pattern.utf8.count)
        var reason = ""
        guard let compiled = Pattern(pattern, reason: &reason) else { throw Fault("faulty pattern: \(reason)") }
        return compiled
    }

    static func matches(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        guard a.count == 2, let text = a.string(0), let pattern = a.string(1) else { return nil }
        let compiled = try compile(pattern, &meter)
        try meter.charge(text.utf8.count / 10)
        return .bool(compiled.matches(text))
    }

    static func call(_ function: Function, _ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        guard var text = a.string(0), let pattern = a.string(1) else { return nil }
        try meter.charge(text.utf8.count / 10)
        switch (function, a.count) {
        case (.regexReplace, 3), (.regexReplace, 4):
            guard let replacement = a.string(2) else { return nil }
            guard a.count == 3 || a.int(3) != nil else { return nil }
            let compiled = try compile(pattern, &meter)
            return .string(try replace(&text, compiled, replacement, limit: a.int(3) ?? -1, &meter))
        case (.regexExtract, 2):
            let compiled = try compile(pattern, &meter)
            return .optional(try extract(&text, compiled, limit: 1, &meter).first)
        case (.regexExtractAll, 2):
            let compiled = try compile(pattern, &meter)
            return .list(try extract(&text, compiled, limit: .max, &meter))
        default: return nil
        }
    }

    /// What the pattern's one group matched, or the whole match when it has none.
    private static func extract(
        _ text: inout String, _ pattern: Pattern, limit: Int, _ meter: inout Meter
    ) throws(Fault) -> [Value] {
        guard pattern.groupCount <= 1 else { throw Fault("the pattern has \(pattern.groupCount) groups; extract takes one") }
        var found: [Value] = []
        text.withUTF8 { bytes in
            pattern.forEachMatch(bytes) { ranges in
                if let range = ranges[pattern.groupCount] {
                    found.append(.string(String(decoding: bytes[range], as: UTF8.self)))
                }
                return found.count < limit && found.count <= meter.limits.resultSize
            }
        }
        try meter.chargeElements(found.count)
        return found
    }

    /// `\1` … `\9` are the groups, `\0` the match, `\\` a backslash. Negative limit: all matches.
    private static func replace(
        _ text: inout String, _ pattern: Pattern, _ replacement: String, limit: Int64, _ meter: inout Meter
    ) throws(Fault) -> String {
        let parts = try template(replacement, pattern.groupCount)
        let maximum = meter.limits.textSize
        var output: [UInt8] = []
        var count: Int64 = 0
        text.withUTF8 { bytes in
            var copied = 0
            if limit != 0 {
                pattern.forEachMatch(bytes) { ranges in
                    guard let whole = ranges[0] else { return false }
                    output += bytes[copied..<whole.lowerBound]
                    copied = whole.upperBound
                    for part in parts {
                        switch part {
                        case .text(let text): output += text
                        case .group(let number): if let range = ranges[number] { output += bytes[range] }
                        }
                    }
                    count += 1
                    return count != limit && output.count <= maximum
                }
            }
            output += bytes[copied...]
        }
        try meter.chargeText(output.count)
        return String(decoding: output, as: UTF8.self)
    }

    private enum TemplatePart {
        case text([UInt8])
        case group(Int)
    }

    private static func template(_ text: String, _ groups: Int) throws(Fault) -> [TemplatePart] {
        var parts: [TemplatePart] = []
        var plain: [UInt8] = []
        var isEscaped = false
        for byte in text.utf8 {
            if !isEscaped {
                if byte == UInt8(ascii: "\\") { isEscaped = true } else { plain.append(byte) }
                continue
            }
            isEscaped = false
            if byte == UInt8(ascii: "\\") {
                plain.append(byte)
            } else if Lexer.isDigit(byte) {
                guard Int(byte - 48) <= groups else { throw Fault("the pattern has no group \(byte - 48)") }
                parts.append(.text(plain))
                plain = []
                parts.append(.group(Int(byte - 48)))
            } else {
                throw Fault("in a replacement '\\' stands before a digit or another '\\'")
            }
        }
        if isEscaped { throw Fault("in a replacement '\\' stands before a digit or another '\\'") }
        return parts + [.text(plain)]
    }
}
