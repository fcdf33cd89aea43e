import AttributeValues

extension Evaluator {
    /// The position at which evaluation continues after a fault at an instruction: after the operand of the innermost
    /// `&&`, `||`, `all` or `exists` around it. From the code of a lazy value, the search goes on at the position that
    /// uses the value. nil if nothing absorbs the fault; then the result is the failure.
    func unwind(_ fault: Fault, from position: Int, _ program: Program) -> Int? {
        var fault = fault
        if fault.instruction < 0 { fault.instruction = Int32(position) }
        machine.pointee.meter.remaining -= Evaluator.faultCost + program.form.parts.regions.count / 8
        if fault.kind == .limit || machine.pointee.meter.remaining < 0 {
            if fault.kind != .limit {
                fault = Fault(limit: "the rule costs more than \(program.budget) steps")
                fault.instruction = Int32(position)
            }
            machine.pointee.finish(
                program, .failure(program.makeFailure(.limit, fault.message, at: Int(fault.instruction))))
            return nil
        }
        if machine.pointee.trace != nil {
            recordContent(Int(program.form.parts.nodes[position]), .failure(failure(fault, program)))
        }
        var position = Int32(position)
        while let region = program.form.parts.regions.first(where: { $0.start <= position && position < $0.end }) {
            if region.lazy >= 0 {
                let lazy = Int(region.lazy)
                machine.pointee.lazyFaults[lazy] = fault
                machine.pointee.lazies[lazy].state = .failed
                position = Int32(machine.pointee.lazies[lazy].returnPosition - 1)
                continue
            }
            let number = Int(region.fault)
            if !machine.pointee.hasFault[number] {
                machine.pointee.hasFault[number] = true
                machine.pointee.faults[number] = fault
            }
            if region.output >= 0 {
                let loop = machine.pointee.loops[Int(region.output)]
                machine.pointee.truncateOutput(to: loop.outputStart + loop.outputCount)
            } else {
                machine.pointee.truncateOutput(
                    to: region.owner >= 0 ? machine.pointee.lazies[Int(region.owner)].outputStart : 0)
            }
            return Int(region.resume)
        }
        machine.pointee.finish(program, .failure(failure(fault, program)))
        return nil
    }

    /// Steps for making and absorbing a fault.
    private static let faultCost = 20

    private func failure(_ fault: Fault, _ program: Program) -> Failure {
        // Finding its line and column scans the text.
        machine.pointee.meter.remaining -= program.text.utf8.count / 32
        guard let failure = fault.failure else {
            return program.makeFailure(.ruleFailed, fault.message, hint: fault.hint, at: Int(fault.instruction))
        }
        // A failure without another origin comes from this rule.
        guard failure.path == nil, failure.rule == nil else { return failure }
        return program.makeFailure(failure.code, failure.message, at: Int(fault.instruction))
    }

    /// Limits a rule's result: the number of its values, and their depth.
    func measure(_ value: Value) throws(Fault) {
        switch value {
        case .list, .map, .optional: break
        default: return
        }
        var count = 0
        try measure(value, depth: 0, &count)
        try machine.pointee.meter.charge(count / 4)
    }

    private func measure(_ value: Value, depth: Int, _ count: inout Int) throws(Fault) {
        count += 1
        let limits = machine.pointee.meter.limits
        if count > limits.resultSize { throw Fault(limit: "a result of more than \(limits.resultSize) values") }
        if depth > limits.resultDepth { throw Fault(limit: "a result nested deeper than \(limits.resultDepth) levels") }
        switch value {
        case .list(let elements): for element in elements { try measure(element, depth: depth + 1, &count) }
        case .map(let map):
            for position in 0..<map.count { try measure(map.entry(at: position).value, depth: depth + 1, &count) }
        case .optional(let wrapped?): try measure(wrapped, depth: depth + 1, &count)
        default: break
        }
    }

    func recordContent(_ node: Int, _ content: Content) {
        let times = machine.pointee.trace?[node]?.times ?? 0
        machine.pointee.trace?[node] = (content, times + 1)
    }
}
