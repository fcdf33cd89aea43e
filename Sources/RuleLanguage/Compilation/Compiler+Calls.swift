import AttributeValues

extension Compiler {
    mutating func emitCall(_ id: SyntaxTree.ID, _ into: Int32?) -> Int32 {
        var children = tree.children(id).map { Int($0) }
        let function: Function?
        var isMember = tree[id].kind == .memberCall
        switch checked.resolutions[id] {
        case .namespacedFunction(let found):
            function = found
            children.removeFirst()
            isMember = false
        case .function(let found): function = found
        case .timeOperator(let operation): return emitTimeOperator(operation, id)
        default: return fail("undeclared reference to '\(tree.spelling(id))'", at: id)
        }
        guard let function else { return fail("no implementation of '\(tree.spelling(id))'", at: id) }
        switch (function, children.count) {
        case (.dyn, 1) where !isMember: return emit(children[0], into: into)
        case (.or, 2) where isMember, (.orValue, 2) where isMember:
            return emitAlternative(children, isValue: function == .orValue, id, into)
        case (.matches, 2):
            if case .string(let text)? = tree.constant(children[1]), let compiled = pattern(text) {
                return emitMatches(children[0], compiled, id, into)
            }
        case (.startsWith, 2) where isMember, (.endsWith, 2) where isMember, (.contains, 2) where isMember:
            return emitSearch(function, children, id, into)
        case (.string, 1) where !isMember: return emitUnaryCall(.text, function, children[0], id, into)
        default:
            if isMember, children.count == 1, TimeLibrary.readsPart(function) {
                return emitUnaryCall(.timePart, function, children[0], id, into)
            }
        }
        let mark = top
        let operands = children.map { emit($0) }
        top = mark
        if !isTraced, operands.allSatisfy({ $0 < 0 }),
            let folded = Folding.call(function, operands.map { parts.constants[Int(~$0)] }, isMember: isMember)
        {
            return self.folded(folded)
        }
        parts.makesContainers = true
        let target = into ?? newRegister()
        let start = Int32(parts.operands.count)
        parts.operands += operands
        parts.calls.append(Call(function: function, start: start, count: Int32(operands.count), isMember: isMember))
        add(.call, a: target, b: Int32(parts.calls.count - 1), at: id)
        return target
    }

    /// Compiles a constant pattern now. nil if it is faulty, or if the rule's patterns together cost too much. Such a
    /// pattern is compiled, and charged, at its use.
    private mutating func pattern(_ text: String) -> Pattern? {
        let cost = Pattern.compilationCost(text)
        guard parts.patternCost + cost <= RuleLimits.patternCost else { return nil }
        parts.patternCost += cost
        return Pattern(text)
    }

    /// Emits a call of one argument that has an instruction of its own.
    private mutating func emitUnaryCall(
        _ opcode: Opcode, _ function: Function, _ argument: SyntaxTree.ID, _ id: SyntaxTree.ID, _ into: Int32?
    ) -> Int32 {
        let mark = top
        let operand = emit(argument)
        top = mark
        if !isTraced, let value = constantValue(operand),
            let folded = Folding.call(function, [value], isMember: opcode == .timePart)
        {
            return self.folded(folded)
        }
        let target = into ?? newRegister()
        parts.calls.append(Call(function: function, start: 0, count: 1, isMember: opcode == .timePart))
        add(opcode, a: target, b: operand, c: Int32(parts.calls.count - 1), at: id)
        return target
    }

    private mutating func emitSearch(
        _ function: Function, _ children: [SyntaxTree.ID], _ id: SyntaxTree.ID, _ into: Int32?
    ) -> Int32 {
        let mark = top
        let text = emit(children[0])
        let part = emit(children[1])
        top = mark
        if !isTraced, let x = constantValue(text), let y = constantValue(part),
            let folded = Folding.call(function, [x, y], isMember: true)
        {
            return self.folded(folded)
        }
        let target = into ?? newRegister()
        let opcode: Opcode = function == .startsWith ? .startsWith : function == .endsWith ? .endsWith : .contains
        add(opcode, a: target, b: text, c: part, at: id)
        return target
    }

    private mutating func emitMatches(
        _ text: SyntaxTree.ID, _ pattern: Pattern, _ id: SyntaxTree.ID, _ into: Int32?
    ) -> Int32 {
        let mark = top
        let operand = emit(text)
        top = mark
        let target = into ?? newRegister()
        parts.patterns.append(pattern)
        add(.matches, a: target, b: operand, c: Int32(parts.patterns.count - 1), at: id)
        return target
    }

    /// `a.or(b)`, `a.orValue(b)`: b is evaluated only if a is none.
    private mutating func emitAlternative(
        _ children: [SyntaxTree.ID], isValue: Bool, _ id: SyntaxTree.ID, _ into: Int32?
    ) -> Int32 {
        let target = into ?? newRegister()
        let mark = top
        let operand = emit(children[0])
        let toEnd = addJump(.branchIfPresent, flag: isValue, a: target, b: operand, at: id)
        top = mark
        conditionally { compiler in
            let other = compiler.emit(children[1], into: target)
            if !isValue { compiler.add(.requireOptional, a: target, b: other, at: id) }
        }
        land(toEnd)
        top = mark
        return target
    }

    mutating func emitOptionalMap(_ id: SyntaxTree.ID, _ into: Int32?) -> Int32 {
        let target = into ?? newRegister()
        let variable = newRegister()
        let mark = top
        let operand = emit(tree.child(id, 0))
        let toBody = addJump(.branchIfPresent, flag: true, a: variable, b: operand, at: id)
        add(.move, a: target, b: constant(.optional(nil)), at: id)
        let toEnd = addJump(.jump, at: id)
        land(toBody)
        top = mark
        conditionally { compiler in
            if case .local(let number) = compiler.checked.resolutions[id] {
                compiler.locals[number] = .register(variable)
            }
            let body = compiler.emit(compiler.tree.child(id, 1))
            compiler.add(compiler.tree[id].flag ? .requireOptional : .wrapOptional, a: target, b: body, at: id)
        }
        land(toEnd)
        top = max(target + 1, mark - 1)
        return target
    }

    // MARK: lazy values

    mutating func emitBind(_ id: SyntaxTree.ID, _ into: Int32?) -> Int32 {
        guard case .local(let number) = checked.resolutions[id] else { return fail("unresolved binding", at: id) }
        let target = into ?? newRegister()
        emitLazy(tree.child(id, 0), number, id)
        _ = emit(tree.child(id, 1), into: target)
        top = max(target + 1, top)
        return target
    }

    mutating func emitBlock(_ id: SyntaxTree.ID, _ into: Int32?) -> Int32 {
        guard case .local(let first) = checked.resolutions[id] else { return fail("unresolved block", at: id) }
        let target = into ?? newRegister()
        let children = tree.children(id).map { Int($0) }
        for (number, child) in children.dropLast().enumerated() { emitLazy(child, first + number, id) }
        _ = emit(children[children.count - 1], into: target)
        return target
    }

    /// The code of a value that is evaluated at its first use, at most once. It has registers of its own, because it
    /// may run in the middle of any code of the body.
    private mutating func emitLazy(_ value: SyntaxTree.ID, _ number: Int, _ id: SyntaxTree.ID) {
        let lazy = Int32(parts.lazyCount)
        parts.lazyCount += 1
        add(.beginLazy, a: lazy, at: id)
        let overCode = addJump(.jump, at: id)
        let start = here
        let target = newRegister()
        let outerPeak = peak
        peak = top
        let (outerOutput, outerOwner) = (output, owner)
        (output, owner) = (-1, lazy)
        conditionally { _ = $0.emit(value, into: target) }
        (output, owner) = (outerOutput, outerOwner)
        add(.endLazy, a: lazy, at: id)
        parts.regions.append(FaultRegion(start: start, end: here, lazy: lazy))
        land(overCode)
        // The registers that the code uses stay reserved for the body.
        top = peak
        peak = max(outerPeak, peak)
        locals[number] = .lazy(number: lazy, register: target)
    }
}
