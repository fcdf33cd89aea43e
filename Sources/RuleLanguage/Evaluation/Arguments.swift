import AttributeValues

/// A call's arguments where they lie, in registers and constants; good for the length of the call.
struct Arguments {
    let registers: UnsafeMutablePointer<Value>
    /// Behind the constants, as in `Program`.
    let constants: UnsafeMutablePointer<Value>
    let operands: UnsafePointer<Int32>?
    let count: Int

    @inline(__always)
    func pointer(_ number: Int) -> UnsafePointer<Value> {
        guard let operands, number < count else { preconditionFailure("a call has \(count) arguments, not \(number + 1)") }
        let operand = operands[number]
        return UnsafePointer((operand >= 0 ? registers : constants) + Int(operand))
    }

    subscript(number: Int) -> Value {
        @inline(__always) unsafeAddress { pointer(number) }
    }

    func string(_ number: Int) -> String? {
        if number < count, case .string(let text) = self[number] { text } else { nil }
    }

    func int(_ number: Int) -> Int64? {
        if number < count, case .int(let value) = self[number] { value } else { nil }
    }

    func list(_ number: Int) -> [Value]? {
        if number < count, case .list(let elements) = self[number] { elements } else { nil }
    }

    /// The fault of a call with arguments that no overload takes.
    func noSuchOverload(_ name: String) -> Fault {
        let types = (0..<count).map { self[$0].shortTypeName }.joined(separator: ", ")
        return Fault("no such overload: '\(name)' applied to '(\(types))'")
    }
}
