import AttributeValues

/// Reads from a map of bindings, the names as declared (dotted ones written out: `"a.b"`, `"env.locale"`). Reading looks each
/// name up; nothing is prepared, so a reader costs nothing to make.
public struct BindingsReader: RuleReader {
    private let program: Program
    /// The program's.
    private let ways: UnsafeMutablePointer<InputWay>
    /// A map.
    private var bindings: Value

    public init(_ program: Program, _ bindings: ValueMap) {
        self.program = program
        ways = program.ways
        self.bindings = .map(bindings)
    }

    public mutating func read(_ input: Int, into register: InputRegister) -> ReadOutcome {
        let program = program
        let way = ways + input
        return withUnsafePointer(to: &bindings) { bindings in
            guard let variable = way.variable(in: bindings) else { return .failure(program.inputs[input].missing) }
            switch way.pointee.kind {
            case .whole: register.copy(from: variable)
            case .field:
                guard let element = variable.element(of: &way.pointee.key) else { return BindingsReader.readSlowly(program.inputs[input], variable, register) }
                register.copy(from: element)
            case .fieldPresence:
                guard case .map = variable.pointee else { return BindingsReader.readSlowly(program.inputs[input], variable, register) }
                register.set(.bool(variable.element(of: &way.pointee.key) != nil))
            case .path: return BindingsReader.readSlowly(program.inputs[input], variable, register)
            }
            return .value
        }
    }

    @inline(never)
    private static func readSlowly(
        _ input: RuleInput, _ variable: UnsafePointer<Value>, _ register: InputRegister
    ) -> ReadOutcome {
        switch content(of: input, in: variable) {
        case .value(let value):
            register.set(value)
            return .value
        case .failure(let failure): return .failure(failure)
        }
    }

    /// Along any path, with the failure of one that leads nowhere.
    private static func content(of input: RuleInput, in variable: UnsafePointer<Value>) -> Content {
        input.isPresence ? variable.pointee.isPresent(input.steps) : variable.pointee.at(input.steps)
    }

    public mutating func read(_ input: Int) -> Reading {
        let program = program
        let way = ways + input
        let content = withUnsafePointer(to: &bindings) { bindings in
            way.variable(in: bindings).map { BindingsReader.content(of: program.inputs[input], in: $0) }
                ?? .failure(program.inputs[input].missing)
        }
        return switch content {
        case .value(let value): .value(value)
        case .failure(let failure): .failure(failure)
        }
    }

    public mutating func read(_ input: Int, at steps: [AttributePath.Step]) -> Reading {
        let program = program
        let way = ways + input
        let content = withUnsafePointer(to: &bindings) { bindings in
            way.variable(in: bindings)?.pointee.at(steps) ?? .failure(program.inputs[input].missing)
        }
        return switch content {
        case .value(let value): .value(value)
        case .failure(let failure): .failure(failure)
        }
    }
}
