import AttributeValues

extension Evaluator {
    private func operand(_ operand: Int32, _ program: Program) -> Value {
        operand < 0 ? program.constants[Int(operand)] : machine.pointee.registers[Int(operand)]
    }

    @inline(never)
    func collectList(_ operands: UnsafePointer<Int32>, _ count: Int, _ program: Program) -> [Value] {
        [Value](unsafeUninitializedCapacity: count) { buffer, initialized in
            for at in 0..<count { buffer.initializeElement(at: at, to: operand(operands[at], program)) }
            initialized = count
        }
    }

    /// Makes a map from triples of key, value, and a flag for optional entries.
    @inline(never)
    func collectMap(_ operands: UnsafePointer<Int32>, _ count: Int, _ program: Program) throws(Fault) -> ValueMap {
        try machine.pointee.meter.charge(count * Machine.stepsPerEntry)
        var map = ValueMap(minimumCapacity: count)
        for at in 0..<count {
            let key = operand(operands[3 * at], program)
            try machine.pointee.meter.chargeKey(key)
            var value = operand(operands[3 * at + 1], program)
            guard key.isKey else { throw Fault("unsupported key type: '\(key.shortTypeName)'") }
            if operands[3 * at + 2] != 0 {
                guard case .optional(let wrapped) = value else { throw .noSuchOverload("{?…}", value) }
                guard let wrapped else { continue }
                value = wrapped
            }
            if map.position(of: key) != nil { throw Fault("repeated key: \(CELText.brief(key))") }
            map[key] = value
        }
        return map
    }

    /// The result of one `transformMapEntry` step.
    @inline(never)
    func appendEntries(_ value: Value, to loop: Int) throws(Fault) {
        guard case .map(let map) = value else { throw .noSuchOverload("transformMapEntry", value) }
        try machine.pointee.meter.charge(map.count)
        for position in 0..<map.count {
            let (key, value) = map.entry(at: position)
            try machine.pointee.append(key, to: loop)
            try machine.pointee.append(value, to: loop)
        }
    }

    /// The elements of the loop's range in the order of the keys in its output; the sort is stable.
    @inline(never)
    func takeSorted(_ loop: Int) throws(Fault) -> [Value] {
        let keys = machine.pointee.takeList(loop)
        guard case .list(let elements) = machine.pointee.loops[loop].range else {
            throw .noSuchOverload("sortBy", machine.pointee.loops[loop].range)
        }
        return try Sorting.sortElements(elements.array, by: keys, &machine.pointee.meter)
    }
}
