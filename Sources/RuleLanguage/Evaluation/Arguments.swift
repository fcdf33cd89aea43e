import AttributeValues

/// The arguments of a call, in registers and constants. Valid during the call.
struct Arguments {
    let registers: UnsafeMutablePointer<Value>
    /// The end of the constants, as in `Program`.
    let constants: UnsafeMutablePointer<Value>
    let operands: UnsafePointer<Int32>?
    let count: Int

    @inline(__always)
    func pointer(_ number: Int) -> UnsafePointer<Value> {
        guard let operands, number < count else {
            preconditionFailure("a call has \(count) arguments, not \(number + 1)")
        }
        let operand = operands[number]
        return UnsafePointer((operand >= 0 ? registers : constants) + Int(operand))
    }

    subscript(number: Int) -> Value { @inline(__always) unsafeAddress { pointer(number) } }

    func text(_ number: Int) -> String? {
        if number < count, case .string(let text) = self[number] { text } else { nil }
    }

    func int(_ number: Int) -> Int64? {
        if number < count, case .int(let value) = self[number] { value } else { nil }
    }

    func elements(_ number: Int) -> ValueList? {
        if number < count, case .list(let elements) = self[number] { elements } else { nil }
    }

    /// The fault of a call whose arguments fit no overload.
    func noSuchOverload(_ name: String) -> Fault {
        let types = (0..<count).map { self[$0].shortTypeName }.joined(separator: ", ")
        return Fault("no such overload: '\(name)' applied to '(\(types))'")
    }
}
