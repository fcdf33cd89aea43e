import AttributeValues

/// Runs programs, one at a time; keep one and use it for all, so that no evaluation allocates for its own sake.
///
/// Its state lies in memory that is allocated once, behind a constant pointer: each access to a class's own variables would
/// be checked at run time. The memory lives from `init` to `deinit`.
public final class Evaluator {
    let machine: UnsafeMutablePointer<Machine>

    public init() {
        machine = .allocate(capacity: 1)
        machine.initialize(to: Machine())
    }

    deinit {
        machine.pointee.free()
        machine.deinitialize(count: 1)
        machine.deallocate()
    }

    /// Evaluates a program. The definite inputs are read first, the others when evaluation reaches them.
    @inlinable
    public func evaluate<R: RuleReader>(_ program: Program, _ reader: inout R) -> Evaluation {
        begin(program)
        // What every evaluation reads is read at once; a failure is left to where it is used, and may not be.
        reading: for input in program.definiteInputs {
            switch reader.read(input) {
            case .value(let value): preload(input, value)
            case .failure: break reading
            case .interrupted:
                end(program)
                return .interrupted
            }
        }
        var request = resume(program)
        while request != Evaluator.finished {
            let reading = request >= 0 ? reader.read(request) : read(request, &reader)
            switch reading {
            case .value(let value): request = resume(program, with: value)
            case .failure(let failure): request = resume(program, withFailure: failure)
            case .interrupted:
                end(program)
                return .interrupted
            }
        }
        return .content(finish(program))
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
    public var lastCost: Int { machine.pointee.lastCost }

    // MARK: requests of the machine to the reader: an input's number, or one of

    @usableFromInline static let finished = -1
    static let property = -2
    /// …a dynamic input's, as this minus its number.
    static let dynamic = -3

    @usableFromInline
    func read<R: RuleReader>(_ request: Int, _ reader: inout R) -> Reading {
        if request == Evaluator.property, let requested = machine.pointee.requestedProperty {
            machine.pointee.requestedProperty = nil
            return reader.read(property: requested.name, of: requested.object)
        }
        let steps = machine.pointee.requestedSteps
        machine.pointee.requestedSteps = []
        return reader.read(Evaluator.dynamic - request, at: steps)
    }

    // MARK: one evaluation

    @usableFromInline
    func begin(_ program: Program) {
        precondition(!machine.pointee.isRunning, "a reader must not use the evaluator that calls it")
        machine.pointee.isRunning = true
        machine.pointee.prepare(program)
    }

    @usableFromInline
    func preload(_ input: Int, _ value: consuming Value) { machine.pointee.preload(input, value) }

    @usableFromInline
    func resume(_ program: Program, with value: consuming Value) -> Int {
        machine.pointee.provide(value)
        return resume(program)
    }

    @usableFromInline
    func resume(_ program: Program, withFailure failure: Failure) -> Int {
        guard let next = unwind(Fault(failure), from: machine.pointee.position - 1, program) else {
            return Evaluator.finished
        }
        machine.pointee.position = next
        return resume(program)
    }

    @usableFromInline
    func finish(_ program: Program) -> Content {
        let content = machine.pointee.takeResult()
        end(program)
        return content
    }

    @usableFromInline
    func end(_ program: Program) {
        machine.pointee.clear(program)
        machine.pointee.isRunning = false
    }
}
