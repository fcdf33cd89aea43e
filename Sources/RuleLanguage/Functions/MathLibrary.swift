import AttributeValues

enum MathLibrary {
    static func call(_ function: Function, _ a: Arguments) throws(Fault) -> Value? {
        switch function {
        case .greatest, .least: return try extremum(function, a)
        case .abs, .sign, .sqrt: return try number(function, a[0])
        case .bitNot:
            switch a[0] {
            case .int(let x): return .int(~x)
            case .uint(let x): return .uint(~x)
            default: return nil
            }
        case .bitOr, .bitAnd, .bitXor: return bits(function, a[0], a[1])
        case .bitShiftLeft, .bitShiftRight: return try shift(function, a[0], a.int(1))
        default:
            guard case .double(let x) = a[0] else { return nil }
            return double(function, x)
        }
    }

    private static func extremum(_ function: Function, _ a: Arguments) throws(Fault) -> Value? {
        var candidates = (0..<a.count).map { a[$0] }
        if a.count == 1, let list = a.elements(0) {
            if list.isEmpty { throw Fault("\(function.rawValue)() of an empty list") }
            candidates = list.array
        }
        var best = candidates[0]
        guard best.number != nil else { return nil }
        for candidate in candidates.dropFirst() {
            guard let order = Equality.numericOrder(candidate, best) else { return nil }
            if order == (function == .greatest ? .greater : .less) { best = candidate }
        }
        return best
    }

    private static func number(_ function: Function, _ value: Value) throws(Fault) -> Value? {
        switch (function, value) {
        case (.abs, .int(let x)):
            if x == .min { throw Fault("integer overflow") }
            return .int(Swift.abs(x))
        case (.abs, .uint): return value
        case (.abs, .double(let x)): return .double(x.magnitude)
        case (.sign, .int(let x)): return .int(x.signum())
        case (.sign, .uint(let x)): return .uint(x == 0 ? 0 : 1)
        case (.sign, .double(let x)): return .double(x > 0 ? 1 : x < 0 ? -1 : x)
        case (.sqrt, _): return value.number.map { .double($0.squareRoot()) }
        default: return nil
        }
    }

    private static func double(_ function: Function, _ x: Double) -> Value? {
        switch function {
        case .ceil: .double(x.rounded(.up))
        case .floor: .double(x.rounded(.down))
        case .round: .double(x.rounded(.toNearestOrAwayFromZero))
        case .trunc: .double(x.rounded(.towardZero))
        case .isNaN: .bool(x.isNaN)
        case .isInf: .bool(x.isInfinite)
        case .isFinite: .bool(x.isFinite)
        default: nil
        }
    }

    private static func bits(_ function: Function, _ a: Value, _ b: Value) -> Value? {
        func combine<T: FixedWidthInteger>(_ x: T, _ y: T) -> T {
            switch function {
            case .bitOr: x | y
            case .bitAnd: x & y
            default: x ^ y
            }
        }
        switch (a, b) {
        case (.int(let x), .int(let y)): return .int(combine(x, y))
        case (.uint(let x), .uint(let y)): return .uint(combine(x, y))
        default: return nil
        }
    }

    /// Zeros are shifted in on both sides, for ints too.
    private static func shift(_ function: Function, _ value: Value, _ amount: Int64?) throws(Fault) -> Value? {
        guard let amount else { return nil }
        guard amount >= 0 else { throw Fault("negative shift: \(amount)") }
        func shifted(_ x: UInt64) -> UInt64 {
            amount >= 64 ? 0 : function == .bitShiftLeft ? x << UInt64(amount) : x >> UInt64(amount)
        }
        switch value {
        case .int(let x): return .int(Int64(bitPattern: shifted(UInt64(bitPattern: x))))
        case .uint(let x): return .uint(shifted(x))
        default: return nil
        }
    }
}
