import AttributeValues
import Glibc

extension FunctionList {
    mutating func defineMath() {
        add(Function("math.greatest", []) { (a, _) throws(Fault) in try MathLibrary.extremum(.greater, a, "greatest") })
        add(Function("math.least", []) { (a, _) throws(Fault) in try MathLibrary.extremum(.less, a, "least") })
        let one = Work.constant(1)
        define("math.ceil(double) -> double", work: one) { (x: Double) in .double(x.rounded(.up)) }
        define("math.floor(double) -> double", work: one) { (x: Double) in .double(x.rounded(.down)) }
        define("math.round(double) -> double", "math.round(double|int|uint,int) -> double", work: .constant(5)) {
            (a, _) throws(Fault) in
            if a.count == 1 {
                guard case .double(let x) = a[0] else { return nil }
                return .double(x.rounded(.toNearestOrAwayFromZero))
            }
            guard let x = a[0].number, let digits = a.int(1) else { return nil }
            return .double(try MathLibrary.round(x, digits))
        }
        define(
            "math.clamp(int|uint|double,=,=) -> =", "math.clamp(double,int|int|double,int|double|int) -> double",
            work: one
        ) {
            (a, _) throws(Fault) in try MathLibrary.clamp(a[0], a[1], a[2])
        }
        let slow = Work.constant(5)
        define("math.pow(double|int|uint|double|int,double|double|double|int|int) -> double", work: slow) {
            (x: Value, y: Value) in
            if let x = x.number, let y = y.number { .double(Glibc.pow(x, y)) } else { nil }
        }
        define("math.exp(double|int|uint) -> double", work: slow) { (x: Value) in
            x.number.map { .double(Glibc.exp($0)) }
        }
        define("math.log(double|int|uint) -> double", work: slow) { (x: Value) in
            x.number.map { .double(Glibc.log($0)) }
        }
        define("math.log10(double|int|uint) -> double", work: slow) { (x: Value) in
            x.number.map { .double(Glibc.log10($0)) }
        }
        define("math.trunc(double) -> double", work: one) { (x: Double) in .double(x.rounded(.towardZero)) }
        define("math.isNaN(double) -> bool", work: one) { (x: Double) in .bool(x.isNaN) }
        define("math.isInf(double) -> bool", work: one) { (x: Double) in .bool(x.isInfinite) }
        define("math.isFinite(double) -> bool", work: one) { (x: Double) in .bool(x.isFinite) }
        define("math.abs(int|uint|double) -> =", work: one, of: MathLibrary.abs)
        define("math.sign(int|uint|double) -> =", work: one, of: MathLibrary.sign)
        define("math.sqrt(double|int|uint) -> double", work: one) { (x: Value) in
            x.number.map { .double($0.squareRoot()) }
        }
        define("math.bitOr(int|uint,=) -> =", work: one) { MathLibrary.combine($0, $1, |) }
        define("math.bitAnd(int|uint,=) -> =", work: one) { MathLibrary.combine($0, $1, &) }
        define("math.bitXor(int|uint,=) -> =", work: one) { MathLibrary.combine($0, $1, ^) }
        define("math.bitNot(int|uint) -> =", work: one) { (x: Value) in MathLibrary.combine(x, x) { x, _ in ~x } }
        define("math.bitShiftLeft(int|uint,int) -> =", work: one) { (x: Value, amount: Int64) throws(Fault) in
            try MathLibrary.shift(x, amount, <<)
        }
        define("math.bitShiftRight(int|uint,int) -> =", work: one) { (x: Value, amount: Int64) throws(Fault) in
            try MathLibrary.shift(x, amount, >>)
        }
    }
}

enum MathLibrary {
    fileprivate static func extremum(
        _ wanted: Equality.Order, _ a: Arguments, _ name: String
    ) throws(Fault) -> Value? {
        var candidates = (0..<a.count).map { a[$0] }
        if a.count == 1, let list = a.elements(0) {
            if list.isEmpty { throw Fault("math.\(name)() of an empty list") }
            candidates = list.array
        }
        var best = candidates[0]
        guard best.number != nil else { return nil }
        for candidate in candidates.dropFirst() {
            guard let order = Equality.numericOrder(candidate, best) else { return nil }
            if order == wanted { best = candidate }
        }
        return best
    }

    /// Half away from zero, at a decimal place.
    fileprivate static func round(_ x: Double, _ digits: Int64) throws(Fault) -> Double {
        guard (-mostDigits...mostDigits).contains(digits) else {
            throw Fault("round() takes \(-mostDigits) to \(mostDigits) digits, not \(digits)")
        }
        let scale = Glibc.pow(10.0, Double(Swift.abs(digits)))
        let scaled = digits < 0 ? x / scale : x * scale
        // A number without a fraction at that place, or one that is beyond all numbers when it is scaled.
        guard scaled.magnitude < 0x1p52 else { return x }
        let rounded = scaled.rounded(.toNearestOrAwayFromZero)
        return digits < 0 ? rounded * scale : rounded / scale
    }

    private static let mostDigits: Int64 = 300

    fileprivate static func clamp(_ x: Value, _ low: Value, _ high: Value) throws(Fault) -> Value? {
        guard x.number != nil, let order = Equality.numericOrder(low, high) else { return nil }
        if order == .greater {
            throw Fault("clamp(): the lower bound \(CELText.brief(low)) is above the upper one \(CELText.brief(high))")
        }
        func bound(_ bound: Value) -> Value? {
            if case .double = x { bound.number.map { .double($0) } } else { bound }
        }
        if Equality.numericOrder(x, low) == .less { return bound(low) }
        if Equality.numericOrder(x, high) == .greater { return bound(high) }
        return x
    }

    fileprivate static func abs(_ value: Value) throws(Fault) -> Value? {
        switch value {
        case .int(.min): throw Fault("integer overflow")
        case .int(let x): .int(Swift.abs(x))
        case .uint: value
        case .double(let x): .double(x.magnitude)
        default: nil
        }
    }

    fileprivate static func sign(_ value: Value) -> Value? {
        switch value {
        case .int(let x): .int(x.signum())
        case .uint(let x): .uint(x == 0 ? 0 : 1)
        case .double(let x): .double(x > 0 ? 1 : x < 0 ? -1 : x)
        default: nil
        }
    }

    /// An operation on the bits of two whole numbers of one type.
    fileprivate static func combine(_ a: Value, _ b: Value, _ operation: (UInt64, UInt64) -> UInt64) -> Value? {
        switch (a, b) {
        case (.int(let x), .int(let y)):
            .int(Int64(bitPattern: operation(UInt64(bitPattern: x), UInt64(bitPattern: y))))
        case (.uint(let x), .uint(let y)): .uint(operation(x, y))
        default: nil
        }
    }

    /// Zeros are shifted in on both sides, for ints too.
    fileprivate static func shift(
        _ value: Value, _ amount: Int64, _ shift: (UInt64, Int64) -> UInt64
    ) throws(Fault) -> Value? {
        guard amount >= 0 else { throw Fault("negative shift: \(amount)") }
        return combine(value, value) { x, _ in shift(x, amount) }
    }
}
