import AttributeValues

/// Compiles a checked tree to instructions, in one walk bounded by the tree's height.
///
/// Registers: first one per input, then macro variables and intermediate results, used as a stack. The result of a part
/// is an operand. It may be a constant or the register of an input or a variable, so reading it needs no copy.
struct Compiler {
    let checked: CheckedTree
    let scope: RuleScope
    var parts: ProgramParts
    /// The register of each macro variable.
    var locals: [Int: Local] = [:]
    /// The next free register, and the first never used.
    var top: Int32
    var peak: Int32
    /// Inputs that every way to this position has read.
    var loaded: Set<Int32> = []
    /// True if every evaluation that does not fail reaches this position.
    var isDefinite = true
    /// True if only the next read is definite: a fault after it may be absorbed, and the following code skipped.
    var onlyNextIsDefinite = false
    /// The innermost loop that has an output.
    var output: Int32 = -1
    /// The lazy value whose code is being emitted.
    var owner: Int32 = -1
    /// True if this position may be reached more than once: in a loop.
    var isRepeated = false
    let isTraced: Bool
    private(set) var usedParts: UsedParts?
    /// The constant of each literal that has been emitted.
    private var literals: [(id: SyntaxTree.ID, constant: Int32)] = []
    /// Constants have been computed from others.
    private var hasFolded = false

    enum Local {
        case register(Int32)
        case lazy(number: Int32, register: Int32)
        /// An argument that is an input, or a part of one: read where the function uses it.
        case chain(SyntaxTree.ID)
    }

    var tree: SyntaxTree { checked.tree }

    init(_ checked: CheckedTree, text: String, scope: RuleScope, isTraced: Bool) {
        self.checked = checked
        self.scope = scope
        self.isTraced = isTraced
        parts = ProgramParts(text: text, limits: scope.limits)
        parts.resultType = checked.resultType
        // One register for each input. There are at most as many inputs as names of variables, plus one for each
        // optional access, which first reads presence.
        var references: Int32 = 0
        for resolution in checked.resolutions {
            switch resolution {
            case .variable: references += 1
            case .local where !checked.functions.isEmpty: references += 1
            default: break
            }
        }
        for node in checked.tree.nodes where node.flag && (node.kind == .select || node.kind == .index) {
            references += 1
        }
        top = references
        peak = top
        parts.functions = checked.functions
        usedParts = findUsedParts()
    }

    static func compile(_ checked: CheckedTree, text: String, scope: RuleScope, isTraced: Bool = false) -> Program {
        var compiler = Compiler(checked, text: text, scope: scope, isTraced: isTraced)
        let result = compiler.emit(checked.tree.root)
        compiler.letOperationEnd(with: result)
        compiler.add(.end, b: result, at: checked.tree.root)
        compiler.parts.registerCount = Int(compiler.peak) + 1
        if checked.resultType.isScalar { compiler.parts.makesContainers = false }
        compiler.parts.numbers = compiler.findNumbers()
        return Program(compiler.parts)
    }

    /// The constants of the text's numbers, if each has become one constant and nothing else depends on it.
    private func findNumbers() -> [NumberConstant]? {
        let numbers = tree.nodes.indices.filter {
            switch tree.constant($0) {
            case .int, .uint, .double: true
            default: false
            }
        }
        guard !isTraced, !hasFolded, checked.functions.isEmpty else { return nil }
        var found: [(start: Int32, number: NumberConstant)] = []
        for id in numbers {
            let emitted = literals.filter { $0.id == id }
            guard emitted.count == 1 else { return nil }
            let isNegative = parts.text.utf8.dropFirst(Int(tree[id].start)).first == UInt8(ascii: "-")
            found.append((tree[id].start, NumberConstant(constant: Int(emitted[0].constant), isNegative: isNegative)))
        }
        return found.sorted { $0.start < $1.start }.map(\.number)
    }

    /// Tells the last operation that it makes the result. It then ends the evaluation itself.
    private mutating func letOperationEnd(with result: Int32) {
        guard let last = parts.instructions.last, last.a == result, last.opcode.mayEnd else { return }
        parts.instructions[parts.instructions.count - 1].flag = true
    }

    // MARK: instructions

    var here: Int32 { Int32(parts.instructions.count) }

    mutating func add(
        _ opcode: Opcode, flag: Bool = false, a: Int32 = 0, b: Int32 = 0, c: Int32 = 0, at id: SyntaxTree.ID
    ) {
        parts.instructions.append(Instruction(opcode: opcode, flag: flag, a: a, b: b, c: c))
        parts.positions.append(tree[id].position)
        if isTraced { parts.nodes.append(Int32(id)) }
        if onlyNextIsDefinite, opcode != .beginLogic { isDefinite = false }
    }

    /// Adds a jump whose target is not known yet.
    mutating func addJump(_ opcode: Opcode, flag: Bool = false, a: Int32 = 0, b: Int32 = 0, at id: SyntaxTree.ID) -> Int
    {
        add(opcode, flag: flag, a: a, b: b, c: -1, at: id)
        return parts.instructions.count - 1
    }

    mutating func land(_ jump: Int) { parts.instructions[jump].c = here }

    mutating func newRegister() -> Int32 {
        top += 1
        peak = max(peak, top)
        return top - 1
    }

    mutating func constant(_ value: Value) -> Int32 {
        parts.constants.append(value)
        return ~Int32(parts.constants.count - 1)
    }

    /// Adds a constant that was computed from others.
    mutating func folded(_ value: Value) -> Int32 {
        hasFolded = true
        return constant(value)
    }

    func constantValue(_ operand: Int32) -> Value? { operand < 0 ? parts.constants[Int(~operand)] : nil }

    mutating func fail(_ message: String, at id: SyntaxTree.ID) -> Int32 {
        parts.messages.append(message)
        add(.fail, a: Int32(parts.messages.count - 1), at: id)
        return constant(.null)
    }

    /// Emits code that some evaluations skip: its reads do not count as done after it.
    mutating func conditionally<R>(_ body: (inout Compiler) -> R) -> R {
        let (before, wasDefinite) = (loaded, isDefinite)
        isDefinite = false
        let result = body(&self)
        loaded = before
        isDefinite = wasDefinite
        return result
    }

    // MARK: nodes

    /// - Parameter into: the register that must get the result; nil for any.
    mutating func emit(_ id: SyntaxTree.ID, into: Int32? = nil) -> Int32 {
        var result = emitNode(id, into: into)
        if isTraced { add(.record, a: Int32(id), b: result, at: id) }
        if let into, result != into {
            add(.move, a: into, b: result, at: id)
            result = into
        }
        return result
    }

    private mutating func emitNode(_ id: SyntaxTree.ID, into: Int32?) -> Int32 {
        switch tree[id].kind {
        case .literal:
            let operand = constant(tree.constant(id) ?? .null)
            literals.append((id, ~operand))
            return operand
        case .identifier, .select, .index, .presence: return emitReference(id, into)
        case .call, .memberCall: return emitCall(id, into)
        case .list: return emitList(id, into)
        case .map: return emitMap(id, into)
        case .optionalEntry, .message, .faulty: return fail("'\(tree.spelling(id))' cannot be evaluated", at: id)
        case .not: return emitUnary(.not, id, into)
        case .negate: return emitUnary(.negate, id, into)
        case .binary: return emitBinary(id, into)
        case .and: return emitLogic(id, isOr: false, into)
        case .or: return emitLogic(id, isOr: true, into)
        case .conditional: return emitConditional(id, into)
        case .comprehension: return emitComprehension(id, into)
        case .bind: return emitBind(id, into)
        case .optionalMap: return emitOptionalMap(id, into)
        case .block: return emitBlock(id, into)
        case .attempt: return emitAttempt(id, into)
        }
    }

    /// Emits the operands of an operation.
    /// - Parameter fold: the result of the operation on constants; nil if it must run.
    /// - Returns: also the constant result, if all operands are constants.
    mutating func emitOperands(_ children: [SyntaxTree.ID], _ fold: ([Value]) -> Value?) -> ([Int32], folded: Int32?) {
        let mark = top
        let operands = children.map { emit($0) }
        top = mark
        guard !isTraced, operands.allSatisfy({ $0 < 0 }), let value = fold(operands.map { parts.constants[Int(~$0)] })
        else { return (operands, nil) }
        return (operands, folded(value))
    }

    /// Emits an operation of one or two operands.
    /// - Parameter c: the third field of the instruction, if there is one operand.
    mutating func emitOperation(
        _ opcode: Opcode, flag: Bool = false, _ children: [SyntaxTree.ID], c: Int32 = 0, _ id: SyntaxTree.ID,
        _ into: Int32?, _ fold: ([Value]) -> Value? = { _ in nil }
    ) -> Int32 {
        let (operands, folded) = emitOperands(children, fold)
        if let folded { return folded }
        let target = into ?? newRegister()
        add(opcode, flag: flag, a: target, b: operands[0], c: operands.count > 1 ? operands[1] : c, at: id)
        return target
    }

    private mutating func emitUnary(_ opcode: Opcode, _ id: SyntaxTree.ID, _ into: Int32?) -> Int32 {
        emitOperation(opcode, [tree.child(id, 0)], id, into) { Folding.foldUnary(opcode, $0[0]) }
    }

    private mutating func emitBinary(_ id: SyntaxTree.ID, _ into: Int32?) -> Int32 {
        let opcode = Opcode(rawValue: Opcode.add.rawValue + tree[id].detail) ?? .add
        if opcode == .add {
            if checked.types[id] == .string, !isTraced { return emitConcatenation(id, into) }
            parts.makesContainers = true
        }
        if let fault = mixtureFault(id) { return fail(fault, at: id) }
        let mixes = mixes(id)
        let before = parts.instructions.count
        let result = emitOperation(opcode, [tree.child(id, 0), tree.child(id, 1)], id, into) {
            Folding.foldBinary(opcode, $0[0], $0[1], mixes: mixes)
        }
        // A constant has no instruction.
        if parts.instructions.count > before { parts.instructions[parts.instructions.count - 1].mixes = mixes }
        return result
    }

    /// True for arithmetic with an operand that may be an int or a double.
    private func mixes(_ id: SyntaxTree.ID) -> Bool {
        [.add, .subtract, .multiply, .divide].contains(tree.operation(id))
            && (0...1).contains { ![.int, .double].contains(checked.types[tree.child(id, $0)]) }
    }

    /// The fault of arithmetic with numbers of types that are known and differ. The checker refuses it, except in rules
    /// that run unchecked.
    private func mixtureFault(_ id: SyntaxTree.ID) -> String? {
        guard [.add, .subtract, .multiply, .divide].contains(tree.operation(id)) else { return nil }
        let (left, right) = (checked.types[tree.child(id, 0)], checked.types[tree.child(id, 1)])
        guard left != right, [left, right].allSatisfy({ [.int, .double].contains($0) }) else { return nil }
        return "no such overload: '\(tree.operation(id).text)' applied to '(\(left), \(right))'"
    }

    /// A chain of `+` that gives a string: one instruction for all operands. Adjacent constants are joined here.
    private mutating func emitConcatenation(_ id: SyntaxTree.ID, _ into: Int32?) -> Int32 {
        var last = id
        var parts: [SyntaxTree.ID] = []
        while isAddition(last), checked.types[last] == .string {
            parts.append(tree.child(last, 1))
            last = tree.child(last, 0)
        }
        parts.append(last)
        let mark = top
        var operands: [Int32] = []
        for part in parts.reversed() {
            let operand = emit(part)
            if let before = operands.last, let x = constantValue(before), let y = constantValue(operand),
                case .string = x, case .string = y, let joined = Folding.foldBinary(.add, x, y, mixes: false)
            {
                operands[operands.count - 1] = folded(joined)
            } else {
                operands.append(operand)
            }
        }
        top = mark
        if operands.count == 1 { return operands[0] }
        let target = into ?? newRegister()
        add(.concatenate, a: target, b: Int32(self.parts.operands.count), c: Int32(operands.count), at: id)
        self.parts.operands += operands
        return target
    }

    private func isAddition(_ id: SyntaxTree.ID) -> Bool { tree[id].kind == .binary && tree.operation(id) == .add }

    private mutating func emitConditional(_ id: SyntaxTree.ID, _ into: Int32?) -> Int32 {
        let target = into ?? newRegister()
        let mark = top
        let condition = emit(tree.child(id, 0))
        let toNo = addJump(.jumpUnless, b: condition, at: tree.child(id, 0))
        top = mark
        _ = conditionally { $0.emit($0.tree.child(id, 1), into: target) }
        let toEnd = addJump(.jump, at: id)
        land(toNo)
        top = mark
        _ = conditionally { $0.emit($0.tree.child(id, 2), into: target) }
        land(toEnd)
        top = mark
        return target
    }

    /// `&&` and `||`: the first operand that decides ends the chain. Faults before it are stored, and thrown if no
    /// operand decides.
    private mutating func emitLogic(_ id: SyntaxTree.ID, isOr: Bool, _ into: Int32?) -> Int32 {
        let target = into ?? newRegister()
        let mark = top
        let fault = addFault(at: id)
        let children = tree.children(id).map { Int($0) }
        var toEnd: [Int] = []
        let (wasDefinite, wasOnlyNext) = (isDefinite, onlyNextIsDefinite)
        for (number, child) in children.enumerated() {
            onlyNextIsDefinite = number == 0
            isDefinite = number == 0 && isDefinite
            let opcode: Opcode = number == children.count - 1 ? .lastLogicStep : .logicStep
            guarded(fault) { compiler in
                let operand = compiler.emit(child)
                toEnd.append(compiler.addJump(opcode, flag: isOr, a: target, b: operand, at: child))
            }
            top = mark
        }
        (isDefinite, onlyNextIsDefinite) = (wasDefinite, wasOnlyNext)
        add(.endLogic, flag: isOr, a: target, b: fault, at: id)
        for jump in toEnd { land(jump) }
        return target
    }

    /// `orElse(x, default)`, `isError(x)`: a fault of x leads to the code of the other result.
    private mutating func emitAttempt(_ id: SyntaxTree.ID, _ into: Int32?) -> Int32 {
        let target = into ?? newRegister()
        let mark = top
        let children = tree.children(id).map { Int($0) }
        let fault = addFault(at: id)
        let wasOnlyNext = onlyNextIsDefinite
        let wasDefinite = isDefinite
        var toEnd = 0
        onlyNextIsDefinite = true
        guarded(fault) { compiler in
            let operand = compiler.emit(children[0])
            let result = children.count > 1 ? operand : compiler.constant(.bool(false))
            compiler.add(.move, a: target, b: result, at: id)
            toEnd = compiler.addJump(.jump, at: id)
        }
        (isDefinite, onlyNextIsDefinite) = (wasDefinite, wasOnlyNext)
        top = mark
        conditionally { compiler in
            compiler.add(.absorb, a: fault, at: id)
            let other = children.count > 1 ? compiler.emit(children[1]) : compiler.constant(.bool(true))
            compiler.add(.move, a: target, b: other, at: id)
        }
        land(toEnd)
        top = mark
        return target
    }

    /// A number under which faults are stored. Cleared whenever evaluation arrives here, also when the code repeats.
    mutating func addFault(at id: SyntaxTree.ID) -> Int32 {
        let fault = Int32(parts.faultCount)
        parts.faultCount += 1
        if isRepeated { add(.beginLogic, a: fault, at: id) }
        return fault
    }

    /// Emits code whose faults are stored under a number. Evaluation continues after it.
    mutating func guarded(_ fault: Int32, _ body: (inout Compiler) -> Void) {
        let start = here
        let before = loaded
        body(&self)
        loaded = before
        parts.regions.append(
            FaultRegion(start: start, end: here, fault: fault, resume: here, output: output, owner: owner))
    }

    // MARK: aggregates

    private mutating func emitList(_ id: SyntaxTree.ID, _ into: Int32?) -> Int32 {
        parts.makesContainers = true
        let children = tree.children(id).map { Int($0) }
        let mark = top
        if children.contains(where: { tree[$0].kind == .optionalEntry }) {
            let target = into ?? newRegister()
            let loop = addLoop()
            let outer = output
            add(.beginOutput, a: loop, at: id)
            output = loop
            for child in children {
                let isOptional = tree[child].kind == .optionalEntry
                let operand = emit(isOptional ? tree.child(child, 0) : child)
                add(.append, flag: isOptional, a: loop, b: operand, at: child)
            }
            output = outer
            add(.finishList, a: target, b: loop, at: id)
            top = max(mark, target + 1)
            return target
        }
        let (operands, folded) = emitOperands(children) { .list($0) }
        if let folded { return folded }
        let target = into ?? newRegister()
        let start = Int32(parts.operands.count)
        parts.operands += operands
        add(.makeList, a: target, b: start, c: Int32(operands.count), at: id)
        return target
    }

    private mutating func emitMap(_ id: SyntaxTree.ID, _ into: Int32?) -> Int32 {
        parts.makesContainers = true
        let children = tree.children(id).map { Int($0) }
        let mark = top
        var operands: [Int32] = []
        for at in stride(from: 0, to: children.count, by: 2) {
            let isOptional = tree[children[at + 1]].kind == .optionalEntry
            operands.append(emit(children[at]))
            operands.append(emit(isOptional ? tree.child(children[at + 1], 0) : children[at + 1]))
            operands.append(isOptional ? 1 : 0)
        }
        top = mark
        if !isTraced, let folded = Folding.map(operands, parts.constants) { return self.folded(folded) }
        let target = into ?? newRegister()
        let start = Int32(parts.operands.count)
        parts.operands += operands
        add(.makeMap, a: target, b: start, c: Int32(operands.count / 3), at: id)
        return target
    }

    mutating func addLoop() -> Int32 {
        parts.loopCount += 1
        return Int32(parts.loopCount - 1)
    }
}
