import AttributeValues

/// The answer of a reader.
@frozen
public enum Reading {
    /// The value is in its register.
    case value
    /// The input has no value. In the rule this is an error, which `&&`, `||` and similar operations may absorb.
    case failure(Failure)
    /// The evaluation must be abandoned. Nothing absorbs this.
    case interrupted
}

/// The register for a value that is read. It is empty, and valid during the read.
@frozen
public struct InputRegister {
    @usableFromInline let machine: UnsafeMutablePointer<Machine>
    @usableFromInline let number: Int

    @inlinable @inline(__always)
    init(_ machine: UnsafeMutablePointer<Machine>, _ number: Int) {
        self.machine = machine
        self.number = number
    }

    @inlinable var slot: UnsafeMutablePointer<Value> { @inline(__always) get { machine.pointee.registers + number } }

    @inlinable @inline(__always) public func set(_ value: consuming Value) { machine.pointee.fill(slot, with: value) }

    /// Stores the value of a content.
    public func store(_ content: Content) -> Reading {
        switch content {
        case .value(let value):
            set(value)
            return .value
        case .failure(let failure): return .failure(failure)
        }
    }

    /// Stores a copy of a value; copied word by word if it has no reference.
    @inlinable @inline(__always)
    public func copy(from source: UnsafePointer<Value>) { machine.pointee.fill(slot, copying: source) }
}

/// Provides a program's inputs, each when evaluation reaches it. One evaluation calls it at a time. It must not use the
/// evaluator that calls it.
public protocol RuleReader {
    /// Stores the value of `program.inputs[input]` in its register: the value at its path, or for a presence input,
    /// whether the path exists. Called at most once per evaluation for an input that has a value. A path that leads
    /// nowhere is a failure; `Value.at(_:)` defines the semantics and the texts.
    mutating func read(_ input: Int, into register: InputRegister) -> Reading

    /// Stores the value at a computed path: `steps` are all steps after the input's variable.
    mutating func read(_ input: Int, at steps: [AttributePath.Step], into register: InputRegister) -> Reading
}

@frozen
public enum Evaluation {
    case content(Content)
    /// The reader interrupted it.
    case interrupted
}

extension Value {
    /// The value at a path inside this value, as in rules: an optional on the path makes the result optional.
    public func at(_ steps: some Sequence<AttributePath.Step>) -> Content {
        var value = self
        for step in steps {
            do throws(Fault) {
                switch step {
                case .key(let name): value = try Access.select(value, name, isOptional: false)
                case .index(let index): value = try Access.index(value, .int(Int64(index)), isOptional: false)
                case .element(let field, let wanted): value = try Access.findElement(value, field, wanted)
                }
            } catch { return .failure(error.failure ?? Failure(.ruleFailed, error.message)) }
        }
        return .value(value)
    }

    /// True if the last step of a path exists, as for `has()`; a failure if an earlier step does not.
    public func isPresent(_ steps: [AttributePath.Step]) -> Content {
        guard let last = steps.last else { return .value(.bool(true)) }
        let container = at(steps.dropLast())
        guard case .value(let value) = container else { return container }
        guard case .key(let name) = last else {
            if case .value = value.at([last]) { return .value(.bool(true)) }
            return .value(.bool(false))
        }
        do throws(Fault) { return .value(.bool(try Access.isPresent(value, name))) } catch {
            return .failure(Failure(.ruleFailed, error.message))
        }
    }
}
