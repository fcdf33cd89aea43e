import AttributeValues

/// A function that rules can call: its name and types for the checker, its cost and its code for the evaluator.
final class Function: Sendable {
    /// nil if the arguments fit no overload.
    typealias Code = @Sendable (Arguments, inout Meter) throws(Fault) -> Value?

    let name: String
    /// Empty for `math.greatest` and `math.least`, which take any number of arguments.
    let overloads: [Overload]
    let work: Work
    /// nil if a `RuleScope` declares the function, and for operators.
    let code: Code?

    init(_ name: String, _ overloads: [Overload], work: Work = Work(), _ code: Code? = nil) {
        self.name = name
        self.overloads = overloads
        self.work = work
        self.code = code
    }

    /// True if it can be called without a receiver.
    var isGlobal: Bool { overloads.isEmpty || overloads.contains { !$0.isMember } }

    /// True if an overload has this style and this number of parameters.
    func takes(_ count: Int, isMember: Bool) -> Bool {
        if overloads.isEmpty { return !isMember && count > 0 }
        return overloads.contains { $0.isMember == isMember && $0.parameters.count == count }
    }

    /// Evaluates a call, whose number of arguments fits an overload. If their types fit none, that is a fault.
    func call(_ arguments: Arguments, _ meter: inout Meter) throws(Fault) -> Value {
        try meter.charge(work.countSteps(for: arguments))
        guard let value = try code?(arguments, &meter) else { throw arguments.noSuchOverload(name) }
        return value
    }
}

/// One way to call a function.
public struct Overload: Sendable {
    /// True for `receiver.name(…)`; the receiver is the first parameter.
    var isMember: Bool
    var parameters: [RuleType]
    var result: RuleType
    /// Names of the type parameters.
    var typeParameters: [String]

    public init(isMember: Bool, parameters: [RuleType], result: RuleType) {
        self.isMember = isMember
        self.parameters = parameters
        self.result = result
        typeParameters = parameters.reduce(into: result.parameterNames) { $0.formUnion($1.parameterNames) }.sorted()
    }
}

/// The cost of a call, in steps of at most about 50 ns. `Function.call` charges it before the function begins. A
/// function that costs more charges the rest itself, before it does the work.
struct Work {
    /// The cost that does not depend on the arguments.
    var base = 1
    /// Bytes of the arguments' texts that a step processes; 0 if their length does not matter.
    var bytesPerStep = 10
    /// Elements of the arguments' lists and maps that a step processes; 0 if their number does not matter.
    var elementsPerStep = 1

    /// A cost that does not depend on the arguments' sizes.
    static func constant(_ base: Int) -> Work { Work(base: base, bytesPerStep: 0, elementsPerStep: 0) }

    func countSteps(for arguments: Arguments) -> Int {
        var steps = base
        if bytesPerStep | elementsPerStep == 0 { return steps }
        for number in 0..<arguments.count {
            switch arguments[number] {
            case .string(let text): if bytesPerStep > 0 { steps += text.utf8.count / bytesPerStep }
            case .bytes(let bytes): if bytesPerStep > 0 { steps += bytes.count / bytesPerStep }
            case .list(let elements): if elementsPerStep > 0 { steps += elements.count / elementsPerStep }
            case .map(let map): if elementsPerStep > 0 { steps += map.count / elementsPerStep }
            default: break
            }
        }
        return steps
    }
}
