import AttributeValues

/// Runs programs, one at a time. Reuse one evaluator for all programs, so that an evaluation allocates nothing.
///
/// Its state is in memory that is allocated once, behind a constant pointer, because access to a class's own variables
/// would be checked at run time. The memory lives from `init` to `deinit`.
public final class Evaluator {
    @usableFromInline let machine: UnsafeMutablePointer<Machine>

    public init() {
        machine = .allocate(capacity: 1)
        machine.initialize(to: Machine())
    }

    deinit {
        machine.pointee.free()
        machine.deinitialize(count: 1)
        machine.deallocate()
    }

    /// Evaluates a program. Inputs that every evaluation needs are read first, the others when evaluation reaches them.
    @inlinable @inline(__always)
    public func evaluate<R: RuleReader>(_ program: Program, _ reader: inout R) -> Evaluation {
        let machine = machine
        machine.pointee.begin(program)
        // Reads the inputs that every evaluation needs, until one fails. A failed one is read again at its use, which
        // evaluation may not reach.
        var next = program.firstInputs
        let end = next + program.firstInputCount
        reading: while next != end {
            let input = Int(next.pointee)
            switch reader.read(input, into: InputRegister(machine, input)) {
            case .value: machine.pointee.isLoaded[input] = true
            case .failure: break reading
            case .interrupted: return abandon(program)
            }
            next += 1
        }
        let request = run(program, from: next == end ? program.entry : 0)
        if _slowPath(request != Evaluator.finished) && !goOn(from: request, program, &reader) {
            return abandon(program)
        }
        return .content(machine.pointee.result.move())
    }

    /// Provides the program's inputs until it has finished. Returns false if the reader interrupts.
    @inlinable @inline(never)
    func goOn<R: RuleReader>(from request: Int, _ program: Program, _ reader: inout R) -> Bool {
        let machine = machine
        var request = request
        while request != Evaluator.finished {
            if request < 0 {
                request = serve(request, program, &reader)
                if request == Evaluator.interrupted { return false }
                continue
            }
            switch reader.read(request, into: InputRegister(machine, request)) {
            case .value:
                machine.pointee.isLoaded[request] = true
                request = proceed(program)
            case .failure(let failure): request = proceed(program, withFailure: failure)
            case .interrupted: return false
            }
        }
        return true
    }

    public func evaluate(_ program: Program, bindings: ValueMap = ValueMap()) -> Content {
        var reader = BindingsReader(program, bindings)
        guard case .content(let content) = evaluate(program, &reader) else {
            preconditionFailure("a bindings reader does not interrupt")
        }
        return content
    }

    /// The cost of the last evaluation, in steps.
    @inlinable public var lastCost: Int { machine.pointee.meter.spent }

    // MARK: the machine's requests to the reader: the number of an input, or one of these

    @usableFromInline static var finished: Int { -1 }
    /// A dynamic input: this minus its number.
    static var dynamic: Int { -2 }

    /// The result of `serve` if the reader interrupts.
    @usableFromInline static var interrupted: Int { .min }

    /// Serves the request of a dynamic input, and continues.
    @usableFromInline @inline(never)
    func serve<R: RuleReader>(_ request: Int, _ program: Program, _ reader: inout R) -> Int {
        let steps = machine.pointee.requestedSteps
        machine.pointee.requestedSteps = []
        let register = InputRegister(machine, machine.pointee.target)
        // In a loop, the register has the value of the last round.
        machine.pointee.set(register.slot, to: .null)
        switch reader.read(Evaluator.dynamic - request, at: steps, into: register) {
        case .value: return proceed(program)
        case .failure(let failure): return proceed(program, withFailure: failure)
        case .interrupted: return Evaluator.interrupted
        }
    }

    @usableFromInline @inline(never)
    func proceed(_ program: Program, withFailure failure: Failure) -> Int {
        guard let next = unwind(Fault(failure), from: machine.pointee.position - 1, program) else {
            return Evaluator.finished
        }
        return run(program, from: next)
    }

    @usableFromInline func proceed(_ program: Program) -> Int { run(program, from: machine.pointee.position) }

    @usableFromInline @inline(never)
    func abandon(_ program: Program) -> Evaluation {
        machine.pointee.clear(program)
        return .interrupted
    }
}
