import AttributeValues

/// Writes a value as a YAML document in block form. Short parts are on one line. `SceneReader.value` reads it.
public enum DocumentWriter {
    /// Maximum columns of a map or list on one line.
    private static let width = 100

    /// The depth limit of admitted values bounds the recursion.
    public static func yaml(_ value: Value) -> String {
        var text = ""
        write(spoken(value), indent: 0, behindKey: false, into: &text)
        return text
    }

    /// The value with YAML's own words for parts that plain JSON cannot express.
    private static func spoken(_ value: Value) -> Value {
        switch value {
        case .list(let list): return .list(list.map(spoken))
        case .map(let map):
            switch try? TypedLiteral.value(of: map) {
            case .bytes(let bytes)?: return .bytes(bytes)
            case .double(let number)? where !number.isFinite: return .double(number)
            default: return .map(ValueMap(map.map { ($0.key, spoken($0.value)) }))
            }
        default: return value
        }
    }

    private static func write(_ value: Value, indent: Int, behindKey: Bool, into text: inout String) {
        let line = flow(value)
        switch value {
        case .map(let map) where !map.isEmpty && (indent == 0 || line.count + indent > width || !isFlat(value)):
            if behindKey { text += "\n" }
            var isFirst = !behindKey
            for (key, entry) in map {
                // The first entry of an element follows its dash.
                if !isFirst { text += spaces(indent) }
                text += isShort(key) ? scalar(key) + ":" : "? \(scalar(key))\n\(spaces(indent)):"
                isFirst = false
                write(entry, indent: indent + 2, behindKey: true, into: &text)
            }
        case .list(let list) where !list.isEmpty && (line.count + indent > width || !isFlat(value)):
            if behindKey { text += "\n" }
            for (position, element) in list.enumerated() {
                text += (position == 0 && !behindKey ? "" : spaces(indent)) + "- "
                write(element, indent: indent + 2, behindKey: false, into: &text)
            }
        default: text += (behindKey ? " " : "") + line + "\n"
        }
    }

    private static func spaces(_ count: Int) -> String { String(repeating: " ", count: count) }

    /// True if the value contains only scalars, or maps and lists of them.
    private static func isFlat(_ value: Value, levels: Int = 2) -> Bool {
        switch value {
        case .map(let map):
            levels > 0 && map.keys.allSatisfy(isShort) && map.values.allSatisfy { isFlat($0, levels: levels - 1) }
        case .list(let list): levels > 0 && list.allSatisfy { isFlat($0, levels: levels - 1) }
        default: true
        }
    }

    /// YAML searches only this far for the colon after a key. A question mark precedes longer keys.
    private static func isShort(_ key: Value) -> Bool { scalar(key).unicodeScalars.count <= 1024 }

    private static func flow(_ value: Value) -> String {
        guard isFlat(value) else { return "" }
        switch value {
        case .map(let map):
            return map.isEmpty
                ? "{}" : "{ " + map.map { "\(scalar($0.key)): \(flow($0.value))" }.joined(separator: ", ") + " }"
        case .list(let list): return "[" + list.map(flow).joined(separator: ", ") + "]"
        default: return scalar(value)
        }
    }

    private static func scalar(_ value: Value) -> String {
        guard case .string(let text) = value, isPlain(text) else {
            if case .double(let number) = value, !number.isFinite {
                return number.isNaN ? ".nan" : number < 0 ? "-.inf" : ".inf"
            }
            if case .bytes = value { return "!!binary \(value.jsonText)" }
            return escaped(value.jsonText)
        }
        return text
    }

    /// JSON does not escape some characters that YAML forbids or reads as the end of a line.
    private static func escaped(_ text: String) -> String {
        let isRefused: (Unicode.Scalar) -> Bool = {
            (0x7F...0x9F).contains($0.value) || [0x2028, 0x2029, 0xFEFF, 0xFFFE, 0xFFFF].contains($0.value)
        }
        guard text.unicodeScalars.contains(where: isRefused) else { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            guard isRefused(scalar) else {
                escaped.unicodeScalars.append(scalar)
                continue
            }
            let digits = String(scalar.value, radix: 16)
            escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
        return escaped
    }

    /// True for a text that needs no quotes anywhere: words that are not a number, not `true` and the like, and contain
    /// no YAML syntax.
    private static func isPlain(_ text: String) -> Bool {
        guard let first = text.utf8.first, let last = text.utf8.last, last != UInt8(ascii: " ") else { return false }
        guard first.beginsName || [UInt8(ascii: "$"), UInt8(ascii: "/")].contains(first) else {
            return false
        }
        let inside: Set<UInt8> = Set("-./$ +*()=".utf8)
        guard text.utf8.allSatisfy({ $0.isOfName || inside.contains($0) }) else {
            return false
        }
        if case .string? = PlainScalar.value(text) { return true }
        return false
    }
}
