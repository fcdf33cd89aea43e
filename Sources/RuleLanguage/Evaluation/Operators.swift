import AttributeValues

/// The operators on operands of any type. The evaluator handles the most common cases before.
enum Operators {
    /// On operands in memory: scalars are not copied.
    @inline(never)
    static func apply(
        _ opcode: Opcode, _ a: UnsafePointer<Value>, _ b: UnsafePointer<Value>, mixes: Bool, _ meter: inout Meter
    ) throws(Fault) -> Value {
        if case .double(let x) = a.pointee, case .double(let y) = b.pointee {
            if let result = apply(opcode, x, y) { return result }
        } else if case .duration(let x) = a.pointee, case .duration(let y) = b.pointee {
            if let holds = compare(opcode, x, y) { return .bool(holds) }
        } else if case .timestamp(let x) = a.pointee, case .timestamp(let y) = b.pointee {
            if let holds = compare(opcode, x, y) { return .bool(holds) }
            if opcode == .subtract { return .duration(try difference(from: y, to: x)) }
        } else if opcode == .isIn {
            return .bool(try isElement(a, b, &meter))
        }
        return try apply(opcode, a.pointee, b.pointee, mixes: mixes, &meter)
    }

    private static func apply(_ opcode: Opcode, _ x: Double, _ y: Double) -> Value? {
        switch opcode {
        case .add: .double(x + y)
        case .subtract: .double(x - y)
        case .multiply: .double(x * y)
        case .divide: .double(x / y)
        default: compare(opcode, x, y).map { .bool($0) }
        }
    }

    private static func compare<T: Comparable>(_ opcode: Opcode, _ x: T, _ y: T) -> Bool? {
        switch opcode {
        case .equal: x == y
        case .notEqual: x != y
        case .less: x < y
        case .lessOrEqual: x <= y
        case .greater: x > y
        case .greaterOrEqual: x >= y
        default: nil
        }
    }

    static func difference(from start: Timestamp, to end: Timestamp) throws(Fault) -> TimeSpan {
        guard let span = end.since(start) else { throw Fault("duration overflow") }
        return span
    }

    /// - Parameter mixes: convert an int beside a double. A rule that was checked for two ints stays a fault if one of
    ///   them has become a double meanwhile, because its attribute takes ints.
    static func apply(
        _ opcode: Opcode, _ a: Value, _ b: Value, mixes: Bool, _ meter: inout Meter
    ) throws(Fault) -> Value {
        switch opcode {
        case .equal: .bool(try Equality.areEqual(a, b, &meter))
        case .notEqual: .bool(try !Equality.areEqual(a, b, &meter))
        case .isIn:
            .bool(
                try withUnsafePointer(to: a) { (a) throws(Fault) in
                    try withUnsafePointer(to: b) { (b) throws(Fault) in try isElement(a, b, &meter) }
                })
        case .less, .lessOrEqual, .greater, .greaterOrEqual: .bool(try compare(opcode, a, b, &meter))
        default: try calculate(opcode, a, b, mixes, &meter)
        }
    }

    private static func calculate(
        _ opcode: Opcode, _ a: Value, _ b: Value, _ mixes: Bool, _ meter: inout Meter
    ) throws(Fault) -> Value {
        switch (opcode, a, b) {
        case (_, .int(let x), .int(let y)): return .int(try whole(opcode, x, y, "integer"))
        case (_, .uint(let x), .uint(let y)): return .uint(try whole(opcode, x, y, "unsigned integer"))
        case (_, .double(let x), .double(let y)): if let result = apply(opcode, x, y) { return result }
        case (.add, .duration(let x), .duration(let y)), (.subtract, .duration(let x), .duration(let y)):
            return .duration(TimeSpan(nanoseconds: try whole(opcode, x.nanoseconds, y.nanoseconds, "duration")))
        case (.divide, .duration(let x), .duration(let y)):
            return .double(Double(x.nanoseconds) / Double(y.nanoseconds))
        case (.multiply, .duration(let span), let factor), (.multiply, let factor, .duration(let span)):
            if let product = try multiply(span, by: factor) { return .duration(product) }
        case (.divide, .duration(let span), let divisor):
            if let quotient = try divide(span, by: divisor) { return .duration(quotient) }
        case (_, .int(let x), .double(let y)) where mixes:
            if let result = apply(opcode, Double(x), y) { return result }
        case (_, .double(let x), .int(let y)) where mixes:
            if let result = apply(opcode, x, Double(y)) { return result }
        case (.add, .timestamp(let time), .duration(let span)), (.add, .duration(let span), .timestamp(let time)):
            guard let sum = time.advanced(by: span) else { throw Fault("timestamp overflow") }
            return .timestamp(sum)
        case (.subtract, .timestamp(let time), .duration(let span)):
            guard span.nanoseconds != .min, let result = time.advanced(by: TimeSpan(nanoseconds: -span.nanoseconds))
            else { throw Fault("timestamp overflow") }
            return .timestamp(result)
        case (.subtract, .timestamp(let x), .timestamp(let y)): return .duration(try difference(from: y, to: x))
        case (.add, .string(let x), .string(let y)):
            try meter.chargeText(x.utf8.count + y.utf8.count)
            return .string(x.joined(to: y))
        case (.add, .bytes(let x), .bytes(let y)):
            try meter.chargeText(x.count + y.count)
            return .bytes(x + y)
        case (.add, .list(let x), .list(let y)):
            try meter.chargeElements(x.count + y.count)
            return .list(x + y)
        default: break
        }
        throw .noSuchOverload(opcode.symbol, a, b)
    }

    /// A duration times an int, exactly, or times a double, to the nanosecond; nil for other values.
    static func multiply(_ span: TimeSpan, by factor: Value) throws(Fault) -> TimeSpan? {
        switch factor {
        case .int(let count):
            return TimeSpan(nanoseconds: try whole(.multiply, span.nanoseconds, count, "duration"))
        case .double(let factor): return try rounded(Double(span.nanoseconds) * factor)
        default: return nil
        }
    }

    private static func divide(_ span: TimeSpan, by divisor: Value) throws(Fault) -> TimeSpan? {
        switch divisor {
        case .int(let count): return TimeSpan(nanoseconds: try whole(.divide, span.nanoseconds, count, "duration"))
        case .double(let divisor): return try rounded(Double(span.nanoseconds) / divisor)
        default: return nil
        }
    }

    private static func rounded(_ nanoseconds: Double) throws(Fault) -> TimeSpan {
        guard let whole = Int64(exactly: nanoseconds.rounded()) else { throw Fault("duration overflow") }
        return TimeSpan(nanoseconds: whole)
    }

    /// Exact, or a fault.
    private static func whole<T: FixedWidthInteger>(_ opcode: Opcode, _ x: T, _ y: T, _ name: String) throws(Fault) -> T
    {
        let (result, overflow): (T, Bool)
        switch opcode {
        case .add: (result, overflow) = x.addingReportingOverflow(y)
        case .subtract: (result, overflow) = x.subtractingReportingOverflow(y)
        case .multiply: (result, overflow) = x.multipliedReportingOverflow(by: y)
        case .divide:
            if y == 0 { throw Fault("division by zero") }
            (result, overflow) = x.dividedReportingOverflow(by: y)
        default:
            if y == 0 { throw Fault("modulus by zero") }
            (result, overflow) = x.remainderReportingOverflow(dividingBy: y)
        }
        if overflow { throw Fault("\(name) overflow") }
        return result
    }

    static func negated(_ a: Value) throws(Fault) -> Value {
        switch a {
        case .int(let x): .int(try whole(.subtract, 0, x, "integer"))
        case .double(let x): .double(-x)
        case .duration(let x): .duration(TimeSpan(nanoseconds: try whole(.subtract, 0, x.nanoseconds, "duration")))
        default: throw .noSuchOverload("-", a)
        }
    }

    static func not(_ a: Value) throws(Fault) -> Value {
        guard case .bool(let flag) = a else { throw .noSuchOverload("!", a) }
        return .bool(!flag)
    }

    private static func compare(_ opcode: Opcode, _ a: Value, _ b: Value, _ meter: inout Meter) throws(Fault) -> Bool {
        switch (a, b) {
        case (.string(let x), .string(let y)): try meter.chargeBytes(2 * min(x.utf8.count, y.utf8.count))
        case (.bytes(let x), .bytes(let y)): try meter.chargeBytes(2 * min(x.count, y.count))
        default: break
        }
        guard let order = Equality.order(a, b) else { throw .noSuchOverload(opcode.symbol, a, b) }
        return switch opcode {
        case .less: order == .less
        case .lessOrEqual: order == .less || order == .same
        case .greater: order == .greater
        default: order == .greater || order == .same
        }
    }

    static func isElement(_ a: UnsafePointer<Value>, _ b: UnsafePointer<Value>, _ meter: inout Meter) throws(Fault)
        -> Bool
    {
        switch b.pointee {
        case .list(let elements):
            try meter.charge(elements.count)
            return try elements.array.withUnsafeBufferPointer { (elements) throws(Fault) in
                try contains(elements, a, &meter)
            }
        case .map(let map):
            try meter.chargeKey(a.pointee)
            return map.position(of: a.pointee) != nil
        case .opaque(let opaque as VectorValue):
            try meter.charge(opaque.components.count)
            var list = Value.list(opaque.components.map { .double($0) })
            return try isElement(a, &list, &meter)
        default: throw .noSuchOverload("in", a.pointee, b.pointee)
        }
    }

    private static func contains(
        _ elements: UnsafeBufferPointer<Value>, _ wanted: UnsafePointer<Value>, _ meter: inout Meter
    ) throws(Fault) -> Bool {
        guard let base = elements.baseAddress else { return false }
        for at in 0..<elements.count {
            if let same = wanted.shortText(equals: base + at) {
                if same { return true }
            } else if try Equality.areEqual(wanted.pointee, elements[at], &meter) {
                return true
            }
        }
        return false
    }
}
