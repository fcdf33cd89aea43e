import AttributeValues

extension FunctionList {
    mutating func definePatterns() {
        let work = Work(base: 20)
        define("string::matches(string) -> bool", "matches(string,string) -> bool", work: work) {
            (a, meter) throws(Fault) in
            guard let (text, pattern) = try RegexLibrary.compile(a, &meter) else { return nil }
            try meter.charge(Pattern.searchCost(text.utf8.count, size: pattern.size))
            return .bool(pattern.matches(text))
        }
        define("regex.replace(string,string,string[,int]) -> string", work: work) { (a, meter) throws(Fault) in
            guard let replacement = a.text(2), a.count == 3 || a.int(3) != nil,
                let (text, pattern) = try RegexLibrary.compile(a, &meter)
            else { return nil }
            return .string(try RegexLibrary.replace(text, pattern, replacement, limit: a.int(3) ?? -1, &meter))
        }
        define("regex.extract(string,string) -> optional(string)", work: work) { (a, meter) throws(Fault) in
            guard let (text, pattern) = try RegexLibrary.compile(a, &meter) else { return nil }
            return .optional(try RegexLibrary.extract(text, pattern, limit: 1, &meter).first)
        }
        define("regex.extractAll(string,string) -> list(string)", work: work) { (a, meter) throws(Fault) in
            guard let (text, pattern) = try RegexLibrary.compile(a, &meter) else { return nil }
            return .list(try RegexLibrary.extract(text, pattern, limit: .max, &meter))
        }
    }
}

/// Patterns that are constants of `matches` are compiled with the rule. These are compiled at each call.
enum RegexLibrary {
    /// The text and the pattern of a call.
    fileprivate static func compile(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> (String, Pattern)? {
        guard let text = a.text(0), let pattern = a.text(1) else { return nil }
        try meter.charge(Pattern.compilationCost(pattern))
        var reason = ""
        guard let compiled = Pattern(pattern, reason: &reason) else { throw Fault("faulty pattern: \(reason)") }
        return (text, compiled)
    }

    /// Visits the matches from left to right with their groups, as byte ranges; nil for a group that did not take part.
    /// Stops when `body` returns false. Each search may look at the whole rest of the text, and is charged for it.
    private static func forEachMatch(
        _ pattern: Pattern, in bytes: UnsafeBufferPointer<UInt8>, _ meter: inout Meter,
        _ body: ([Range<Int>?], inout Meter) throws(Fault) -> Bool
    ) throws(Fault) {
        try meter.charge(Pattern.searchCost(bytes.count, size: pattern.size))
        var spans = [Int64](repeating: -1, count: 2 * (pattern.groupCount + 1))
        var start = 0
        while start <= bytes.count {
            try meter.charge(10 + pattern.repeatedSearchCost(bytes.count - start))
            guard pattern.firstMatch(in: bytes, from: start, &spans) else { return }
            let ranges = (0...pattern.groupCount).map { group -> Range<Int>? in
                let from = Int(spans[2 * group])
                let to = Int(spans[2 * group + 1])
                return from < 0 ? nil : from..<to
            }
            guard let whole = ranges[0], try body(ranges, &meter) else { return }
            start = whole.upperBound
            if whole.isEmpty {
                // Skips one code point, because otherwise the same empty match would be found again.
                start += 1
                while start < bytes.count, bytes[start] & 0xc0 == 0x80 { start += 1 }
            }
        }
    }

    /// The match of the pattern's only group, or the whole match if it has none.
    fileprivate static func extract(
        _ text: String, _ pattern: Pattern, limit: Int, _ meter: inout Meter
    ) throws(Fault) -> [Value] {
        guard pattern.groupCount <= 1 else {
            throw Fault("the pattern has \(pattern.groupCount) groups; extract takes one")
        }
        var found: [Value] = []
        try withBytes(text) { (bytes) throws(Fault) in
            try forEachMatch(pattern, in: bytes, &meter) { (ranges, meter) throws(Fault) in
                if let range = ranges[pattern.groupCount] {
                    try meter.chargeText(range.count)
                    found.append(.string(String(decoding: bytes[range], as: UTF8.self)))
                }
                return found.count < limit && found.count <= meter.limits.resultSize
            }
        }
        try meter.chargeElements(found.count)
        return found
    }

    private static func withBytes(_ text: String, _ body: (UnsafeBufferPointer<UInt8>) throws(Fault) -> Void)
        throws(Fault)
    {
        var text = text
        var fault: Fault?
        text.withUTF8 { bytes in
            do throws(Fault) { try body(bytes) } catch { fault = error }
        }
        if let fault { throw fault }
    }

    /// `\1` … `\9` are the groups, `\0` the match, `\\` a backslash. A negative limit means all matches.
    fileprivate static func replace(
        _ text: String, _ pattern: Pattern, _ replacement: String, limit: Int64, _ meter: inout Meter
    ) throws(Fault) -> String {
        let parts = try template(replacement, pattern.groupCount)
        var output: [UInt8] = []
        var count: Int64 = 0
        try withBytes(text) { (bytes) throws(Fault) in
            var copied = 0
            if limit != 0 {
                try forEachMatch(pattern, in: bytes, &meter) { (ranges, meter) throws(Fault) in
                    guard let whole = ranges[0] else { return false }
                    let before = output.count
                    output += bytes[copied..<whole.lowerBound]
                    copied = whole.upperBound
                    for part in parts {
                        switch part {
                        case .text(let text): output += text
                        case .group(let number): if let range = ranges[number] { output += bytes[range] }
                        }
                        if output.count > meter.limits.textSize { try meter.chargeText(output.count) }
                    }
                    try meter.charge(parts.count + (output.count - before) / 10)
                    count += 1
                    return count != limit
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
        var bytes = text.utf8.makeIterator()
        while let byte = bytes.next() {
            guard byte == UInt8(ascii: "\\") else {
                plain.append(byte)
                continue
            }
            switch bytes.next() {
            case UInt8(ascii: "\\"): plain.append(byte)
            case let digit? where digit.isDigit:
                let group = Int(digit - 48)
                guard group <= groups else { throw Fault("the pattern has no group \(group)") }
                parts += [.text(plain), .group(group)]
                plain = []
            default: throw Fault("in a replacement, write '\\' only before a digit or another '\\'")
            }
        }
        return parts + [.text(plain)]
    }
}
