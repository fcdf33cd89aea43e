import AttributeValues

/// An input of a program: a variable, or a place inside one.
public struct RuleInput: Hashable {
    /// The variable as declared; in a namespace, its key.
    public let name: String
    /// The namespace of the variable, as `env`; nil for a plain variable.
    public let namespace: String?
    /// The steps into the variable's value; empty for the whole. For a dynamic input, its constant steps.
    public let steps: [AttributePath.Step]
    /// True if the input is the presence of the last step: a bool.
    public let isPresence: Bool
    /// True if the path is known only at run time. It begins with `steps`.
    public let isDynamic: Bool
    /// True if every evaluation that does not fail reads it: it may be evaluated beforehand.
    public fileprivate(set) var isDefinite: Bool
    /// For a value of an assembled type, or one that contains such values: the parts that the rule uses. nil means all
    /// parts.
    public let parts: UsedParts?
    /// The operator over time through which the rule reads the path; nil: the value itself.
    public let operation: TimeOperator?

    init(
        name: String, namespace: String?, steps: [AttributePath.Step], isPresence: Bool, isDynamic: Bool,
        isDefinite: Bool,
        parts: UsedParts?, operation: TimeOperator? = nil
    ) {
        self.name = name
        self.namespace = namespace
        self.steps = steps
        self.isPresence = isPresence
        self.isDynamic = isDynamic
        self.isDefinite = isDefinite
        self.parts = parts
        self.operation = operation
    }

    /// The variable's full name, as declared in the scope.
    public var variable: String { namespace.map { "\($0).\(name)" } ?? name }
    /// The first name of the path in the rule.
    public var root: String { namespace ?? name }
    /// The path after `root`: the namespace's key and the steps.
    public var path: [AttributePath.Step] { (namespace == nil ? [] : [.key(name)]) + steps }
}

extension RuleInput: CustomStringConvertible {
    public var description: String {
        let text = variable + steps.map(\.description).joined() + (isDynamic ? "[*]" : "")
        if let operation { return operation.text(of: text) }
        return isPresence ? "has(\(text))" : text
    }

    func sameSource(as other: RuleInput) -> Bool {
        name == other.name && namespace == other.namespace && isPresence == other.isPresence
            && isDynamic == other.isDynamic && steps == other.steps && operation == other.operation
    }

    mutating func makeDefinite() { isDefinite = true }
}

/// A path whose steps are computed when the rule runs.
struct DynamicPath {
    enum Step {
        case fixed(AttributePath.Step)
        case operand(Int32)
    }
    var input: Int32
    var steps: [Step]
}

/// A compiled rule: immutable, shared by all evaluators, used by one thread at a time.
///
/// The program owns the memory of the instructions and constants from `init` to `deinit`. An evaluator retains the
/// program while it has pointers into that memory.
public final class Program {
    // MARK: the data that every evaluation uses, adjacent in one block of memory

    let instructions: UnsafeMutablePointer<Instruction>
    /// The end of the constants, which are indexed downwards: the operand ~n is constant n before this position.
    let constants: UnsafeMutablePointer<Value>
    /// The numbers of the inputs that are read first, until one fails: those that the code loads at its beginning, then
    /// the other definite inputs with constant paths.
    @usableFromInline let firstInputs: UnsafeMutablePointer<Int32>
    @usableFromInline let firstInputCount: Int
    /// The position at which evaluation begins after these reads: after the loads at the beginning of the code.
    @usableFromInline let entry: Int
    /// The registers that may contain references.
    let holders: UnsafeMutablePointer<Int32>
    let holderCount: Int
    /// At least 1, and at least each of the counts of registers, inputs, loops, faults and lazy values.
    @usableFromInline let frameSize: Int
    @usableFromInline let inputCount: Int
    @usableFromInline let faultCount: Int
    let loopCount: Int
    /// The limit of steps of an evaluation, minus one for each instruction.
    @usableFromInline let budget: Int
    @usableFromInline let budgetBehindInstructions: Int
    @usableFromInline let limits: UnsafeMutablePointer<RuleLimits>
    let instructionCount: Int
    let makesContainers: Bool

    // MARK: the rest

    /// The rule's text.
    public let text: String
    /// The inputs that the rule may read. A reader is called with their indexes.
    public let inputs: [RuleInput]
    /// The type that the checker has inferred, or `dyn`.
    public let resultType: RuleType
    let constantCount: Int
    let operands: UnsafeMutablePointer<Int32>
    /// The byte offset in the text, by instruction.
    let positions: [Int32]
    let calls: UnsafeMutablePointer<Call>
    let patterns: [Pattern]
    /// The handles of the patterns, for use without reference counting.
    let patternHandles: [OpaquePointer]
    let patternSizes: [Int]
    let messages: [String]
    let dynamicPaths: [DynamicPath]
    /// Inner regions before outer ones.
    let regions: [FaultRegion]
    /// The position of the code of each lazy value.
    let lazyStarts: [Int]
    let lazyCount: Int
    /// In traced programs, the syntax node of each instruction.
    let nodes: [Int32]
    /// By input. Made at the first use.
    private var madeWays: UnsafeMutablePointer<InputWay>?

    init(_ parts: consuming ProgramParts) {
        text = parts.text
        inputs = parts.inputs
        inputCount = parts.inputs.count
        resultType = parts.resultType
        instructionCount = parts.instructions.count
        constantCount = parts.constants.count

        let loads = parts.instructions.prefix { $0.opcode == .load }
        entry = loads.count
        var first = loads.map { $0.a }
        for (number, input) in parts.inputs.enumerated() where input.isDefinite && !input.isDynamic {
            if !first.contains(Int32(number)) { first.append(Int32(number)) }
        }
        let holding = parts.holdingRegisters
        firstInputCount = first.count
        holderCount = holding.count

        let constantsAt = max(1, instructionCount) * MemoryLayout<Instruction>.stride
        let inputsAt = constantsAt + constantCount * MemoryLayout<Value>.stride
        let holdersAt = inputsAt + firstInputCount * MemoryLayout<Int32>.stride
        let memory = UnsafeMutableRawPointer.allocate(
            byteCount: holdersAt + holderCount * MemoryLayout<Int32>.stride, alignment: MemoryLayout<Value>.alignment)
        instructions = memory.bindMemory(to: Instruction.self, capacity: instructionCount)
        constants = (memory + constantsAt).bindMemory(to: Value.self, capacity: constantCount) + constantCount
        firstInputs = (memory + inputsAt).bindMemory(to: Int32.self, capacity: firstInputCount)
        holders = (memory + holdersAt).bindMemory(to: Int32.self, capacity: holderCount)
        for (at, instruction) in parts.instructions.enumerated() { (instructions + at).initialize(to: instruction) }
        for (at, constant) in parts.constants.enumerated() { (constants + ~at).initialize(to: constant) }
        for (at, input) in first.enumerated() { (firstInputs + at).initialize(to: input) }
        for (at, register) in holding.enumerated() { (holders + at).initialize(to: register) }

        operands = .allocate(capacity: max(1, parts.operands.count))
        for (at, operand) in parts.operands.enumerated() { (operands + at).initialize(to: operand) }
        calls = .allocate(capacity: max(1, parts.calls.count))
        for (at, call) in parts.calls.enumerated() { (calls + at).initialize(to: call) }
        limits = .allocate(capacity: 1)
        limits.initialize(to: parts.limits)
        budget = parts.limits.cost
        budgetBehindInstructions = budget - instructionCount
        positions = parts.positions
        patterns = parts.patterns
        patternHandles = parts.patterns.map(\.handle)
        patternSizes = parts.patterns.map(\.size)
        messages = parts.messages
        dynamicPaths = parts.dynamicPaths
        regions = parts.regions
        var starts = [Int](repeating: 0, count: parts.lazyCount)
        for region in parts.regions where region.lazy >= 0 { starts[Int(region.lazy)] = Int(region.start) }
        lazyStarts = starts
        loopCount = parts.loopCount
        faultCount = parts.faultCount
        lazyCount = parts.lazyCount
        frameSize = max(1, inputCount, parts.registerCount, parts.loopCount, parts.faultCount, parts.lazyCount)
        makesContainers = parts.makesContainers
        nodes = parts.nodes
    }

    deinit {
        (constants - constantCount).deinitialize(count: constantCount)
        // The block begins with the instructions.
        UnsafeMutableRawPointer(instructions).deallocate()
        operands.deallocate()
        calls.deallocate()
        limits.deallocate()
        if let ways = madeWays {
            ways.deinitialize(count: inputCount)
            ways.deallocate()
        }
    }

    /// For each input, how to find it in a map of bindings. Valid as long as the program.
    var ways: UnsafeMutablePointer<InputWay> {
        if let made = madeWays { return made }
        let made = UnsafeMutablePointer<InputWay>.allocate(capacity: max(1, inputCount))
        for (number, input) in inputs.enumerated() { (made + number).initialize(to: InputWay(input)) }
        madeWays = made
        return made
    }

    @inline(never)
    func fault(_ message: Int) -> Fault { Fault(messages[message]) }

    @inline(never)
    func matches(_ text: UnsafePointer<Value>, pattern: Int, _ meter: inout Meter) throws(Fault) -> Bool {
        guard case .string(let text) = text.pointee else { throw .noSuchOverload("matches", text.pointee) }
        try meter.charge(Pattern.searchCost(text.utf8.count, size: patternSizes[pattern]))
        return Pattern.search(patternHandles[pattern], in: text)
    }

    /// The failure of an instruction, with its position in the rule.
    func makeFailure(_ code: ErrorCode, _ message: String, at instruction: Int) -> Failure {
        let (line, column) = SourceText.locate(of: Int(positions[instruction]), in: text)
        return Failure(code, message, rule: text, line: line, column: column)
    }
}

/// The parts of a program under construction.
struct ProgramParts {
    var text: String
    var limits: RuleLimits
    var resultType: RuleType = .dyn
    var inputs: [RuleInput] = []
    var instructions: [Instruction] = []
    var positions: [Int32] = []
    var nodes: [Int32] = []
    var constants: [Value] = []
    var operands: [Int32] = []
    var calls: [Call] = []
    var patterns: [Pattern] = []
    /// The cost of compiling the patterns, in steps.
    var patternCost = 0
    var messages: [String] = []
    var dynamicPaths: [DynamicPath] = []
    var regions: [FaultRegion] = []
    var registerCount = 0
    var loopCount = 0
    var faultCount = 0
    var lazyCount = 0
    var makesContainers = false

    /// The registers to which some instruction writes a value that may be more than a scalar.
    var holdingRegisters: [Int32] {
        var registers: Set<Int32> = []
        for instruction in instructions where !instruction.opcode.givesScalar {
            switch instruction.opcode {
            case .next: registers.formUnion([instruction.b, instruction.b + 1])
            default: registers.insert(instruction.a)
            }
        }
        // In some instructions, `a` is not a register: loops, lazy values, messages.
        return registers.filter { $0 >= 0 && $0 < registerCount }.sorted()
    }
}
