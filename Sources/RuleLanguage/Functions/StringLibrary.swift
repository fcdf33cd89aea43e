import AttributeValues
import CRE2
import Glibc

extension FunctionList {
    mutating func defineStrings() {
        let (fast, slow) = (Work(base: 5, bytesPerStep: 5), Work(base: 5, bytesPerStep: 2))
        define("string::contains(string) -> bool") { (text: String, part: String) in
            .bool(StringLibrary.search(.contains, text, part))
        }
        define("string::startsWith(string) -> bool") { (text: String, part: String) in
            .bool(StringLibrary.search(.startsWith, text, part))
        }
        define("string::endsWith(string) -> bool") { (text: String, part: String) in
            .bool(StringLibrary.search(.endsWith, text, part))
        }
        define("string::lowerAscii() -> string", work: fast) { (text: String) in
            .string(StringLibrary.mapBytes(text) { $0 >= 65 && $0 <= 90 ? $0 + 32 : $0 })
        }
        define("string::upperAscii() -> string", work: fast) { (text: String) in
            .string(StringLibrary.mapBytes(text) { $0 >= 97 && $0 <= 122 ? $0 - 32 : $0 })
        }
        // Looks up the properties of each code point.
        define("string::trim() -> string", work: Work(base: 2, bytesPerStep: 1), of: StringLibrary.trim)
        define("string::charAt(int) -> string", work: slow, of: StringLibrary.character)
        define("string::substring(int[,int]) -> string", work: slow, code: StringLibrary.substring)
        define("string::indexOf(string[,int]) -> int", work: fast) { (a, meter) throws(Fault) in
            try StringLibrary.index(a, isLast: false, &meter)
        }
        define("string::lastIndexOf(string[,int]) -> int", work: fast) { (a, meter) throws(Fault) in
            try StringLibrary.index(a, isLast: true, &meter)
        }
        define("string::replace(string,string[,int]) -> string", work: slow, code: StringLibrary.replace)
        define("string::split(string[,int]) -> list(string)", work: slow, code: StringLibrary.split)
        define("list(string)::join([string]) -> string", work: Work(base: 5), code: StringLibrary.join)
        define("string|list(A)::reverse() -> =", work: slow, code: StringLibrary.reverse)
        define(
            "string::format(list(dyn)) -> string", "timestamp::format(string[,string]) -> string",
            work: Work(base: 20, bytesPerStep: 5)
        ) { (a, meter) throws(Fault) in
            guard case .timestamp(let time) = a[0] else { return try StringFormat.formatText(a, &meter) }
            guard let pattern = a.text(1), a.count == 2 || a.text(2) != nil else { return nil }
            let offset = try a.text(2).map { (zone) throws(Fault) in try TimeLibrary.offset(zone, at: time, &meter) }
            return .string(try TimeFormat.text(time, pattern, offset: offset ?? 0, &meter))
        }
        define("strings.quote(string) -> string", work: slow, code: StringLibrary.quoteText)
        define("base64.encode(bytes) -> string", work: fast) { (a, meter) throws(Fault) in
            guard case .bytes(let bytes) = a[0] else { return nil }
            try meter.chargeText(bytes.count / 3 * 4 + 4)
            return .string(Base64.encode(bytes))
        }
        define("base64.decode(string) -> bytes", work: fast) { (a, meter) throws(Fault) in
            guard let text = a.text(0) else { return nil }
            try meter.chargeText(text.utf8.count)
            guard let bytes = Base64.decode(text) else { throw Fault("illegal base64 data") }
            return .bytes(bytes)
        }
    }
}

/// The member functions of strings. Positions count code points. The costs are proportional to the text's length.
enum StringLibrary {
    /// `contains`, `startsWith`, `endsWith` on the bytes, which gives the same result.
    static func search(_ opcode: Opcode, _ text: String, _ part: String) -> Bool {
        guard part.utf8.count <= text.utf8.count else { return false }
        var (text, part) = (text, part)
        return text.withUTF8 { text in
            part.withUTF8 { part in
                guard let base = text.baseAddress, let wanted = part.baseAddress else { return part.isEmpty }
                return switch opcode {
                case .startsWith: memcmp(base, wanted, part.count) == 0
                case .endsWith: memcmp(base + (text.count - part.count), wanted, part.count) == 0
                default: find(part, in: text, from: 0) != nil
                }
            }
        }
    }

    /// The first position of `part` at or after `start`. Linear in the searched text.
    private static func find(
        _ part: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>, from start: Int
    ) -> Int? {
        guard let base = text.baseAddress, let wanted = part.baseAddress, !part.isEmpty else { return start }
        let found = agd_find(base + start, text.count - start, wanted, part.count)
        return found < 0 ? nil : start + found
    }

    fileprivate static func reverse(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        if let text = a.text(0) {
            var reversed = String.UnicodeScalarView()
            reversed.append(contentsOf: text.unicodeScalars.reversed())
            return .string(String(reversed))
        }
        guard let list = a.elements(0) else { return nil }
        try meter.chargeElements(list.count)
        return .list(list.reversed())
    }

    fileprivate static func mapBytes(_ text: String, _ transform: (UInt8) -> UInt8) -> String {
        String(decoding: text.utf8.map(transform), as: UTF8.self)
    }

    fileprivate static func trim(_ text: String) -> Value? {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return .string("") }
        return .string(String(scalars[first...last]))
    }

    fileprivate static func character(_ text: String, at index: Int64) throws(Fault) -> Value? {
        let scalars = text.unicodeScalars
        guard index >= 0, index <= scalars.count else { throw Fault("index out of range: \(index)") }
        let position = scalars.index(scalars.startIndex, offsetBy: Int(index))
        return .string(position == scalars.endIndex ? "" : String(scalars[position]))
    }

    fileprivate static func substring(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        guard let text = a.text(0), let start = a.int(1), a.count == 2 || a.int(2) != nil else { return nil }
        let scalars = text.unicodeScalars
        let count = Int64(scalars.count)
        let end = a.int(2) ?? count
        guard start >= 0, start <= count else { throw Fault("index out of range: \(start)") }
        guard end >= 0, end <= count else { throw Fault("index out of range: \(end)") }
        guard start <= end else { throw Fault("invalid substring range. start: \(start), end: \(end)") }
        let from = scalars.index(scalars.startIndex, offsetBy: Int(start))
        let to = scalars.index(from, offsetBy: Int(end - start))
        return .string(String(scalars[from..<to]))
    }

    fileprivate static func index(_ a: Arguments, isLast: Bool, _ meter: inout Meter) throws(Fault) -> Value? {
        guard let text = a.text(0), let part = a.text(1), a.count == 2 || a.int(2) != nil else { return nil }
        let scalars = Array(text.unicodeScalars)
        let wanted = Array(part.unicodeScalars)
        let offset = a.int(2) ?? (isLast ? Int64(scalars.count) : 0)
        guard offset >= 0, offset <= scalars.count else { throw Fault("index out of range: \(offset)") }
        let last = scalars.count - wanted.count
        try meter.charge((scalars.count / 10 + 1) * (wanted.count / 4 + 1))
        func matches(_ at: Int) -> Bool { scalars[at..<at + wanted.count].elementsEqual(wanted) }
        if !isLast {
            guard Int(offset) <= last else { return .int(-1) }
            return .int(Int64((Int(offset)...last).first(where: matches) ?? -1))
        }
        guard last >= 0 else { return .int(-1) }
        return .int(Int64((0...min(Int(offset), last)).last(where: matches) ?? -1))
    }

    fileprivate static func join(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        guard let elements = a.elements(0), a.count == 1 || a.text(1) != nil else { return nil }
        let separator = a.text(1) ?? ""
        var size = separator.utf8.count * max(0, elements.count - 1)
        for element in elements {
            guard case .string(let text) = element else { return nil }
            size += text.utf8.count
        }
        try meter.chargeText(size)
        var joined = ""
        joined.reserveCapacity(size)
        for (number, element) in elements.enumerated() {
            if number > 0 { joined += separator }
            if case .string(let text) = element { joined += text }
        }
        return .string(joined)
    }

    fileprivate static func replace(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        guard let text = a.text(0), let old = a.text(1), let new = a.text(2), a.count == 3 || a.int(3) != nil else {
            return nil
        }
        let limit = a.int(3) ?? -1
        if limit == 0 { return .string(text) }
        let pieces =
            try old.isEmpty ? codePoints(text, limit, &meter) : pieces(text, old, limit < 0 ? -1 : limit &+ 1, &meter)
        try meter.chargeText(pieces.reduce(0) { $0 + $1.utf8.count } + (pieces.count - 1) * new.utf8.count)
        return .string(pieces.joined(separator: new))
    }

    /// The pieces between the matches of an empty separator: before, between and after the code points.
    private static func codePoints(_ text: String, _ limit: Int64, _ meter: inout Meter) throws(Fault) -> [String] {
        var pieces = [""]
        let most = meter.affordable(steps: pieceCost)
        var rest = text.unicodeScalars[...]
        while let scalar = rest.first, limit < 0 || pieces.count < limit, pieces.count <= most {
            rest.removeFirst()
            pieces.append(String(scalar))
        }
        pieces.append(String(rest))
        try meter.chargeElements(pieces.count, steps: pieceCost)
        return pieces
    }

    fileprivate static func split(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        guard let text = a.text(0), let separator = a.text(1), a.count == 2 || a.int(2) != nil else { return nil }
        let limit = a.int(2) ?? -1
        if limit == 0 { return .list([]) }
        if limit == 1 { return .list([.string(text)]) }
        guard separator.isEmpty else { return .list(try pieces(text, separator, limit, &meter).map { .string($0) }) }
        var points = try codePoints(text, limit, &meter).dropFirst()
        if points.last == "" { points.removeLast() }
        return .list(points.map { .string($0) })
    }

    /// Steps for each piece of a text that is split.
    private static let pieceCost = 3

    /// The texts between the separators; at most `limit` pieces if that is positive.
    private static func pieces(
        _ text: String, _ separator: String, _ limit: Int64, _ meter: inout Meter
    ) throws(Fault) -> [String] {
        var (text, separator) = (text, separator)
        let most = meter.affordable(steps: pieceCost)
        let found = text.withUTF8 { text in
            separator.withUTF8 { separator in
                var found: [String] = []
                var start = 0
                while limit < 0 || found.count + 1 < limit, found.count <= most,
                    let at = find(separator, in: text, from: start)
                {
                    found.append(String(decoding: text[start..<at], as: UTF8.self))
                    start = at + separator.count
                }
                found.append(String(decoding: text[start...], as: UTF8.self))
                return found
            }
        }
        try meter.chargeElements(found.count, steps: pieceCost)
        return found
    }

    fileprivate static func quoteText(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        guard let text = a.text(0) else { return nil }
        try meter.chargeText(text.utf8.count + 2)
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar.value {
            case 7: quoted += "\\a"
            case 8: quoted += "\\b"
            case 9: quoted += "\\t"
            case 10: quoted += "\\n"
            case 11: quoted += "\\v"
            case 12: quoted += "\\f"
            case 13: quoted += "\\r"
            case 34: quoted += "\\\""
            case 92: quoted += "\\\\"
            default: quoted.unicodeScalars.append(scalar)
            }
        }
        return .string(quoted + "\"")
    }
}
