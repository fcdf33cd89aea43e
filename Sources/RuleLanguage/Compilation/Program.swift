import AttributeValues

/// What a program reads from outside: a variable, or a place inside one.
public struct RuleInput: Hashable {
    /// The variable as declared; in a namespace, its key.
    public let name: String
    /// The namespace of the variable, as `env`; nil for a plain variable.
    public let namespace: String?
    /// Where inside the variable's value; empty for the whole. For a dynamic input, what is constant of it.
    public let steps: [AttributePath.Step]
    /// Asks whether the last step is present: the value is a bool.
    public let isPresence: Bool
    /// Read by a path that is known at run time only; it begins with `steps`.
    public let isDynamic: Bool
    /// Read by every evaluation that does not fail: it may be made ready beforehand.
    public fileprivate(set) var isDefinite: Bool
    /// Of a value of an assembled type, or with such ones in it: the parts that the rule looks at. nil: all.
    public let parts: UsedParts?

    init(
        name: String, namespace: String?, steps: [AttributePath.Step], isPresence: Bool, isDynamic: Bool, isDefinite: Bool,
        parts: UsedParts?
    ) {
        self.name = name
        self.namespace = namespace
        self.steps = steps
        self.isPresence = isPresence
        self.isDynamic = isDynamic
        self.isDefinite = isDefinite
        self.parts = parts
    }

    /// The variable's full name, as declared in the scope.
    public var variable: String { namespace.map { "\($0).\(name)" } ?? name }
    /// The first name of the path in the rule.
    public var root: String { namespace ?? name }
    /// Behind `root`: the namespace's key and the steps.
    public var path: [AttributePath.Step] { (namespace == nil ? [] : [.key(name)]) + steps }
}

extension RuleInput: CustomStringConvertible {
    public var description: String {
        let text = variable + steps.map(\.description).joined() + (isDynamic ? "[*]" : "")
        return isPresence ? "has(\(text))" : text
    }

    func sameSource(as other: RuleInput) -> Bool {
        name == other.name && namespace == other.namespace && isPresence == other.isPresence
            && isDynamic == other.isDynamic && steps == other.steps
    }

    mutating func makeDefinite() { isDefinite = true }
}

/// A path whose steps are known when the rule runs.
struct DynamicPath {
    enum Step {
        case fixed(AttributePath.Step)
        case operand(Int32)
    }
    var input: Int32
    var steps: [Step]
}

/// A rule compiled: immutable, shared by all that evaluate it, on one thread at a time.
///
/// The instructions and constants lie in memory that the program owns from `init` to `deinit`; an evaluator holds the
/// program while it points there.
public final class Program {
    // MARK: what every evaluation touches, side by side and in one block of memory

    let instructions: UnsafeMutablePointer<Instruction>
    /// Behind the constants, which go downwards: the operand ~n, counted from here, is constant n.
    let constants: UnsafeMutablePointer<Value>
    /// The numbers of the inputs that are read before anything else, until one fails: those that the code begins with
    /// loading, then the other definite ones with constant paths.
    @usableFromInline let firstInputs: UnsafeMutablePointer<Int32>
    @usableFromInline let firstInputCount: Int
    /// Where evaluation begins when these are there: behind the loads that the code begins with.
    @usableFromInline let entry: Int
    /// The registers that may hold references.
    let holders: UnsafeMutablePointer<Int32>
    let holderCount: Int
    /// No less than any of the counts of registers, inputs, loops, faults and lazy values, and than 1.
    @usableFromInline let frameSize: Int
    @usableFromInline let inputCount: Int
    @usableFromInline let faultCount: Int
    let loopCount: Int
    /// What an evaluation may cost, and what is left of it when every instruction has run once.
    @usableFromInline let budget: Int
    @usableFromInline let budgetBehindInstructions: Int
    @usableFromInline let limits: UnsafeMutablePointer<RuleLimits>
    let instructionCount: Int
    let makesContainers: Bool

    // MARK: the rest

    /// The rule's text.
    public let text: String
    /// What the rule may read; the index is the number that a reader is asked with.
    public let inputs: [RuleInput]
    /// What the checker found, or `dyn`.
    public let resultType: RuleType
    let constantCount: Int
    let operands: UnsafeMutablePointer<Int32>
    /// By instruction: byte offset in the text.
    let positions: [Int32]
    let calls: UnsafeMutablePointer<Call>
    let patterns: [Pattern]
    /// The patterns' handles, for use without counting references.
    let patternHandles: [OpaquePointer]
    let patternSizes: [Int]
    let messages: [String]
    let dynamicPaths: [DynamicPath]
    /// Inner regions before outer ones.
    let regions: [FaultRegion]
    /// By lazy value: where its code begins.
    let lazyStarts: [Int]
    let lazyCount: Int
    /// In traced programs, by instruction: the syntax node.
    let nodes: [Int32]
    /// By input, made when they are first asked for.
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

    /// By input: how it is found in a map of bindings. Good as long as the program.
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

    /// The failure of an instruction, with its place in the rule.
    func failure(_ code: ErrorCode, _ message: String, at instruction: Int) -> Failure {
        let (line, column) = SourceText.place(of: Int(positions[instruction]), in: text)
        return Failure(code, message, rule: text, line: line, column: column)
    }
}

/// A program while it is put together.
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
    /// Steps that the patterns' compilation has cost.
    var patternCost = 0
    var messages: [String] = []
    var dynamicPaths: [DynamicPath] = []
    var regions: [FaultRegion] = []
    var registerCount = 0
    var loopCount = 0
    var faultCount = 0
    var lazyCount = 0
    var makesContainers = false

    /// The registers that some instruction puts a value in that may be more than a scalar.
    var holdingRegisters: [Int32] {
        var registers: Set<Int32> = []
        for instruction in instructions where !instruction.opcode.givesScalar {
            switch instruction.opcode {
            case .next: registers.formUnion([instruction.b, instruction.b + 1])
            default: registers.insert(instruction.a)
            }
        }
        // Some of these `a` are no registers: loops, lazy values, messages.
        return registers.filter { $0 >= 0 && $0 < registerCount }.sorted()
    }
}
