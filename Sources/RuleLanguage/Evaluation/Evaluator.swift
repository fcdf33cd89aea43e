import AttributeValues

/// Runs programs, one at a time; keep one and use it for all, so that no evaluation allocates for its own sake.
///
/// The memory it points to is its own, from `init` (or growth between runs) to `deinit`. Registers hold values always
/// (`null` when unused), so a fault can leave from anywhere without a leak.
public final class Evaluator {
    var machine: Machine
    /// In traced programs: by syntax node, what it gave (the last time, and how often).
    var trace: [Int: (content: Content, times: Int)]?
    /// The steps of the dynamic read at hand.
    @usableFromInline var requestedSteps: [AttributePath.Step] = []
    /// The property read at hand.
    @usableFromInline var requestedProperty: (object: OpaqueValue, name: String)?
    @usableFromInline var result: Content = .value(.null)
    var faults: [Fault?] = []
    var lazyFaults: [Fault?] = []
    private var isRunning = false

    public init() { machine = Machine() }

    deinit { machine.free() }

    /// Evaluates a program. Inputs are read when evaluation reaches them, in the order of evaluation.
    @inlinable
    public func evaluate<R: RuleReader>(_ program: Program, _ reader: inout R) -> Evaluation {
        begin(program)
        while true {
            let request = resume()
            if request >= 0 {
                switch reader.read(request) {
                case .value(let value): provide(value)
                case .failure(let failure): fail(failure)
                case .interrupted: return interrupt()
                }
            } else if request == Evaluator.finished {
                return .content(finish())
            } else {
                switch read(request, &reader) {
                case .value(let value): provide(value)
                case .failure(let failure): fail(failure)
                case .interrupted: return interrupt()
                }
            }
        }
    }

    /// Evaluates over bindings.
    public func evaluate(_ program: Program, bindings: ValueMap = ValueMap()) -> Content {
        var reader = BindingsReader(program, bindings)
        guard case .content(let content) = evaluate(program, &reader) else {
            preconditionFailure("a bindings reader does not interrupt")
        }
        return content
    }

    /// What the last evaluation cost, in steps.
    public private(set) var lastCost = 0

    // MARK: requests of the machine to the reader: an input's number, or one of

    @usableFromInline static let finished = -1
    static let property = -2
    /// …a dynamic input's, as this minus its number.
    static let dynamic = -3

    @usableFromInline
    func read<R: RuleReader>(_ request: Int, _ reader: inout R) -> Reading {
        if request == Evaluator.property, let requested = requestedProperty {
            requestedProperty = nil
            return reader.read(property: requested.name, of: requested.object)
        }
        let steps = requestedSteps
        return reader.read(Evaluator.dynamic - request, at: steps)
    }

    // MARK: one evaluation

    @usableFromInline
    func begin(_ program: Program) {
        precondition(!isRunning, "a reader must not use the evaluator that calls it")
        isRunning = true
        machine.prepare(program)
        if faults.count < program.faultCount {
            faults += [Fault?](repeating: nil, count: program.faultCount - faults.count)
        }
        if lazyFaults.count < program.lazyCount {
            lazyFaults += [Fault?](repeating: nil, count: program.lazyCount - lazyFaults.count)
        }
    }

    @usableFromInline
    func provide(_ value: Value) { machine.provide(value) }

    @usableFromInline
    func fail(_ failure: Failure) { machine.pendingFailure = failure }

    @usableFromInline
    func interrupt() -> Evaluation {
        end()
        return .interrupted
    }

    @usableFromInline
    func finish() -> Content {
        end()
        let content = result
        result = .value(.null)
        return content
    }

    private func end() {
        lastCost = machine.cost
        machine.clear()
        isRunning = false
    }
}
