import AttributeValues

extension Evaluator {
    /// Runs until an input is needed or the result is there: an input's number, or one of the requests below zero.
    @usableFromInline
    func resume(_ program: Program) -> Int {
        let machine = machine
        let code = program.instructions
        let constants = program.constants
        let registers = machine.pointee.registers
        var position = machine.pointee.position

        @inline(__always) func at(_ operand: Int32) -> UnsafeMutablePointer<Value> {
            operand >= 0 ? registers + Int(operand) : constants + Int(~operand)
        }

        /// What holds no reference needs no release.
        @inline(__always) func set(_ register: Int32, _ value: Value) {
            let place = registers + Int(register)
            if place.holdsNothing { place.initialize(to: value) } else { place.pointee = value }
        }

        while true {
            do throws(Fault) {
                while true {
                    let i = code[position]
                    position += 1
                    switch i.opcode {
                    case .load:
                        if machine.pointee.isLoaded[Int(i.a)] { continue }
                        machine.pointee.position = position
                        machine.pointee.target = Int(i.a)
                        machine.pointee.requestedInput = Int(i.a)
                        return Int(i.a)
                    case .loadDynamic:
                        machine.pointee.position = position
                        machine.pointee.target = Int(i.a)
                        machine.pointee.requestedInput = -1
                        return try requestDynamic(program.dynamicPaths[Int(i.b)], program)
                    case .move: set(i.a, at(i.b).pointee)
                    case .jump: position = Int(i.c)
                    case .jumpUnless:
                        guard case .bool(let flag) = at(i.b).pointee else {
                            throw .noSuchOverload("?:", at(i.b).pointee)
                        }
                        if !flag { position = Int(i.c) }

                    case .add:
                        if case .int(let x) = at(i.b).pointee, case .int(let y) = at(i.c).pointee {
                            let (sum, overflow) = x.addingReportingOverflow(y)
                            if overflow { throw Fault("integer overflow") }
                            set(i.a, .int(sum))
                        } else {
                            set(i.a, try Operators.add(at(i.b).pointee, at(i.c).pointee, &machine.pointee.meter))
                        }
                    case .subtract:
                        if case .int(let x) = at(i.b).pointee, case .int(let y) = at(i.c).pointee {
                            let (difference, overflow) = x.subtractingReportingOverflow(y)
                            if overflow { throw Fault("integer overflow") }
                            set(i.a, .int(difference))
                        } else {
                            set(i.a, try Operators.subtract(at(i.b).pointee, at(i.c).pointee))
                        }
                    case .multiply:
                        if case .int(let x) = at(i.b).pointee, case .int(let y) = at(i.c).pointee {
                            let (product, overflow) = x.multipliedReportingOverflow(by: y)
                            if overflow { throw Fault("integer overflow") }
                            set(i.a, .int(product))
                        } else {
                            set(i.a, try Operators.multiply(at(i.b).pointee, at(i.c).pointee))
                        }
                    case .divide: set(i.a, try Operators.divide(at(i.b).pointee, at(i.c).pointee))
                    case .modulo: set(i.a, try Operators.modulo(at(i.b).pointee, at(i.c).pointee))

                    case .equal:
                        if case .int(let x) = at(i.b).pointee, case .int(let y) = at(i.c).pointee {
                            set(i.a, .bool(x == y))
                        } else if let same = UnsafePointer(at(i.b)).shortText(equals: at(i.c)) {
                            set(i.a, .bool(same))
                        } else {
                            set(i.a, .bool(try Operators.equal(at(i.b).pointee, at(i.c).pointee, &machine.pointee.meter)))
                        }
                    case .notEqual:
                        set(i.a, .bool(try !Operators.equal(at(i.b).pointee, at(i.c).pointee, &machine.pointee.meter)))
                    case .less, .lessOrEqual, .greater, .greaterOrEqual:
                        if case .int(let x) = at(i.b).pointee, case .int(let y) = at(i.c).pointee {
                            let holds =
                                switch i.opcode {
                                case .less: x < y
                                case .lessOrEqual: x <= y
                                case .greater: x > y
                                default: x >= y
                                }
                            set(i.a, .bool(holds))
                        } else {
                            set(i.a, .bool(try Operators.compare(i.opcode, at(i.b).pointee, at(i.c).pointee, &machine.pointee.meter)))
                        }
                    case .isIn:
                        set(i.a, .bool(try Operators.isIn(at(i.b), at(i.c).pointee, &machine.pointee.meter)))
                    case .negate: registers[Int(i.a)] = try Operators.negate(at(i.b).pointee)
                    case .not:
                        guard case .bool(let flag) = at(i.b).pointee else { throw .noSuchOverload("!", at(i.b).pointee) }
                        set(i.a, .bool(!flag))

                    case .index:
                        if !i.flag, let element = UnsafePointer(at(i.b)).element(of: at(i.c)) {
                            set(i.a, element.pointee)
                            continue
                        }
                        registers[Int(i.a)] = try Access.index(at(i.b).pointee, at(i.c).pointee, isOptional: i.flag)
                    case .select:
                        if !i.flag, let element = UnsafePointer(at(i.b)).element(of: at(i.c)) {
                            set(i.a, element.pointee)
                            continue
                        }
                        guard case .string(let name) = at(i.c).pointee else { throw .noSuchOverload }
                        if case .opaque(let object) = at(i.b).pointee, !i.flag {
                            machine.pointee.position = position
                            machine.pointee.target = Int(i.a)
                            machine.pointee.requestedInput = -1
                            machine.pointee.requestedProperty = (object, name)
                            return Evaluator.property
                        }
                        registers[Int(i.a)] = try Access.select(at(i.b).pointee, name, isOptional: i.flag)
                    case .presence:
                        guard case .string(let name) = at(i.c).pointee else { throw .noSuchOverload }
                        set(i.a, .bool(try Access.isPresent(at(i.b).pointee, name)))
                    case .makeList: registers[Int(i.a)] = .list(makeList(program.operands + Int(i.b), Int(i.c), program))
                    case .makeMap: registers[Int(i.a)] = .map(try makeMap(program.operands + Int(i.b), Int(i.c), program))
                    case .call:
                        let call = program.calls + Int(i.b)
                        let arguments = Arguments(
                            registers: registers, constants: constants, operands: program.operands + Int(call.pointee.start),
                            count: Int(call.pointee.count))
                        set(i.a, try call.pointee.function.call(arguments, isMember: call.pointee.isMember, &machine.pointee.meter))
                    case .matches:
                        guard case .string(let text) = at(i.b).pointee else {
                            throw .noSuchOverload("matches", at(i.b).pointee)
                        }
                        if text.utf8.count > 100 { try machine.pointee.meter.charge(text.utf8.count / 10) }
                        set(i.a, .bool(program.patterns[Int(i.c)].matches(text)))

                    case .startsWith, .endsWith, .contains:
                        if i.opcode == .startsWith, let holds = UnsafePointer(at(i.b)).shortText(startsWith: at(i.c)) {
                            set(i.a, .bool(holds))
                            continue
                        }
                        guard case .string(let text) = at(i.b).pointee, case .string(let part) = at(i.c).pointee else {
                            throw .noSuchOverload("\(i.opcode)", at(i.b).pointee, at(i.c).pointee)
                        }
                        if text.utf8.count > 64 { try machine.pointee.meter.charge(text.utf8.count / 10) }
                        set(i.a, .bool(StringLibrary.search(i.opcode, text, part)))

                    case .beginLogic: machine.pointee.hasFault[Int(i.a)] = false
                    case .logicStep:
                        guard case .bool(let flag) = at(i.b).pointee else {
                            throw .noSuchOverload(i.flag ? "||" : "&&", at(i.b).pointee)
                        }
                        if flag == i.flag {
                            set(i.a, .bool(flag))
                            position = Int(i.c)
                        }
                    case .lastLogicStep:
                        guard case .bool(let flag) = at(i.b).pointee else {
                            throw .noSuchOverload(i.flag ? "||" : "&&", at(i.b).pointee)
                        }
                        // Undecided behind a fault: to the end of the chain, which throws it.
                        if flag != i.flag, machine.pointee.hasFault[Int(code[position].b)] { continue }
                        set(i.a, .bool(flag))
                        position = Int(i.c)
                    case .endLogic:
                        if machine.pointee.hasFault[Int(i.b)], let fault = machine.pointee.faults[Int(i.b)] { throw fault }
                        set(i.a, .bool(!i.flag))

                    case .iterate: try machine.pointee.open(Int(i.a), over: at(i.b).pointee, wantsValues: i.flag)
                    case .next:
                        let loop = machine.pointee.loops + Int(i.a)
                        let index = loop.pointee.index
                        if index == loop.pointee.count { continue }
                        try machine.pointee.meter.charge(position - Int(i.c))
                        loop.pointee.index = index + 1
                        if let values = loop.pointee.values { advance(loop, index, values, registers + Int(i.b), i.flag) }
                        position = Int(i.c)
                    case .count:
                        guard case .bool(let flag) = at(i.b).pointee, case .int(let count) = registers[Int(i.a)] else {
                            throw .noSuchOverload("exists_one", at(i.b).pointee)
                        }
                        if flag { registers[Int(i.a)] = .int(count + 1) }
                    case .filter:
                        guard case .bool(let flag) = at(i.b).pointee else {
                            throw .noSuchOverload("filter", at(i.b).pointee)
                        }
                        if flag { try machine.pointee.append(at(i.c).pointee, to: Int(i.a)) }
                    case .append:
                        if !i.flag {
                            try machine.pointee.append(at(i.b).pointee, to: Int(i.a))
                        } else {
                            guard case .optional(let wrapped) = at(i.b).pointee else {
                                throw .noSuchOverload("[?…]", at(i.b).pointee)
                            }
                            if let wrapped { try machine.pointee.append(wrapped, to: Int(i.a)) }
                        }
                    case .appendEntry:
                        try machine.pointee.append(at(i.b).pointee, to: Int(i.a))
                        try machine.pointee.append(at(i.c).pointee, to: Int(i.a))
                    case .appendMap: try appendMap(at(i.b).pointee, to: Int(i.a))
                    case .beginOutput: machine.pointee.openOutput(Int(i.a))
                    case .finishList: registers[Int(i.a)] = .list(machine.pointee.takeList(Int(i.b)))
                    case .finishMap: registers[Int(i.a)] = .map(try machine.pointee.takeMap(Int(i.b)))
                    case .finishSort: registers[Int(i.a)] = .list(try takeSorted(Int(i.b)))

                    case .beginLazy: machine.pointee.lazies[Int(i.a)].state = .unknown
                    case .force:
                        switch machine.pointee.lazies[Int(i.a)].state {
                        case .known: break
                        case .failed: if let fault = machine.pointee.lazyFaults[Int(i.a)] { throw fault }
                        case .unknown, .running:
                            machine.pointee.lazies[Int(i.a)].state = .running
                            machine.pointee.lazies[Int(i.a)].returnPosition = position
                            machine.pointee.lazies[Int(i.a)].outputStart = machine.pointee.outputCount
                            position = lazyStart(Int(i.a), program)
                        }
                    case .endLazy:
                        machine.pointee.lazies[Int(i.a)].state = .known
                        position = machine.pointee.lazies[Int(i.a)].returnPosition

                    case .branchIfPresent:
                        guard case .optional(let wrapped) = at(i.b).pointee else {
                            throw Fault("no such overload: '\(CELText.shortTypeName(at(i.b).pointee))' is not optional")
                        }
                        if let wrapped {
                            let value = at(i.b).pointee
                            registers[Int(i.a)] = i.flag ? wrapped : value
                            position = Int(i.c)
                        }
                    case .requireOptional:
                        guard case .optional = at(i.b).pointee else {
                            throw Fault("no such overload: '\(CELText.shortTypeName(at(i.b).pointee))' is not optional")
                        }
                        if i.a != i.b { registers[Int(i.a)] = at(i.b).pointee }
                    case .wrapOptional: registers[Int(i.a)] = .optional(at(i.b).pointee)
                    case .branchIfAbsent:
                        if case .bool(true) = at(i.b).pointee { continue }
                        registers[Int(i.a)] = .optional(nil)
                        position = Int(i.c)
                    case .fail: throw Fault(program.messages[Int(i.a)])
                    case .record: record(Int(i.a), .value(at(i.b).pointee))
                    case .end:
                        machine.pointee.result = .value(at(i.b).pointee)
                        if program.makesContainers { try measure(at(i.b).pointee) }
                        return Evaluator.finished
                    }
                }
            } catch {
                guard let next = unwind(error, from: position - 1, program) else { return Evaluator.finished }
                position = next
            }
        }
    }

    @inline(__always)
    private func advance(
        _ loop: UnsafeMutablePointer<Machine.Loop>, _ index: Int, _ values: UnsafePointer<Value>,
        _ variable: UnsafeMutablePointer<Value>, _ hasTwo: Bool
    ) {
        if !hasTwo {
            variable.pointee = values[index]
        } else {
            variable.pointee = loop.pointee.keys.map { $0[index] } ?? .int(Int64(index))
            variable[1] = values[index]
        }
    }

    private func requestDynamic(_ path: DynamicPath, _ program: Program) throws(Fault) -> Int {
        var steps: [AttributePath.Step] = []
        for step in path.steps {
            switch step {
            case .fixed(let step): steps.append(step)
            case .operand(let operand):
                switch operand >= 0 ? machine.pointee.registers[Int(operand)] : program.constants[Int(~operand)] {
                case .string(let key): steps.append(.key(key))
                case .int(let index): steps.append(.index(Int(index)))
                case let key: throw .noSuchOverload("[]", .null, key)
                }
            }
        }
        machine.pointee.requestedSteps = steps
        return Evaluator.dynamic - Int(path.input)
    }

    private func lazyStart(_ lazy: Int, _ program: Program) -> Int {
        for region in program.regions where region.lazy == Int32(lazy) { return Int(region.start) }
        preconditionFailure("lazy value \(lazy) has no code")
    }
}
