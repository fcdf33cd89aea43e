import AttributeValues

extension Evaluator {
    /// Runs until it needs an input or has the result. Returns the input's number, or one of the requests below zero.
    @usableFromInline @inline(never)
    func run(_ program: Program, from start: Int) -> Int {
        let machine = machine
        let code = program.instructions
        let constants = program.constants
        let registers = machine.pointee.registers
        var next = code + start

        @inline(__always) func at(_ operand: Int32) -> UnsafeMutablePointer<Value> {
            (operand >= 0 ? registers : constants) + Int(operand)
        }
        @inline(__always) func set(_ register: Int32, _ value: consuming Value) {
            machine.pointee.set(registers + Int(register), to: value)
        }
        @inline(__always) func set(_ register: Int32, copying source: UnsafePointer<Value>) {
            machine.pointee.set(registers + Int(register), copying: source)
        }
        @inline(__always) func ints(_ i: Instruction) -> (Int64, Int64)? {
            if case .int(let x) = at(i.b).pointee, case .int(let y) = at(i.c).pointee { (x, y) } else { nil }
        }
        /// Stores the result of an operation. Returns true if it is the rule's result, which ends the evaluation.
        @inline(__always) func give(_ i: Instruction, _ value: Value) -> Bool {
            if i.flag { machine.pointee.finish(program, .value(value)) } else { set(i.a, value) }
            return i.flag
        }
        /// Stores the result of an `&&` or `||`. Returns true if it ends the rule.
        @inline(__always) func decide(_ step: Instruction, _ holds: Bool) -> Bool {
            next = code + Int(step.c)
            if next.pointee.opcode == .end, next.pointee.b == step.a {
                machine.pointee.finish(program, .value(.bool(holds)))
                return true
            }
            set(step.a, .bool(holds))
            return false
        }
        /// As `give`, for a comparison. The next instruction is usually a step of `&&` or `||` on this result; then it
        /// is done at once.
        @inline(__always) func conclude(_ i: Instruction, _ holds: Bool) -> Bool {
            let step = next.pointee
            guard step.opcode == .logicStep, step.b == i.a else { return give(i, .bool(holds)) }
            next += 1
            return holds == step.flag && decide(step, holds)
        }
        /// Ints and durations as numbers that can be compared.
        @inline(__always) func ordered(_ i: Instruction) -> (Int64, Int64)? {
            if let pair = ints(i) { return pair }
            if case .duration(let x) = at(i.b).pointee, case .duration(let y) = at(i.c).pointee {
                return (x.nanoseconds, y.nanoseconds)
            }
            return nil
        }
        /// Operations without a fast path in the loop.
        @inline(__always) func operate(_ i: Instruction) throws(Fault) {
            set(i.a, try Operators.apply(i.opcode, at(i.b), at(i.c), mixes: i.mixes, &machine.pointee.meter))
        }

        while true {
            do throws(Fault) {
                while true {
                    let i = next.pointee
                    next += 1
                    switch i.opcode {
                    case .load:
                        if machine.pointee.isLoaded[Int(i.a)] { continue }
                        machine.pointee.position = next - code
                        return Int(i.a)
                    case .loadDynamic:
                        machine.pointee.position = next - code
                        machine.pointee.target = Int(i.a)
                        return try requestDynamic(Int(i.b), program)
                    case .move: set(i.a, copying: at(i.b))
                    case .jump: next = code + Int(i.c)
                    case .jumpUnless:
                        guard case .bool(let flag) = at(i.b).pointee else { throw .noSuchOverload("?:", at(i.b)) }
                        if !flag { next = code + Int(i.c) }

                    case .add:
                        guard let (x, y) = ints(i) else {
                            try operate(i)
                            continue
                        }
                        let (sum, overflow) = x.addingReportingOverflow(y)
                        if overflow { throw .integerOverflow }
                        if give(i, .int(sum)) { return Evaluator.finished }
                    case .subtract:
                        guard let (x, y) = ints(i) else {
                            if case .timestamp(let end) = at(i.b).pointee, case .timestamp(let start) = at(i.c).pointee
                            {
                                set(i.a, .duration(try Operators.difference(from: start, to: end)))
                            } else {
                                try operate(i)
                            }
                            continue
                        }
                        let (difference, overflow) = x.subtractingReportingOverflow(y)
                        if overflow { throw .integerOverflow }
                        if give(i, .int(difference)) { return Evaluator.finished }
                    case .multiply:
                        guard let (x, y) = ints(i) else {
                            try operate(i)
                            continue
                        }
                        let (product, overflow) = x.multipliedReportingOverflow(by: y)
                        if overflow { throw .integerOverflow }
                        if give(i, .int(product)) { return Evaluator.finished }
                    case .modulo:
                        guard let (x, y) = ints(i), y != 0, y != -1 else {
                            try operate(i)
                            continue
                        }
                        if give(i, .int(x % y)) { return Evaluator.finished }
                    case .divide, .notEqual: try operate(i)
                    case .isIn: set(i.a, .bool(try Operators.isElement(at(i.b), at(i.c), &machine.pointee.meter)))

                    case .equal:
                        if let (x, y) = ints(i) {
                            if conclude(i, x == y) { return Evaluator.finished }
                        } else if let same = UnsafePointer(at(i.b)).shortText(equals: at(i.c)) {
                            if conclude(i, same) { return Evaluator.finished }
                        } else {
                            try operate(i)
                        }
                    case .less:
                        guard let (x, y) = ordered(i) else {
                            try operate(i)
                            continue
                        }
                        if conclude(i, x < y) { return Evaluator.finished }
                    case .lessOrEqual:
                        guard let (x, y) = ordered(i) else {
                            try operate(i)
                            continue
                        }
                        if conclude(i, x <= y) { return Evaluator.finished }
                    case .greater:
                        guard let (x, y) = ordered(i) else {
                            try operate(i)
                            continue
                        }
                        if conclude(i, x > y) { return Evaluator.finished }
                    case .greaterOrEqual:
                        guard let (x, y) = ordered(i) else {
                            try operate(i)
                            continue
                        }
                        if conclude(i, x >= y) { return Evaluator.finished }
                    case .negate: set(i.a, try Operators.negated(at(i.b).pointee))
                    case .not:
                        guard case .bool(let flag) = at(i.b).pointee else { throw .noSuchOverload("!", at(i.b)) }
                        set(i.a, .bool(!flag))

                    case .index:
                        try chargeKey(at(i.c))
                        if !i.flag, let element = UnsafePointer(at(i.b)).element(of: at(i.c)) {
                            set(i.a, copying: element)
                            continue
                        }
                        set(i.a, try Access.index(at(i.b).pointee, at(i.c).pointee, isOptional: i.flag))
                    case .select:
                        try chargeKey(at(i.c))
                        if !i.flag, let element = UnsafePointer(at(i.b)).element(of: at(i.c)) {
                            set(i.a, copying: element)
                            continue
                        }
                        guard case .string(let name) = at(i.c).pointee else { throw .noSuchOverload }
                        set(i.a, try Access.select(at(i.b).pointee, name, isOptional: i.flag))
                    case .presence:
                        try chargeKey(at(i.c))
                        guard case .string(let name) = at(i.c).pointee else { throw .noSuchOverload }
                        set(i.a, .bool(try Access.isPresent(at(i.b).pointee, name)))
                    case .makeList:
                        try machine.pointee.meter.charge(Int(i.c))
                        set(i.a, .list(collectList(program.operands + Int(i.b), Int(i.c), program)))
                    case .makeMap: set(i.a, .map(try collectMap(program.operands + Int(i.b), Int(i.c), program)))
                    case .call:
                        let call = program.calls + Int(i.b)
                        let arguments = Arguments(
                            registers: registers, constants: constants,
                            operands: program.operands + Int(call.pointee.start), count: Int(call.pointee.count))
                        set(i.a, try call.pointee.function.call(arguments, &machine.pointee.meter))
                    case .concatenate:
                        let parts = Arguments(
                            registers: registers, constants: constants, operands: program.operands + Int(i.b),
                            count: Int(i.c))
                        set(i.a, try Concatenation.join(parts, &machine.pointee.meter))
                    case .text: set(i.a, try Conversions.text(at(i.b), &machine.pointee.meter))
                    case .matches:
                        set(i.a, .bool(try program.matches(at(i.b), pattern: Int(i.c), &machine.pointee.meter)))

                    case .timePart:
                        guard let part = TimePart(rawValue: i.c) else { throw .noSuchOverload }
                        set(i.a, .int(try TimeLibrary.readPart(part, of: at(i.b))))
                    case .startsWith, .endsWith, .contains:
                        if i.opcode == .startsWith, let holds = UnsafePointer(at(i.b)).shortText(startsWith: at(i.c)) {
                            set(i.a, .bool(holds))
                            continue
                        }
                        guard case .string(let text) = at(i.b).pointee, case .string(let part) = at(i.c).pointee else {
                            throw .noSuchOverload("\(i.opcode)", at(i.b), at(i.c))
                        }
                        try machine.pointee.meter.chargeBytes(i.opcode == .contains ? text.utf8.count : part.utf8.count)
                        set(i.a, .bool(StringLibrary.search(i.opcode, text, part)))

                    case .beginLogic: machine.pointee.hasFault[Int(i.a)] = false
                    case .logicStep:
                        guard case .bool(let flag) = at(i.b).pointee else {
                            throw .noSuchOverload(i.flag ? "||" : "&&", at(i.b))
                        }
                        if flag == i.flag, decide(i, flag) { return Evaluator.finished }
                    case .lastLogicStep:
                        guard case .bool(let flag) = at(i.b).pointee else {
                            throw .noSuchOverload(i.flag ? "||" : "&&", at(i.b))
                        }
                        // Undecided after a fault: continue to the end of the chain, which throws it.
                        if flag != i.flag, machine.pointee.hasFault[Int(next.pointee.b)] { continue }
                        if decide(i, flag) { return Evaluator.finished }
                    case .endLogic:
                        if machine.pointee.hasFault[Int(i.b)], let fault = machine.pointee.faults[Int(i.b)] {
                            throw fault
                        }
                        set(i.a, .bool(!i.flag))

                    case .absorb: try absorb(Int(i.a))

                    case .iterate: try machine.pointee.open(Int(i.a), over: at(i.b).pointee, wantsValues: i.flag)
                    case .next:
                        let loop = machine.pointee.loops + Int(i.a)
                        let index = loop.pointee.index
                        if index == loop.pointee.count { continue }
                        try machine.pointee.meter.charge(next - code - Int(i.c))
                        loop.pointee.index = index + 1
                        if let values = loop.pointee.values {
                            advance(loop, index, values, registers + Int(i.b), i.flag)
                        }
                        next = code + Int(i.c)
                    case .count:
                        guard case .bool(let flag) = at(i.b).pointee, case .int(let count) = registers[Int(i.a)] else {
                            throw .noSuchOverload("exists_one", at(i.b))
                        }
                        if flag { set(i.a, .int(count + 1)) }
                    case .accumulate: try accumulate(at(i.b), in: registers + Int(i.c), Int(i.a))
                    case .filter:
                        guard case .bool(let flag) = at(i.b).pointee else { throw .noSuchOverload("filter", at(i.b)) }
                        if flag { try machine.pointee.append(at(i.c).pointee, to: Int(i.a)) }
                    case .append:
                        if !i.flag {
                            try machine.pointee.append(at(i.b).pointee, to: Int(i.a))
                        } else {
                            guard case .optional(let wrapped) = at(i.b).pointee else {
                                throw .noSuchOverload("[?…]", at(i.b))
                            }
                            if let wrapped { try machine.pointee.append(wrapped, to: Int(i.a)) }
                        }
                    case .appendEntry:
                        try machine.pointee.append(at(i.b).pointee, to: Int(i.a))
                        try machine.pointee.append(at(i.c).pointee, to: Int(i.a))
                    case .appendMap: try appendEntries(at(i.b).pointee, to: Int(i.a))
                    case .beginOutput: machine.pointee.openOutput(Int(i.a))
                    case .finishList: set(i.a, .list(machine.pointee.takeList(Int(i.b))))
                    case .finishMap: set(i.a, .map(try machine.pointee.takeMap(Int(i.b))))
                    case .finishSort: set(i.a, .list(try takeSorted(Int(i.b))))

                    case .beginLazy: machine.pointee.lazies[Int(i.a)].state = .unknown
                    case .force:
                        switch machine.pointee.lazies[Int(i.a)].state {
                        case .known: break
                        case .failed: if let fault = machine.pointee.lazyFaults[Int(i.a)] { throw fault }
                        case .unknown, .running:
                            machine.pointee.lazies[Int(i.a)].state = .running
                            machine.pointee.lazies[Int(i.a)].returnPosition = next - code
                            machine.pointee.lazies[Int(i.a)].outputStart = machine.pointee.outputCount
                            next = code + program.form.lazyStarts[Int(i.a)]
                        }
                    case .endLazy:
                        machine.pointee.lazies[Int(i.a)].state = .known
                        next = code + machine.pointee.lazies[Int(i.a)].returnPosition

                    case .branchIfPresent:
                        guard case .optional(let wrapped) = at(i.b).pointee else { throw .notOptional(at(i.b)) }
                        if let wrapped {
                            let value = at(i.b).pointee
                            set(i.a, i.flag ? wrapped : value)
                            next = code + Int(i.c)
                        }
                    case .requireOptional:
                        guard case .optional = at(i.b).pointee else { throw .notOptional(at(i.b)) }
                        if i.a != i.b { set(i.a, at(i.b).pointee) }
                    case .wrapOptional: set(i.a, .optional(at(i.b).pointee))
                    case .branchIfAbsent:
                        if case .bool(true) = at(i.b).pointee { continue }
                        set(i.a, .optional(nil))
                        next = code + Int(i.c)
                    case .fail: throw program.fault(Int(i.a))
                    case .record: recordContent(Int(i.a), .value(at(i.b).pointee))
                    case .end:
                        if program.makesContainers { try measure(at(i.b).pointee) }
                        machine.pointee.finish(program, i.b)
                        return Evaluator.finished
                    }
                }
            } catch {
                guard let position = unwind(error, from: next - code - 1, program) else { return Evaluator.finished }
                next = code + position
            }
        }
    }

    @inline(__always)
    private func advance(
        _ loop: UnsafeMutablePointer<Machine.Loop>, _ index: Int, _ values: UnsafePointer<Value>,
        _ variable: UnsafeMutablePointer<Value>, _ hasTwo: Bool
    ) {
        if !hasTwo {
            machine.pointee.set(variable, copying: values + index)
        } else {
            machine.pointee.set(variable, to: loop.pointee.keys.map { $0[index] } ?? .int(Int64(index)))
            machine.pointee.set(variable + 1, copying: values + index)
        }
    }

    /// Throws the fault stored under a number if it is not one that `orElse` absorbs.
    @inline(never)
    private func absorb(_ number: Int) throws(Fault) {
        guard let fault = machine.pointee.faults[number] else { return }
        if fault.failure?.code == .limit || fault.failure?.code == .cycle { throw fault }
    }

    /// Replaces an accumulator. One step can only nest it as deep as the rule is, so it is not measured in each.
    @inline(never)
    private func accumulate(
        _ value: UnsafeMutablePointer<Value>, in accumulator: UnsafeMutablePointer<Value>, _ loop: Int
    ) throws(Fault) {
        if machine.pointee.loops[loop].index % Evaluator.stepsBetweenMeasures == 0 { try measure(value.pointee) }
        machine.pointee.set(accumulator, copying: value)
    }

    private static var stepsBetweenMeasures: Int { 16 }

    /// Charges for looking up a key that may be long.
    @inline(__always)
    private func chargeKey(_ key: UnsafePointer<Value>) throws(Fault) {
        if case .string = key.pointee, key.shortText == nil { try chargeLongKey(key) }
    }

    // A function of its own, so that the loop stays short.
    @inline(never)
    private func chargeLongKey(_ key: UnsafePointer<Value>) throws(Fault) {
        try machine.pointee.meter.chargeKey(key.pointee)
    }

    /// Steps for finding a place inside a value of the graph.
    private static var dynamicRead: Int { 20 }

    @inline(never)
    private func requestDynamic(_ number: Int, _ program: Program) throws(Fault) -> Int {
        let path = program.form.parts.dynamicPaths[number]
        var steps: [AttributePath.Step] = []
        try machine.pointee.meter.charge(Evaluator.dynamicRead * (1 + path.steps.count))
        for step in path.steps {
            switch step {
            case .fixed(let step):
                if case .key(let name) = step { try machine.pointee.meter.chargeBytes(name.utf8.count) }
                steps.append(step)
            case .operand(let operand):
                switch operand >= 0 ? machine.pointee.registers[Int(operand)] : program.constants[Int(operand)] {
                case .string(let key):
                    try machine.pointee.meter.chargeBytes(key.utf8.count)
                    steps.append(.key(key))
                case .int(let index): steps.append(.index(Int(index)))
                case let key: throw .noSuchOverload("[]", .null, key)
                }
            }
        }
        machine.pointee.requestedSteps = steps
        return Evaluator.dynamic - Int(path.input)
    }
}
