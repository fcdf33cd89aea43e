import AttributeValues

/// `"…".format([…])`: the clauses %s %d %f %e %b %o %x %X %%, with a width, and a precision for f and e.
enum StringFormat {
    /// Maximum digits after the point in a clause, and maximum width.
    private static let maximumPrecision = 1000

    /// Steps for a clause, in addition to the cost of the value.
    private static let clauseCost = 20

    static func formatText(_ a: Arguments, _ meter: inout Meter) throws(Fault) -> Value? {
        guard let template = a.text(0), let values = a.elements(1) else { return nil }
        var output = ""
        var rest = template.utf8[...]
        var next = 0
        while let percent = rest.firstIndex(of: UInt8(ascii: "%")) {
            output += String(Substring(rest[..<percent]))
            rest = rest[rest.index(after: percent)...]
            if rest.first == UInt8(ascii: "%") {
                try meter.charge(2)
                output += "%"
                rest.removeFirst()
                continue
            }
            let width = try Width(&rest)
            let precision = try readPrecision(&rest)
            guard let clause = rest.popFirst() else { throw Fault("the format ends inside a clause") }
            try meter.charge(clauseCost + ((precision ?? 0) + width.count) / 8)
            guard next < values.count else {
                throw Fault("index \(next) out of range: the format needs more arguments")
            }
            let before = output.utf8.count
            output += width.fill(
                try text(values[next], clause, precision, &meter), isNumber: clause != UInt8(ascii: "s"))
            if output.utf8.count > meter.limits.textSize { try meter.chargeText(output.utf8.count) }
            try meter.chargeBytes(output.utf8.count - before)
            next += 1
        }
        output += String(Substring(rest))
        try meter.chargeText(output.utf8.count)
        return .string(output)
    }

    /// The least number of code points of a clause: `%5d`, `%02d` with zeros, `%-5s` with the spaces behind.
    private struct Width {
        private(set) var count = 0
        private var hasZeros = false
        private var isLeft = false

        init(_ rest: inout Substring.UTF8View.SubSequence) throws(Fault) {
            while let sign = rest.first, sign == UInt8(ascii: "0") || sign == UInt8(ascii: "-") {
                if sign == UInt8(ascii: "0") { hasZeros = true } else { isLeft = true }
                rest.removeFirst()
            }
            while let digit = rest.first, digit.isDigit {
                count = min(count * 10 + Int(digit - 48), maximumPrecision + 1)
                rest.removeFirst()
            }
            guard count <= maximumPrecision else { throw Fault("a width of more than \(maximumPrecision)") }
        }

        func fill(_ text: String, isNumber: Bool) -> String {
            let missing = count == 0 ? 0 : count - text.unicodeScalars.count
            if missing <= 0 { return text }
            if isLeft { return text + String(repeating: " ", count: missing) }
            let sign = text.hasPrefix("-") ? 1 : 0
            guard hasZeros, isNumber, text.utf8.dropFirst(sign).first?.hexDigit != nil else {
                return String(repeating: " ", count: missing) + text
            }
            return text.prefix(sign) + String(repeating: "0", count: missing) + text.dropFirst(sign)
        }
    }

    private static func readPrecision(_ rest: inout Substring.UTF8View.SubSequence) throws(Fault) -> Int? {
        guard rest.first == UInt8(ascii: ".") else { return nil }
        rest.removeFirst()
        var precision = 0
        var digits = 0
        while let digit = rest.first, digit.isDigit {
            precision = min(precision * 10 + Int(digit - 48), maximumPrecision + 1)
            digits += 1
            rest.removeFirst()
        }
        guard digits > 0 else { throw Fault("'.' in a formatting clause needs a precision") }
        guard precision <= maximumPrecision else { throw Fault("a precision of more than \(maximumPrecision) digits") }
        return precision
    }

    private static func text(
        _ value: Value, _ clause: UInt8, _ precision: Int?, _ meter: inout Meter
    ) throws(Fault) -> String {
        switch clause {
        case UInt8(ascii: "s"): return try plain(value, &meter)
        case UInt8(ascii: "d"):
            if case .double(let x) = value { return CELText.plainText(x) }
            return try digits(value, 10, else: "decimal clause can only be used on numbers")
        case UInt8(ascii: "f"), UInt8(ascii: "e"):
            guard let number = value.number else {
                throw fault(
                    "\(clause == UInt8(ascii: "f") ? "fixed-point" : "scientific") clause can only be used on numbers",
                    value)
            }
            return decimal(number, isFixed: clause == UInt8(ascii: "f"), precision ?? 6)
        case UInt8(ascii: "b"):
            if case .bool(let flag) = value { return flag ? "1" : "0" }
            return try digits(value, 2, else: "only integers and bools can be formatted as binary")
        case UInt8(ascii: "o"): return try digits(value, 8, else: "octal clause can only be used on integers")
        case UInt8(ascii: "x"), UInt8(ascii: "X"): return try hex(value, isUpper: clause == UInt8(ascii: "X"), &meter)
        default: throw Fault("unrecognized formatting clause \"\(String(decoding: [clause], as: UTF8.self))\"")
        }
    }

    private static func digits(
        _ value: Value, _ radix: Int, isUpper: Bool = false, else message: String
    ) throws(Fault) -> String {
        switch value {
        case .int(let x): String(x, radix: radix, uppercase: isUpper)
        case .uint(let x): String(x, radix: radix, uppercase: isUpper)
        default: throw fault(message, value)
        }
    }

    private static func fault(_ message: String, _ value: Value) -> Fault {
        Fault("\(message), was given \(value.shortTypeName)")
    }

    private static func hex(_ value: Value, isUpper: Bool, _ meter: inout Meter) throws(Fault) -> String {
        func pairs(_ bytes: some Collection<UInt8>) throws(Fault) -> String {
            try meter.chargeText(bytes.count * 2)
            let alphabet = Array((isUpper ? "0123456789ABCDEF" : "0123456789abcdef").utf8)
            var digits: [UInt8] = []
            digits.reserveCapacity(bytes.count * 2)
            for byte in bytes {
                digits.append(alphabet[Int(byte >> 4)])
                digits.append(alphabet[Int(byte & 15)])
            }
            return String(decoding: digits, as: UTF8.self)
        }
        switch value {
        case .string(let text): return try pairs(text.utf8)
        case .bytes(let bytes): return try pairs(bytes)
        default:
            let message = "only integers, byte buffers, and strings can be formatted as hex"
            return try digits(value, 16, isUpper: isUpper, else: message)
        }
    }

    /// C's `%.*f` or `%.*e`: exact, ties to even.
    private static func decimal(_ number: Double, isFixed: Bool, _ precision: Int) -> String {
        guard number.isFinite else { return CELText.plainText(number) }
        return formatted(isFixed ? "%.*f" : "%.*e", Int32(precision), number)
    }

    /// The text of `%s`. The value's depth bounds the recursion. Costs a step for each part.
    private static func plain(_ value: Value, _ meter: inout Meter) throws(Fault) -> String {
        try meter.charge(10)
        switch value {
        case .string(let text): return text
        case .null: return "null"
        case .bool(let flag): return flag ? "true" : "false"
        case .int(let x): return String(x)
        case .uint(let x): return String(x)
        case .double(let x): return CELText.plainText(x)
        case .bytes(let bytes):
            try meter.chargeText(bytes.count)
            return String(decoding: bytes, as: UTF8.self)
        case .type(let name): return name
        case .timestamp(let time): return time.description
        case .duration(let span): return span.description
        case .list(let elements):
            var parts: [String] = []
            var size = 0
            for element in elements {
                parts.append(try plain(element, &meter))
                size += parts[parts.count - 1].utf8.count
            }
            try meter.chargeText(size)
            return "[\(parts.joined(separator: ", "))]"
        case .map(let map):
            var parts: [(String, String)] = []
            // A sort compares each key about this many times.
            let levels = Int.bitWidth - map.count.leadingZeroBitCount
            try meter.charge(map.count * levels)
            var size = 0
            for position in 0..<map.count {
                let (key, value) = map.entry(at: position)
                parts.append((try plain(key, &meter), try plain(value, &meter)))
                size += parts[parts.count - 1].0.utf8.count * levels + parts[parts.count - 1].1.utf8.count
            }
            try meter.chargeText(size)
            parts.sort { $0.0.precedesByBytes($1.0) }
            return "{\(parts.map { "\($0): \($1)" }.joined(separator: ", "))}"
        case .opaque(let opaque as ColorValue): return opaque.color.css
        case .opaque(let opaque as AngleValue): return CELText.plainText(opaque.degrees)
        case .opaque(let opaque as VectorValue): return try plain(.list(opaque.components.map { .double($0) }), &meter)
        case .opaque(let opaque as IPAddress): return opaque.description
        case .opaque(let opaque as IPNetwork): return opaque.description
        case .optional, .opaque:
            throw fault(
                "string clause can only be used on strings, bools, bytes, numbers, maps, lists, types, times and null",
                value)
        }
    }
}
