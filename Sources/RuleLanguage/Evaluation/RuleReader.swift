import AttributeValues

/// What a reader answers.
@frozen
public enum Reading {
    case value(Value)
    /// The input holds no value; in the rule this is an error, which `&&`, `||` and the like may absorb.
    case failure(Failure)
    /// The evaluation is to be given up: nothing absorbs this.
    case interrupted
}

/// Gives a program its inputs, each when evaluation reaches it. Called by one evaluation at a time; must not use the
/// evaluator that calls it.
public protocol RuleReader {
    /// The value of `program.inputs[input]`: what lies at its path, or for a presence input whether it is there.
    /// Asked at most once per evaluation for an input that has a value. A path that leads nowhere is a failure; `Value.at(_:)` has
    /// the semantics and the texts.
    mutating func read(_ input: Int) -> Reading

    /// The value at a path that was computed: `steps` are complete, behind the input's variable.
    mutating func read(_ input: Int, at steps: [AttributePath.Step]) -> Reading

    /// A property of an object that a rule came by, as `b.title` in `library.books.filter(b, b.title != "")`.
    mutating func read(property name: String, of object: OpaqueValue) -> Reading
}

extension RuleReader {
    public mutating func read(property name: String, of object: OpaqueValue) -> Reading {
        .failure(Failure(.ruleFailed, "type '\(object.typeName)' does not support field selection"))
    }
}

/// What an evaluation ends with.
@frozen
public enum Evaluation {
    case content(Content)
    /// The reader interrupted it.
    case interrupted
}

/// Reads from a map of bindings, the names as declared (dotted ones written out: `"a.b"`, `"env.locale"`).
public struct BindingsReader: RuleReader {
    /// How an input is read.
    private enum Plan {
        case missing(Failure)
        case whole(Value)
        /// The commonest paths: one key of a map.
        case field(ValueMap, Value)
        case fieldPresence(ValueMap, Value)
        case path(Value, [AttributePath.Step])
        case presence(Value, [AttributePath.Step])
    }

    private var plans: [Plan] = []

    public init(_ program: Program, _ bindings: ValueMap) {
        plans.reserveCapacity(program.inputs.count)
        for input in program.inputs {
            var root = bindings[input.variable]
            if root == nil, let namespace = input.namespace, case .map(let keys)? = bindings[namespace] {
                root = keys[input.name]
            }
            guard let root else {
                plans.append(.missing(Failure(.ruleFailed, "no such attribute: \(input.variable)")))
                continue
            }
            if case .map(let map) = root, input.steps.count == 1, case .key(let key) = input.steps[0], !input.isDynamic {
                plans.append(input.isPresence ? .fieldPresence(map, .string(key)) : .field(map, .string(key)))
            } else if input.isPresence {
                plans.append(.presence(root, input.steps))
            } else {
                plans.append(input.steps.isEmpty || input.isDynamic ? .whole(root) : .path(root, input.steps))
            }
        }
    }

    public mutating func read(_ input: Int) -> Reading {
        switch plans[input] {
        case .missing(let failure): .failure(failure)
        case .whole(let root): .value(root)
        case .field(let map, let key):
            if let place = map.position(of: key) {
                .value(map.value(at: place))
            } else {
                BindingsReader.reading(Value.map(map).at([.key(key.string ?? "")]))
            }
        case .fieldPresence(let map, let key): .value(.bool(map.position(of: key) != nil))
        case .path(let root, let steps): BindingsReader.reading(root.at(steps))
        case .presence(let root, let steps): BindingsReader.reading(root.isPresent(steps))
        }
    }

    public mutating func read(_ input: Int, at steps: [AttributePath.Step]) -> Reading {
        switch plans[input] {
        case .missing(let failure): .failure(failure)
        case .whole(let root), .path(let root, _), .presence(let root, _): BindingsReader.reading(root.at(steps))
        case .field(let map, _), .fieldPresence(let map, _): BindingsReader.reading(Value.map(map).at(steps))
        }
    }

    private static func reading(_ content: Content) -> Reading {
        switch content {
        case .value(let value): .value(value)
        case .failure(let failure): .failure(failure)
        }
    }
}

extension Value {
    /// What lies at a path inside this value, as rules see it: an optional on the way makes the result optional.
    public func at(_ steps: some Sequence<AttributePath.Step>) -> Content {
        var value = self
        for step in steps {
            do throws(Fault) {
                switch step {
                case .key(let name): value = try Access.select(value, name, isOptional: false)
                case .index(let index): value = try Access.index(value, .int(Int64(index)), isOptional: false)
                case .element(let field, let wanted): value = try Access.element(value, field, wanted)
                }
            } catch {
                return .failure(error.failure ?? Failure(.ruleFailed, error.message))
            }
        }
        return .value(value)
    }

    /// Whether the last step of a path is there, as `has()` asks; a failure when a step before it is not.
    public func isPresent(_ steps: [AttributePath.Step]) -> Content {
        guard let last = steps.last else { return .value(.bool(true)) }
        let container = at(steps.dropLast())
        guard case .value(let value) = container else { return container }
        guard case .key(let name) = last else {
            if case .value = value.at([last]) { return .value(.bool(true)) }
            return .value(.bool(false))
        }
        do throws(Fault) {
            return .value(.bool(try Access.isPresent(value, name)))
        } catch {
            return .failure(Failure(.ruleFailed, error.message))
        }
    }
}
