import AttributeValues

extension FunctionList {
    mutating func defineMath() {
        add(Function("math.greatest", []) { (a, _) throws(Fault) in try MathLibrary.extremum(.greater, a, "greatest") })
        add(Function("math.least", []) { (a, _) throws(Fault) in try MathLibrary.extremum(.less, a, "least") })
        let one = Work.constant(1)
        define("math.ceil(double) -> double", work: one) { (x: Double) in .double(x.rounded(.up)) }
        define("math.floor(double) -> double", work: one) { (x: Double) in .double(x.rounded(.down)) }
        define("math.round(double) -> double", work: one) { (x: Double) in
            .double(x.rounded(.toNearestOrAwayFromZero))
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
