import AttributeValues

/// Reads from a map of bindings, the names as declared (dotted ones written out: `"a.b"`, `"env.locale"`).
public struct BindingsReader: RuleReader {
    private let sources: Sources

    /// Where a program's inputs are in the bindings: their variables' values, and the way on from there.
    private final class Sources {
        enum Kind: UInt8 {
            case missing, whole
            /// The commonest paths: one key of a map.
            case field, fieldPresence
            case path, presence
        }

        let program: Program
        let kinds: UnsafeMutablePointer<Kind>
        /// By input: the variable's value.
        let roots: UnsafeMutablePointer<Value>
        /// By input: the one key of a field.
        let keys: UnsafeMutablePointer<Value>

        init(_ program: Program, _ bindings: ValueMap) {
            self.program = program
            let count = program.inputCount
            kinds = .allocate(capacity: count)
            roots = .allocate(capacity: count)
            keys = .allocate(capacity: count)
            for (number, input) in program.inputs.enumerated() {
                var root = bindings[input.variable]
                if root == nil, let namespace = input.namespace, case .map(let map)? = bindings[namespace] {
                    root = map[input.name]
                }
                (roots + number).initialize(to: root ?? .null)
                var kind: Kind = root == nil ? .missing : input.isPresence ? .presence : .path
                if root != nil, input.steps.isEmpty || input.isDynamic { kind = .whole }
                var key = Value.null
                if case .map? = root, !input.isDynamic, input.steps.count == 1, case .key(let name) = input.steps[0] {
                    key = .string(name)
                    kind = input.isPresence ? .fieldPresence : .field
                }
                (keys + number).initialize(to: key)
                (kinds + number).initialize(to: kind)
            }
        }

        deinit {
            let count = program.inputCount
            roots.deinitialize(count: count)
            keys.deinitialize(count: count)
            roots.deallocate()
            keys.deallocate()
            kinds.deallocate()
        }

        func failure(_ input: Int) -> Failure {
            Failure(.ruleFailed, "no such attribute: \(program.inputs[input].variable)")
        }
    }

    public init(_ program: Program, _ bindings: ValueMap) { sources = Sources(program, bindings) }

    public mutating func read(_ input: Int) -> Reading {
        switch sources.kinds[input] {
        case .missing: return .failure(sources.failure(input))
        case .whole: return .value(sources.roots[input])
        case .field:
            if let element = UnsafePointer(sources.roots + input).element(of: sources.keys + input) {
                return .value(element.pointee)
            }
            return BindingsReader.reading(sources.roots[input].at(sources.program.inputs[input].steps))
        case .fieldPresence:
            return .value(.bool(UnsafePointer(sources.roots + input).element(of: sources.keys + input) != nil))
        case .path: return BindingsReader.reading(sources.roots[input].at(sources.program.inputs[input].steps))
        case .presence: return BindingsReader.reading(sources.roots[input].isPresent(sources.program.inputs[input].steps))
        }
    }

    public mutating func read(_ input: Int, at steps: [AttributePath.Step]) -> Reading {
        if sources.kinds[input] == .missing { return .failure(sources.failure(input)) }
        return BindingsReader.reading(sources.roots[input].at(steps))
    }

    private static func reading(_ content: Content) -> Reading {
        switch content {
        case .value(let value): .value(value)
        case .failure(let failure): .failure(failure)
        }
    }
}
