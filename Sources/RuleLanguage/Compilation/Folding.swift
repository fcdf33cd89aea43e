import AttributeValues

/// Operations on constants, computed once when a rule is compiled. nil if they fail: then the rule fails when it runs,
/// where the fault may be absorbed.
enum Folding {
    private static func result(_ body: (inout Meter) throws(Fault) -> Value) -> Value? {
        var meter = Meter(RuleLimits.folding)
        do throws(Fault) { return try body(&meter) } catch { return nil }
    }

    static func foldUnary(_ opcode: Opcode, _ value: Value) -> Value? {
        result { (_) throws(Fault) in opcode == .not ? try Operators.not(value) : try Operators.negated(value) }
    }

    static func foldBinary(_ opcode: Opcode, _ a: Value, _ b: Value, mixes: Bool) -> Value? {
        result { (meter) throws(Fault) in try Operators.apply(opcode, a, b, mixes: mixes, &meter) }
    }

    static func index(_ a: Value, _ b: Value) -> Value? {
        result { (_) throws(Fault) in try Access.index(a, b, isOptional: false) }
    }

    static func call(_ function: Function, _ arguments: [Value]) -> Value? {
        var arguments = arguments
        return arguments.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress ?? emptyArguments() else { return nil }
            let operands = (0..<Int32(buffer.count)).map { $0 }
            return operands.withUnsafeBufferPointer { operands in
                let view = Arguments(
                    registers: base, constants: base, operands: operands.baseAddress, count: operands.count)
                return result { (meter) throws(Fault) in try function.call(view, &meter) }
            }
        }
    }

    /// Represents the arguments of a call without any. It is never read.
    private static func emptyArguments() -> UnsafeMutablePointer<Value>? {
        UnsafeMutablePointer(bitPattern: MemoryLayout<Value>.alignment)
    }

    /// A map literal of constants without optional entries.
    static func map(_ triples: [Int32], _ constants: [Value]) -> Value? {
        var map = ValueMap(minimumCapacity: triples.count / 3)
        for at in stride(from: 0, to: triples.count, by: 3) {
            guard triples[at] < 0, triples[at + 1] < 0, triples[at + 2] == 0 else { return nil }
            let key = constants[Int(~triples[at])]
            guard key.isKey, map.position(of: key) == nil else { return nil }
            map[key] = constants[Int(~triples[at + 1])]
        }
        return .map(map)
    }
}
