/// Information about JSON that no parser accepts. Each function makes one pass over the bytes.
public enum JSONText {
    /// A number in the text that has JSON's form but is out of the range of every type, as it is written.
    static func numberOutOfRange(in text: UnsafeBufferPointer<UInt8>) -> String? {
        var at = 0
        while at < text.count {
            if text[at] == UInt8(ascii: "\"") {
                at = endOfString(text, at)
            } else if isNumberPart(text[at]) {
                let end = text[at...].firstIndex { !isNumberPart($0) } ?? text.count
                let number = String(decoding: text[at..<end], as: UTF8.self)
                if isOutOfRange(number) { return number }
                at = end
            } else {
                at += 1
            }
        }
        return nil
    }

    /// The text of a member of the outermost object, if it is a string, a number or a word.
    public static func scalar(_ name: String, in text: UnsafeBufferPointer<UInt8>) -> Slice<UnsafeBufferPointer<UInt8>>?
    {
        var depth = 0
        var at = 0
        while at < text.count {
            switch text[at] {
            case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
            case UInt8(ascii: "\""):
                let end = endOfString(text, at)
                let colon = text[min(end, text.count)...].firstIndex { !isSpace($0) } ?? text.count
                if depth == 1, colon < text.count, text[colon] == UInt8(ascii: ":"),
                    text[at..<end].dropFirst().dropLast().elementsEqual(name.utf8)
                {
                    return scalar(text, behind: colon)
                }
                at = end
                continue
            default: break
            }
            at += 1
        }
        return nil
    }

    private static func scalar(_ text: UnsafeBufferPointer<UInt8>, behind colon: Int) -> Slice<
        UnsafeBufferPointer<UInt8>
    >? {
        guard let start = text[(colon + 1)...].firstIndex(where: { !isSpace($0) }) else { return nil }
        switch text[start] {
        case UInt8(ascii: "{"), UInt8(ascii: "["): return nil
        case UInt8(ascii: "\""): return text[start..<endOfString(text, start)]
        default:
            let end = text[start...].firstIndex { isSpace($0) || $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "}") }
            return text[start..<(end ?? text.count)]
        }
    }

    /// The position after the closing quote.
    private static func endOfString(_ text: UnsafeBufferPointer<UInt8>, _ start: Int) -> Int {
        var at = start + 1
        while at < text.count, text[at] != UInt8(ascii: "\"") { at += text[at] == UInt8(ascii: "\\") ? 2 : 1 }
        return min(at + 1, text.count)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0a || byte == 0x0d || byte == 0x09 }

    private static func isNumberPart(_ byte: UInt8) -> Bool {
        (48...57).contains(byte) || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "+") || byte == UInt8(ascii: ".")
            || byte | 32 == UInt8(ascii: "e")
    }

    private static func isOutOfRange(_ text: String) -> Bool {
        guard hasNumberForm(text) else { return false }
        let isWhole = text.utf8.allSatisfy { (48...57).contains($0) || $0 == UInt8(ascii: "-") }
        return isWhole ? Int64(text) == nil && UInt64(text) == nil : Double(text)?.isFinite != true
    }

    /// True if a text has the form of JSON's numbers: no leading zero, a digit on both sides of the point.
    public static func hasNumberForm(_ text: String) -> Bool {
        var rest = Substring(text)
        func digits() -> Int {
            let found = rest.prefix { ("0"..."9").contains($0) }.count
            rest = rest.dropFirst(found)
            return found
        }
        if rest.first == "-" { rest = rest.dropFirst() }
        let hasLeadingZero = rest.first == "0"
        let count = digits()
        guard count > 0, !hasLeadingZero || count == 1 else { return false }
        if rest.first == "." {
            rest = rest.dropFirst()
            guard digits() > 0 else { return false }
        }
        if rest.first == "e" || rest.first == "E" {
            rest = rest.dropFirst()
            if rest.first == "+" || rest.first == "-" { rest = rest.dropFirst() }
            guard digits() > 0 else { return false }
        }
        return rest.isEmpty
    }
}
