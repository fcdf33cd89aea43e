import AttributeValues

extension Compiler {
    /// ```
    ///       iterate loop, range
    ///       jump next
    /// body: … step
    /// next: next loop, variables, body
    ///       … end
    /// ```
    mutating func emitComprehension(_ id: SyntaxTree.ID, _ into: Int32?) -> Int32 {
        let macro = tree.macro(id)
        if macro == .reduce { return emitReduction(id, into) }
        let children = tree.children(id).map { Int($0) }
        let target = into ?? newRegister()
        let mark = top
        let range = emit(children[0])
        let loop = addLoop()
        add(.iterate, flag: tree[id].second >= 0 || macro == .sortBy, a: loop, b: range, at: children[0])
        let variable = newRegister()
        if tree[id].second >= 0 { _ = newRegister() }
        if case .local(let number) = checked.resolutions[id] {
            locals[number] = .register(variable)
            if tree[id].second >= 0 { locals[number + 1] = .register(variable + 1) }
        }
        let isTest = macro == .all || macro == .exists
        let fault = isTest ? addFault(at: id) : -1
        let counter = newRegister()
        if macro == .existsOne {
            add(.move, a: counter, b: constant(.int(0)), at: id)
        } else if !isTest {
            parts.makesContainers = true
        }
        let outer = output
        if !isTest, macro != .existsOne { output = loop }
        let toNext = addJump(.jump, at: id)
        let body = here
        var toEnd: Int?
        let wasRepeated = isRepeated
        isRepeated = true
        conditionally { compiler in
            switch macro {
            case .all, .exists:
                compiler.guarded(fault) { compiler in
                    let operand = compiler.emit(children[1])
                    toEnd = compiler.addJump(.logicStep, flag: macro == .exists, a: target, b: operand, at: children[1])
                }
            case .existsOne:
                let operand = compiler.emit(children[1])
                compiler.add(.count, a: counter, b: operand, at: children[1])
            case .filter:
                let operand = compiler.emit(children[1])
                compiler.add(.filter, a: loop, b: operand, c: variable, at: children[1])
            default: compiler.emitTransform(macro, children, loop, variable)
            }
        }
        isRepeated = wasRepeated
        land(toNext)
        add(.next, flag: tree[id].second >= 0, a: loop, b: variable, c: body, at: id)
        output = outer
        switch macro {
        case .all, .exists:
            add(.endLogic, flag: macro == .exists, a: target, b: fault, at: id)
            if let toEnd { land(toEnd) }
        case .existsOne: add(.equal, a: target, b: counter, c: constant(.int(1)), at: id)
        case .filter, .map, .transformList: add(.finishList, a: target, b: loop, at: id)
        case .transformMap, .transformMapEntry: add(.finishMap, a: target, b: loop, at: id)
        case .sortBy, .reduce: add(.finishSort, a: target, b: loop, at: id)
        }
        top = mark
        return target
    }

    /// `list.reduce(acc, x, start, step)`: a loop without output, whose step replaces the accumulator.
    private mutating func emitReduction(_ id: SyntaxTree.ID, _ into: Int32?) -> Int32 {
        let children = tree.children(id).map { Int($0) }
        let target = into ?? newRegister()
        let mark = top
        let range = emit(children[0])
        let loop = addLoop()
        add(.iterate, a: loop, b: range, at: children[0])
        let accumulator = newRegister()
        let variable = newRegister()
        let inside = top
        add(.move, a: accumulator, b: emit(children[1]), at: children[1])
        top = inside
        if case .local(let number) = checked.resolutions[id] {
            locals[number] = .register(accumulator)
            locals[number + 1] = .register(variable)
        }
        if !checked.types[id].isScalar { parts.makesContainers = true }
        let toNext = addJump(.jump, at: id)
        let body = here
        let wasRepeated = isRepeated
        isRepeated = true
        conditionally { compiler in
            let result = compiler.emit(children[2])
            compiler.add(.accumulate, a: loop, b: result, c: accumulator, at: children[2])
        }
        isRepeated = wasRepeated
        land(toNext)
        add(.next, a: loop, b: variable, c: body, at: id)
        add(.move, a: target, b: accumulator, at: id)
        top = mark
        return target
    }

    private mutating func emitTransform(
        _ macro: SyntaxTree.Macro, _ children: [SyntaxTree.ID], _ loop: Int32, _ variable: Int32
    ) {
        var toSkip: Int?
        let mark = top
        if children.count == 3 {
            let condition = emit(children[1])
            toSkip = addJump(.jumpUnless, b: condition, at: children[1])
            top = mark
        }
        let last = children[children.count - 1]
        let value = emit(last)
        switch macro {
        case .transformMap: add(.appendEntry, a: loop, b: variable, c: value, at: last)
        case .transformMapEntry: add(.appendMap, a: loop, b: value, at: last)
        default: add(.append, a: loop, b: value, at: last)
        }
        if let toSkip { land(toSkip) }
        top = mark
    }
}
