import AttributeValues

extension Compiler {
    mutating func emitCall(_ id: SyntaxTree.ID, _ into: Int32?) -> Int32 {
        var children = tree.children(id).map { Int($0) }
        let function: Function
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
        guard FunctionTable.standard[function.name] === function else {
            return fail("no implementation of '\(tree.spelling(id))'", at: id)
        }
        // The checker refuses other forms, except in rules that run unchecked.
        guard function.takes(children.count, isMember: isMember) else {
            return fail("no such overload: '\(function.name)' of \(children.count) arguments", at: id)
        }
        switch function.name {
        case "dyn": return emit(children[0], into: into)
        case "or", "orValue": return emitAlternative(children, isValue: function.name == "orValue", id, into)
        case "matches":
            if case .string(let text)? = tree.constant(children[1]), let compiled = pattern(text) {
                parts.patterns.append(compiled)
                let number = Int32(parts.patterns.count - 1)
                return emitOperation(.matches, [children[0]], c: number, id, into)
            }
        default: break
        }
        let (operands, folded) = emitOperands(children) { Folding.call(function, $0) }
        if let folded { return folded }
        let target = into ?? newRegister()
        let call = Call(function: function, start: Int32(parts.operands.count), count: Int32(operands.count))
        switch function.name {
        case "startsWith": add(.startsWith, a: target, b: operands[0], c: operands[1], at: id)
        case "endsWith": add(.endsWith, a: target, b: operands[0], c: operands[1], at: id)
        case "contains": add(.contains, a: target, b: operands[0], c: operands[1], at: id)
        case "string": add(.text, a: target, b: operands[0], at: id)
        default:
            if operands.count == 1, let part = TimePart(function.name) {
                add(.timePart, a: target, b: operands[0], c: part.rawValue, at: id)
                break
            }
            parts.makesContainers = true
            parts.operands += operands
            parts.calls.append(call)
            add(.call, a: target, b: Int32(parts.calls.count - 1), at: id)
        }
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
        for (number, child) in children.dropLast().enumerated() {
            if tree[id].flag, let known = knownValue(child) {
                locals[first + number] = known
            } else {
                emitLazy(child, first + number, id)
            }
        }
        _ = emit(children[children.count - 1], into: target)
        return target
    }

    /// The value of an argument that needs no evaluation of its own.
    private mutating func knownValue(_ argument: SyntaxTree.ID) -> Local? {
        if tree[argument].kind == .literal { return .register(emit(argument)) }
        if tree[argument].kind == .identifier, case .local(let number) = checked.resolutions[argument] {
            return locals[number]
        }
        guard let chain = chain(argument), !chain.isDynamic else { return nil }
        return .chain(argument)
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
