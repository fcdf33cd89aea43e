import AttributeValues

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
/// The program owns the memory of its constants from `init` to `deinit`, and retains its form. An evaluator retains the
/// program while it has pointers into that memory.
public final class Program {
    // MARK: the data that every evaluation uses

    let instructions: UnsafeMutablePointer<Instruction>
    /// The end of the constants, which are indexed downwards: the operand ~n is constant n before this position.
    let constants: UnsafeMutablePointer<Value>
    @usableFromInline let firstInputs: UnsafeMutablePointer<Int32>
    @usableFromInline let firstInputCount: Int
    /// The position at which evaluation begins after these reads: after the loads at the beginning of the code.
    @usableFromInline let entry: Int
    /// At least 1, and at least each of the counts of registers, inputs, loops, faults and lazy values.
    @usableFromInline let frameSize: Int
    @usableFromInline let inputCount: Int
    @usableFromInline let faultCount: Int
    /// The limit of steps of an evaluation, minus one for each instruction.
    @usableFromInline let budget: Int
    @usableFromInline let budgetBehindInstructions: Int
    @usableFromInline let limits: UnsafeMutablePointer<RuleLimits>
    let operands: UnsafeMutablePointer<Int32>
    let calls: UnsafeMutablePointer<Call>
    let makesContainers: Bool

    // MARK: the rest

    public let text: String
    let form: ProgramForm
    /// The rule that a graph bound last from the program. The rule sets this to nil when it is freed.
    public unowned(unsafe) final var rule: AnyObject?

    /// The inputs that the rule may read. A reader is called with their indexes.
    public var inputs: [RuleInput] { form.parts.inputs }
    public var ruleLimits: RuleLimits { limits.pointee }
    /// The type that the checker has inferred, or `dyn`.
    public var resultType: RuleType { form.parts.resultType }

    convenience init(_ parts: ProgramParts) { self.init(ProgramForm(parts), parts.constants, text: parts.text) }

    private init(_ form: ProgramForm, _ values: [Value], text: String) {
        self.form = form
        self.text = text
        constants = .allocate(capacity: max(1, values.count)) + values.count
        for (at, constant) in values.enumerated() { (constants + ~at).initialize(to: constant) }
        instructions = form.instructions
        firstInputs = form.firstInputs
        firstInputCount = form.firstInputCount
        entry = form.entry
        frameSize = form.frameSize
        inputCount = form.parts.inputs.count
        faultCount = form.parts.faultCount
        budget = form.limits.pointee.cost
        budgetBehindInstructions = budget - form.instructionCount
        limits = form.limits
        operands = form.operands
        calls = form.calls
        makesContainers = form.parts.makesContainers
    }

    deinit {
        let first = constants - form.constantCount
        first.deinitialize(count: form.constantCount)
        first.deallocate()
    }

    /// True if texts that differ only in numbers can have the same form.
    public var isAdaptable: Bool { form.parts.numbers != nil }

    /// The program of a text that differs only in its numbers (see `Rule.shape`), without compilation. nil if this
    /// program would be another one for other numbers.
    public func adapted(to text: String) -> Program? {
        guard let numbers = form.parts.numbers else { return nil }
        var values = (0..<form.constantCount).map { constants[~$0] }
        var next = 0
        var bytes = text
        let isAdapted = bytes.withUTF8 { bytes in
            var lexer = Lexer(bytes)
            while lexer.token != .end {
                if lexer.token.isNumber {
                    guard next < numbers.count,
                        let value = Parser.readNumber(lexer.text, lexer.token, numbers[next].isNegative)
                    else { return false }
                    values[numbers[next].constant] = value
                    next += 1
                }
                lexer.advance()
            }
            return next == numbers.count
        }
        return isAdapted ? Program(form, values, text: text) : nil
    }

    @inline(never) func fault(_ message: Int) -> Fault { Fault(form.parts.messages[message]) }

    @inline(never)
    func matches(_ text: UnsafePointer<Value>, pattern: Int, _ meter: inout Meter) throws(Fault) -> Bool {
        guard case .string(let text) = text.pointee else { throw .noSuchOverload("matches", text.pointee) }
        try meter.charge(Pattern.searchCost(text.utf8.count, size: form.patternSizes[pattern]))
        return Pattern.search(form.patternHandles[pattern], in: text)
    }

    /// The failure of an instruction, with its position in the rule.
    func makeFailure(_ code: ErrorCode, _ message: String, hint: String? = nil, at instruction: Int) -> Failure {
        let (line, column) = SourceText.locate(of: form.findPosition(of: instruction, in: text), in: text)
        return Failure(code, message, rule: text, line: line, column: column, hint: hint)
    }
}

/// Programs are equal if they, and the functions that they call, are written the same.
extension Program: Equatable {
    public static func == (a: Program, b: Program) -> Bool {
        a === b || a.text.hasSameBytes(as: b.text) && a.form.parts.functions == b.form.parts.functions
    }
}

/// The common part of programs whose texts differ only in numbers. It owns its memory from `init` to `deinit`.
final class ProgramForm {
    /// The parts of the first program, without those that are in memory below.
    let parts: ProgramParts
    let instructions: UnsafeMutablePointer<Instruction>
    let instructionCount: Int
    let constantCount: Int
    /// The numbers of the inputs that are read first, until one fails: those that the code loads at its beginning, then
    /// the other definite inputs with constant paths.
    let firstInputs: UnsafeMutablePointer<Int32>
    let firstInputCount: Int
    let entry: Int
    /// The registers that may contain references.
    let retaining: UnsafeMutablePointer<Int32>
    let retainingCount: Int
    let frameSize: Int
    let limits: UnsafeMutablePointer<RuleLimits>
    let operands: UnsafeMutablePointer<Int32>
    let calls: UnsafeMutablePointer<Call>
    /// The handles of the patterns, for use without reference counting.
    let patternHandles: [OpaquePointer]
    let patternSizes: [Int]
    /// The position of the code of each lazy value.
    let lazyStarts: [Int]
    /// By input. Made at the first use.
    private var madeWays: UnsafeMutablePointer<InputWay>?

    init(_ made: ProgramParts) {
        var parts = made
        instructionCount = parts.instructions.count
        constantCount = parts.constants.count
        let loads = parts.instructions.prefix { $0.opcode == .load }
        entry = loads.count
        var first = loads.map { $0.a }
        for (number, input) in parts.inputs.enumerated() where input.isDefinite && !input.isDynamic {
            if !first.contains(Int32(number)) { first.append(Int32(number)) }
        }
        let registers = parts.retainingRegisters
        firstInputCount = first.count
        retainingCount = registers.count
        instructions = ProgramForm.copied(parts.instructions)
        firstInputs = ProgramForm.copied(first)
        retaining = ProgramForm.copied(registers)
        operands = ProgramForm.copied(parts.operands)
        calls = ProgramForm.copied(parts.calls)
        limits = ProgramForm.copied([parts.limits])
        patternHandles = parts.patterns.map(\.handle)
        patternSizes = parts.patterns.map(\.size)
        var starts = [Int](repeating: 0, count: parts.lazyCount)
        for region in parts.regions where region.lazy >= 0 { starts[Int(region.lazy)] = Int(region.start) }
        lazyStarts = starts
        frameSize = max(1, parts.inputs.count, parts.registerCount, parts.loopCount, parts.faultCount, parts.lazyCount)
        (parts.instructions, parts.constants, parts.operands, parts.calls) = ([], [], [], [])
        self.parts = parts
    }

    private static func copied<T>(_ elements: [T]) -> UnsafeMutablePointer<T> {
        let memory = UnsafeMutablePointer<T>.allocate(capacity: max(1, elements.count))
        for (at, element) in elements.enumerated() { (memory + at).initialize(to: element) }
        return memory
    }

    deinit {
        instructions.deallocate()
        firstInputs.deallocate()
        retaining.deallocate()
        operands.deallocate()
        calls.deallocate()
        limits.deallocate()
        if let ways = madeWays {
            ways.deinitialize(count: parts.inputs.count)
            ways.deallocate()
        }
    }

    /// For each input, how to find it in a map of bindings. Valid as long as the form.
    var ways: UnsafeMutablePointer<InputWay> {
        if let made = madeWays { return made }
        let made = UnsafeMutablePointer<InputWay>.allocate(capacity: max(1, parts.inputs.count))
        for (number, input) in parts.inputs.enumerated() { (made + number).initialize(to: InputWay(input)) }
        madeWays = made
        return made
    }

    /// The byte offset of an instruction in a program's text, whose tokens are those of the first text but for the
    /// length of numbers.
    func findPosition(of instruction: Int, in other: String) -> Int {
        let position = Int(parts.positions[instruction])
        if other.hasSameBytes(as: parts.text) { return position }
        var (first, other) = (parts.text, other)
        return first.withUTF8 { first in
            other.withUTF8 { other in
                var (here, there) = (Lexer(first), Lexer(other))
                while here.end <= position, here.token != .end {
                    here.advance()
                    there.advance()
                }
                return there.start + max(0, position - here.start)
            }
        }
    }
}

/// A number in a rule's text.
struct NumberConstant {
    var constant: Int
    var isNegative: Bool
}

/// The parts of a program under construction.
struct ProgramParts {
    /// In a form: the first text.
    var text: String
    var limits: RuleLimits
    var resultType: RuleType = .dyn
    var inputs: [RuleInput] = []
    var instructions: [Instruction] = []
    /// The byte offset in the text, by instruction.
    var positions: [Int32] = []
    /// In traced programs, the syntax node of each instruction.
    var nodes: [Int32] = []
    var constants: [Value] = []
    /// The numbers in the text, in order. nil if the program depends on one otherwise than as a constant.
    var numbers: [NumberConstant]?
    var operands: [Int32] = []
    var calls: [Call] = []
    var patterns: [Pattern] = []
    /// The declared functions that are called.
    var functions: [DeclaredFunction] = []
    /// The cost of compiling the patterns, in steps.
    var patternCost = 0
    var messages: [String] = []
    var dynamicPaths: [DynamicPath] = []
    /// Inner regions before outer ones.
    var regions: [FaultRegion] = []
    var registerCount = 0
    var loopCount = 0
    var faultCount = 0
    var lazyCount = 0
    var makesContainers = false

    /// The registers to which some instruction writes a value that may be more than a scalar.
    var retainingRegisters: [Int32] {
        var registers: Set<Int32> = []
        for instruction in instructions where !instruction.opcode.givesScalar {
            switch instruction.opcode {
            case .next: registers.formUnion([instruction.b, instruction.b + 1])
            case .accumulate: registers.insert(instruction.c)
            default: registers.insert(instruction.a)
            }
        }
        // In some instructions, `a` is not a register: loops, lazy values, messages.
        return registers.filter { $0 >= 0 && $0 < registerCount }.sorted()
    }
}
