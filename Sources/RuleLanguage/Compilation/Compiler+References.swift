import AttributeValues

/// Names, selects and indexes. Static chains become inputs.
extension Compiler {
    /// A path from a variable, with constant or computed steps.
    struct Chain {
        var variable: Int
        var steps: [ChainStep] = []
        var isDynamic: Bool { steps.contains { if case .computed = $0 { true } else { false } } }
    }

    enum ChainStep {
        case fixed(AttributePath.Step)
        case computed(SyntaxTree.ID)
    }

    /// The chain of plain selects and indexes that a node forms, if all values on the way are lists, maps, objects or
    /// of unknown type. The tree's height bounds the recursion.
    func chain(_ id: SyntaxTree.ID) -> Chain? {
        switch checked.resolutions[id] {
        case .variable(let number): return Chain(variable: number)
        case .local(let number) where tree[id].kind == .identifier:
            if case .chain(let argument)? = locals[number] { return chain(argument) }
        default: break
        }
        let node = tree[id]
        guard node.kind == .select || node.kind == .index, !node.flag else { return nil }
        let operand = tree.child(id, 0)
        guard Compiler.isContainer(checked.types[operand]), var chain = chain(operand) else { return nil }
        if node.kind == .select {
            chain.steps.append(.fixed(.key(tree.spelling(id))))
            return chain
        }
        let key = tree.child(id, 1)
        switch tree.constant(key) {
        case .string(let text)?: chain.steps.append(.fixed(.key(text)))
        case .int(let index)? where index >= 0: chain.steps.append(.fixed(.index(Int(index))))
        case nil where Compiler.isKey(checked.types[key]): chain.steps.append(.computed(key))
        default: return nil
        }
        return chain
    }

    private static func isContainer(_ type: RuleType) -> Bool {
        switch type.unwrapped {
        case .dyn, .list, .map, .error, .variable: true
        case .abstract(let name, _): name != "optional_type" && !name.hasPrefix("net.")
        default: false
        }
    }

    /// Keys that a path can contain. A bool cannot occur in one.
    private static func isKey(_ type: RuleType) -> Bool { type == .int || type == .string }

    /// The parts that the rule uses of assembled values that it reads whole.
    func findUsedParts() -> UsedParts? {
        UsedPartsFinder.search(in: checked, scope: scope) { id in
            chain(id)?.steps.compactMap { if case .computed(let key) = $0 { key } else { nil } }
        }
    }

    // MARK: inputs

    /// The number of the input for a path. Equal paths share one.
    /// - Parameter isAssembled: true if the value at the path has parts that change separately.
    /// - Parameter operation: the operator over time through which the rule reads the path.
    /// - Parameter span: the input that gives the operator's window.
    mutating func inputNumber(
        _ chain: Chain, isPresence: Bool = false, isAssembled: Bool = false, operation: TimeOperator? = nil,
        span: Int? = nil
    ) -> Int32 {
        let variable = checked.variables[chain.variable]
        var fixed: [AttributePath.Step] = []
        for step in chain.steps {
            guard case .fixed(let step) = step else { break }
            fixed.append(step)
        }
        var (name, namespace): (String, String?) = (variable.name.text, nil)
        if let dot = name.firstIndex(of: "."), scope.findNamespace(String(name[..<dot])) != nil {
            namespace = String(name[..<dot])
            name = String(name[name.index(after: dot)...])
        }
        let made = RuleInput(
            name: Name(name), namespace: namespace, steps: fixed, isPresence: isPresence, isDynamic: chain.isDynamic,
            isDefinite: isDefinite, parts: isAssembled ? usedParts : nil, pattern: variable.name.patternFromRoot,
            operation: operation, span: span)
        if let known = parts.inputs.firstIndex(where: { $0.sameSource(as: made) }) {
            if isDefinite { parts.inputs[known].isDefinite = true }
            return Int32(known)
        }
        parts.inputs.append(made)
        return Int32(parts.inputs.count - 1)
    }

    /// Reads an input, unless every way to this position has read it.
    mutating func emitLoad(_ input: Int32, at id: SyntaxTree.ID) -> Int32 {
        if !loaded.contains(input) {
            add(.load, a: input, at: id)
            loaded.insert(input)
        }
        return input
    }

    mutating func emitReference(_ id: SyntaxTree.ID, _ into: Int32?) -> Int32 {
        if let chain = chain(id) { return emitChain(chain, id, into) }
        switch checked.resolutions[id] {
        case .local(let number): return emitLocal(number, id)
        case .typeValue(let name): return constant(.type(name))
        default: break
        }
        switch tree[id].kind {
        case .select: return emitSelect(id, into)
        case .index: return emitIndex(id, into)
        case .presence: return emitPresence(id, into)
        default: return fail("undeclared reference to '\(tree.spelling(id))'", at: id)
        }
    }

    private mutating func emitLocal(_ number: Int, _ id: SyntaxTree.ID) -> Int32 {
        switch locals[number] {
        case .register(let register)?: return register
        case .lazy(let lazy, let register)?:
            add(.force, a: lazy, at: id)
            return register
        case .chain(let argument)?: return emitReference(argument, nil)
        case nil: return fail("undeclared reference to '\(tree.spelling(id))'", at: id)
        }
    }

    private mutating func emitChain(_ chain: Chain, _ id: SyntaxTree.ID, _ into: Int32?) -> Int32 {
        let isAssembled = scope.isAssembled(checked.types[id])
        guard chain.isDynamic else { return emitLoad(inputNumber(chain, isAssembled: isAssembled), at: id) }
        let mark = top
        var steps: [DynamicPath.Step] = []
        for step in chain.steps {
            switch step {
            case .fixed(let step): steps.append(.fixed(step))
            case .computed(let key): steps.append(.operand(emit(key)))
            }
        }
        top = mark
        let target = into ?? newRegister()
        parts.dynamicPaths.append(DynamicPath(input: inputNumber(chain, isAssembled: isAssembled), steps: steps))
        add(.loadDynamic, a: target, b: Int32(parts.dynamicPaths.count - 1), at: id)
        return target
    }

    // MARK: selects and indexes on values

    private mutating func emitSelect(_ id: SyntaxTree.ID, _ into: Int32?) -> Int32 {
        let operand = tree.child(id, 0)
        let key = AttributePath.Step.key(tree.spelling(id))
        if tree[id].flag, let target = emitOptionalChain(operand, key, id, into) { return target }
        return emitOperation(.select, flag: tree[id].flag, [operand], c: constant(.string(tree.spelling(id))), id, into)
    }

    private mutating func emitIndex(_ id: SyntaxTree.ID, _ into: Int32?) -> Int32 {
        let operand = tree.child(id, 0)
        let keyID = tree.child(id, 1)
        if tree[id].flag, case .string(let text)? = tree.constant(keyID),
            let target = emitOptionalChain(operand, .key(text), id, into)
        {
            return target
        }
        let isOptional = tree[id].flag
        return emitOperation(.index, flag: isOptional, [operand, keyID], id, into) {
            isOptional ? nil : Folding.index($0[0], $0[1])
        }
    }

    /// `a.?b` on a map of the scope: first the presence of b, then b, so that nothing else of a is read.
    private mutating func emitOptionalChain(
        _ operand: SyntaxTree.ID, _ step: AttributePath.Step, _ id: SyntaxTree.ID, _ into: Int32?
    ) -> Int32? {
        guard case .map = checked.types[operand], var chain = chain(operand), !chain.isDynamic, !isTraced else {
            return nil
        }
        chain.steps.append(.fixed(step))
        let target = into ?? newRegister()
        let presence = emitLoad(inputNumber(chain, isPresence: true), at: id)
        let toAbsent = addJump(.branchIfAbsent, a: target, b: presence, at: id)
        conditionally { compiler in
            let value = compiler.emitLoad(compiler.inputNumber(chain), at: id)
            compiler.add(.wrapOptional, a: target, b: value, at: id)
        }
        land(toAbsent)
        return target
    }

    private mutating func emitPresence(_ id: SyntaxTree.ID, _ into: Int32?) -> Int32 {
        let operand = tree.child(id, 0)
        if Compiler.isContainer(checked.types[operand]), var chain = chain(operand), !chain.isDynamic {
            chain.steps.append(.fixed(.key(tree.spelling(id))))
            return emitLoad(inputNumber(chain, isPresence: true), at: id)
        }
        return emitOperation(.presence, [operand], c: constant(.string(tree.spelling(id))), id, into)
    }

    /// A use of an operator reads an input of its own.
    mutating func emitTimeOperator(_ operation: TimeOperator, _ id: SyntaxTree.ID) -> Int32 {
        guard let chain = chain(tree.child(id, 0)), !chain.isDynamic else {
            return fail("\(operation.kind.rawValue)() watches an attribute", at: id)
        }
        var span: Int?
        if operation.spanName != nil {
            guard let given = self.chain(tree.child(id, 1)), !given.isDynamic else {
                return fail("the window of \(operation.kind.rawValue)() is an attribute", at: id)
            }
            span = Int(inputNumber(given))
        }
        return emitLoad(inputNumber(chain, operation: operation, span: span), at: id)
    }
}
