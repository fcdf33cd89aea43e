/// A length of time in whole nanoseconds: ±292 years. CEL's `duration`.
@frozen
public struct TimeSpan: Hashable, Comparable, Sendable {
    public var nanoseconds: Int64

    @inlinable public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    /// nil if the length is out of range.
    public init?(seconds: Int64, nanoseconds: Int64) {
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = whole.addingReportingOverflow(nanoseconds)
        if overflow || carry { return nil }
        self.nanoseconds = sum
    }

    @inlinable public static func < (a: TimeSpan, b: TimeSpan) -> Bool { a.nanoseconds < b.nanoseconds }

    public var seconds: Double { Double(nanoseconds) / 1e9 }
}

extension TimeSpan: CustomStringConvertible {
    /// Seconds with as many fraction digits as needed: `3600.001s`, `-1.5s`.
    public var description: String {
        let magnitude = nanoseconds.magnitude
        let fraction = fractionDigits(UInt32(magnitude % 1_000_000_000))
        return "\(nanoseconds < 0 ? "-" : "")\(magnitude / 1_000_000_000)\(fraction)s"
    }

    /// Reads `[+-]` and one or more decimal numbers with units `d h m s ms us µs ns` (`1h30m`, `-1.5h`), or `0`. nil
    /// for all other texts and for lengths out of range. CEL does not have `d`, which is 24 hours.
    public init?(_ text: some StringProtocol) {
        var rest = Substring(text).utf8[...]
        var negative = false
        if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
            negative = sign == UInt8(ascii: "-")
            rest.removeFirst()
        }
        if rest.elementsEqual("0".utf8) {
            self.init(nanoseconds: 0)
            return
        }
        guard !rest.isEmpty else { return nil }
        // The sum is negative, because the range of negative numbers is larger by one.
        var total: Int64 = 0
        while !rest.isEmpty {
            guard let part = TimeSpan.readComponent(&rest) else { return nil }
            let (sum, overflow) = total.subtractingReportingOverflow(part)
            if overflow { return nil }
            total = sum
        }
        if !negative {
            if total == .min { return nil }
            total = -total
        }
        self.init(nanoseconds: total)
    }

    /// One number with its unit, in nanoseconds. Fraction digits beyond a nanosecond are cut off.
    private static func readComponent(_ rest: inout Substring.UTF8View.SubSequence) -> Int64? {
        var whole: UInt64 = 0
        var fraction: UInt64 = 0
        var scale: UInt64 = 1
        var digits = 0
        while let byte = rest.first, byte >= 48, byte <= 57 {
            let (shifted, overflow) = whole.multipliedReportingOverflow(by: 10)
            let (sum, carry) = shifted.addingReportingOverflow(UInt64(byte - 48))
            if overflow || carry { return nil }
            whole = sum
            digits += 1
            rest.removeFirst()
        }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            while let byte = rest.first, byte >= 48, byte <= 57 {
                if scale < 1_000_000_000_000_000 {
                    fraction = fraction * 10 + UInt64(byte - 48)
                    scale *= 10
                }
                digits += 1
                rest.removeFirst()
            }
        }
        guard digits > 0 else { return nil }
        let unitBytes = rest.prefix { !($0 >= 48 && $0 <= 57) && $0 != UInt8(ascii: ".") }
        rest = rest.dropFirst(unitBytes.count)
        let unit: UInt64
        switch String(Substring(unitBytes)) {
        case "d": unit = 86_400_000_000_000
        case "h": unit = 3_600_000_000_000
        case "m": unit = 60_000_000_000
        case "s": unit = 1_000_000_000
        case "ms": unit = 1_000_000
        case "us", "µs", "μs": unit = 1_000
        case "ns": unit = 1
        default: return nil
        }
        let (scaled, overflow) = whole.multipliedReportingOverflow(by: unit)
        let product = fraction.multipliedFullWidth(by: unit)
        let (partial, _) = scale.dividingFullWidth(product)
        let (sum, carry) = scaled.addingReportingOverflow(partial)
        guard !overflow, !carry else { return nil }
        return Int64(exactly: sum)
    }
}

/// `.` and the nanoseconds without trailing zeros, or nothing.
func fractionDigits(_ nanoseconds: UInt32) -> String {
    guard nanoseconds > 0 else { return "" }
    var digits = String(nanoseconds)
    digits = String(repeating: "0", count: 9 - digits.utf8.count) + digits
    while digits.utf8.last == UInt8(ascii: "0") { digits.removeLast() }
    return "." + digits
}
