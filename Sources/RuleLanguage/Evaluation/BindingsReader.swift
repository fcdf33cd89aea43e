import AttributeValues

/// Reads from a map of bindings, with names as declared (dotted ones in full: `"a.b"`, `"env.locale"`). Each read looks
/// up its name. Nothing is prepared, so making a reader costs nothing.
public struct BindingsReader: RuleReader {
    private let program: Program
    /// Memory of the program.
    private let ways: UnsafeMutablePointer<InputWay>
    /// Always a map.
    private var bindings: Value

    public init(_ program: Program, _ bindings: ValueMap) {
        self.program = program
        ways = program.form.ways
        self.bindings = .map(bindings)
    }

    public mutating func read(_ input: Int, into register: InputRegister) -> Reading {
        let program = program
        let way = ways + input
        return withUnsafePointer(to: &bindings) { bindings in
            let variable = way.variable(in: bindings)
            if let variable {
                switch way.pointee.kind {
                case .whole:
                    register.copy(from: variable)
                    return .value
                case .field:
                    if let element = variable.element(of: &way.pointee.key) {
                        register.copy(from: element)
                        return .value
                    }
                case .fieldPresence:
                    if case .map = variable.pointee {
                        register.set(.bool(variable.element(of: &way.pointee.key) != nil))
                        return .value
                    }
                case .path: break
                }
            }
            return register.store(BindingsReader.readSlowly(program, input, variable))
        }
    }

    /// Follows any path. A path that leads nowhere gives its failure.
    @inline(never)
    private static func readSlowly(_ program: Program, _ input: Int, _ variable: UnsafePointer<Value>?) -> Content {
        let input = program.inputs[input]
        guard let variable else { return .failure(input.missing) }
        return input.isPresence ? variable.pointee.isPresent(input.steps) : variable.pointee.at(input.steps)
    }

    public mutating func read(_ input: Int, at steps: [AttributePath.Step], into register: InputRegister) -> Reading {
        let program = program
        let way = ways + input
        return withUnsafePointer(to: &bindings) { bindings in
            register.store(way.variable(in: bindings)?.pointee.at(steps) ?? .failure(program.inputs[input].missing))
        }
    }
}
