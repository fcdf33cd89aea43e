import AttributeValues
import CRE2
import Glibc

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

    static func call(_ function: Function, _ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        guard let text = a.text(0) else { return nil }
        switch function {
        case .lowerAscii: return .string(mapBytes(text) { $0 >= 65 && $0 <= 90 ? $0 + 32 : $0 })
        case .upperAscii: return .string(mapBytes(text) { $0 >= 97 && $0 <= 122 ? $0 - 32 : $0 })
        case .trim: return .string(trim(text))
        case .charAt:
            guard let index = a.int(1) else { return nil }
            let scalars = text.unicodeScalars
            guard index >= 0, index <= scalars.count else { throw Fault("index out of range: \(index)") }
            let place = scalars.index(scalars.startIndex, offsetBy: Int(index))
            return .string(place == scalars.endIndex ? "" : String(scalars[place]))
        case .substring: return try substring(text, a)
        case .indexOf, .lastIndexOf: return try index(function, text, a, &meter)
        case .replace:
            guard let old = a.text(1), let new = a.text(2), a.count == 3 || a.int(3) != nil else { return nil }
            return .string(try replace(text, old, new, limit: a.int(3) ?? -1, &meter))
        case .split:
            guard let separator = a.text(1), a.count == 2 || a.int(2) != nil else { return nil }
            return .list(try split(text, separator, limit: a.int(2) ?? -1, &meter))
        default: return nil
        }
    }

    static func reverse(_ text: String) -> Value {
        var reversed = String.UnicodeScalarView()
        reversed.append(contentsOf: text.unicodeScalars.reversed())
        return .string(String(reversed))
    }

    private static func mapBytes(_ text: String, _ transform: (UInt8) -> UInt8) -> String {
        String(decoding: text.utf8.map(transform), as: UTF8.self)
    }

    private static func trim(_ text: String) -> String {
        let scalars = text.unicodeScalars
        guard let first = scalars.firstIndex(where: { !$0.properties.isWhitespace }),
            let last = scalars.lastIndex(where: { !$0.properties.isWhitespace })
        else { return "" }
        return String(scalars[first...last])
    }

    private static func substring(_ text: String, _ a: Arguments) throws(Fault) -> Value? {
        guard let start = a.int(1), a.count == 2 || a.int(2) != nil else { return nil }
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

    private static func index(
        _ function: Function, _ text: String, _ a: Arguments, _ meter: inout Meter
    ) throws(Fault) -> Value? {
        guard let part = a.text(1), a.count == 2 || a.int(2) != nil else { return nil }
        let scalars = Array(text.unicodeScalars)
        let wanted = Array(part.unicodeScalars)
        let offset = a.int(2) ?? (function == .indexOf ? 0 : Int64(scalars.count))
        guard offset >= 0, offset <= scalars.count else { throw Fault("index out of range: \(offset)") }
        let last = scalars.count - wanted.count
        try meter.charge((scalars.count / 10 + 1) * (wanted.count / 4 + 1))
        func matches(_ at: Int) -> Bool { scalars[at..<at + wanted.count].elementsEqual(wanted) }
        if function == .indexOf {
            guard Int(offset) <= last else { return .int(-1) }
            return .int(Int64((Int(offset)...last).first(where: matches) ?? -1))
        }
        guard last >= 0 else { return .int(-1) }
        return .int(Int64((0...min(Int(offset), last)).last(where: matches) ?? -1))
    }

    static func join(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
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

    private static func replace(
        _ text: String, _ old: String, _ new: String, limit: Int64, _ meter: inout Meter
    ) throws(Fault) -> String {
        if limit == 0 { return text }
        let pieces =
            try old.isEmpty ? codePoints(text, limit, &meter) : pieces(text, old, limit < 0 ? -1 : limit &+ 1, &meter)
        try meter.chargeText(pieces.reduce(0) { $0 + $1.utf8.count } + (pieces.count - 1) * new.utf8.count)
        return pieces.joined(separator: new)
    }

    /// The pieces between the matches of an empty separator: before, between and after the code points.
    private static func codePoints(_ text: String, _ limit: Int64, _ meter: inout Meter) throws(Fault) -> [String] {
        var pieces = [""]
        let room = meter.room(steps: pieceCost)
        var rest = text.unicodeScalars[...]
        while let scalar = rest.first, limit < 0 || pieces.count < limit, pieces.count <= room {
            rest.removeFirst()
            pieces.append(String(scalar))
        }
        pieces.append(String(rest))
        try meter.chargeElements(pieces.count, steps: pieceCost)
        return pieces
    }

    private static func split(
        _ text: String, _ separator: String, limit: Int64, _ meter: inout Meter
    ) throws(Fault) -> [Value] {
        if limit == 0 { return [] }
        if limit == 1 { return [.string(text)] }
        guard separator.isEmpty else { return try pieces(text, separator, limit, &meter).map { .string($0) } }
        var points = try codePoints(text, limit, &meter).dropFirst()
        if points.last == "" { points.removeLast() }
        return points.map { .string($0) }
    }

    /// Steps for each piece of a text that is split.
    private static let pieceCost = 3

    /// The texts between the separators; at most `limit` pieces if that is positive.
    private static func pieces(
        _ text: String, _ separator: String, _ limit: Int64, _ meter: inout Meter
    ) throws(Fault) -> [String] {
        var (text, separator) = (text, separator)
        let room = meter.room(steps: pieceCost)
        let found = text.withUTF8 { text in
            separator.withUTF8 { separator in
                var found: [String] = []
                var start = 0
                while limit < 0 || found.count + 1 < limit, found.count <= room,
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

    static func quoteText(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
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
