import AttributeValues

/// Values as text, for conversions and error messages.
enum CELText {
    /// A value in an error message. Long ones are cut off.
    static func brief(_ value: Value) -> String {
        switch value {
        case .string(let text): text.utf8.count <= 60 ? text : String(text.unicodeScalars.prefix(40)) + "…"
        case .list, .map, .bytes, .opaque, .optional: value.shortTypeName
        default: value.jsonText
        }
    }

    /// The form of `string(double)`: the shortest digits that give the same double, scientific from 1e6 and below 1e-4.
    static func text(_ number: Double) -> String {
        let (digits, exponent) = decimal(number)
        let sign = number < 0 ? "-" : ""
        if number.isFinite, number != 0, exponent < -4 || exponent >= 6 {
            let fraction = digits.count > 1 ? "." + String(decoding: digits[1...], as: UTF8.self) : ""
            let size = exponent.magnitude
            return "\(sign)\(String(decoding: digits[..<1], as: UTF8.self))\(fraction)"
                + "e\(exponent < 0 ? "-" : "+")\(size < 10 ? "0" : "")\(size)"
        }
        return plainText(number)
    }

    /// Decimal digits without exponent, the shortest that give the same double.
    static func plainText(_ number: Double) -> String {
        if number.isNaN { return "NaN" }
        if number.isInfinite { return number < 0 ? "-Infinity" : "Infinity" }
        if number == 0 { return number.sign == .minus ? "-0" : "0" }
        let (digits, exponent) = decimal(number)
        var text = number < 0 ? [UInt8(ascii: "-")] : []
        if exponent < 0 {
            text += Array("0.".utf8) + [UInt8](repeating: 48, count: -exponent - 1) + digits
        } else if digits.count <= exponent + 1 {
            text += digits + [UInt8](repeating: 48, count: exponent + 1 - digits.count)
        } else {
            text += digits[...exponent] + [UInt8(ascii: ".")] + digits[(exponent + 1)...]
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The shortest digits of a finite number other than zero, d.ddd × 10^exponent.
    private static func decimal(_ number: Double) -> (digits: [UInt8], exponent: Int) {
        var digits: [UInt8] = []
        var point: Int?
        var exponent = 0
        let text = Array(number.magnitude.description.utf8)
        for (at, byte) in text.enumerated() {
            if byte == UInt8(ascii: ".") {
                point = digits.count
            } else if byte == UInt8(ascii: "e") {
                exponent = Int(String(decoding: text[(at + 1)...], as: UTF8.self)) ?? 0
                break
            } else {
                digits.append(byte)
            }
        }
        exponent += (point ?? digits.count) - 1
        let zeros = digits.prefix { $0 == 48 }.count
        digits.removeFirst(zeros)
        exponent -= zeros
        while digits.last == 48 { digits.removeLast() }
        return (digits, exponent)
    }
}
